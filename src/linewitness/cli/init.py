"""``linewitness init``: prepare a repository for the gate."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

from linewitness.console import Console, safe
from linewitness.errors import Exit

if TYPE_CHECKING:
    from linewitness.onboarding.scaffold import Plan

NAME: Final = "init"
HELP: Final = "prepare a repository for the gate"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("--dry-run", action="store_true", help="say what would be written, and write nothing")
    parser.add_argument(
        "--owner", metavar="HANDLE", default="", help="who owns protected paths, for CODEOWNERS: @org/team"
    )
    parser.add_argument(
        "--ci", choices=("github", "gitlab", "none"), default="none", help="also write the job of a CI service"
    )
    parser.add_argument(
        "--agent", metavar="NAME", action="append", default=[], help="also write the hook of an agent; repeat for more"
    )
    parser.add_argument("--root", metavar="DIR", default=".", help="a folder of the repository (default: this one)")


def run(args: argparse.Namespace) -> int:
    """Write what is missing; nothing that exists is touched."""
    from linewitness.onboarding import scaffold
    from linewitness.patch.repository import Repository

    console: Console = args.console
    with Repository(Path(args.root)) as repository:
        planned = scaffold.plan(repository, args.owner, args.ci, args.agent)
    if not args.dry_run:
        scaffold.write(planned)
    for line in _lines(planned, args.dry_run, console):
        console.result(f"{line}\n")
    return Exit.OPEN


def _lines(planned: Plan, dry_run: bool, console: Console) -> Iterator[str]:
    from linewitness.console import wrap
    from linewitness.onboarding.present import State

    paint = console.screen.paint
    width = max(len(item.path) for item in planned.items)
    words = {State.CREATE: "created", State.COMPLETE: "completed"}
    if dry_run:
        words = {State.CREATE: "would create", State.COMPLETE: "would add to"}
    for item in planned.items:
        word = paint(f"{words[item.state]:<12}", "green") if item.state in words else f"{'left alone':<12}"
        if 14 + width + 2 + len(item.purpose) <= console.screen.width:
            yield f"{word}  {safe(item.path):<{width}}  {item.purpose}"
        else:
            yield f"{word}  {safe(item.path)}"
            yield from (f"              {line}" for line in wrap(item.purpose, console.screen.width - 14))
        if dry_run and item.state is State.CREATE and item.path.endswith(".toml"):
            yield from (f"              | {line}".rstrip() for line in item.content.decode().splitlines())
        if item.note:
            yield from (f"              {safe(line)}" for line in item.note.split("\n"))
    yield ""
    yield paint("What a person still has to do:", "bold")
    for number, todo in enumerate(planned.by_hand, 1):
        first, *rest = wrap(safe(todo.text), console.screen.width - 5)
        yield f"  {number}. {first}"
        yield from (f"     {line}" for line in rest)
        if todo.command:
            yield f"       {paint(todo.command, 'cyan')}"
