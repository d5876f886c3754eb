"""The trusted checks and accepted relations, run on a fresh export of head: the gate's own evidence."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from pathlib import Path

from linewitness.case import Case
from linewitness.evidence.combined import BoundEvidence, combine
from linewitness.evidence.influence import (
    Ownership,
    could_matter,
    influences,
    looked_up,
    may_steer_commands,
    opened_by_command,
)
from linewitness.evidence.interpreter import Interpreter, find_interpreter
from linewitness.evidence.pytest_run import RunRequest, run_pytest
from linewitness.evidence.pytest_settings import import_roots, owned_names, read_pytest_settings
from linewitness.evidence.reasons import lines_at_issue, may_compile, may_execute, may_look_up
from linewitness.evidence.recorded import Demands, RecordedEvidence, Remembered
from linewitness.evidence.relation_request import BaseTree, RelationRequest, asks_for_base, draw_seed, request_of
from linewitness.evidence.rule import lines_needed
from linewitness.evidence.sandbox import Mode, Sandbox, find_sandbox
from linewitness.evidence.sandbox_mounts import seal
from linewitness.evidence.sandbox_room import Terms, terms_of
from linewitness.globs import Globs
from linewitness.languages import demands, files
from linewitness.later import Later
from linewitness.model import Evidence, Kind, RepoPath
from linewitness.obligations import FileLedger
from linewitness.patch.export import export_tree
from linewitness.settings import Suite
from linewitness.silence import silenced
from linewitness.trust.manifest import MANIFEST
from linewitness.values import NamedTuple

Progress = Callable[[str], None]
LineRanges = tuple[tuple[int, int], ...]

_SECONDS_BETWEEN_NEWS = 0.2
_LARGEST_TEXT = 1 << 20
_WORTH_A_GUESS = 500_000
"""Bytes of changed files from which on to list the code of all costs more than to look which may be loaded."""
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
    suites = [(suite, Globs(suite.sources or ("**",))) for suite in case.loaded.settings.suite or (Suite(),)]
    owing = [ledger.text.change.path for ledger in _owing(ledgers)]
    concerned = [wishes.always_run or any(map(sources.match, owing)) for _, sources in suites]
    # the interpreters answer while the sandbox is tried and head is exported
    pythons = [
        Later(find_interpreter, suite, wishes.checkout) if is_concerned and not suite.run else None
        for (suite, _), is_concerned in zip(suites, concerned, strict=True)
    ]
    sandbox = find_sandbox(wishes.sandbox)
    if not sandbox.isolates:
        progress(f"the trusted checks run {sandbox}")
    protected = frozenset(filter(case.protection.is_protected, case.head_tree))
    parts: list[Evidence] = []
    for (suite, sources), is_concerned, python in zip(suites, concerned, pythons, strict=True):
        if not is_concerned:
            progress(f"the suite `{suite.name}` is skipped: the patch changes no line of its sources that owes")
            continue
        nowhere = _Place(Path(), Path(), wishes, sandbox, protected, progress)
        seen = _seen(case, suite, ledgers, nowhere, python)
        if seen is None:
            progress("the checks loaded changed files that nothing seemed to lead to: they run again, with all watched")
            seen = _seen(case, suite, ledgers, nowhere._replace(guesses=False), python)
        if seen is not None:
            parts.append(BoundEvidence(seen, sources.match))
    return combine(parts)


def _seen(
    case: Case, suite: Suite, ledgers: Sequence[FileLedger], nowhere: _Place, python: Later[Interpreter] | None
) -> Evidence | None:
    """Run one suite in an export of its own. ``None`` when it has to run again, without guesses."""
    with tempfile.TemporaryDirectory(prefix="linewitness-", ignore_cleanup_errors=True) as folder:
        export = Path(os.path.realpath(folder)) / "export"
        place = nowhere._replace(export=export, results=export.parent)
        place.progress("exporting head")
        export_tree(case.repository, case.head.tree, export, listed=case.head_tree)
        return _command(case, suite, ledgers, place) if python is None else _run(case, suite, ledgers, place, python)


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
    """Where and how one suite runs. ``guesses``: files that nothing seems to lead to may be left unobserved."""

    export: Path
    results: Path
    wishes: Wishes
    sandbox: Sandbox
    protected: frozenset[RepoPath]
    progress: Progress
    guesses: bool = True


def _relations_for(case: Case, place: _Place, python: Interpreter) -> RelationRequest:
    """What one interpreter has to know: where base's modules are imported from is a matter of its pytest."""
    request = _relations(case, place.results / "base", place.progress)
    if request.base is None:
        return request
    root = request.base.root
    roots = import_roots(root, read_pytest_settings(root, python.pytest))
    return request._replace(base=BaseTree(root, tuple(roots)))


