"""The trusted checks and accepted relations, run on a fresh export of head: the gate's own evidence."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from linewitness.case import Case
from linewitness.errors import UsageError
from linewitness.evidence.combined import combine
from linewitness.evidence.interpreter import find_interpreter
from linewitness.evidence.pytest_run import RunRequest, run_pytest
from linewitness.evidence.pytest_settings import owned_names, read_pytest_settings
from linewitness.evidence.recorded import RecordedEvidence
from linewitness.evidence.rule import lines_needed
from linewitness.globs import Globs
from linewitness.languages import demands
from linewitness.model import Evidence, Kind, RepoPath
from linewitness.obligations import FileLedger
from linewitness.patch.export import export_tree
from linewitness.settings import Suite

Progress = Callable[[str], None]
LineRanges = tuple[tuple[int, int], ...]

_SECONDS_BETWEEN_NEWS = 5.0
_MOSTLY = 3
"""A file of which more than one line in this many is owed is watched whole."""


class Wishes(NamedTuple):
    """What the caller may choose: the checkout in which environments are looked for, and how many witnesses to name."""

    checkout: Path
    witnesses: str = "first"


def candidates(case: Case) -> tuple[RepoPath, ...]:
    """The files of head that people own as checks or relations, sorted; generated tests are never among them."""
    settings = case.loaded.settings
    trusted, relations, generated = Globs(settings.trusted), Globs(settings.relations), Globs(settings.generated)
    owned = (path for path in case.head_tree if trusted.match(path) or relations.match(path))
    return tuple(sorted(path for path in owned if not generated.match(path)))


def collect(case: Case, ledgers: Sequence[FileLedger], wishes: Wishes, progress: Progress) -> Evidence:
    """Run every suite and combine what they saw.

    Errors: :class:`linewitness.errors.EvidenceError` when a run cannot be started, :class:`UsageError` for a suite
    that this version cannot run.
    """
    suites = case.loaded.settings.suite or (Suite(),)
    for suite in suites:
        if suite.run:
            raise UsageError(
                f"the suite `{suite.name}` runs a command of its own, which is not offered yet: run it in a job of "
                "its own and hand its export to `linewitness check --cov`"
            )
    changed = observed_lines(ledgers)
    with tempfile.TemporaryDirectory(prefix="linewitness-", ignore_cleanup_errors=True) as folder:
        export = Path(folder) / "export"
        progress("exporting head")
        export_tree(case.repository, case.head.tree, export)
        return combine([_run(case, suite, changed, _Place(export, Path(folder), wishes), progress) for suite in suites])


class _Place(NamedTuple):
    export: Path
    results: Path
    wishes: Wishes


def _run(
    case: Case, suite: Suite, changed: Mapping[RepoPath, LineRanges], place: _Place, progress: Progress
) -> RecordedEvidence:
    python = find_interpreter(suite, place.wishes.checkout)
    sources, paths = Globs(suite.sources or ("**",)), Globs(suite.paths or ("**",))
    settings = read_pytest_settings(place.export, python.pytest)
    progress(f"running the trusted checks with {python}")
    request = RunRequest(
        export=place.export,
        python=python,
        suite=suite,
        paths=tuple(filter(paths.match, candidates(case))),
        changed={path: ranges for path, ranges in changed.items() if sources.match(path)},
        results=place.results,
        owned=owned_names(case.base_tree, settings.pythonpath),
        protected=frozenset(filter(case.protection.is_protected, case.head_tree)),
        progress=_Pace(progress),
        all_witnesses=place.wishes.witnesses == "all",
    )
    return RecordedEvidence(run_pytest(request), demands)


class _Pace:
    """Passes news of a long run on, but not more often than a reader of a log wants them."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._next = time.monotonic() + _SECONDS_BETWEEN_NEWS

    def __call__(self, done: int, total: int) -> None:
        now = time.monotonic()
        if now >= self._next:
            self._next = now + _SECONDS_BETWEEN_NEWS
            self._progress(f"{done} of {total} checks done")


def observed_lines(ledgers: Iterable[FileLedger]) -> dict[RepoPath, LineRanges]:
    """For each file that owes, the line ranges whose code the recorder has to watch: headers, definitions and arms."""
    watched: dict[RepoPath, LineRanges] = {}
    for ledger in ledgers:
        runnable = [owed for owed in ledger.classes.obligations if owed.kind is not Kind.OPAQUE]
        length = (ledger.text.head or b"").count(b"\n") + 1
        if len(runnable) * _MOSTLY > length:
            # asking costs more than watching the rest of the file does
            watched[ledger.text.change.path] = ((1, length),)
        elif runnable:
            # what a statement demands lies in its own header: only the others have to be asked
            others = tuple(owed for owed in runnable if owed.kind is not Kind.STATEMENT)
            lines = {span for owed in runnable for span in (owed.statement, (owed.line, owed.line))}
            lines.update(lines_needed(demands(ledger.text, others)) if others else ())
            watched[ledger.text.change.path] = tuple(sorted(lines))
    return watched
