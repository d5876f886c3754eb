"""Judges relations: one that compared nothing witnesses nothing (``gate.md`` section 5, LW403)."""

from __future__ import annotations

from collections import defaultdict

from linewitness.evidence.records import Journals, Outcome, RelationRow, Report, TestRow
from linewitness.model import Finding, RelationCounts, RelationRun, RepoPath, Severity
from linewitness.values import NamedTuple

_EMPTY_PARAMETERS = "got empty parameter set"


class Judged(NamedTuple):
    """One test and what became of it. ``row`` has its time and its hits."""

    row: TestRow
    outcome: Outcome
    decisive: Report | None


def without_vacuous(
    tests: tuple[Judged, ...], journals: Journals, relations: frozenset[RepoPath]
) -> tuple[tuple[Judged, ...], list[Finding]]:
    """The tests, vacuous relations among them with the outcome that says so, and one LW403 for each.

    A test of a relation's file that passed counts only when its row says that it compared something; no row is none.
    """
    rows = _by_node(journals)
    found: list[Finding] = []
    judged = []
    for test in tests:
        path = RepoPath(test.row.nodeid.partition("::")[0])
        why = _why(test, rows.get(test.row.nodeid, [])) if path in relations else ""
        if why:
            found.append(Finding("LW403", path, 0, f"{test.row.nodeid} witnesses nothing: {why}."))
            test = test._replace(outcome=Outcome.VACUOUS)  # noqa: PLW2901 - the same test, seen through
        elif path in relations and test.outcome is Outcome.SKIPPED:
            found.append(_skipped(test, path))
        judged.append(test)
    return tuple(judged), found


def relation_runs(tests: tuple[Judged, ...], journals: Journals) -> tuple[RelationRun, ...]:
    """What the map says about each relation that ran, by node id."""
    rows = _by_node(journals)
    runs = []
    for test in tests:
        found = rows.get(test.row.nodeid)
        if found and test.outcome in {Outcome.PASSED, Outcome.VACUOUS}:
            runs.append(_run(found[-1], _why(test, found) if test.outcome is Outcome.VACUOUS else ""))
    return tuple(runs)


def _run(row: RelationRow, vacuous: str) -> RelationRun:
    tried, checked, skipped, _, least, reached = row.counts
    return RelationRun(
        row.nodeid,
        tuple((RepoPath(path), digest) for path, digest in row.corpora),
        RelationCounts(tried, checked, skipped, least) if row.declared else None,
        reached,
        row.seed,
        vacuous,
    )


def _by_node(journals: Journals) -> dict[str, list[RelationRow]]:
    rows: defaultdict[str, list[RelationRow]] = defaultdict(list)
    for row in journals.rows():
        if isinstance(row, RelationRow):
            rows[row.nodeid].append(row)
    return rows


def _why(test: Judged, rows: list[RelationRow]) -> str:
    """Why a relation is vacuous, empty when it is not. One that failed on a case is not vacuous, it failed."""
    if test.outcome is Outcome.SKIPPED:
        reason = test.decisive[2] if test.decisive else ""
        return "its corpus gave no case to be parametrised with" if _EMPTY_PARAMETERS in reason else ""
    if test.outcome is Outcome.PASSED and not rows:
        return "its record does not say what it compared"
    if test.outcome is not Outcome.PASSED and not (_stopped_short(test) and rows):
        return ""
    return next(filter(None, map(_too_little, rows)), "")


def _stopped_short(test: Judged) -> bool:
    """Whether the library failed the test for having checked too few cases."""
    reason = test.decisive[2] if test.decisive else ""
    return test.outcome is Outcome.FAILED and "VacuousRelation" in reason


def _too_little(row: RelationRow) -> str:
    tried, checked, skipped, repeated, least, reached = row.counts
    if row.declared and checked < least:
        why = f"; skipped: {row.why_skipped}" if skipped else ""
        again = f", {repeated} repeated" if repeated else ""
        return (
            f"it checked {checked} distinct cases, and declares at least {least}"
            f" ({tried} tried, {skipped} skipped{again}{why})"
        )
    if row.blank:
        return f"its corpus is empty ({', '.join(path for path, _ in row.corpora)})"
    if not reached:
        return "no assertion of it was reached"
    return ""


def _skipped(test: Judged, path: RepoPath) -> Finding:
    reason = test.decisive[2] if test.decisive else ""
    message = f"{test.row.nodeid} was skipped ({reason or 'no reason given'}), so it witnesses nothing."
    return Finding("LW403", path, 0, message, Severity.WARNING)
