"""``linewitness report MAP``: tell a stored map again."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from linewitness.console import Console, Screen

if TYPE_CHECKING:
    from linewitness.reports import View

NAME: Final = "report"
HELP: Final = "render a stored map again"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    from linewitness.reports import FORMATS

    names = tuple(row.name for row in FORMATS)
    parser.add_argument(
        "map", metavar="MAP", nargs="?", help="the map, - for standard input (default: the one the last check stored)"
    )
    parser.add_argument(
        "--format", metavar="FORMAT", choices=names, default="text", help=f"{', '.join(names)} (default: text)"
    )
    parser.add_argument("-o", "--output", metavar="FILE", help="write there instead of to standard output")


def run(args: argparse.Namespace) -> int:
    """Render the map; 0 when that was possible, whatever the map says. Its verdict is what `verify` is for."""
    from linewitness.cli.stored import chosen, read_map
    from linewitness.reports import render

    deliver(args.console, render(read_map(chosen(args.map)), args.format, view(args)), args.output)
    return 0


def view(args: argparse.Namespace) -> View:
    """How the report that was asked for will be looked at: a file has no colours and is UTF-8."""
    return view_of(args, "" if args.map == "-" else args.map, to_file=bool(args.output))


def view_of(args: argparse.Namespace, map_file: str | None, *, to_file: bool) -> View:
    """How a report about the map in ``map_file`` will be looked at, on this console or in a file."""
    from linewitness.reports import View

    console: Console = args.console
    screen = Screen(color=False, width=console.screen.width) if to_file else console.screen
    return View(screen, args.verbose > 0, map_file, "utf-8" if to_file else console.encoding)


def deliver(console: Console, pieces: Iterable[bytes], output: str | None) -> None:
    """Write a report to a file, whole or not at all, or to standard output."""
    from linewitness.atomic import write_bytes

    if output and output != "-":
        write_bytes(output, pieces)
        return
    for piece in pieces:
        console.result(piece)
