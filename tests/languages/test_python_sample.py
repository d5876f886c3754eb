"""The published sample: real files, a real diff, and a judgement made by hand and checked against opcode tracers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.texts import classes, from_diff

SAMPLE = Path(__file__).parent.parent / "fixtures" / "python_sample"
EXPECTED = json.loads((SAMPLE / "expected.json").read_text())["lines"]
EXEMPT_CLASSES = {
    "blank": "blank",
    "comment": "comment",
    "docstring": "docstring",
    "declaration": "declaration",
    "punctuation": "punctuation",
    "keyword-only": "keyword",
}


def diffs() -> Iterator[tuple[str, str]]:
    for part in (SAMPLE / "patch.diff").read_text().split("diff --git ")[1:]:
        yield part.split(" b/", 1)[1].split("\n", 1)[0], part


def found() -> dict[tuple[str, int], str]:
    answer: dict[tuple[str, int], str] = {}
    for path, diff in diffs():
        base, head = SAMPLE / "base" / path, SAMPLE / "head" / path
        old = base.read_bytes() if base.exists() else None
        for line, reason in classes(from_diff(diff, old, head.read_bytes(), path)).items():
            answer[path, line] = reason
    return answer


FOUND = found()


@pytest.mark.parametrize("entry", EXPECTED, ids=lambda entry: f"{entry['path']}:{entry['line']}")
def test_a_changed_line_of_the_sample_is_in_its_class(entry: dict[str, Any]) -> None:
    reason = FOUND[entry["path"], entry["line"]]
    if entry["kind"] == "not":
        assert reason == EXEMPT_CLASSES[entry["class"]]
    elif not entry.get("debatable"):
        assert reason in ("statement", "branch", "definition")


def test_no_line_but_the_changed_ones_is_in_a_class() -> None:
    assert set(FOUND) == {(entry["path"], entry["line"]) for entry in EXPECTED}


def test_the_body_of_a_type_checking_block_is_typing_only() -> None:
    assert FOUND["src/shop/pricing.py", 10] == "typing-only"
