"""``relations try``: a draft run in the sandbox, on head, on base, and on head with statements dropped.

The same run as the gate's own, with the same recorder and the same rules, over exports in temporary folders. What it
finds is advice: a draft that passes everything still discharges nothing.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from linewitness.case import Case
from linewitness.drafting.corpora import Corpus, corpora
from linewitness.drafting.dropping import dropped
from linewitness.drafting.placing import Placed, manifest_with, place, sums
from linewitness.drafting.slices import Material
from linewitness.drafting.store import Draft, Trial
from linewitness.errors import EvidenceError, UsageError
from linewitness.evidence.hits import RunRecord
from linewitness.evidence.interpreter import Interpreter, find_interpreter
from linewitness.evidence.pytest_run import RunRequest, run_pytest
from linewitness.evidence.pytest_settings import import_roots, owned_names, read_pytest_settings
from linewitness.evidence.recorded import RecordedEvidence
from linewitness.evidence.relation_request import BaseTree, RelationRequest
from linewitness.evidence.sandbox import Mode, Sandbox, find_sandbox, what_to_do
from linewitness.evidence.sandbox_room import terms_of
from linewitness.globs import Globs
from linewitness.languages import demands
from linewitness.model import Answer, Obligation, RepoPath, Severity
from linewitness.obligations import FileLedger
from linewitness.patch.export import export_tree
from linewitness.settings import Suite
from linewitness.trusted_run import observed_lines
from linewitness.values import NamedTuple

Progress = Callable[[str], None]

_SEED: Final = 20260916
_LONGEST_WHY: Final = 600
_PREAMBLE: Final = re.compile(r"\A\S+ failed: (?:_linewitness\.relations\.trouble\.)?")
_UNCOLLECTED: Final = " cannot be collected: "


class Bench(NamedTuple):
    """What all trials of one map share."""

    material: Material
    suite: Suite
    python: Interpreter
    sandbox: Sandbox
    corpora: tuple[Corpus, ...]
    checkout: Path
    progress: Progress

    @property
    def case(self) -> Case:
        """The pair of trees."""
        return self.material.case


def bench(material: Material, checkout: Path, mode: Mode, progress: Progress) -> Bench:
    """Find interpreter and sandbox. Errors: EvidenceError, also for a machine without a sandbox, and UsageError."""
    case = material.case
    suites = [suite for suite in case.loaded.settings.suite or (Suite(),) if not suite.run]
    if not suites:
        raise UsageError("the settings have no suite with pytest, so no relation can be tried")
    sandbox = find_sandbox(mode)
    if sandbox.kind == "none" and mode != "off":
        todo = what_to_do(sandbox)
        raise EvidenceError(
            f"drafts are run in a sandbox only, and there is none: {sandbox.reason}. {f'{todo}; or' if todo else 'Or'}"
            " read the draft and pass --sandbox off"
        )
    if not sandbox.isolates:
        progress(f"drafts run {sandbox}")
    found = corpora(case.head_tree, Globs(case.loaded.settings.relations), case.read)
    return Bench(material, suites[0], find_interpreter(suites[0], checkout), sandbox, found, checkout, progress)


class _Ran(NamedTuple):
    """How one run of a draft ended: ``passes``, ``fails``, ``vacuous`` or ``no run``, and why."""

    how: str
    why: str
    record: RunRecord


def attempt(bench: Bench, draft: Draft, most_mutants: int) -> Trial:
    """Try one draft. Errors: :class:`EvidenceError` when nothing can be run at all."""
    case, rows = bench.case, bench.material.rows
    ledgers = [ledger for ledger in bench.material.ledgers if any(row.path == ledger.text.change.path for row in rows)]
    bench.progress(f"{draft.name}: on head")
    head = _run(bench, draft, at_base=False, ledgers=ledgers)
    witnessed = _witnessed(head.record, ledgers, rows) if head.how == "passes" else ()
    bench.progress(f"{draft.name}: on base")
    base = _run(bench, draft, at_base=True)
    decided = _without_each(bench, draft, witnessed, most_mutants)
    why = "; ".join(f"{name}: {ran.why}" for name, ran in (("head", head), ("base", base)) if ran.why)
    return Trial(
        base=base.how,
        base_tree=case.base.tree,
        compared=sum(ran.how == "vacuous" or (ran.how == "fails" and _is_comparison(ran.why)) for ran in decided),
        digest=draft.digest,
        dropped=len(decided),
        head=head.how,
        head_tree=case.head.tree,
        noticed=sum(ran.how != "passes" for ran in decided),
        why=why[:_LONGEST_WHY],
        witnesses=tuple(f"{row.path}:{row.line}" for row in witnessed),
    )


def _without_each(bench: Bench, draft: Draft, witnessed: Sequence[Obligation], most: int) -> list[_Ran]:
    """How the draft ended without each of at most so many statements.

    A run that came to no end says nothing about the draft, neither that it noticed nor that it did not.
    """
    decided = []
    for path, source, line in _mutants(bench.case, witnessed, most):
        bench.progress(f"{draft.name}: without {path}:{line}")
        ran = _run(bench, draft, at_base=False, replaced={path: source})
        if ran.how != "no run":
            decided.append(ran)
    return decided


def rank(trial: Trial) -> tuple[bool, ...] | tuple[int, ...]:
    """A key that sorts the best first: what holds on head, notices, sees many lines, holds on base."""
    return (
        trial.head != "passes",
        not trial.noticed,
        not trial.compared,
        -len(trial.witnesses),
        -trial.noticed,
        trial.base != "passes",
    )


def _witnessed(record: RunRecord, ledgers: Sequence[FileLedger], rows: Sequence[Obligation]) -> tuple[Obligation, ...]:
    evidence = RecordedEvidence(record, demands)
    found: list[Obligation] = []
    for ledger in ledgers:
        mine = tuple(row for row in rows if row.path == ledger.text.change.path)
        for row, seen in zip(mine, evidence.sightings(ledger.text, mine), strict=True):
            if seen.answer in {Answer.RUN, Answer.PARTIAL}:
                found.append(row)
    return tuple(found)


def _mutants(case: Case, rows: Sequence[Obligation], most: int) -> list[tuple[RepoPath, bytes, int]]:
    """At most so many dropped statements, spread over the rows."""
    found = []
    for path in dict.fromkeys(row.path for row in rows):
        source = case.read_head(path) or b""
        found += [(path, each.source, each.line) for each in dropped(source, [row for row in rows if row.path == path])]
    if len(found) <= most:
        return found
    return [found[index * len(found) // most] for index in range(most)]


def _is_comparison(why: str) -> bool:
    """Whether a failure is one of the relation: the library says which law, an ``assert`` is an assertion error."""
    return "law: " in why or " AssertionError" in why


# ---------------------------------------------------------------- one run


def _run(
    bench: Bench,
    draft: Draft,
    *,
    at_base: bool,
    ledgers: Sequence[FileLedger] = (),
    replaced: Mapping[RepoPath, bytes] | None = None,
) -> _Ran:
    case = bench.case
    with tempfile.TemporaryDirectory(prefix="linewitness-", ignore_cleanup_errors=True) as folder:
        results = Path(os.path.realpath(folder))
        export = results / "export"
        export_tree(case.repository, (case.base if at_base else case.head).tree, export)
        for path, source in (replaced or {}).items():
            (export / path).write_bytes(source)
        settings = read_pytest_settings(export, bench.python.pytest)
        placed = place(case.loaded.settings.relations, f"test_draft_{draft.name}", draft.about.corpus, settings)
        _put(bench, draft, placed, export)
        relations = RelationRequest(
            frozenset({placed.relation}), sums(bench.corpora, placed, draft.inputs), _SEED, _base(bench, draft, results)
        )
        request = RunRequest(
            export=export,
            python=bench.python,
            suite=bench.suite,
            paths=(placed.relation,),
            changed=observed_lines(ledgers),
            results=results,
            owned=owned_names(case.head_tree, settings.pythonpath),
            protected=frozenset(filter(case.protection.is_protected, case.head_tree)) | {placed.relation},
            relations=relations,
            terms=terms_of(bench.sandbox, bench.suite, bench.checkout, bench.python, relations.lent),
        )
        ran = _ending(run_pytest(request))
        if at_base and _UNCOLLECTED in ran.why:
            ran = ran._replace(why="it cannot be imported there: base lacks something that it names")
        return ran._replace(why=_PREAMBLE.sub("", ran.why.replace(f"{export}/", "").replace(str(results), "")))


def _put(bench: Bench, draft: Draft, placed: Placed, export: Path) -> None:
    """The draft, head's corpora, and the manifest that lists what the draft brings: on base these may be missing."""
    case = bench.case
    files: dict[str, bytes] = {each.path: case.read(case.head_tree[each.path]) for each in bench.corpora}
    for each in bench.corpora:
        manifest = RepoPath(f"{each.folder}MANIFEST.sha256")
        files[manifest] = case.read(case.head_tree[manifest])
    if draft.inputs is not None:
        files[placed.inputs] = draft.inputs
        files[placed.manifest] = manifest_with(placed, draft.inputs, bench.corpora)
    files[placed.relation] = draft.python.encode()
    for path, data in files.items():
        target = export / path
        if target.resolve() != target or not target.is_relative_to(export):
            raise UsageError("a link stands where a draft has to go", path=path)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)


def _base(bench: Bench, draft: Draft, results: Path) -> BaseTree | None:
    """The base tree as files, for a draft that compares with it."""
    if "base" not in draft.python:
        return None
    root = results / "base"
    export_tree(bench.case.repository, bench.case.base.tree, root)
    return BaseTree(root, import_roots(root, read_pytest_settings(root, bench.python.pytest)))


def _ending(record: RunRecord) -> _Ran:
    wrong = [finding for finding in record.findings if finding.severity is Severity.ERROR]
    tests = record.source.tests
    why = wrong[0].message if wrong else ""
    if any(finding.code == "LW403" for finding in wrong):
        return _Ran("vacuous", why, record)
    if any(finding.code != "LW501" or _UNCOLLECTED in finding.message for finding in wrong) or tests is None:
        return _Ran("no run", why or "nothing was recorded", record)
    if wrong or tests.failed or not tests.passed:
        return _Ran("fails", why or "no test of it passed", record)
    return _Ran("passes", "", record)
