"""Judges a finished run: how each test ended, and whether the run is complete. Passing by absence is failing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import groupby

from linewitness.evidence.hits import LEFT_OUT, Silent
from linewitness.evidence.launch import Ended
from linewitness.evidence.records import (
    Alien,
    Collected,
    CollectFault,
    Fault,
    Guarded,
    Journals,
    LeftOut,
    Modules,
    Notice,
    Outcome,
    TakenOut,
    TestRow,
    Unchosen,
    WorkerRow,
    judge,
)
from linewitness.evidence.vacuity import Judged, without_vacuous
from linewitness.model import Finding, RepoPath, Severity, Tests
from linewitness.values import NamedTuple

# pytest's exit statuses (pytest.ExitCode).
_OK, _FAILED, _INTERRUPTED, _NONE_COLLECTED = 0, 1, 2, 5
_SHOWN = 5
OPTIONS = "options"
"""Who left a file out, as the record says it, when the suite's or the project's options of pytest did."""
_MEANING = {2: "was interrupted", 3: "had an internal error", 4: "was called wrongly", 5: "collected no test"}


class Verdict(NamedTuple):
    """All that a run showed. ``complete`` is false when its hits may not count.

    ``unasked`` are modules that were left out while tests were collected.
    """

    tests: tuple[Judged, ...]
    findings: tuple[Finding, ...]
    complete: bool
    unasked: tuple[Silent, ...] = ()

    @property
    def passed(self) -> frozenset[str]:
        """The node ids of the tests that passed."""
        return frozenset(test.row.nodeid for test in self.tests if test.outcome is Outcome.PASSED)

    @property
    def silent(self) -> Iterator[Silent]:
        """The checks that gave no answer."""
        yield from self.unasked
        for test in self.tests:
            if test.outcome in {Outcome.SKIPPED, Outcome.XFAILED}:
                yield Silent(test.row.nodeid, test.outcome.value, test.decisive[2] if test.decisive else "")

    @property
    def counts(self) -> Tests:
        """How many tests ended how; what neither passed nor failed nor was expected to fail counts as skipped."""
        count = Counter(test.outcome for test in self.tests)
        failed = count[Outcome.FAILED] + count[Outcome.INCOMPLETE]
        expected = count[Outcome.XFAILED] + count[Outcome.XPASSED]
        skipped = count[Outcome.SKIPPED] + count[Outcome.RERUN] + count[Outcome.VACUOUS]
        return Tests(count[Outcome.PASSED], failed, skipped, expected)


def examine(journals: Journals, ended: Ended, relations: frozenset[RepoPath] = frozenset()) -> Verdict:
    """Judge every test, and whether the run is complete: passing by absence is failing.

    ``relations`` are the files whose tests have to have compared something.
    """
    rows = [row for journal in journals.main + journals.workers for row in journal.rows if isinstance(row, TestRow)]
    tests = tuple(Judged(row, *judge(row.reports)) for row in _attempts(rows))
    tests, vacuous = without_vacuous(tests, journals, relations)
    faults = _collection(journals)
    broken = [*_ending(journals, ended, faults), *_workers(journals)]
    if not (faults and ended.status == _INTERRUPTED):
        # pytest runs nothing of a collection with errors, and says so with this status.
        broken += _missing(journals, tests)
    failing = [*vacuous, *(finding for test in tests for finding in _failure(test))]
    if not broken and not faults and not failing:
        broken += _disagreement(ended.status, passed=any(test.outcome is Outcome.PASSED for test in tests))
    elif (
        not broken and ended.status == _OK and any(f.severity is Severity.ERROR and f.code == "LW501" for f in failing)
    ):
        broken += _false_success(tests)
    tampering = _tampering(journals)
    findings = (*broken, *faults, *failing, *_strays(journals), *tampering)
    touched = any(finding.severity is Severity.ERROR for finding in tampering)
    complete = not touched and not any(finding.code == "LW503" for finding in broken)
    return Verdict(tests, findings, complete, tuple(_unasked(journals)))


def _attempts(rows: list[TestRow]) -> Iterator[TestRow]:
    """The rows by node id. Attempts at one test, each of which pytest-rerunfailures starts and finishes, become one."""
    for _, same in groupby(sorted(rows, key=lambda row: row.nodeid), key=lambda row: row.nodeid):
        attempts = list(same)
        reports = [report for row in attempts for report in row.reports]
        if len(attempts) > 1 and any(outcome == "rerun" for _, outcome, _, _ in reports):
            hits = [hit for row in attempts for hit in row.hits]
            yield TestRow(attempts[0].nodeid, attempts[0].since, attempts[-1].until, reports, hits)
        else:
            yield from attempts


def _closed(code: str, message: str, path: str = "", line: int = 0) -> Finding:
    return Finding(code, path, line, message)


def _ending(journals: Journals, ended: Ended, faults: list[Finding]) -> list[Finding]:
    found = []
    if ended.timed_out:
        found.append(
            _closed(
                "LW503",
                f"the trusted run was {ended}. Raise `timeout` of the suite, or look for what hangs." + _output(ended),
            )
        )
    elif len(journals.main) != 1 or journals.main[0].end is None:
        last = _last_words(journals)
        found.append(
            _closed(
                "LW503", f"the trusted run ended early ({ended}){last}; its record has no end marker." + _output(ended)
            )
        )
    else:
        end = journals.main[0].end
        if end.status != ended.status:
            text = (
                f"pytest ended with status {end.status}, the process with {ended}: something changed it on the way out."
            )
            found.append(_closed("LW503", text + _output(ended)))
        elif end.status not in {_OK, _FAILED, _NONE_COLLECTED} and not (end.status == _INTERRUPTED and faults):
            meaning = _MEANING.get(end.status, f"ended with status {end.status}")
            found.append(_closed("LW503", f"the trusted run {meaning}." + _output(ended)))
    cut = [journal.name for journal in journals.all if not journal.whole]
    if cut:
        found.append(_closed("LW503", f"the record {cut[0]} of the trusted run ends in the middle of a row."))
    return found


def _last_words(journals: Journals) -> str:
    """Which test was running when the process went away, as far as the record tells."""
    for journal in journals.main:
        ids = [nodeid for row in journal.rows if isinstance(row, Collected) for nodeid in row.ids]
        done = {row.nodeid for row in journal.rows if isinstance(row, TestRow)}
        left = [nodeid for nodeid in ids if nodeid not in done]
        if left:
            return f" during {left[0]}" if done or len(left) < len(ids) else f" before {left[0]} was over"
    return ""


def _output(ended: Ended) -> str:
    lines = ended.tail.splitlines()[-12:]
    return "".join(f"\n    {line}" for line in lines)


def _workers(journals: Journals) -> list[Finding]:
    started = {row.name for journal in journals.main for row in journal.rows if isinstance(row, WorkerRow)}
    lost = {
        row.name: row.error
        for journal in journals.main
        for row in journal.rows
        if isinstance(row, WorkerRow) and row.event == "down" and row.error
    }
    for journal in journals.workers:
        if journal.start is not None and journal.end is None:
            lost.setdefault(journal.start.worker, "its record has no end marker")
    reported = {journal.start.worker for journal in journals.workers if journal.start is not None}
    for name in started - reported:
        lost.setdefault(name, "it left no record")
    return [
        _closed(
            "LW503",
            f"worker {name} of the trusted run was lost: {_last_line(reason)}. Its tests count for nothing.",
        )
        for name, reason in sorted(lost.items())
    ]


def _last_line(text: str) -> str:
    return (text.strip().splitlines() or ["no reason given"])[-1]


def _missing(journals: Journals, tests: tuple[Judged, ...]) -> list[Finding]:
    collected = {nodeid for row in journals.rows() if isinstance(row, Collected) for nodeid in row.ids}
    seen = Counter(test.row.nodeid for test in tests)
    found = []
    left = sorted(collected - seen.keys())
    if left:
        found.append(
            _closed(
                "LW503",
                f"{len(left)} collected tests have no outcome: {_some(left)}. The run ended before them.",
                _file(left[0]),
            )
        )
    twice = sorted(nodeid for nodeid, count in seen.items() if count > 1)
    if twice:
        found.append(_closed("LW503", f"{len(twice)} tests have several outcomes: {_some(twice)}.", _file(twice[0])))
    odd = sorted(seen.keys() - collected)
    if odd:
        found.append(
            _closed("LW503", f"{len(odd)} tests have an outcome but were never collected: {_some(odd)}.", _file(odd[0]))
        )
    return found


def _some(names: list[str]) -> str:
    return ", ".join(names[:_SHOWN]) + (f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else "")


def _file(nodeid: str) -> str:
    return nodeid.partition("::")[0]


def _collection(journals: Journals) -> list[Finding]:
    faults = {row.nodeid: row for row in journals.rows() if isinstance(row, CollectFault)}
    found = []
    for nodeid, row in sorted(faults.items()):
        if row.outcome == "failed":
            found.append(_closed("LW501", f"{nodeid or 'the tests'} cannot be collected: {row.reason}", _file(nodeid)))
        elif row.place:
            found.append(_forged(nodeid, row.place, "skipped"))
    return found


def _unasked(journals: Journals) -> Iterator[Silent]:
    rows = {row.nodeid: row for row in journals.rows() if isinstance(row, CollectFault) and row.outcome == "skipped"}
    yield from (Silent(nodeid, "skipped", row.reason) for nodeid, row in sorted(rows.items()))
    for path, by in left_out(journals):
        if by != OPTIONS:
            yield Silent(path, LEFT_OUT, f"by {by}" if by else "")
    gone = {nodeid for row in journals.rows() if isinstance(row, TakenOut) for nodeid in row.ids}
    yield from (Silent(nodeid, LEFT_OUT, "when it was collected") for nodeid in sorted(gone))


def unchosen(journals: Journals) -> frozenset[str]:
    """Node ids, without parameters, of the tests that options left out."""
    return frozenset(nodeid for row in journals.rows() if isinstance(row, Unchosen) for nodeid in row.ids)


def left_out(journals: Journals) -> tuple[tuple[RepoPath, str], ...]:
    """The trusted files that were not collected, each with who left it out."""
    rows = {RepoPath(row.path): row.by for row in journals.rows() if isinstance(row, LeftOut)}
    return tuple(sorted(rows.items()))


def _failure(test: Judged) -> list[Finding]:
    nodeid, decisive = test.row.nodeid, test.decisive
    phase, _, reason, place = decisive or ("", "", "", "")
    if place:
        return [_forged(nodeid, place, test.outcome.value)]
    if test.outcome is Outcome.FAILED:
        where = "" if phase in {"call", "subtest"} else f" in {phase}"
        return [_closed("LW501", f"{nodeid} failed{where}: {reason or 'no reason given'}", _file(nodeid))]
    if test.outcome is Outcome.INCOMPLETE:
        return [
            _closed(
                "LW501",
                f"{nodeid} has no complete outcome: it did not report set-up, call and teardown once each.",
                _file(nodeid),
            )
        ]
    if test.outcome is Outcome.RERUN:
        message = f"{nodeid} passed only after a rerun, so it witnesses nothing."
        return [Finding("LW501", _file(nodeid), 0, message, Severity.WARNING)]
    return []


def _forged(nodeid: str, place: str, outcome: str) -> Finding:
    path, _, line = place.rpartition(":")
    message = (
        f"{nodeid} was {outcome} from {place}, which is no protected file: code under test may not decide that a check"
        " does not apply."
    )
    return _closed("LW501", message, path, int(line) if line.isdigit() else 0)


def _disagreement(status: int, *, passed: bool) -> list[Finding]:
    if status == _FAILED:
        return [_closed("LW503", "pytest reports failures (status 1), but no test of the record failed.")]
    if status == _NONE_COLLECTED:
        return [
            _closed(
                "LW502",
                "no trusted check was collected. Check the `trusted` and `relations` settings and the suite's `args`.",
            )
        ]
    if not passed:
        return [
            _closed(
                "LW502", "no trusted check passed: all were skipped or expected to fail, so nothing can be witnessed."
            )
        ]
    return []


def _false_success(tests: tuple[Judged, ...]) -> list[Finding]:
    failed = [test.row.nodeid for test in tests if test.outcome in {Outcome.FAILED, Outcome.INCOMPLETE}]
    if not failed:
        return []
    return [_closed("LW503", f"pytest reports success (status 0), but the record has failures: {_some(failed)}.")]


def _strays(journals: Journals) -> list[Finding]:
    strays = {name: file for row in journals.rows() if isinstance(row, Modules) for name, file in row.strays}
    if not strays:
        return []
    name, file = min(strays.items())
    message = (
        f"{name} was imported from {file}, outside the checkout under judgement"
        f"{f', and {len(strays) - 1} more modules too' if len(strays) > 1 else ''}. Uninstall that copy from the tests'"
        " interpreter, or build what is missing with the suite's `setup`."
    )
    return [_closed("LW506", message)]


def _unguarded(journals: Journals) -> list[Finding]:
    """Processes that ran to their end while somebody kept the guard from looking after each of their tests."""
    found = []
    for journal in journals.main + journals.workers:
        looked = [row.tests for row in journal.rows if isinstance(row, Guarded)]
        tests = sum(isinstance(row, TestRow) for row in journal.rows)
        if journal.end is not None and journal.end.status in {_OK, _FAILED, _NONE_COLLECTED} and looked != [tests]:
            text = (
                f"the recorder looked after {sum(looked)} of {tests} tests only: its hooks were kept from being called."
            )
            found.append(_closed("LW505", text))
    return found


def _tampering(journals: Journals) -> list[Finding]:
    found = [_closed("LW505", f"{row.text}.", row.path, row.line) for row in journals.rows() if isinstance(row, Fault)]
    found += _unguarded(journals)
    for row in sorted(
        {row for row in journals.rows() if isinstance(row, Notice)}, key=lambda row: (row.path, row.line)
    ):
        text = f"{row.text}: with it a program can change anything in its own process, the record included."
        found.append(Finding("LW505", row.path, row.line, text, Severity.WARNING))
    aliens = sorted({(row.file, row.line, row.name) for row in journals.rows() if isinstance(row, Alien)})
    for file, line, name in aliens[:_SHOWN]:
        message = (
            f"code named {name} ran under this file's name and is not what the file compiles to; it counts for nothing."
        )
        found.append(Finding("LW505", file, line, message, Severity.WARNING))
    return found
