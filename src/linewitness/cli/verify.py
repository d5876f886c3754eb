"""``linewitness verify MAP``: whether a map is sound and about this tree."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Final

from linewitness.console import Console, safe
from linewitness.errors import Exit
from linewitness.obligation_map import ObligationMap

NAME: Final = "verify"
HELP: Final = "check that a stored map is sound and about this tree"


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
    for trouble in troubles:
        console.result(f"{safe(name)}: {safe(trouble)}\n")
    if troubles:
        return Exit.EVIDENCE
    about = "compared with nothing" if args.no_compare else "about this head, these settings and these waivers"
    console.result(f"{safe(name)}: sound, {about}\n{words.verdict(artifact)}\n{words.exit_line(artifact)}\n")
    return artifact.exit


def _differences(args: argparse.Namespace, artifact: ObligationMap) -> list[str]:
    from linewitness.patch.repository import Repository
    from linewitness.verification import differences, present

    with Repository(Path(args.root)) as repository:
        return list(differences(artifact, present(repository, args.head, artifact)))
