"""The published samples: real files, real diffs, and judgements made by hand and checked against the tools' data."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from linewitness.languages import classify, demands
from linewitness.model import FileText, LineOptions, Obligation
from tests.support.texts import classes, from_diff

FIXTURES = Path(__file__).parent.parent / "fixtures"
#: Those with exports of coverage tools lie with the formats.
SAMPLES = {
    path.parent.name: path.parent
    for folder in ("formats", "languages")
    for path in sorted((FIXTURES / folder).glob("*/patch.diff"))
}
OWING = ("statement", "branch", "definition")


@cache
def texts(name: str) -> dict[str, FileText]:
    found = {}
    for part in (SAMPLES[name] / "patch.diff").read_text().split("diff --git ")[1:]:
        path = part.split(" b/", 1)[1].split("\n", 1)[0]
        base, head = SAMPLES[name] / "base" / path, SAMPLES[name] / "head" / path
        found[path] = from_diff(part, base.read_bytes() if base.exists() else None, head.read_bytes(), path)
    return found


def expected(name: str) -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = json.loads((SAMPLES[name] / "expected.json").read_text())["lines"]
    return entries


def owed(text: FileText) -> tuple[Obligation, ...]:
    return classify(text, LineOptions(), lambda _: False).obligations


@pytest.mark.parametrize("name", SAMPLES)
def test_each_line_of_a_sample_owes_or_not_as_judged_by_hand(name: str) -> None:
    found = {(path, line): reason for path, text in texts(name).items() for line, reason in classes(text).items()}
    wrong = [
        f"{entry['path']}:{entry['line']} {entry['class']} is {found[entry['path'], entry['line']]}: {entry['text']}"
        for entry in expected(name)
        if not entry.get("debatable")
        and (found[entry["path"], entry["line"]] in OWING) != (entry["kind"] == "executable")
    ]
    assert not wrong
    assert set(found) == {(entry["path"], entry["line"]) for entry in expected(name)}


@pytest.mark.parametrize("name", SAMPLES)
def test_each_owing_line_of_a_sample_is_anchored_at_its_statement(name: str) -> None:
    first = {(each.path, each.line): each.statement[0] for text in texts(name).values() for each in owed(text)}
    wrong = [
        (entry["path"], entry["line"], entry["stmt"], first[entry["path"], entry["line"]])
        for entry in expected(name)
        if entry.get("stmt") and not entry.get("debatable") and first[entry["path"], entry["line"]] != entry["stmt"]
    ]
    assert not wrong


@pytest.mark.parametrize("name", SAMPLES)
def test_each_owing_line_of_a_sample_asks_for_code_that_stands_in_the_file(name: str) -> None:
    for text in texts(name).values():
        lines = (text.head or b"").split(b"\n")
        obligations = owed(text)
        for obligation, demand in zip(obligations, demands(text, obligations), strict=True):
            line = demand.substitute or obligation.line
            assert demand.tokens
            for token in demand.tokens:
                start, end = token.span
                assert start.line <= line <= end.line
                assert start < end
                assert token.statement.start <= token.header.start <= start
                assert end.col <= len(lines[end.line - 1])
