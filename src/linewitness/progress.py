"""News of long work: one line that is written over on a terminal, plain lines at a reader's pace in a log."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Final, Self

from linewitness.console import Console, clip, inert, safe, width_of
from linewitness.patterns import late

_SECONDS_BETWEEN_LINES: Final = 5.0
_LONGEST_LINE: Final = 300
_DIGITS: Final = late(r"[0-9]+")
_CLEAR: Final = "\x1b[2K"


class Progress:
    """Takes news of what is being done, one line each, and shows them on the error stream unless ``-q``.

    On a terminal each line takes the place of the last, cut to the width, and nothing is left at the end. Elsewhere,
    and with ``-v``, they are lines of their own, and of news that differ in their numbers only (``12 of 400 checks
    done``) no more than one every five seconds is shown. ``clock`` gives seconds.
    """

    def __init__(
        self,
        console: Console,
        clock: Callable[[], float] = time.monotonic,
        environ: Mapping[str, str] = os.environ,
    ) -> None:
        self._console = console
        self._clock = clock
        clever = console.err.isatty() and environ.get("TERM") != "dumb"
        self._overwrites = clever and console.verbosity == 0
        self._last = ""
        self._next = 0.0
        self._drawn = False

    def __call__(self, text: str) -> None:
        """Show one piece of news: of a text of several lines, such as a script, the first line."""
        if self._console.verbosity < 0:
            return
        first, line_break, _ = text.partition("\n")
        text = f"{first.rstrip()} …" if line_break else first
        if self._overwrites:
            self._draw(text)
            return
        kind, now = _DIGITS.sub("0", text), self._clock()
        if kind == self._last and now < self._next:
            return
        self._last, self._next = kind, now + _SECONDS_BETWEEN_LINES
        self._console.note(text if self._console.verbosity else clip(text, _LONGEST_LINE))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._drawn:
            self._write(_CLEAR)

    def _draw(self, text: str) -> None:
        # one cell is left free, as some terminals go to the next line when the last is filled
        line = clip(f"linewitness: {inert(safe(text))}", width_of(self._console.err) - 1)
        # the cursor goes back to the start, so that whatever comes next begins there
        self._write(f"{_CLEAR}{line}\r")
        self._drawn = True

    def _write(self, text: str) -> None:
        encoding = self._console.err.encoding or "utf-8"
        with contextlib.suppress(OSError):
            self._console.err.write(text.encode(encoding, "backslashreplace").decode(encoding))
            self._console.err.flush()
