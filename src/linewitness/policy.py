"""The decision table of the gate, as a table, and the pure functions that turn facts into a verdict.

Nothing here reads a file, a clock or a repository. The table is section 7 of the gate's rules; a test walks every row.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product, repeat
from typing import Final

from linewitness.model import (
    Answer,
    Arm,
    Finding,
    Kind,
    Obligation,
    Phase,
    Precision,
    Reason,
    Severity,
    Sighting,
    Waiver,
)
from linewitness.obligation_map import ArmRow, Row, Status, WaiverRow
from linewitness.values import NamedTuple

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
    """The settings that bear on scoring.

    ``branches`` is ``line`` or ``arms``, ``import_hits`` ``count`` or ``owe``, ``hazards`` ``owe`` or ``ignore``.
    """

    branches: str = "line"
    import_hits: str = "count"
    hazards: str = "owe"


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
    if len(obligations) != len(sightings):
        raise ValueError("one sighting answers one obligation")
    if not obligations:
        return Scored((), ())
    if waivers:
        outcomes = [
            _outcome(obligation, sighting, waivers.get(obligation), policy)
            for obligation, sighting in zip(obligations, sightings, strict=True)
        ]
    else:
        outcomes = _without_waivers(obligations, sightings, policy)
    findings = [
        Finding(outcome.code, owed.path, owed.line, outcome.message, outcome.severity)
        for owed, outcome in zip(obligations, outcomes, strict=True)
        if outcome.message
    ]
    return Scored(tuple(_rows(obligations, outcomes)), tuple(findings))


def _without_waivers(
    obligations: Sequence[Obligation], sightings: Sequence[Sighting], policy: ScorePolicy
) -> list[_Outcome]:
    """Many lines of a big patch share one answer, and without a waiver the outcome depends on nothing else."""
    questions = list(zip([owed.kind for owed in obligations], map(id, sightings), strict=True))
    samples = dict(zip(questions, zip(obligations, sightings, strict=True), strict=True))
    known = {question: _outcome(*sample, None, policy) for question, sample in samples.items()}
    return list(map(known.__getitem__, questions))


class _Outcome(NamedTuple):
    """What an answer means for every line of a kind: its row's cells, and its finding if ``message`` is not empty."""

    status: Status
    note: str
    arms: tuple[ArmRow, ...]
    phase: Phase | None
    precision: Precision | None
    waiver: WaiverRow | None
    witnesses: tuple[str, ...]
    code: str
    message: str
    severity: Severity


def _outcome(obligation: Obligation, sighting: Sighting, waiver: Waiver | None, policy: ScorePolicy) -> _Outcome:
    (status, code), note = _judge(obligation, sighting, waiver, policy)
    closes = bool(code)
    message = _message(code, obligation, note) if closes else ""
    if not closes and status is Status.TRUSTED_HIT and (missed := _missed_arms(sighting)):
        code, message = "LW102", f"an arm of this line was not taken by any witness: {', '.join(missed)}"
    seen = sighting.answer in (Answer.RUN, Answer.PARTIAL)
    return _Outcome(
        status=status,
        note=note,
        arms=tuple(map(_arm_row, sighting.arms)),
        phase=sighting.phase if seen else None,
        precision=sighting.precision if seen else None,
        waiver=_waiver_row(waiver) if waiver and status is Status.WAIVED else None,
        witnesses=sighting.witnesses,
        code=code,
        message=message,
        severity=Severity.ERROR if closes else Severity.WARNING,
    )


def _judge(
    obligation: Obligation, sighting: Sighting, waiver: Waiver | None, policy: ScorePolicy
) -> tuple[Decision, str]:
    reason = waiver.reason if waiver else None
    if not is_witnessed(sighting, policy):
        return decide(obligation.kind, False, reason), _why_open(sighting, policy)
    if sighting.hazard and policy.hazards == "owe":
        decision = decide(obligation.kind, False, reason)
        code = "LW105" if decision.code == "LW101" else decision.code
        return Decision(decision.status, code), sighting.hazard
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
        "LW105": "a check that passed cannot vouch for this line",
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


def _rows(obligations: Sequence[Obligation], outcomes: Sequence[_Outcome]) -> Iterator[Row]:
    """The rows, column by column: big patches have so many that a call of Python for each is felt."""
    paths, lines, hashes, contents, kinds, scopes, occurrences, statements, remarks = zip(*obligations, strict=True)
    statuses, notes, arms, phases, precisions, waivers, witnesses, _, _, _ = zip(*outcomes, strict=True)
    if any(remarks):
        notes = tuple(note or remark for note, remark in zip(notes, remarks, strict=True))
    return map(
        Row, arms, contents, repeat(True), hashes, kinds, lines, notes, occurrences, paths, phases, precisions, scopes,
        statements, statuses, waivers, map(len, witnesses), witnesses,
    )  # fmt: skip


def _arm_row(arm: Arm) -> ArmRow:
    return ArmRow(arm.text) if arm.taken is None else ArmRow(arm.text, arm.taken)


def _waiver_row(waiver: Waiver) -> WaiverRow:
    return WaiverRow(expires=waiver.expires, note=waiver.note, owner=waiver.owner, reason=waiver.reason)
