"""What every judging command does with its map: store it, tell it, and end with the status that it implies."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from linewitness.console import Console
from linewitness.obligation_map import ObligationMap


def add_output_options(parser: argparse.ArgumentParser) -> None:
    """Add where the map goes, how it is told, and which day it is."""
    parser.add_argument(
        *("--map", "--out"), dest="map", metavar="FILE", help="where the map goes (default: inside the git directory)"
    )
    parser.add_argument(
        "--report",
        metavar="FORMAT[:FILE]",
        type=_wish,
        action="append",
        default=[],
        help="tell the map as text (default), agent, json, html, markdown, github, sarif, junit, gitlab, cobertura or "
        "rdjsonl, to standard output or a file; repeatable",
    )
    parser.add_argument(
        "--line-hash", choices=("sha256-16", "sha1-12"), default="sha256-16", help="how lines are identified in the map"
    )
    parser.add_argument("--today", metavar="DATE", help="judge waivers as of this day; recorded in the map")
    parser.set_defaults(map_stays=True)


def _wish(text: str) -> str:
    """A wish for a report, refused before any work is done when there is no such format. Errors: UsageError."""
    from linewitness.reports import find

    find(text.partition(":")[0])
    return text


def deliver(artifact: ObligationMap, args: argparse.Namespace, default: str | None = None) -> int:
    """Write the map atomically, render the reports, and return the exit status that the map implies.

    ``default`` is where the map goes when nobody names a file, empty for nowhere; ``None`` has it looked for.
    """
    from linewitness.atomic import write_bytes
    from linewitness.cli.stored import default_map
    from linewitness.obligation_map import encode

    console: Console = args.console
    target = args.map or (default_map(args.root) if default is None else default)
    if target == "-":
        for piece in encode(artifact):
            console.result(piece)
    elif target:
        os.makedirs(Path(target).parent, exist_ok=True)
        write_bytes(target, encode(artifact))
        console.detail(f"the map is in {target}")
    stored = _as_named_later(target, args)
    for wish in args.report or ([] if target == "-" else ["text"]):
        _tell(artifact, wish, stored, args)
    return artifact.exit


def _as_named_later(target: str, args: argparse.Namespace) -> str | None:
    """The map as suggested commands name it, as in :class:`linewitness.reports.View`.

    Commands look into the repository around the current folder by themselves; a map elsewhere has to be named, and
    one that the reader will not have there (``map_stays``) cannot be.
    """
    if target == "-" or not args.map_stays:
        return ""
    return None if target and not args.map and args.root == Path() else target


def _tell(artifact: ObligationMap, wish: str, stored: str | None, args: argparse.Namespace) -> None:
    from linewitness.cli.report import deliver as write
    from linewitness.cli.report import view_of
    from linewitness.reports import render

    name, _, file = wish.partition(":")
    to_file = bool(file) and file != "-"
    view = view_of(args, stored, to_file=to_file)
    write(args.console, render(artifact, name, view), file if to_file else None)
