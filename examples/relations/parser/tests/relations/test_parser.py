"""What a settings file means does not depend on how it is written down."""

from __future__ import annotations

from settings_text import parse

from linewitness.relations import change, compare, relation, same


def commented(text: str) -> str:
    return "\n".join(f"{line}  # a remark\n\n" for line in text.splitlines())


def indented(text: str) -> str:
    return "\n".join(f"    {line}".replace("=", "   =\t") for line in text.splitlines())


@relation(corpus="settings.jsonl", at_least=8)
def test_comments_and_blank_lines_mean_nothing(text: str) -> None:
    compare(parse, text, change("", commented), same())


@relation(corpus="settings.jsonl", at_least=8)
def test_spaces_around_names_mean_nothing(text: str) -> None:
    compare(parse, text, change("", indented), same())


@relation(corpus="settings.jsonl", at_least=8)
def test_a_section_that_comes_last_adds_itself_and_nothing_else(text: str) -> None:
    assert parse(text + "\n[zz]\na = 1") == {**parse(text), "zz": {"a": "1"}}
