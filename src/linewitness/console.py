"""The terminal, fenced once: what may reach a screen, how wide it is, and whether it has colours.

File names, source lines and messages come from whoever wrote the patch. On a screen they must not move the
cursor, change a title, hide text or reverse it, so everything that is shown passes through :func:`safe`.
"""

from __future__ import annotations

import contextlib
import os
import unicodedata
from collections.abc import Iterator, Mapping
from typing import TextIO

from linewitness.errors import UsageError
from linewitness.patterns import late
from linewitness.values import NamedTuple

RESET = "\x1b[0m"
STYLES: Mapping[str, str] = {
    "bold": "\x1b[1m",
    "dim": "\x1b[2m",
    "red": "\x1b[31m",
    "green": "\x1b[32m",
    "yellow": "\x1b[33m",
    "cyan": "\x1b[36m",
}

_MIN_WIDTH = 40
_DEFAULT_WIDTH = 100


def safe(text: str) -> str:
    r"""``text`` with everything that a terminal might act upon, or not show, turned into a visible escape.

    Control characters (C0, C1, DEL), and with them terminal sequences, bidirectional and zero-width controls, line
    separators and unassigned characters become ``\n``, ``\x1b`` or ``\u202e``; a byte of a name that is not UTF-8 (a
    surrogate escape) becomes ``\xff``. Letters, marks and symbols of all scripts, and plain spaces of any kind, stay.
    """
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() or unicodedata.category(char) == "Zs" else _escape(char) for char in text)


def _escape(char: str) -> str:
    code = ord(char)
    if 0xDC80 <= code <= 0xDCFF:
        code -= 0xDC00
    elif code >= 0x10000:
        return f"\\U{code:08x}"
    elif code > 0xFF:
        return f"\\u{code:04x}"
    named = {9: "\\t", 10: "\\n", 13: "\\r"}
    return named.get(code, f"\\x{code:02x}")


_SERVER_COMMAND = late(r"##(\w*)\[")


def inert(line: str) -> str:
    r"""A line of a log that no CI server takes for a command to itself, whoever wrote parts of it.

    GitHub obeys lines that begin with ``::``, blanks aside, and ``##[...]`` anywhere in a line; Azure Pipelines obeys
    ``##vso[...]`` and TeamCity ``##teamcity[...]``. The characters that make the command become ``\x3a`` and ``\x5b``.
    """
    if line.lstrip().startswith("::"):
        line = line.replace(":", "\\x3a", 1)
    return _SERVER_COMMAND.sub(r"##\1\\x5b", line) if "##" in line else line


def columns(text: str) -> int:
    """How many cells ``text`` takes: wide and full-width characters two, combining marks none (UAX #11)."""
    if text.isascii():
        return len(text)
    return sum(_cells(char) for char in text)


def _cells(char: str) -> int:
    if unicodedata.category(char) in {"Mn", "Me"}:
        return 0
    return 2 if unicodedata.east_asian_width(char) in {"W", "F"} else 1


def clip(text: str, width: int, mark: str = "…") -> str:
    """``text`` cut to at most ``width`` cells, with ``mark`` (one cell) as its end when something was cut off."""
    if columns(text) <= width:
        return text
    taken, used = 0, 1
    for char in text:
        used += _cells(char)
        if used > width:
            break
        taken += 1
    return text[:taken] + mark


def wrap(text: str, width: int) -> Iterator[str]:
    """``text`` in lines of at most ``width`` cells, broken at spaces; a longer word has a line to itself, uncut."""
    line, used = "", 0
    for word in text.split(" "):
        cells = columns(word)
        if line and used + 1 + cells > width:
            yield line
            line, used = word, cells
        elif line:
            line, used = f"{line} {word}", used + 1 + cells
        else:
            line, used = word, cells
    yield line


