"""The decision table of the gate, as a table, and the pure functions that turn facts into a verdict.

Nothing here reads a file, a clock or a repository. The table is section 7 of the gate's rules; a test walks every row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Final, NamedTuple

from linewitness.model import (
    Answer,
    Arm,
    Finding,
    Kind,
    Obligation,
    Phase,
    Reason,
    Severity,
    Sighting,
    Waiver,
)
from linewitness.obligation_map import ArmRow, Row, Status, WaiverRow

ANY_REASON: Final = frozenset(Reason)
OUTSIDE_THE_RUNNER: Final = frozenset({Reason.CODEGEN, Reason.VENDOR})


class Decision(NamedTuple):
    """The outcome for one obligation; ``code`` names the finding that closes the gate, and is empty when none does."""

    status: Status
    code: str = ""


class TableRow(NamedTuple):
    """One row of the decision table. ``hit`` of ``None`` means that the question does not arise.

    ``waivers`` are the reasons of a live waiver to which the row applies; ``None`` stands for "no live waiver".
    """

    kinds: frozenset[Kind]
    hit: bool | None
    waivers: frozenset[Reason] | None
    decision: Decision


_BRANCH: Final = frozenset({Kind.BRANCH})
_PLAIN: Final = frozenset({Kind.STATEMENT, Kind.DEFINITION, Kind.DELETION})
_OPAQUE: Final = frozenset({Kind.OPAQUE})
_HIT: Final = Decision(Status.TRUSTED_HIT)
_WAIVED: Final = Decision(Status.WAIVED)

DECISION_TABLE: Final = (
    TableRow(_BRANCH, True, ANY_REASON, _HIT),
    TableRow(_BRANCH, True, None, _HIT),
    TableRow(_BRANCH, False, OUTSIDE_THE_RUNNER, _WAIVED),
    TableRow(_BRANCH, False, ANY_REASON - OUTSIDE_THE_RUNNER, Decision(Status.UNWITNESSED, "LW203")),
    TableRow(_BRANCH, False, None, Decision(Status.UNWITNESSED, "LW101")),
    TableRow(_PLAIN, True, ANY_REASON, _HIT),
    TableRow(_PLAIN, True, None, _HIT),
    TableRow(_PLAIN, False, ANY_REASON, _WAIVED),
    TableRow(_PLAIN, False, None, Decision(Status.UNWITNESSED, "LW101")),
    TableRow(_OPAQUE, None, ANY_REASON, _WAIVED),
    TableRow(_OPAQUE, None, None, Decision(Status.UNWITNESSED, "LW104")),
)


def _outcomes() -> dict[tuple[Kind, bool, Reason | None], Decision]:
    """The table, spelled out for every question that can be asked. Its first row that applies decides."""
    found: dict[tuple[Kind, bool, Reason | None], Decision] = {}
    for row in DECISION_TABLE:
        hits = (True, False) if row.hit is None else (row.hit,)
        for question in product(row.kinds, hits, row.waivers if row.waivers is not None else (None,)):
            found.setdefault(question, row.decision)
    return found


_OUTCOMES: Final = _outcomes()


def decide(kind: Kind, hit: bool, waiver: Reason | None) -> Decision:
    """Look one obligation up in the table. ``hit`` is ignored for opaque changes, which nothing can execute."""
    return _OUTCOMES[kind, hit, waiver]


class ScorePolicy(NamedTuple):
    """The settings that bear on scoring: ``branches`` is ``line`` or ``arms``, ``import_hits`` ``count`` or ``owe``."""

    branches: str = "line"
    import_hits: str = "count"


class Scored(NamedTuple):
    """The rows of some obligations and the findings that they give rise to, in the same order."""

    rows: tuple[Row, ...]
    findings: tuple[Finding, ...]


def score(
    obligations: Sequence[Obligation],
    sightings: Sequence[Sighting],
    waivers: Mapping[Obligation, Waiver],
    policy: ScorePolicy,
) -> Scored:
    """Judge obligations. ``sightings`` answer them in order; ``waivers`` holds the live waiver of each that has one."""
    rows: list[Row] = []
    findings: list[Finding] = []
    # Many lines of a big patch share one answer, and without a waiver the outcome depends on nothing else.
    known: dict[tuple[Kind, int], tuple[Decision, str]] = {}
    for obligation, sighting in zip(obligations, sightings, strict=True):
        waiver = waivers.get(obligation) if waivers else None
        question = (obligation.kind, id(sighting))
        outcome = known.get(question) if waiver is None else None
        if outcome is None:
            outcome = _judge(obligation, sighting, waiver, policy)
            if waiver is None:
                known[question] = outcome
        decision, note = outcome
        rows.append(_row(obligation, sighting, waiver, decision.status, note))
        if decision.code:
            message = _message(decision.code, obligation, note)
            findings.append(Finding(decision.code, obligation.path, obligation.line, message))
        elif sighting.arms and decision.status is Status.TRUSTED_HIT and (missed := _missed_arms(sighting)):
            text = f"an arm of this line was not taken by any witness: {', '.join(missed)}"
            findings.append(Finding("LW102", obligation.path, obligation.line, text, Severity.WARNING))
    return Scored(tuple(rows), tuple(findings))


def _judge(
    obligation: Obligation, sighting: Sighting, waiver: Waiver | None, policy: ScorePolicy
) -> tuple[Decision, str]:
    reason = waiver.reason if waiver else None
    if not is_witnessed(sighting, policy):
        return decide(obligation.kind, False, reason), _why_open(sighting, policy)
    if policy.branches == "arms" and (unproved := _unproved_arms(sighting)):
        decision = decide(obligation.kind, False, reason)
        code = "LW102" if decision.code == "LW101" else decision.code
        return Decision(decision.status, code), f"no witness took: {', '.join(unproved)}"
    return decide(obligation.kind, True, reason), sighting.note


def is_witnessed(sighting: Sighting, policy: ScorePolicy) -> bool:
    """Whether the evidence discharges the line, arms aside."""
    if sighting.answer not in (Answer.RUN, Answer.PARTIAL):
        return False
    return sighting.phase is not Phase.IMPORT or policy.import_hits == "count"


def _why_open(sighting: Sighting, policy: ScorePolicy) -> str:
    if sighting.answer in (Answer.RUN, Answer.PARTIAL) and policy.import_hits == "owe":
        return "it ran only while its module was imported, and the settings say that such hits do not count"
    return sighting.note


def _missed_arms(sighting: Sighting) -> list[str]:
    return [arm.text for arm in sighting.arms if arm.taken is False]


def _unproved_arms(sighting: Sighting) -> list[str]:
    """Arms that no witness is known to have taken: under ``branches = "arms"`` unknown is as closed as not taken."""
    missing = [arm.text for arm in sighting.arms if arm.taken is not True]
    if sighting.answer is Answer.PARTIAL and not missing:
        missing.append("part of this line")
    return missing


def _message(code: str, obligation: Obligation, note: str) -> str:
    what = {
        "LW101": f"this {_NOUN[obligation.kind]} has no witness",
        "LW102": "not every arm of this branch was taken by a witness",
        "LW104": "no line rule can read this change, so only a waiver with its blob id discharges it",
        "LW203": "a branch may be waived with codegen or vendor only",
    }[code]
    why = note or ("no check or relation that passed ran it" if code == "LW101" else "")
    return f"{what}: {why}" if why else what


_NOUN: Final = {
    Kind.STATEMENT: "line",
    Kind.BRANCH: "branch",
    Kind.DEFINITION: "definition",
    Kind.DELETION: "place, where executable lines were deleted",
    Kind.OPAQUE: "file",
}


def _row(obligation: Obligation, sighting: Sighting, waiver: Waiver | None, status: Status, note: str) -> Row:
    seen = sighting.answer in (Answer.RUN, Answer.PARTIAL)
    return Row(
        arms=tuple(map(_arm_row, sighting.arms)) if sighting.arms else (),
        content=obligation.content,
        executable=True,
        hash=obligation.hash,
        kind=obligation.kind,
        line=obligation.line,
        note=note or obligation.note,
        occurrence=obligation.occurrence,
        path=obligation.path,
        phase=sighting.phase if seen else None,
        precision=sighting.precision if seen else None,
        scope=obligation.scope,
        statement=obligation.statement,
        status=status,
        waiver=_waiver_row(waiver) if waiver and status is Status.WAIVED else None,
        witness_count=len(sighting.witnesses),
        witnesses=sighting.witnesses,
    )


def _arm_row(arm: Arm) -> ArmRow:
    return ArmRow(arm.text) if arm.taken is None else ArmRow(arm.text, arm.taken)


def _waiver_row(waiver: Waiver) -> WaiverRow:
    return WaiverRow(expires=waiver.expires, note=waiver.note, owner=waiver.owner, reason=waiver.reason)
