"""The comparison of a map with the oracle's answer."""

from __future__ import annotations

from typing import Any

import pytest
from examples.real_projects.compare import Compared, File, Outcome, compare, counts
from examples.real_projects.exemptions import Side
from examples.real_projects.line_oracle.verdict import LineVerdict

TEXT = ["a = 1", "b = 2", "# three", "(2", ")", ""]
HEAD = Side(b"a = 1\nb = 2\n# three\n(2\n)\n")


def verdict(
    *, seen: bool, kind: str = "code", unsure: bool = False, entered: bool | None = None, import_only: bool = False
) -> LineVerdict:
    return LineVerdict(
        kind=kind, seen=seen, import_only=import_only, partial=False, unsure=unsure, entered=entered, test=""
    )


def row(line: int, status: str) -> dict[str, Any]:
    return {"path": "p.py", "line": line, "status": status, "kind": "statement", "phase": None, "note": "why"}


def compare_one(
    rows: list[dict[str, Any]],
    oracle: dict[str, LineVerdict],
    exempt: list[dict[str, Any]] | None = None,
    changed: list[int] | None = None,
    head: Side = HEAD,
) -> list[Compared]:
    files = {"p.py": File(changed or [], TEXT, None, head)}
    return compare({"rows": rows, "exempt": exempt or []}, {"p.py": oracle}, files)


@pytest.mark.parametrize(
    ("status", "seen", "outcome"),
    [
        ("trusted-hit", True, Outcome.TRUE_WITNESS),
        ("trusted-hit", False, Outcome.FALSE_WITNESS),
        ("unwitnessed", True, Outcome.FALSE_ALARM),
        ("unwitnessed", False, Outcome.TRUE_OPEN),
    ],
)
def test_each_pair_of_answers_has_its_outcome(status: str, seen: bool, outcome: Outcome) -> None:
    (compared,) = compare_one([row(1, status)], {"1": verdict(seen=seen)})
    assert compared.outcome is outcome


def test_a_witness_on_a_line_without_code_is_false() -> None:
    (compared,) = compare_one([row(3, "trusted-hit")], {})
    assert (compared.outcome, compared.oracle) == (Outcome.FALSE_WITNESS, "no code")


def test_a_line_whose_lambda_nobody_entered_is_not_seen() -> None:
    (compared,) = compare_one([row(1, "trusted-hit")], {"1": verdict(seen=True, entered=False)})
    assert compared.outcome is Outcome.FALSE_WITNESS


def test_code_that_was_reached_but_perhaps_not_finished_is_explained_and_counted_apart() -> None:
    found = compare_one([row(1, "trusted-hit"), row(2, "unwitnessed")], {"1": verdict(seen=False, unsure=True)})
    assert [each.outcome for each in found] == [Outcome.EXPLAINED, Outcome.TRUE_OPEN]
    assert found[0].reason == "reached-not-finished"
    assert counts(found)["explained"] == 1


def test_a_stub_below_a_star_import_is_explained_and_other_lines_there_are_not() -> None:
    oracle = {"1": verdict(seen=True, kind="stub", import_only=True), "2": verdict(seen=True, import_only=True)}
    rows = [row(1, "unwitnessed"), row(2, "unwitnessed")]
    found = compare_one(rows, oracle, head=Side(b"from typing import *\n"))
    assert [each.outcome for each in found] == [Outcome.EXPLAINED, Outcome.FALSE_ALARM]
    assert found[0].reason == "star-import"
    assert {each.outcome for each in compare_one(rows, oracle)} == {Outcome.FALSE_ALARM}


def test_a_changed_line_that_the_map_forgot_is_missing() -> None:
    found = compare_one([row(1, "unwitnessed")], {"1": verdict(seen=False)}, changed=[1, 2])
    assert [(each.line, each.outcome) for each in found] == [(1, Outcome.TRUE_OPEN), (2, Outcome.MISSING)]


def test_exemptions_are_proved_again_and_those_with_code_are_told_apart() -> None:
    given = ((3, "comment"), (5, "punctuation"), (2, "punctuation"), (1, "reformatted"), (4, "no-such-reason"))
    exempt = [{"path": "p.py", "line": line, "reason": reason} for line, reason in given]
    found = compare_one([], {"5": verdict(seen=True)}, exempt, changed=[1, 2, 3, 4, 5])
    assert [(each.line, each.outcome) for each in found] == [
        (1, Outcome.FALSE_EXEMPT),
        (2, Outcome.FALSE_EXEMPT),
        (3, Outcome.EXEMPT),
        (4, Outcome.FALSE_EXEMPT),
        (5, Outcome.EXEMPT_CODE),
    ]


def test_a_file_that_is_exempt_as_a_whole_misses_no_line() -> None:
    found = compare_one([], {}, [{"path": "p.py", "line": 0, "reason": "renamed"}], changed=[1])
    assert found == []
