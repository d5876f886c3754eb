"""The trusted checks and accepted relations, run on a fresh export of head: the gate's own evidence."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from linewitness.case import Case
from linewitness.evidence.combined import BoundEvidence, combine
from linewitness.evidence.influence import could_matter, influences
from linewitness.evidence.interpreter import Interpreter, find_interpreter
from linewitness.evidence.pytest_run import RunRequest, run_pytest
from linewitness.evidence.pytest_settings import import_roots, owned_names, read_pytest_settings
from linewitness.evidence.recorded import RecordedEvidence
from linewitness.evidence.relation_request import BaseTree, RelationRequest, asks_for_base, draw_seed, request_of
from linewitness.evidence.rule import lines_needed
from linewitness.evidence.sandbox import Mode, Sandbox, find_sandbox
from linewitness.evidence.sandbox_mounts import environment_of, seal
from linewitness.evidence.sandbox_room import Terms, borrowed, own_interpreter, visible
from linewitness.globs import Globs
from linewitness.languages import demands, files
from linewitness.model import Evidence, Kind, RepoPath
from linewitness.obligations import FileLedger
from linewitness.patch.export import export_tree
from linewitness.settings import Suite

Progress = Callable[[str], None]
LineRanges = tuple[tuple[int, int], ...]

_SECONDS_BETWEEN_NEWS = 0.2
_MOSTLY = 3
"""A file of which more than one line in this many is owed is watched whole."""


class Wishes(NamedTuple):
    """What the caller may choose.

    ``checkout`` is where environments are looked for, ``witnesses`` how many of them are named, ``always_run`` whether
    suites run whose sources did not change.
    """

    checkout: Path
    witnesses: str = "first"
    sandbox: Mode = "auto"
    always_run: bool = False


def candidates(case: Case) -> tuple[RepoPath, ...]:
    """The files of head that people own as checks or relations, sorted; generated tests are never among them."""
    settings = case.loaded.settings
    trusted, relations, generated = Globs(settings.trusted), Globs(settings.relations), Globs(settings.generated)
    owned = (path for path in case.head_tree if trusted.match(path) or relations.match(path))
    return tuple(sorted(path for path in owned if not generated.match(path)))


def collect(case: Case, ledgers: Sequence[FileLedger], wishes: Wishes, progress: Progress) -> Evidence:
    """Run every suite that the patch concerns and combine what they saw.

    Each runs in an export of its own, so that nothing that one leaves behind is there for the next. Errors:
    :class:`linewitness.errors.EvidenceError` when a run cannot be started or is no evidence,
    :class:`linewitness.errors.UsageError` for settings that do not fit the tree.
    """
    sandbox = find_sandbox(wishes.sandbox)
    if not sandbox.isolates:
        progress(f"the trusted checks run {sandbox}")
    protected = frozenset(filter(case.protection.is_protected, case.head_tree))
    parts: list[Evidence] = []
    for suite in case.loaded.settings.suite or (Suite(),):
        sources = Globs(suite.sources or ("**",))
        if not wishes.always_run and not any(sources.match(ledger.text.change.path) for ledger in _owing(ledgers)):
            progress(f"the suite `{suite.name}` is skipped: the patch changes no line of its sources that owes")
            continue
        with tempfile.TemporaryDirectory(prefix="linewitness-", ignore_cleanup_errors=True) as folder:
            export = Path(os.path.realpath(folder)) / "export"
            progress("exporting head")
            export_tree(case.repository, case.head.tree, export, listed=case.head_tree)
            place = _Place(export, export.parent, wishes, sandbox, protected, progress)
            run = _command if suite.run else _run
            parts.append(BoundEvidence(run(case, suite, ledgers, place), sources.match))
    return combine(parts)


def _owing(ledgers: Iterable[FileLedger]) -> Iterable[FileLedger]:
    return (ledger for ledger in ledgers if any(owed.kind is not Kind.OPAQUE for owed in ledger.classes.obligations))


def _relations(case: Case, base: Path, progress: Progress) -> RelationRequest:
    """What the run has to know of relations; the base tree is exported to ``base`` when one of them asks for it."""
    request = request_of(case.head_tree, case.loaded.settings.relations, case.read, draw_seed())
    if not asks_for_base(case.head_tree, request.files, case.read):
        return request
    progress("exporting base, which a relation compares with")
    export_tree(case.repository, case.base.tree, base)
    return request._replace(base=BaseTree(base, ()))


class _Place(NamedTuple):
    export: Path
    results: Path
    wishes: Wishes
    sandbox: Sandbox
    protected: frozenset[RepoPath]
    progress: Progress


def _relations_for(case: Case, place: _Place, python: Interpreter) -> RelationRequest:
    """What one interpreter has to know: where base's modules are imported from is a matter of its pytest."""
    request = _relations(case, place.results / "base", place.progress)
    if request.base is None:
        return request
    root = request.base.root
    roots = import_roots(root, read_pytest_settings(root, python.pytest))
    return request._replace(base=BaseTree(root, tuple(roots)))


