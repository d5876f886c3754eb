"""Patterns that are compiled late do what others do."""

from __future__ import annotations

import re

import pytest

from linewitness.patterns import late


def test_a_late_pattern_answers_like_one_that_was_compiled_at_once() -> None:
    text, pattern = "Ab ab", late("(?P<word>a)b", re.IGNORECASE)
    at_once = re.compile("(?P<word>a)b", re.IGNORECASE)
    assert [found.span("word") for found in pattern.finditer(text)] == [(0, 1), (3, 4)]
    assert (pattern.sub("-", text), pattern.flags, pattern.groups) == ("- -", at_once.flags, at_once.groups)
    assert late(rb"\d+").findall(b"1 22") == [b"1", b"22"]


def test_a_late_pattern_is_compiled_when_it_is_first_asked_and_no_more_than_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    compiled: list[str] = []
    at_once = re.compile

    def noted(text: str, flags: int) -> re.Pattern[str]:
        compiled.append(text)
        return at_once(text, flags)

    monkeypatch.setattr(re, "compile", noted)
    pattern = late("a+")
    assert compiled == []
    assert [bool(pattern.match(text)) for text in ("a", "b", "aa")] == [True, False, True]
    assert compiled == ["a+"]


def test_a_late_pattern_that_is_none_fails_when_it_is_used() -> None:
    pattern = late("(")
    with pytest.raises(re.error, match="unterminated"):
        pattern.search("x")