class Screen(NamedTuple):
    """What a report may use of the place where it is shown: colours, and how many cells a line has."""

    color: bool = False
    width: int = _DEFAULT_WIDTH

    def paint(self, text: str, *styles: str) -> str:
        """``text`` in the given styles (keys of :data:`STYLES`), or plain when there is no colour."""
        if not self.color or not text:
            return text
        return "".join(STYLES[style] for style in styles) + text + RESET


def wants_color(choice: str, environ: Mapping[str, str], *, terminal: bool) -> bool:
    """Whether to colour, from ``--color`` (``auto``, ``always``, ``never``) and the usual variables.

    With ``auto``: a non-empty ``NO_COLOR`` says no (https://no-color.org); ``FORCE_COLOR`` or ``CLICOLOR_FORCE``,
    unless empty or ``0``, say yes; otherwise a terminal that is not ``dumb``.
    """
    if choice != "auto":
        return choice == "always"
    if environ.get("NO_COLOR"):
        return False
    if any(environ.get(name, "") not in {"", "0"} for name in ("FORCE_COLOR", "CLICOLOR_FORCE")):
        return True
    return terminal and environ.get("TERM") != "dumb"


def width_of(stream: TextIO) -> int:
    """How many cells a line has on the terminal behind ``stream``, or the default when it does not tell."""
    try:
        return os.get_terminal_size(stream.fileno()).columns or _DEFAULT_WIDTH
    except (OSError, ValueError):
        return _DEFAULT_WIDTH


def screen_for(stream: TextIO, choice: str, environ: Mapping[str, str]) -> Screen:
    """The screen behind ``stream``. ``COLUMNS`` wins over what the terminal says; a pipe has the default width."""
    terminal = stream.isatty()
    width = _DEFAULT_WIDTH
    given = environ.get("COLUMNS", "")
    if given.isascii() and given.isdigit() and int(given[:6]) > 0:
        width = int(given[:6])
    elif terminal:
        width = width_of(stream)
    return Screen(wants_color(choice, environ, terminal=terminal), max(width, _MIN_WIDTH))


class Console(NamedTuple):
    """Where a command's words go: ``out`` is the result, ``err`` progress and diagnostics.

    ``verbosity`` is 0 by default, negative with ``-q``, positive with ``-v``.
    """

    out: TextIO
    err: TextIO
    screen: Screen = Screen()
    verbosity: int = 0

    def result(self, data: bytes | str) -> None:
        """Write a command's result: bytes as they are, text in the stream's encoding with escapes for what it lacks.

        Errors: :class:`UsageError` when the stream refuses; a reader that went away is a ``BrokenPipeError``.
        """
        with _refusal():
            buffer = getattr(self.out, "buffer", None)
            if buffer is None:
                self.out.write(data if isinstance(data, str) else data.decode("utf-8", "backslashreplace"))
                return
            self.out.flush()
            buffer.write(data if isinstance(data, bytes) else data.encode(self.encoding, "backslashreplace"))

    def flush(self) -> None:
        """Hand the result over. Errors: as :meth:`result`."""
        with _refusal():
            self.out.flush()

    def note(self, text: str) -> None:
        """One line of progress on the error stream, unless ``-q``."""
        if self.verbosity >= 0:
            self.complain(text)

    def detail(self, text: str) -> None:
        """One line on the error stream that only ``-v`` shows."""
        if self.verbosity > 0:
            self.complain(text)

    def complain(self, text: str) -> None:
        """Lines on the error stream that are always shown; when that stream is broken, nothing is."""
        encoding = self.err.encoding or "utf-8"
        lines = "".join(f"linewitness: {inert(safe(line))}\n" for line in text.split("\n"))
        with contextlib.suppress(OSError):
            self.err.write(lines.encode(encoding, "backslashreplace").decode(encoding))
            self.err.flush()

    @property
    def encoding(self) -> str:
        """The encoding of the result stream."""
        return self.out.encoding or "utf-8"


@contextlib.contextmanager
def _refusal() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise UsageError(f"the result cannot be written to standard output: {error.strerror}") from error