def _terms(case: Case, suite: Suite, place: _Place, python: Interpreter | None, lent: tuple[Path, ...] = ()) -> Terms:
    """The isolation of one suite, in which nothing changes what people own."""
    regular = [path for path, blob in case.head_tree.items() if blob.is_regular]
    found = terms_of(place.sandbox, suite, case.repository.root, python, lent)
    return found._replace(sealed=seal(place.protected.intersection(regular), case.head_tree))


def _run(
    case: Case, suite: Suite, ledgers: Sequence[FileLedger], place: _Place, asked: Later[Interpreter]
) -> RecordedEvidence | None:
    python = asked.result()
    sources, paths = Globs(suite.sources or ("**",)), Globs(suite.paths or ("**",))
    settings = read_pytest_settings(place.export, python.pytest)
    relations = _relations_for(case, place, python)
    place.progress(f"running the trusted checks with {python}")
    mine = [ledger for ledger in ledgers if sources.match(ledger.text.change.path) and _is_python(ledger)]
    idle = _idle(case, mine, place) if place.guesses else frozenset[RepoPath]()
    needed, owned = Remembered(demands), candidates(case)
    request = RunRequest(
        export=place.export,
        python=python,
        suite=suite,
        paths=tuple(filter(paths.match, owned)),
        changed=observed_lines((each for each in mine if each.text.change.path not in idle), needed)
        | dict.fromkeys(idle, ()),
        results=place.results,
        owned=owned_names(case.base_tree, settings.pythonpath),
        protected=place.protected,
        progress=_Pace(place.progress),
        all_witnesses=place.wishes.witnesses == "all",
        relations=relations,
        terms=_terms(case, suite, place, python, relations.lent),
        watches_starts=watches_starts(case, place.export),
    )
    notes = notes_reads(case, ledgers, place.export)
    loose = _loose(case, ledgers) if notes or suite.audit == "always" else {}
    record = run_pytest(request._replace(notes_reads=notes, loose=loose))
    if idle & record.loaded:
        return None
    changes, checks = (ledger.text.change for ledger in ledgers), _texts_of_checks(case, place.export)
    found = influences(changes, record.used, _owners(case), case.base_tree, checks)
    keys = {*relations.corpora, *(path for path in owned if path.endswith((".py", MANIFEST)))}
    found += looked_up(record.used, keys.__contains__, checks, lambda: [each.text.head or b"" for each in mine])
    found += silenced(case, request, record, place.progress)
    return RecordedEvidence(record._replace(findings=(*record.findings, *found)), needed)


def _idle(case: Case, mine: Iterable[FileLedger], place: _Place) -> frozenset[RepoPath]:
    """The changed files of a big patch that no check seems to load."""
    changed = {ledger.text.change.path: len(ledger.text.head or b"") for ledger in _owing(mine)}
    if sum(changed.values()) < _WORTH_A_GUESS:
        return frozenset()
    from linewitness.evidence.reach import out_of_reach

    modules = [path for path, blob in case.head_tree.items() if path.endswith(".py") and blob.is_regular]
    checks = {path for path in modules if path in place.protected or path.endswith("conftest.py")}
    return out_of_reach(changed, modules, checks, lambda path: (place.export / path).read_bytes())


