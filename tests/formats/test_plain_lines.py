"""The short cut for plain lines gives the answers of the full rule, wherever it gives one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from linewitness.evidence.contexts import understand
from linewitness.evidence.formats.facts import BranchArm, FileFacts, Grain
from linewitness.evidence.imported_lines import Known, Lines
from linewitness.evidence.imported_rule import ImportedRule
from linewitness.evidence.line_events import LineEvents
from linewitness.evidence.plain_lines import settle
from linewitness.languages import classify, demands
from linewitness.model import LineOptions, Phase
from tests.support.texts import change

SOURCE = """\
import os
A = 1
B = os.sep + "x"
C = [n for n in B]
D = A if B else C
E = lambda: 1
F = (
    1,
)
print(A)
G = any(n for n in B); H = 2
def f():
    return 1
class K:
    size = 3
"""
TEXT = change("", SOURCE)
OWED = classify(TEXT, LineOptions(), lambda _: False).obligations
LINES = st.integers(1, SOURCE.count("\n"))


def lines(facts: FileFacts) -> Lines:
    names = {name for each in (facts.contexts or {}).values() for name in each}
    return Lines(facts.grain, [Known(facts, understand(names) if facts.contexts is not None else None)])


def agree(facts: FileFacts) -> int:
    """How many lines the short cut settled; each of them as the full rule does."""
    known = lines(facts)
    rule = ImportedRule(LineEvents(SOURCE.encode()), known)
    settled = 0
    for obligation, demand, answer in zip(OWED, demands(TEXT, OWED), settle(OWED, known), strict=True):
        if answer is not None:
            assert answer == rule.sight(demand, obligation.line), obligation.content
            settled += 1
    return settled


@given(st.dictionaries(LINES, st.integers(0, 3)))
def test_counts_alone(counts: dict[int, int]) -> None:
    agree(FileFacts(Grain.STATEMENTS, counts))


@given(st.dictionaries(LINES, st.integers(0, 3)), st.lists(LINES, max_size=3))
def test_counts_with_branches(counts: dict[int, int], branches: list[int]) -> None:
    arms = tuple(BranchArm(line, "exit", taken=False) for line in branches)
    agree(FileFacts(Grain.STATEMENTS, counts, branches=arms))


@given(st.dictionaries(LINES, st.integers(0, 3)), st.sets(LINES))
def test_counts_with_contexts(counts: dict[int, int], tested: set[int]) -> None:
    contexts = {line: ("tests/trusted/test_a.py::test_a|run" if line in tested else "",) for line in counts}
    agree(FileFacts(Grain.STATEMENTS, counts, contexts=contexts))


@pytest.mark.parametrize(("count", "phase"), [(1, Phase.IMPORT), (0, Phase.UNKNOWN)])
def test_plain_lines_are_settled_and_others_are_not(count: int, phase: Phase) -> None:
    facts = FileFacts(Grain.STATEMENTS, dict.fromkeys(range(1, SOURCE.count("\n") + 1), count))
    answers = dict(zip((owed.line for owed in OWED), settle(OWED, lines(facts)), strict=True))
    assert {line for line, answer in answers.items() if answer is not None} <= {1, 2, 3, 10}
    plain = answers[2]
    assert plain is not None
    assert plain.phase is phase
    assert agree(facts) >= 3


def test_line_events_are_left_to_the_full_rule() -> None:
    assert set(settle(OWED, lines(FileFacts(Grain.EVENTS, {2: 1})))) == {None}
