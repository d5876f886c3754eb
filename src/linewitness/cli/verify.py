"""``linewitness verify MAP``: whether a map is sound and about this tree."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Final

from linewitness.console import Console, safe
from linewitness.errors import Exit
from linewitness.obligation_map import ObligationMap

if TYPE_CHECKING:
    from linewitness.attestation import Signers
    from linewitness.patch.repository import Repository

NAME: Final = "verify"
HELP: Final = "check that a stored map is sound and about this tree"

ATTESTERS: Final = ".linewitness/attesters"
"""Whose attestations count, in git's allowed-signers format; read from base."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument(
        "map", metavar="MAP", nargs="?", help="the map, - for standard input (default: the one the last check stored)"
    )
    parser.add_argument("--head", metavar="REV", default="HEAD", help="what the map should be about (default: HEAD)")
    parser.add_argument("--root", metavar="DIR", default=".", help="a folder of the repository (default: this one)")
    parser.add_argument(
        "--no-compare", action="store_true", help="check the map alone, without the repository it is about"
    )

    parser.add_argument("--attestation", metavar="FILE", help="a signed statement that has to say the same")
    parser.add_argument(
        "--signers",
        metavar="FILE",
        help="whose statements count: an SSH allowed-signers file (default: .linewitness/attesters of the map's base)",
    )


def run(args: argparse.Namespace) -> int:
    """Verify, then end with the map's own status: a sound map of a closed gate is still a closed gate.

    3 when the map contradicts itself or is about something else, 4 when the repository cannot tell.
    """
    from linewitness.cli.stored import chosen, parse_map, read_bytes
    from linewitness.reports import words
    from linewitness.verification import unsound

    console: Console = args.console
    name = chosen(args.map, Path(args.root))
    data = read_bytes(name)
    artifact = parse_map(data, name)
    troubles = list(unsound(artifact, data))
    if not troubles and not args.no_compare:
        troubles = _differences(args, artifact)
    vouched = ""
    if not troubles and args.attestation:
        troubles, vouched = _attested(args, artifact)
    for trouble in troubles:
        console.result(f"{safe(name)}: {safe(trouble)}\n")
    if troubles:
        return Exit.EVIDENCE
    about = "compared with nothing" if args.no_compare else "about this head, these settings and these waivers"
    console.result(f"{safe(name)}: sound, {about}\n{vouched}{words.verdict(artifact)}\n{words.exit_line(artifact)}\n")
    return artifact.exit


def _differences(args: argparse.Namespace, artifact: ObligationMap) -> list[str]:
    from linewitness.patch.repository import Repository
    from linewitness.verification import differences, present

    with Repository(Path(args.root)) as repository:
        return list(differences(artifact, present(repository, args.head, artifact)))


def _attested(args: argparse.Namespace, artifact: ObligationMap) -> tuple[list[str], str]:
    """What is wrong with the attestation, and a line that says who vouches for it."""
    import datetime as dt

    from linewitness import attestation
    from linewitness.cli.stored import read_bytes
    from linewitness.errors import EvidenceError
    from linewitness.patch.repository import Repository
    from linewitness.trust.signatures import SshKeygen

    envelope = attestation.decode_envelope(read_bytes(args.attestation), args.attestation)
    with Repository(Path(args.root)) as repository:
        keygen = SshKeygen(repository.root, attestation.NAMESPACE)
        signers = _signers(args, repository, artifact)
        try:
            who = attestation.voucher(envelope, signers, keygen, dt.datetime.now(dt.UTC))
        except EvidenceError as error:
            return [f"{args.attestation}: {error}"], ""
    return list(
        attestation.disagreements(envelope, artifact)
    ), f"attested by {safe(who.principal)} with {who.fingerprint}\n"


def _signers(args: argparse.Namespace, repository: Repository, artifact: ObligationMap) -> Signers:
    """The list that was named, else the one that base holds: never the one that the patch brings."""
    from linewitness.attestation import Signers
    from linewitness.cli.stored import read_bytes
    from linewitness.errors import UsageError
    from linewitness.trust.builtin import revocations_beside
    from linewitness.verification import read_base

    if args.signers:
        return Signers(read_bytes(args.signers), args.signers)
    data = read_base(repository, artifact, ATTESTERS)
    if data is None:
        raise UsageError(f"base has no {ATTESTERS}: name the list of those whose statements count with --signers FILE")
    return Signers(data, ATTESTERS, read_base(repository, artifact, revocations_beside(ATTESTERS)))
