"""News of long work, on a terminal and in a log."""

from __future__ import annotations

import io
import os
import pty
from collections.abc import Iterator

import pytest

from linewitness.console import Console
from linewitness.progress import Progress


class Terminal(io.StringIO):
    """Takes text as a terminal of unknown width would."""

    def isatty(self) -> bool:
        return True


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_in_a_log_each_phase_is_a_line_and_counts_come_at_a_readers_pace() -> None:
    err, clock = io.StringIO(), Clock()
    progress = Progress(Console(io.StringIO(), err), clock)
    progress("exporting head")
    for done in range(20):
        progress(f"{done} of 20 checks done")
        clock.now += 0.5
    progress("scoring 12 lines")

    assert err.getvalue().splitlines() == [
        "linewitness: exporting head",
        "linewitness: 0 of 20 checks done",
        "linewitness: 10 of 20 checks done",
        "linewitness: scoring 12 lines",
    ]


def test_on_a_terminal_the_line_is_written_over_and_gone_at_the_end() -> None:
    err = Terminal()
    with Progress(Console(io.StringIO(), err), environ={}) as progress:
        progress("exporting head")
        progress("3 of 12 checks done")
        during = err.getvalue()

    assert during == "\x1b[2Klinewitness: exporting head\r\x1b[2Klinewitness: 3 of 12 checks done\r"
    assert err.getvalue() == during + "\x1b[2K"


def test_a_terminal_on_which_nothing_was_shown_is_left_alone() -> None:
    err = Terminal()
    with Progress(Console(io.StringIO(), err), environ={}):
        pass

    assert err.getvalue() == ""


def test_news_cannot_move_the_cursor_and_fit_on_one_line() -> None:
    err = Terminal()
    Progress(Console(io.StringIO(), err), environ={})("名" * 200 + "\x1b[2J\r")

    (line,) = err.getvalue().removeprefix("\x1b[2K").split("\r")[:-1]
    assert "\x1b" not in line
    assert len(line) < 99


def test_of_a_script_the_first_line_is_shown_and_that_there_is_more() -> None:
    shown = []
    for err in (io.StringIO(), Terminal()):
        Progress(Console(io.StringIO(), err), environ={})("running the suite `web`: npm ci \n  npm test\n" * 2)
        shown.append(err.getvalue())

    assert shown == [
        "linewitness: running the suite `web`: npm ci …\n",
        "\x1b[2Klinewitness: running the suite `web`: npm ci …\r",
    ]


def test_in_a_log_a_line_of_news_has_an_end_unless_everything_is_asked_for() -> None:
    lengths = []
    for verbosity in (0, 1):
        err = io.StringIO()
        Progress(Console(io.StringIO(), err, verbosity=verbosity))("x" * 5_000)
        lengths.append(len(err.getvalue()))

    assert lengths[0] < 400
    assert lengths[1] > 5_000


def test_quiet_hides_news_and_verbose_keeps_them_as_lines() -> None:
    for verbosity, shown in ((-1, ""), (1, "linewitness: exporting head\n")):
        err = Terminal()
        Progress(Console(io.StringIO(), err, verbosity=verbosity), environ={})("exporting head")

        assert err.getvalue() == shown


def test_a_dumb_terminal_gets_plain_lines() -> None:
    err = Terminal()
    Progress(Console(io.StringIO(), err), environ={"TERM": "dumb"})("exporting head")

    assert err.getvalue() == "linewitness: exporting head\n"


@pytest.fixture
def real_terminal() -> Iterator[tuple[int, io.TextIOWrapper]]:
    ours, theirs = pty.openpty()
    with os.fdopen(theirs, "w", encoding="utf-8", newline="") as stream:
        yield ours, stream
    os.close(ours)


def test_a_real_terminal_is_known_by_its_width(real_terminal: tuple[int, io.TextIOWrapper]) -> None:
    import fcntl
    import struct
    import termios

    ours, stream = real_terminal
    fcntl.ioctl(ours, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 42, 0, 0))
    with Progress(Console(io.StringIO(), stream), environ={}) as progress:
        progress("running the trusted checks with a very long interpreter's path and more")

    line = os.read(ours, 1000).decode().removeprefix("\x1b[2K").split("\r")[0]
    assert len(line) == 41
    assert line.endswith("…")
