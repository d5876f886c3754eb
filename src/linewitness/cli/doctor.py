"""``linewitness doctor``: what is missing or weak here, and what mends it."""

from __future__ import annotations

import argparse
import datetime as dt
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

from linewitness.console import Console, Screen, safe
from linewitness.errors import Exit

if TYPE_CHECKING:
    from linewitness.onboarding.checkup import Report
    from linewitness.onboarding.trouble import Trouble

NAME: Final = "doctor"
HELP: Final = "say what is missing or weak here, and what mends it"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("--base", metavar="REF", help="target branch, as for check (default: the remote's)")
    parser.add_argument("--head", metavar="REF", default="HEAD", help="commit to examine (default: HEAD)")
    parser.add_argument("--root", metavar="DIR", default=".", help="a folder of the repository (default: this one)")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="how to show it (default: text)")


def run(args: argparse.Namespace) -> int:
    """Show the troubles; 1 when one of them would keep the gate closed, whatever the patch does."""
    from linewitness.case import Question
    from linewitness.onboarding.checkup import examine

    console: Console = args.console
    report = examine(Path(args.root), Question(args.base, args.head), dt.datetime.now(dt.UTC).date())
    if args.format == "json":
        console.result(_json(report))
    else:
        for line in _lines(report, console.screen):
            console.result(f"{line}\n")
    return Exit.CLOSED if report.closes else Exit.OPEN


def _json(report: Report) -> bytes:
    import json

    value = {
        "base": report.base,
        "closes": report.closes,
        "head": report.head,
        "troubles": [trouble._asdict() for trouble in report.troubles],
    }
    return json.dumps(value, indent=2, sort_keys=True).encode() + b"\n"


def _lines(report: Report, screen: Screen) -> Iterator[str]:
    yield screen.paint(_summary(report), "bold", "red" if report.closes else "green")
    for trouble in report.troubles:
        yield ""
        yield from _trouble(trouble, screen)
    if not report.closes:
        yield ""
        yield f"  {'next:':<9}{screen.paint('linewitness check', 'cyan')}"


def _summary(report: Report) -> str:
    from linewitness.reports.words import plural

    closing = sum(trouble.closes for trouble in report.troubles)
    weak = len(report.troubles) - closing
    if not report.troubles:
        return "nothing is missing here"
    if not closing:
        return f"nothing keeps the gate closed here; {plural(weak, 'weakness', 'weaknesses')}"
    rest = f"; {plural(weak, 'weakness', 'weaknesses')} besides" if weak else ""
    keeps = "thing keeps" if closing == 1 else "things keep"
    return f"{closing} {keeps} the gate closed here{rest}"


def _trouble(trouble: Trouble, screen: Screen) -> Iterator[str]:
    from linewitness.console import wrap
    from linewitness.reports.words import place

    word = screen.paint("closed", "red") if trouble.closes else screen.paint("weak", "yellow")
    where = f"  {safe(place(trouble.path, trouble.line))}" if trouble.path else ""
    yield f"{word}: {screen.paint(trouble.check, 'bold')}{where}"
    yield from (f"  {line}" for line in wrap(safe(trouble.message), screen.width - 2))
    if trouble.command:
        yield f"  {'mend:':<9}{screen.paint(trouble.command, 'cyan')}"
