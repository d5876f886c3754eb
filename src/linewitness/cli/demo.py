"""``linewitness demo``: see the gate close and open."""

from __future__ import annotations

import argparse
import contextlib
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final, assert_never

from linewitness.errors import Exit

if TYPE_CHECKING:
    from linewitness.console import Console
    from linewitness.onboarding.demonstration import Event, Judged

NAME: Final = "demo"
HELP: Final = "show a gate that closes and then opens, in a temporary folder"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("--keep", action="store_true", help="keep the folder, and say where it is")


def run(args: argparse.Namespace) -> int:
    """Play the demonstration; 0 when every verdict was the one that it promises."""
    from linewitness.onboarding import demonstration

    console: Console = args.console
    surprises = 0
    with _folder(args.keep) as folder:
        for number, event in enumerate(demonstration.perform(folder, console.detail)):
            console.result(_shown(event, console, number))
            console.flush()
            if isinstance(event, demonstration.Judged):
                surprises += not event.as_expected
                _store(event, folder)
        if args.keep:
            console.result(f"\nThe repository is at {folder}\n")
    if surprises:
        console.complain(f"{surprises} of the verdicts above are not the ones that the demonstration promises")
        return Exit.CLOSED
    return Exit.OPEN


@contextlib.contextmanager
def _folder(keep: bool) -> Iterator[Path]:
    if keep:
        yield Path(tempfile.mkdtemp(prefix="linewitness-demo-"))
        return
    with tempfile.TemporaryDirectory(prefix="linewitness-demo-", ignore_cleanup_errors=True) as folder:
        yield Path(folder)


def _shown(event: Event, console: Console, number: int) -> str:
    from linewitness.console import wrap
    from linewitness.onboarding.demonstration import Heading, Judged, Narration, Ran

    screen = console.screen
    match event:
        case Heading(text):
            return f"{'' if number == 0 else chr(10)}{screen.paint(f'== {text}', 'bold')}\n\n"
        case Narration(text):
            return "\n".join(wrap(text, screen.width)) + "\n\n"
        case Ran(command, output):
            return f"{screen.paint(f'$ {command}', 'cyan')}\n{_indented(output)}\n\n"
        case Judged(command, _, _):
            return f"{screen.paint(f'$ {command}', 'cyan')}\n{_indented(_screen(event, console))}\n\n"
        case _:
            assert_never(event)


def _screen(event: Judged, console: Console) -> str:
    """The report exactly as ``check`` shows it."""
    from linewitness.console import Screen
    from linewitness.reports import View, render

    view = View(Screen(console.screen.color, console.screen.width - 2), encoding=console.encoding)
    return b"".join(render(event.artifact, "text", view)).decode(console.encoding)


def _indented(text: str) -> str:
    return "\n".join(f"  {line}".rstrip() for line in text.rstrip("\n").split("\n"))


def _store(event: Judged, folder: Path) -> None:
    """Keep the map where the commands that the report suggests will look for it."""
    from linewitness.atomic import write_bytes
    from linewitness.cli.stored import default_map
    from linewitness.obligation_map import encode

    place = Path(default_map(folder))
    place.parent.mkdir(parents=True, exist_ok=True)
    write_bytes(place, encode(event.artifact))
