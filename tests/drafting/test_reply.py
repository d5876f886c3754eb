"""What a model answered, taken apart; and what of it is kept."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from linewitness.drafting.reply import Inputs, Note, Proposal, parse
from linewitness.errors import UsageError

FILE = """\
from linewitness.relations import relation

@relation(corpus='a.jsonl', at_least=1)
def test_a(case):
    pass
"""
OBJECT = {
    "relations": [
        {"name": "a", "about": "says a", "python": FILE, "corpus_name": "a.jsonl", "corpus_lines": ["1", "[2]"]}
    ],
    "waiver_notes": [{"path": "shop.py", "line": 3, "reason": "vendor", "note": "copied"}],
}
WANTED = (Proposal(FILE, "says a", Inputs("a.jsonl", ("1", "[2]"))),)


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(OBJECT),
        json.dumps(OBJECT, indent=4),
        f"```json\n{json.dumps(OBJECT)}\n```",
        f"Of course! Here it is:\n\n```json\n{json.dumps(OBJECT, indent=1)}\n```\nAnything else?",
        f"Of course: {json.dumps(OBJECT)} I hope that this helps.",
        f"<think>A relation {{...}} ```python\nx\n```</think>\n{json.dumps(OBJECT)}",
    ],
    ids=["alone", "indented", "fenced", "in prose and a fence", "in prose", "after thoughts"],
)
def test_the_object_that_was_asked_for_is_found(text: str) -> None:
    found = parse(text)

    assert found.proposals == WANTED
    assert found.notes == (Note("shop.py", 3, "vendor", "copied"),)


def test_each_fence_with_python_is_a_proposal_and_lines_after_it_are_its_inputs() -> None:
    text = f"First:\n```python\n{FILE}```\nwith `a.jsonl`:\n```jsonl\n1\n\n2\n```\nSecond:\n~~~py\n{FILE}~~~\n"

    found = parse(text)

    assert [each.python for each in found.proposals] == [FILE, FILE]
    assert [each.inputs for each in found.proposals] == [Inputs("a.jsonl", ("1", "2")), None]


def test_a_bare_file_is_a_proposal() -> None:
    assert parse(FILE).proposals == (Proposal(FILE),)


def test_a_fence_inside_of_the_object_is_taken_off() -> None:
    value = {"relations": [{"python": f"```python\n{FILE}```"}]}

    assert parse(json.dumps(value)).proposals[0].python == FILE


def test_what_has_another_type_is_left_out() -> None:
    value = {
        "relations": [3, None, {}, {"python": 3}, {"python": " "}, {"python": FILE, "about": 3, "corpus_lines": "x"}],
        "waiver_notes": [
            3,
            {"path": "a.py", "line": "3", "reason": "vendor", "note": ""},
            {"path": "a.py", "line": 3, "reason": "because", "note": ""},
            {"path": "a.py", "line": True, "reason": "vendor", "note": ""},
        ],
    }
    found = parse(json.dumps(value))

    assert (found.proposals, found.notes) == ((Proposal(FILE),), ())


def test_more_than_anybody_reads_is_cut() -> None:
    note = {"path": "a", "line": 1, "reason": "vendor", "note": "x" * 9999}
    value = {"relations": [{"python": FILE}] * 100, "waiver_notes": [note] * 100}
    found = parse(json.dumps(value))

    assert (len(found.proposals), len(found.notes), len(found.notes[0].note)) == (40, 40, 500)


@pytest.mark.parametrize("text", ["", "I cannot help with that.", "{}", "[]", "```python\n```", "{" * 50_000, "null"])
def test_an_answer_without_a_relation_is_refused(text: str) -> None:
    with (
        pytest.raises(UsageError, match="holds no relation") if text != "```python\n```" else pytest.raises(UsageError)
    ):
        assert not parse(text).proposals[0].python.strip()
        raise UsageError("empty")


@given(st.text())
def test_any_answer_is_taken_apart_or_refused(text: str) -> None:
    try:
        found = parse(text)
    except UsageError:
        return
    assert len(found.proposals) <= 40
