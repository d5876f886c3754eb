"""From a command line to an exit status: the one boundary where failures become text.

Three kinds are told apart. A :class:`LinewitnessError` is the user's to mend and ends with the status of its family. An
interrupt ends with 130. Anything else is a bug of ours and ends with 70, never with 0 and never with a bare traceback.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from typing import Final, TextIO

from linewitness._version import __version__
from linewitness.cli import commands
from linewitness.cli.parser import ANNOUNCED, Parser, ParserExit, show_twins, variable, with_environment
from linewitness.console import Console, screen_for
from linewitness.errors import Exit, LinewitnessError, UsageError
from linewitness.findings import CODES, EXIT_MEANING
from linewitness.values import NamedTuple

_COMMON_DEFAULTS: Final[Mapping[str, object]] = {"quiet": 0, "verbose": 0, "color": "auto"}
_SUMMARY: Final = "A merge gate for patches: every changed executable line needs a witness that its author cannot edit."


class Process(NamedTuple):
    """What the command line uses of its surroundings."""

    environ: Mapping[str, str]
    out: TextIO
    err: TextIO


def main_of_process() -> int:
    """Run the command line of this very process."""
    # Maps of big patches are many small tuples without cycles: looking through them again and again costs a fifth.
    gc.set_threshold(100_000, 50, 50)
    if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        # A cancelled CI job ends as Ctrl-C does: programs stopped, folders removed, status 130.
        signal.signal(signal.SIGTERM, signal.default_int_handler)
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            # A name that the locale cannot write is shown with escapes; it must not end the program.
            reconfigure(errors="backslashreplace")
    with open(os.devnull, "w", encoding="utf-8") as nowhere:
        # A stream that was closed before the start is None.
        return main(sys.argv[1:], Process(os.environ, sys.stdout or nowhere, sys.stderr or nowhere))


def main(argv: Sequence[str], process: Process) -> int:
    """Run one command line. Never raises; the result is the exit status of the process."""
    console = Console(process.out, process.err)
    try:
        status = int(_dispatch(argv, process))
        console.flush()
    except ParserExit as done:
        status = done.status
    except LinewitnessError as error:
        _tell(error, console)
        status = error.exit
    except KeyboardInterrupt:
        console.complain("interrupted")
        status = Exit.INTERRUPTED
    except BrokenPipeError:
        # The reader went away. The verdict was not delivered whole, so this must not look like an open gate.
        status = Exit.INTERRUPTED
    except (Exception, SystemExit) as error:  # noqa: BLE001 - the boundary: a bug becomes a report and status 70
        _report_bug(error, argv, console)
        status = Exit.INTERNAL
    _settle(process.out)
    return int(status)


def _dispatch(argv: Sequence[str], process: Process) -> int:
    top = top_parser()
    front, tail = _split(argv)
    asked = _parse(top, front, process, argparse.Namespace(**_COMMON_DEFAULTS))
    if not tail:
        process.err.write(top.format_help())
        return Exit.USAGE
    command = commands.find(tail[0])
    module = commands.load(command)
    # A fresh value, so that a command may call its own arguments whatever it likes.
    common = argparse.Namespace(**{name: getattr(asked, name) for name in _COMMON_DEFAULTS})
    args = _parse(command_parser(command, module), tail[1:], process, common, without=top)
    args.console = _console(args, process)
    for option in args.from_environment:
        if option in ANNOUNCED:
            args.console.note(f"{option} {process.environ[variable(option)]} comes from {variable(option)}")
    return module.run(args)


def _split(argv: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    """Part the common options in front from the command and its words; argparse would swallow a ``--`` among these."""
    at = 0
    while at < len(argv) and argv[at].startswith("-"):
        at += 2 if argv[at] == "--color" else 1
    return argv[:at], argv[at:]


def _parse(
    parser: Parser, argv: Sequence[str], process: Process, into: argparse.Namespace, *, without: Parser | None = None
) -> argparse.Namespace:
    """Parse with the environment's options in front, save those that the parser ``without`` has dealt with."""
    known = frozenset(without.options()) if without else frozenset()
    words, taken = with_environment(parser, argv, process.environ, known)
    try:
        parsed = parser.parse_all(words, into)
    except UsageError as error:
        raise _blame_environment(error, taken) from error
    parsed.from_environment = tuple(taken)
    return parsed


def _blame_environment(error: UsageError, taken: Sequence[str]) -> UsageError:
    """Say which variable brought an option in that the user never typed."""
    for option in taken:
        if option in error.message:
            return UsageError(f"{error.message}; {option} comes from the variable {variable(option)}")
    return error


def _console(args: argparse.Namespace, process: Process) -> Console:
    screen = screen_for(process.out, args.color, process.environ)
    return Console(process.out, process.err, screen, args.verbose - args.quiet)


def _add_common(parser: Parser) -> None:
    """The options that stand before or after the command's name."""
    group = parser.add_argument_group("common options")
    keep = argparse.SUPPRESS
    group.add_argument("-q", "--quiet", action="count", default=keep, help="say less on the error stream")
    group.add_argument("-v", "--verbose", action="count", default=keep, help="show everything; repeat for more")
    group.add_argument(
        "--color", choices=("auto", "always", "never"), default=keep, metavar="WHEN", help="auto, always or never"
    )


def top_parser() -> Parser:
    """The parser of what stands before the command's name."""
    rows = "\n".join(f"  {command.name:<12} {command.help}" for command in commands.COMMANDS)
    statuses = "\n".join(f"  {status.value:>3}  {meaning}" for status, meaning in EXIT_MEANING.items())
    parser = Parser(
        prog="linewitness",
        usage="linewitness [-q] [-v] [--color WHEN] COMMAND ...",
        description=_SUMMARY,
        epilog=f"commands (`linewitness COMMAND --help` tells more):\n{rows}\n\nexit status:\n{statuses}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("-V", "--version", action="version", version=f"linewitness {__version__}")
    _add_common(parser)
    show_twins(parser)
    return parser


def command_parser(command: commands.Command, module: commands.CommandModule) -> Parser:
    """The parser of one command, its own options first."""
    parser = Parser(prog=f"linewitness {command.name}", description=f"{module.HELP[:1].upper()}{module.HELP[1:]}.")
    module.configure(parser)
    _add_common(parser)
    show_twins(parser)
    return parser


def _tell(error: LinewitnessError, console: Console) -> None:
    code = f" [{error.code}]" if error.code else ""
    lines = [f"error: {error}{code}"]
    if error.code in CODES:
        lines.append(f"`linewitness explain {error.code}` tells what it means and what to do")
    console.complain("\n".join(lines))


def _report_bug(error: BaseException, argv: Sequence[str], console: Console) -> None:
    from linewitness.cli.bug import describe, store

    text = describe(error, argv)
    place = store(text)
    console.complain(f"internal error: {type(error).__name__}: {error}\nThis is a bug in linewitness, and no verdict.")
    if not place or any(word in {"-v", "-vv", "--verbose"} for word in argv):
        console.complain(text)
    if place:
        console.complain(f"Please report it, and attach {place}")


def _settle(out: TextIO) -> None:
    """Flush the result. What cannot be written goes nowhere, or the interpreter would fail on it again at its end."""
    try:
        out.flush()
    except (OSError, ValueError):
        with contextlib.suppress(OSError, ValueError):
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, out.fileno())
            os.close(nowhere)
