"""The table of commands. Help is shown from it, so that asking for help imports no command."""

from __future__ import annotations

import argparse
from importlib import import_module
from typing import Final, Protocol, cast

from linewitness.errors import UsageError
from linewitness.hints import did_you_mean
from linewitness.values import NamedTuple


class CommandModule(Protocol):
    """What a module of a command offers."""

    NAME: str
    HELP: str

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Add the command's options and arguments."""
        ...

    def run(self, args: argparse.Namespace) -> int:
        """Do the work; the exit status. Failures that are the user's are raised."""
        ...


class Command(NamedTuple):
    """One row of the table."""

    name: str
    module: str
    help: str


COMMANDS: Final = (
    Command("check", "linewitness.cli.check", "judge a patch: the whole gate"),
    Command("map", "linewitness.cli.map", "score somebody else's diff and coverage export"),
    Command("explain", "linewitness.cli.explain", "explain a finding code, or the obligation at PATH:LINE"),
    Command("approve", "linewitness.cli.approve", "sign a commit that vouches for changed protected content"),
    Command("waive", "linewitness.cli.waive", "record a waiver for one line"),
    Command("waivers", "linewitness.cli.waivers", "list, check or prune waivers"),
    Command("corpus", "linewitness.cli.corpus", "freeze a corpus, or verify its manifest"),
    Command("relations", "linewitness.cli.relations", "list relations; draft, try and accept new ones"),
    Command("ci", "linewitness.cli.ci", "judge the patch of a CI job: github, gitlab"),
    Command("guard", "linewitness.cli.guard", "keep agents from protected paths: hooks, a read-only shell, git hooks"),
    Command("init", "linewitness.cli.init", "prepare a repository for the gate"),
    Command("doctor", "linewitness.cli.doctor", "say what is missing or weak here, and what mends it"),
    Command("report", "linewitness.cli.report", "render a stored map again"),
    Command("verify", "linewitness.cli.verify", "check that a stored map is sound and about this tree"),
    Command("attest", "linewitness.cli.attest", "sign a statement about a stored map"),
    Command("schema", "linewitness.cli.schema", "print a JSON Schema"),
    Command("demo", "linewitness.cli.demo", "show a gate that closes and then opens, in a temporary folder"),
    Command("completions", "linewitness.cli.completions", "print completions for a shell"),
)


def find(name: str) -> Command:
    """The command called ``name``. Errors: :class:`UsageError` with the nearest name."""
    for command in COMMANDS:
        if command.name == name:
            return command
    hint = did_you_mean(name, (command.name for command in COMMANDS))
    raise UsageError(f"there is no command `{name}`{hint}")


def load(command: Command) -> CommandModule:
    """Import a command. Errors: :class:`UsageError` when this installation lacks it."""
    try:
        return cast("CommandModule", import_module(command.module))
    except ModuleNotFoundError as error:
        if error.name != command.module:
            raise
        raise UsageError(f"the command `{command.name}` is not part of this installation") from error
