"""Options: ``argparse`` with helpful refusals and with twins in the environment.

An option in :data:`TWINS` may also be given as a variable (``--base`` as ``LINEWITNESS_BASE``); the command line wins.
The table is a closed list on purpose. Whoever can set a variable must not be able to move the date, name other
settings, waivers or evidence, or weaken a sandbox, so none of these has a twin; and a variable that chooses what is
judged is announced on the error stream whenever it is used.
"""

from __future__ import annotations

import argparse
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Final, Never

from linewitness.errors import UsageError
from linewitness.hints import did_you_mean

TWINS: Final = frozenset({"--base", "--color", "--map", "--out", "--output", "--report"})
ANNOUNCED: Final = frozenset({"--base"})
_PREFIX: Final = "LINEWITNESS_"


class ParserExit(Exception):  # noqa: N818 - no failure: help was asked for and shown
    """Parsing is over and there is nothing to run. ``status`` is the exit status."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


class Parser(argparse.ArgumentParser):
    """A parser that raises :class:`UsageError` instead of printing and exiting, and that knows what was meant."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        # An abbreviation that works today becomes ambiguous with the next option: scripts must not depend on one.
        super().__init__(*args, **{"allow_abbrev": False} | kwargs)

    def error(self, message: str) -> Never:
        """Raise the refusal with a pointer to the help of this command."""
        raise UsageError(f"{message} (`{self.prog} --help` lists what there is)")

    def exit(self, status: int = 0, message: str | None = None) -> Never:  # noqa: ARG002 - argparse's signature
        """Leave the parser; ``--help`` comes here."""
        raise ParserExit(status)

    def parse_all(self, argv: Sequence[str], namespace: argparse.Namespace) -> argparse.Namespace:
        """Parse ``argv`` whole. Errors: :class:`UsageError` with the nearest option for an unknown one."""
        parsed, unknown = self.parse_known_args(argv, namespace)
        for word in unknown:
            if word.startswith("-") and word != "-":
                name = word.partition("=")[0]
                self.error(f"unknown option `{name}`{did_you_mean(name, self.options())}")
            self.error(f"unexpected argument `{word}`")
        return parsed

    def actions(self) -> Iterator[argparse.Action]:
        """Every argument of this parser, without those of its sub-commands. argparse has no public way to ask."""
        yield from self._actions

    def subparsers(self) -> Mapping[str, Parser]:
        """The parsers of sub-commands by name; empty when there are none."""
        for action in self._actions:
            if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001 - the only handle argparse gives
                return dict(action.choices)
        return {}

    def options(self) -> Iterator[str]:
        """Every option of this parser and of its sub-commands."""
        for parser in (self, *self.subparsers().values()):
            for action in parser.actions():
                yield from action.option_strings

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        choices = action.choices
        if choices is None or value in choices:
            return
        names = [str(choice) for choice in choices]
        raise argparse.ArgumentError(
            action, f"`{value}` is not one of {', '.join(names)}{did_you_mean(str(value), names)}"
        )


def variable(option: str) -> str:
    """The environment variable that is the twin of a long option: ``--base`` has ``LINEWITNESS_BASE``."""
    return _PREFIX + option.removeprefix("--").replace("-", "_").upper()


def twin_of(action: argparse.Action) -> str:
    """The long option of ``action`` that has a twin, or nothing."""
    return next((option for option in action.option_strings if option in TWINS), "")


def show_twins(parser: Parser) -> None:
    """Name each option's variable in the help."""
    for action in parser.actions():
        option = twin_of(action)
        if option and action.help is not argparse.SUPPRESS:
            action.help = f"{action.help or ''} [env: {variable(option)}]".lstrip()


def with_environment(
    parser: Parser, argv: Sequence[str], environ: Mapping[str, str], without: Collection[str] = ()
) -> tuple[list[str], list[str]]:
    """Put options that only the environment gives before ``argv``; also the options so taken.

    Options in ``without`` are left alone. An empty variable is as good as none.
    """
    given = list(argv)
    words = given[: given.index("--")] if "--" in given else given
    front: list[str] = []
    taken: list[str] = []
    for action in parser.actions():
        option = twin_of(action)
        value = environ.get(variable(option), "") if option and option not in without else ""
        if value and not any(_names(word, action.option_strings) for word in words):
            front.append(f"{option}={value}")
            taken.append(option)
    return front + given, taken


def _names(word: str, options: Sequence[str]) -> bool:
    """Whether a word of the command line gives one of these options: ``--out``, ``--out=x``, ``-o``, ``-ox``."""
    return any(word == option or word.startswith(f"{option}=" if option[1:2] == "-" else option) for option in options)