def _terms(case: Case, suite: Suite, place: _Place, python: Interpreter | None, lent: tuple[Path, ...] = ()) -> Terms:
    """The isolation of one suite. The home folder and the checkout are seen only where an environment lies in them."""
    home = Path(os.path.expanduser("~"))
    checkout = Path(os.path.realpath(case.repository.root))
    if python is None:
        program, needed = own_interpreter()
    else:
        program, needed = python.path, environment_of(python, (home, checkout))
    regular = [path for path, blob in case.head_tree.items() if blob.is_regular]
    return Terms(
        place.sandbox,
        program,
        readable=(*needed, *visible(suite, str(home))),
        sealed=seal(place.protected.intersection(regular), case.head_tree),
        borrowed=borrowed(suite, checkout),
        lent=lent,
    )


def _run(case: Case, suite: Suite, ledgers: Sequence[FileLedger], place: _Place) -> RecordedEvidence:
    python = find_interpreter(suite, place.wishes.checkout)
    sources, paths = Globs(suite.sources or ("**",)), Globs(suite.paths or ("**",))
    settings = read_pytest_settings(place.export, python.pytest)
    relations = _relations_for(case, place, python)
    place.progress(f"running the trusted checks with {python}")
    mine = [ledger for ledger in ledgers if sources.match(ledger.text.change.path) and _is_python(ledger)]
    request = RunRequest(
        export=place.export,
        python=python,
        suite=suite,
        paths=tuple(filter(paths.match, candidates(case))),
        changed=observed_lines(mine),
        results=place.results,
        owned=owned_names(case.base_tree, settings.pythonpath),
        protected=place.protected,
        progress=_Pace(place.progress),
        all_witnesses=place.wishes.witnesses == "all",
        relations=relations,
        terms=_terms(case, suite, place, python, () if relations.base is None else (relations.base.root,)),
    )
    record = run_pytest(request._replace(notes_reads=notes_reads(case, ledgers, place.export)))
    found = influences((ledger.text.change for ledger in ledgers), record.used, _watched(case), case.base_tree)
    return RecordedEvidence(record._replace(findings=(*record.findings, *found)), demands)


def notes_reads(case: Case, ledgers: Iterable[FileLedger], export: Path) -> bool:
    """Whether the run has to note which files its checks open; ``export`` holds the files of head."""
    owned = (path for path in case.head_tree if path.endswith(".py") and case.protection.is_protected(path))

    def checks() -> Iterable[bytes]:
        return ((export / path).read_bytes() for path in owned if (export / path).is_file())

    return could_matter((ledger.text.change for ledger in ledgers), _watched(case), case.base_tree, checks)


def _is_python(ledger: FileLedger) -> bool:
    return files.language(ledger.text.change.path, ledger.text.head or b"") == "python"


def _watched(case: Case) -> Callable[[RepoPath], bool]:
    """Tells paths that people own, wholly or in the tables that matter, and those whose lines owe."""
    protection, jurisdiction = case.protection, case.jurisdiction
    return lambda path: protection.is_protected(path) or protection.shares(path) or jurisdiction.owes(path)


def _command(case: Case, suite: Suite, ledgers: Sequence[FileLedger], place: _Place) -> Evidence:
    from linewitness.evidence.acceptance import Acceptance
    from linewitness.evidence.command_run import CommandRequest, run_command
    from linewitness.evidence.output_folder import refuse_brought_along

    settings = case.loaded.settings
    refuse_brought_along(suite.export, case.base_tree, case.head_tree)
    place.progress(f"running the suite `{suite.name}`: {suite.run}")
    sources = Globs(suite.sources or ("**",))
    wanted = [ledger.text.change.path for ledger in _owing(ledgers) if sources.match(ledger.text.change.path)]
    request = CommandRequest(
        export=place.export,
        results=place.results,
        suite=suite,
        known=case.head_tree,
        wanted=wanted,
        protected=place.protected,
        terms=_terms(case, suite, place, None),
        host=os.environ,
        acceptance=Acceptance(Globs(settings.relations), Globs(settings.generated), case.head_tree),
    )
    return run_command(request, demands)


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