def notes_reads(case: Case, ledgers: Iterable[FileLedger], export: Path) -> bool:
    """Whether the run has to note who opens which files; ``export`` holds the files of head."""
    changes, checks = [ledger.text.change for ledger in ledgers], _texts_of_checks(case, export)
    owners = _owners(case)
    if could_matter(changes, owners.is_watched, case.base_tree, checks):
        return True
    code = (ledger.text for ledger in ledgers if _is_python(ledger) and owners.owes(ledger.text.change.path))
    if may_look_up(code, candidates(case)):
        return True
    if not any(change.head is not None and not owners.is_watched(change.path) for change in changes):
        return False
    return may_execute(_texts(export, (path for path in case.head_tree if path.endswith(".py") and owners.owes(path))))


def watches_starts(case: Case, export: Path) -> bool:
    """Whether all code has to be seen when it starts, and not only what is imported; ``export`` holds head's files.

    That makes code slower, so the checks are asked whether any of them can run a file without importing it.
    """
    return may_compile(_texts_of_checks(case, export)())


def _loose(case: Case, ledgers: Iterable[FileLedger]) -> dict[RepoPath, list[int]]:
    """The files that the patch changed or added and that nobody watches, with the lines that are new."""
    owners = _owners(case)
    changes = (ledger.text.change for ledger in ledgers)
    loose = ((change, change.head) for change in changes if change.head and not owners.is_watched(change.path))
    return {
        change.path: lines_at_issue(case.read(change.base) if change.base else None, case.read(head))
        for change, head in loose
        if head.is_regular
    }


def _texts_of_checks(case: Case, export: Path) -> Callable[[], Iterable[bytes]]:
    """The code that people own, read when it is asked for."""
    python = (path for path in case.head_tree if path.endswith(".py"))
    owned = cache(lambda: [path for path in python if case.protection.is_protected(path)])
    return lambda: ((export / path).read_bytes() for path in owned() if (export / path).is_file())


def _is_python(ledger: FileLedger) -> bool:
    return files.language(ledger.text.change.path, ledger.text.head or b"") == "python"


def _owners(case: Case) -> Ownership:
    """Tells paths that people own, wholly or in the tables that matter, and those whose lines owe."""
    protection = case.protection
    return Ownership(lambda path: protection.is_protected(path) or protection.shares(path), case.jurisdiction.owes)


def _command(case: Case, suite: Suite, ledgers: Sequence[FileLedger], place: _Place) -> Evidence:
    from linewitness.evidence.acceptance import Acceptance
    from linewitness.evidence.command_run import CommandRequest, run_command
    from linewitness.evidence.opened import noticing
    from linewitness.evidence.output_folder import refuse_brought_along

    settings = case.loaded.settings
    refuse_brought_along(suite.export, case.base_tree, case.head_tree)
    place.progress(f"running the suite `{suite.name}`: {suite.run.strip()}")
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
    loose = may_steer_commands((ledger.text.change for ledger in ledgers), _owners(case), case.base_tree)
    with noticing(place.export, loose) as opened:
        evidence = run_command(request, demands)
    evidence.more = opened_by_command(opened, lambda: _texts(place.export, place.protected))
    return evidence


def _texts(export: Path, paths: Iterable[RepoPath]) -> Iterable[bytes]:
    """The bytes of the regular files among some paths; what is that large is no code."""
    files = (export / path for path in paths)
    return (file.read_bytes() for file in files if file.is_file() and file.stat().st_size <= _LARGEST_TEXT)


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


def observed_lines(ledgers: Iterable[FileLedger], ask: Demands = demands) -> dict[RepoPath, LineRanges]:
    """For each file that owes, the line ranges whose code the recorder has to watch: headers, definitions and arms.

    ``ask`` tells what lines demand.
    """
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
            lines.update(lines_needed(ask(ledger.text, others)) if others else ())
            watched[ledger.text.change.path] = tuple(sorted(lines))
    return watched
