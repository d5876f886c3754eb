"""What may reach a terminal, how wide it is, and when it is coloured."""

from __future__ import annotations

import io
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from linewitness.console import Console, Screen, clip, columns, safe, screen_for, wants_color


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("plain text, größe, 名前, 🎉", "plain text, größe, 名前, 🎉"),
        ("a\tb\nc\rd", r"a\tb\nc\rd"),
        ("\x1b[31mred\x1b]8;;http://x\x07", r"\x1b[31mred\x1b]8;;http://x\x07"),
        ("\x9b31m\x7f\x00", r"\x9b31m\x7f\x00"),
        ("user\u202etxt.exe", r"user\u202etxt.exe"),
        ("zero\u200bwidth\ufeff", r"zero\u200bwidth\ufeff"),
        ("line\u2028end", r"line\u2028end"),
        ("caf\udce9.py", r"caf\xe9.py"),
        ("\ud800", r"\ud800"),
        ("\U000e0001", r"\U000e0001"),
        ("no\xa0break\u3000space", "no\xa0break\u3000space"),
    ],
)
def test_what_a_terminal_might_act_upon_is_shown_as_an_escape(raw: str, shown: str) -> None:
    assert safe(raw) == shown


@given(st.text(st.characters()))
def test_safe_text_has_nothing_but_visible_characters_and_plain_spaces(text: str) -> None:
    for char in safe(text):
        assert char.isprintable() or unicodedata.category(char) == "Zs"
    assert safe(safe(text)) == safe(text)
    safe(text).encode()


@given(st.text(), st.integers(2, 30))
def test_clipped_text_fits_and_starts_like_the_original(text: str, width: int) -> None:
    shown = clip(safe(text), width)

    assert columns(shown) <= width
    assert safe(text).startswith(shown.removesuffix("…"))


def test_wide_characters_take_two_cells_and_marks_none() -> None:
    assert columns("abc") == 3
    assert columns("名前") == 4
    assert columns("e\u0301") == 1
    assert clip("名前名前", 5) == "名前…"
    assert clip("名前名前", 4) == "名…"


@pytest.mark.parametrize(
    ("choice", "environ", "terminal", "expected"),
    [
        ("auto", {}, True, True),
        ("auto", {}, False, False),
        ("auto", {"TERM": "dumb"}, True, False),
        ("auto", {"NO_COLOR": "1"}, True, False),
        ("auto", {"NO_COLOR": ""}, True, True),
        ("auto", {"NO_COLOR": "1", "FORCE_COLOR": "1"}, True, False),
        ("auto", {"FORCE_COLOR": "1"}, False, True),
        ("auto", {"FORCE_COLOR": "0"}, False, False),
        ("auto", {"CLICOLOR_FORCE": "1"}, False, True),
        ("always", {"NO_COLOR": "1"}, False, True),
        ("never", {"FORCE_COLOR": "1"}, True, False),
    ],
)
def test_colour_follows_the_option_then_the_variables_then_the_terminal(
    choice: str, environ: dict[str, str], terminal: bool, expected: bool
) -> None:
    assert wants_color(choice, environ, terminal=terminal) is expected


@pytest.mark.parametrize(
    ("given_columns", "width"),
    [("72", 72), ("1", 40), ("0", 100), ("-5", 100), ("wide", 100), ("²", 100), ("9" * 400, 999999)],
)
def test_the_width_is_that_of_columns_within_reason(given_columns: str, width: int) -> None:
    assert screen_for(io.StringIO(), "auto", {"COLUMNS": given_columns}).width == width


def console(encoding: str, verbosity: int = 0) -> tuple[Console, io.BytesIO, io.BytesIO]:
    out, err = io.BytesIO(), io.BytesIO()
    streams = (io.TextIOWrapper(out, encoding=encoding), io.TextIOWrapper(err, encoding=encoding))
    return Console(*streams, Screen(), verbosity), out, err


def test_text_in_a_poor_locale_is_escaped_and_bytes_are_left_as_they_are() -> None:
    target, out, err = console("latin-1")
    target.result("größe 名\udcff\n")
    target.result("名\n".encode())
    target.note("名前\udcff")

    assert out.getvalue() == "größe \\u540d\\udcff\n".encode("latin-1") + "名\n".encode()
    assert err.getvalue() == b"linewitness: \\u540d\\u524d\\xff\n"


def test_quiet_hides_progress_and_never_complaints() -> None:
    target, _, err = console("utf-8", verbosity=-1)
    target.note("progress")
    target.detail("detail")
    target.complain("trouble\n\x1b[2Jmore")

    assert err.getvalue() == b"linewitness: trouble\nlinewitness: \\x1b[2Jmore\n"


def test_detail_is_for_verbose_only() -> None:
    target, _, err = console("utf-8", verbosity=1)
    target.detail("detail")

    assert err.getvalue() == b"linewitness: detail\n"


def test_painting_without_colour_changes_nothing() -> None:
    assert Screen().paint("x", "bold", "red") == "x"
    assert Screen(color=True).paint("x", "bold") == "\x1b[1mx\x1b[0m"
