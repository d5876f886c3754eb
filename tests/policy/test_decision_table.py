"""The decision table, row by row as the rules state it, and what scoring makes of it."""

from __future__ import annotations

from itertools import product

import pytest

from linewitness.model import (
    Answer,
    Arm,
    Kind,
    Obligation,
    Phase,
    Precision,
    Reason,
    RepoPath,
    Severity,
    Sighting,
    Waiver,
)
from linewitness.obligation_map import Status
from linewitness.policy import ScorePolicy, decide, score

HIT, WAIVED, OPEN = "trusted-hit", "waived", "unwitnessed"

# Section 7 of the rules, written out: kind, hit, waiver, status, code.
ROWS = [
    ("branch", True, None, HIT, ""),
    ("branch", True, "experiment", HIT, ""),
    ("branch", False, "codegen", WAIVED, ""),
    ("branch", False, "vendor", WAIVED, ""),
    ("branch", False, "pure-refactor", OPEN, "LW203"),
    ("branch", False, "experiment", OPEN, "LW203"),
    ("branch", False, None, OPEN, "LW101"),
    *((kind, True, None, HIT, "") for kind in ("statement", "definition", "deletion")),
    *((kind, True, "vendor", HIT, "") for kind in ("statement", "definition", "deletion")),
    *(
        (kind, False, reason, WAIVED, "")
        for kind in ("statement", "definition", "deletion")
        for reason in ("codegen", "vendor", "pure-refactor", "experiment")
    ),
    *((kind, False, None, OPEN, "LW101") for kind in ("statement", "definition", "deletion")),
    *(("opaque", False, reason, WAIVED, "") for reason in ("codegen", "vendor", "pure-refactor", "experiment")),
    ("opaque", False, None, OPEN, "LW104"),
]


@pytest.mark.parametrize(("kind", "hit", "waiver", "status", "code"), ROWS)
def test_every_row_of_the_rules_has_its_outcome(
    kind: str, hit: bool, waiver: str | None, status: str, code: str
) -> None:
    decision = decide(Kind(kind), hit, Reason(waiver) if waiver else None)
    assert (decision.status.value, decision.code) == (status, code)


def test_the_table_has_an_outcome_for_everything_that_can_happen() -> None:
    for kind, hit, waiver in product(Kind, (True, False), (None, *Reason)):
        assert decide(kind, hit, waiver).status in Status


def test_nothing_executes_an_opaque_change_so_a_hit_never_discharges_it() -> None:
    assert decide(Kind.OPAQUE, True, None).code == "LW104"


def obligation(kind: Kind = Kind.STATEMENT, line: int = 3) -> Obligation:
    return Obligation(RepoPath("app.py"), line, "0" * 16, "x = 1", kind, "f", 1, (line, line))


def outcome(
    sighting: Sighting, *, kind: Kind = Kind.STATEMENT, policy: ScorePolicy | None = None
) -> tuple[str, list[str]]:
    scored = score([obligation(kind)], [sighting], {}, policy or ScorePolicy())
    return scored.rows[0].status.value, [finding.code for finding in scored.findings]


@pytest.mark.parametrize("answer", [Answer.NOT_RUN, Answer.NOT_PROVABLE, Answer.REMOVED])
def test_whatever_is_not_known_to_have_run_is_open(answer: Answer) -> None:
    assert outcome(Sighting(answer)) == (OPEN, ["LW101"])


def test_a_hit_at_import_counts_unless_the_settings_refuse_it() -> None:
    seen = Sighting(Answer.RUN, phase=Phase.IMPORT)
    assert outcome(seen) == (HIT, [])
    assert outcome(seen, policy=ScorePolicy(import_hits="owe")) == (OPEN, ["LW101"])
    assert outcome(Sighting(Answer.RUN, phase=Phase.CALL), policy=ScorePolicy(import_hits="owe")) == (HIT, [])


def test_an_arm_not_taken_is_a_warning_unless_arms_are_owed() -> None:
    seen = Sighting(Answer.PARTIAL, phase=Phase.CALL, arms=(Arm("else 0", taken=False), Arm("1", taken=True)))
    assert outcome(seen, kind=Kind.BRANCH) == (HIT, ["LW102"])
    assert outcome(seen, kind=Kind.BRANCH, policy=ScorePolicy(branches="arms")) == (OPEN, ["LW102"])
    scored = score([obligation(Kind.BRANCH)], [seen], {}, ScorePolicy())
    assert [finding.severity for finding in scored.findings] == [Severity.WARNING]


def test_an_arm_that_nobody_can_tell_about_is_closed_where_arms_are_owed() -> None:
    unknown = Sighting(Answer.RUN, phase=Phase.CALL, arms=(Arm("else", taken=None),))
    assert outcome(unknown, kind=Kind.BRANCH) == (HIT, [])
    assert outcome(unknown, kind=Kind.BRANCH, policy=ScorePolicy(branches="arms")) == (OPEN, ["LW102"])
    taken = Sighting(Answer.RUN, phase=Phase.CALL, arms=(Arm("else", taken=True),))
    assert outcome(taken, kind=Kind.BRANCH, policy=ScorePolicy(branches="arms")) == (HIT, [])


def test_a_waiver_is_named_only_where_it_was_needed() -> None:
    owed = obligation()
    waiver = Waiver(owed.path, owed.hash, None, None, Reason.VENDOR, "team", "2026-12-31", "", 2)
    open_row = score([owed], [Sighting(Answer.NOT_RUN)], {owed: waiver}, ScorePolicy()).rows[0]
    hit_row = score([owed], [Sighting(Answer.RUN, phase=Phase.CALL)], {owed: waiver}, ScorePolicy()).rows[0]
    assert open_row.waiver is not None
    assert (open_row.waiver.owner, open_row.waiver.reason) == ("team", Reason.VENDOR)
    assert hit_row.waiver is None


def test_a_row_says_how_finely_a_line_was_seen_only_when_it_was_seen() -> None:
    seen = Sighting(Answer.RUN, ("t::a", "t::b"), Phase.CALL, Precision.STATEMENT)
    row = score([obligation()], [seen], {}, ScorePolicy()).rows[0]
    assert (row.witnesses, row.witness_count, row.phase, row.precision) == (
        ("t::a", "t::b"),
        2,
        Phase.CALL,
        Precision.STATEMENT,
    )
    unseen = score([obligation()], [Sighting(Answer.NOT_RUN)], {}, ScorePolicy()).rows[0]
    assert (unseen.phase, unseen.precision) == (None, None)
