"""``linewitness guard paths|hook|exec|install|pre-commit|pre-receive``: the denylist brought to where agents run."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from linewitness.cli.parser import Parser
from linewitness.console import Console, safe
from linewitness.errors import Exit, UsageError

NAME: Final = "guard"
HELP: Final = "keep agents from protected paths: hooks, a read-only shell, git hooks"
_AGENTS: Final = ("claude", "codex", "gemini", "cursor", "copilot", "openhands")


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the sub-commands."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True, parser_class=Parser)
    _paths(actions.add_parser("paths", help="print the globs of protected content"))
    hook = actions.add_parser("hook", help="answer an agent's question before it uses a tool (on standard input)")
    hook.add_argument("agent", metavar="AGENT", help=", ".join(_AGENTS))
    _exec(actions.add_parser("exec", help="run a command for which protected paths are read-only"))
    _install(actions.add_parser("install", help="write hook settings of an agent, or a hook of git"))
    commit = actions.add_parser("pre-commit", help="refuse staged changes of protected content (called by git)")
    commit.add_argument("--root", metavar="DIR", default=".", help="a folder of the checkout")
    receive = actions.add_parser("pre-receive", help="refuse pushed changes without approval (called by git)")
    receive.add_argument("--root", metavar="DIR", default=".", help="the repository that receives (default: this one)")
    receive.add_argument("--target", metavar="BRANCH", default="", help="the branch that patches are for")


def _paths(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--format", choices=("globs", "json"), default="globs", help="one per line, or a JSON object")
    parser.add_argument("--root", metavar="DIR", default=".", help="a folder of the checkout (default: this one)")


def _exec(parser: argparse.ArgumentParser) -> None:
    means = ("auto", "bwrap", "landlock")
    parser.add_argument("--means", choices=means, default="auto", help="how protected paths are made read-only")
    parser.add_argument("--root", metavar="DIR", default=".", help="a folder of the checkout (default: this one)")
    parser.add_argument("command", metavar="COMMAND", nargs=argparse.REMAINDER, help="the command with its arguments")


def _install(parser: argparse.ArgumentParser) -> None:
    targets = (*_AGENTS, "pre-commit", "pre-receive")
    parser.add_argument("target", metavar="TARGET", help=", ".join(targets))
    parser.add_argument("--dry-run", action="store_true", help="show what would be written, and write nothing")
    parser.add_argument("--root", metavar="DIR", default=".", help="a folder of the repository (default: this one)")


def run(args: argparse.Namespace) -> int:
    """Do what was asked for; see each action."""
    console: Console = args.console
    match args.action:
        case "paths":
            return _tell_paths(args.root, args.format, console)
        case "exec":
            return _run(args.command, args.root, args.means, console)
        case "install":
            return _write(args.target, args.root, args.dry_run, console)
        case "pre-commit":
            return _staged(args.root, console)
        case "pre-receive":
            return _received(args.root, args.target, console)
        case _:
            from linewitness.guard.hook import main_of_process

            return main_of_process([args.agent])


def _tell_paths(root: str, form: str, console: Console) -> int:
    from linewitness.guard.places import around

    if not os.path.isdir(root):
        raise UsageError("there is no such folder", path=root)
    found = around(os.path.abspath(root)).rules
    globs = list(dict.fromkeys(glob for rules in found for glob in rules.globs()))
    if form == "globs":
        console.result("".join(f"{safe(glob)}\n" for glob in globs))
        return Exit.OPEN
    import json

    shared = [path for path in _SHARED if any(rules.shares(path) for rules in found)]
    told = {"globs": globs, "partly": shared, "folded": True, "steered": any(map(_is_steered, found))}
    console.result(json.dumps(told, indent=2) + "\n")
    return Exit.OPEN


_SHARED: Final = ("pyproject.toml", "setup.cfg", "tox.ini")


def _is_steered(rules: object) -> bool:
    from linewitness.guard.rules import Rules

    return isinstance(rules, Rules) and rules.chosen.steered


def _run(command: Sequence[str], root: str, wanted: str, console: Console) -> int:
    from linewitness.guard import jail

    words = list(command[1:] if command[:1] == ["--"] else command)
    if not words:
        raise UsageError("`guard exec` takes a command, as in `linewitness guard exec -- claude`")
    if not os.path.isdir(root):
        raise UsageError("there is no such folder", path=root)
    means = jail.means(wanted)
    console.note(f"protected paths are read-only by {means.name}")
    return jail.run(words, os.path.abspath(root), os.environ, means)


def _write(target: str, root: str, dry_run: bool, console: Console) -> int:
    from linewitness.guard import install

    planned = install.plan(target, Path(root))
    for line in planned.told(dry_run=dry_run):
        console.result(safe(line) + "\n")
    if not dry_run:
        install.write(planned)
    return Exit.OPEN


def _staged(root: str, console: Console) -> int:
    from linewitness.guard.staged import findings

    return _tell(findings(Path(root)), console, "this commit")


def _received(root: str, target: str, console: Console) -> int:
    from linewitness.guard.receive import Update, refusals

    updates = [Update.parse(line) for line in sys.stdin.buffer.read().splitlines()]
    return _tell(refusals(Path(root), updates, target), console, "this push")


def _tell(refused: Sequence[str], console: Console, what: str) -> int:
    for line in refused:
        console.complain(safe(line))
    if refused:
        console.complain(f"{what} is refused: protected content is changed by its owners, with an approval")
    return Exit.PROTECTED if refused else Exit.OPEN
