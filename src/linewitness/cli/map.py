"""``linewitness map``: the mapper alone, on somebody else's diff and export."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from linewitness.cli.check import path_maps
from linewitness.cli.outcome import add_output_options, deliver

NAME = "map"
HELP = "score somebody else's diff and coverage export"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    parser.add_argument("--diff", metavar="FILE", required=True, help="a unified diff, or - for standard input")
    parser.add_argument(
        "--cov", metavar="FILE", type=Path, action="append", required=True, help="a coverage export; repeat for shards"
    )
    parser.add_argument("--cov-format", metavar="FORMAT", help="the format of the exports (default: by content)")
    parser.add_argument("--waivers", metavar="FILE", type=Path, help="the waiver file (default: none)")
    parser.add_argument("--root", metavar="DIR", type=Path, default=Path(), help="where the diff's files lie")
    parser.add_argument("--path-map", metavar="FROM=TO", action="append", default=[], help="rewrite paths of exports")
    add_output_options(parser)


def run(args: argparse.Namespace) -> int:
    """Score, write the map, render, and return the exit status that the map implies."""
    from linewitness.gate import Exports
    from linewitness.mapper import MapRequest, score

    request = MapRequest(
        diff=_diff(args.diff),
        root=args.root,
        exports=Exports(tuple(args.cov), args.cov_format, path_maps(args.path_map)),
        waivers=args.waivers,
        today=args.today,
        line_hash=args.line_hash,
    )
    return deliver(score(request), args)


def _diff(name: str) -> bytes:
    from linewitness.errors import PatchError

    if name == "-":
        return sys.stdin.buffer.read()
    try:
        return Path(name).read_bytes()
    except OSError as error:
        raise PatchError(f"the diff cannot be read: {error.strerror}", path=name) from error
