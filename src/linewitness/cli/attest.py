"""``linewitness attest MAP``: sign a statement that a map is the gate's verdict about this tree."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Final

from linewitness.console import Console, safe
from linewitness.errors import EvidenceError, UsageError

NAME: Final = "attest"
HELP: Final = "sign a statement about a stored map"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument(
        "map", metavar="MAP", nargs="?", help="the map, - for standard input (default: the one the last check stored)"
    )
    parser.add_argument(
        "--key", metavar="FILE", type=Path, help="SSH key to sign with; the .pub file of a key that an agent holds"
    )
    parser.add_argument(
        "--unsigned", action="store_true", help="print the bare statement, for a signer of your own (cosign, a forge)"
    )
    parser.add_argument("--head", metavar="REV", default="HEAD", help="what the map should be about (default: HEAD)")
    parser.add_argument("--root", metavar="DIR", type=Path, default=Path(), help="a folder of the repository")
    parser.add_argument("-o", "--output", metavar="FILE", help="write there instead of to standard output")


def run(args: argparse.Namespace) -> int:
    """Write the attestation; the status is the map's own, so that a closed gate stays one.

    Errors: :class:`EvidenceError` for a map that contradicts itself or is about another tree: that is never signed.
    """
    from linewitness import attestation
    from linewitness.cli.report import deliver
    from linewitness.cli.stored import chosen, parse_map, read_bytes
    from linewitness.patch.repository import Repository
    from linewitness.trust.signatures import SshKeygen
    from linewitness.verification import differences, present, unsound

    if bool(args.key) == args.unsigned:
        raise UsageError("say who signs: --key FILE, or --unsigned for the bare statement")
    console: Console = args.console
    name = chosen(args.map, args.root)
    data = read_bytes(name)
    artifact = parse_map(data, name)
    with Repository(args.root) as repository:
        here = present(repository, args.head, artifact)
        for trouble in (*unsound(artifact, data), *differences(artifact, here)):
            raise EvidenceError(f"is not signed: {trouble}", path=safe(name))
        if args.unsigned:
            pieces = attestation.statement(artifact) + b"\n"
        else:
            keygen = SshKeygen(repository.root, attestation.NAMESPACE)
            envelope = attestation.sign(artifact, keygen, args.key, os.environ)
            console.note(f"signed with {envelope.signatures[0].keyid}: gate {artifact.verdict}")
            pieces = attestation.encode_envelope(envelope)
    deliver(console, [pieces], args.output)
    return artifact.exit
