"""The gate: the steps that lead from two names to a map, in the order in which they are taken.

This module calls and decides nothing. What is owed, what may be touched, who saw what, and what follows from it, is
decided by the rooms it calls; the verdict comes from the decision table in :mod:`linewitness.policy`.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence
from operator import attrgetter
from pathlib import Path

from linewitness import advice, obligations, trusted_run
from linewitness.assembly import Assembly, LineHash
from linewitness.case import Case, Question, open_case
from linewitness.errors import EvidenceError, Exit, LinewitnessError, UsageError
from linewitness.evidence.sandbox import Mode
from linewitness.findings import exit_of
from linewitness.globs import Globs
from linewitness.languages import hazards
from linewitness.model import Answer, Evidence, Finding, Kind, RepoPath, Sighting
from linewitness.obligation_map import ObligationMap
from linewitness.obligations import FileLedger
from linewitness.patch.diff import GitPatch
from linewitness.patch.repository import Repository
from linewitness.trust import approvals
from linewitness.trust.installed import asking
from linewitness.trust.matching import Head
from linewitness.values import NamedTuple
from linewitness.waiving import Waiving

Progress = Callable[[str], None]

_RAN = frozenset({Answer.RUN, Answer.PARTIAL})
NOT_SEEN = Sighting(Answer.NOT_RUN)
_KIND = attrgetter("kind")


class Exports(NamedTuple):
    """Exports that stand in for a run. ``format_name`` forces a format, ``path_maps`` rewrite leading folders."""

    paths: tuple[Path, ...] = ()
    format_name: str | None = None
    path_maps: tuple[tuple[str, str], ...] = ()


class CheckRequest(NamedTuple):
    """What ``check`` is asked to judge.

    Without ``exports`` the trusted checks are run. ``today`` is an ISO date given by hand, or ``None`` for the host's
    clock. ``witnesses`` is ``first`` (one passing test per place) or ``all``; ``sandbox`` whether the run must have one
    (``on``), may have one (``auto``) or has none (``off``).
    """

    root: Path
    question: Question = Question()
    exports: Exports = Exports()
    today: str | None = None
    always_run: bool = False
    line_hash: LineHash = "sha256-16"
    witnesses: str = "first"
    sandbox: Mode = "auto"


def check(
    request: CheckRequest, progress: Progress, found: Callable[[Repository], None] | None = None
) -> ObligationMap:
    """Judge one patch of a repository. A failure that is the user's to mend closes the gate with its own finding.

    ``found`` is told the repository, when there is one.
    """
    assembly = Assembly("check", request.line_hash, request.today)
    try:
        with Repository(request.root) as repository:
            if found is not None:
                found(repository)
            return _judge(repository, request, assembly, progress)
    except LinewitnessError as error:
        assembly.fail(error)
        return assembly.finish(scored=False)


def _judge(repository: Repository, request: CheckRequest, assembly: Assembly, progress: Progress) -> ObligationMap:
    case = open_case(repository, request.question)
    settings = case.loaded.settings
    assembly.about(case.base, case.head, case.loaded)
    if request.question.onto is not None:
        assembly.merging(case.tip)
    progress(f"base {case.base.commit or case.base.tree}, head {case.head.commit or case.head.tree}")

    frozen = approvals.freeze(case, approvals.moment_of(request.today), asking(case))
    assembly.findings += frozen.findings
    if frozen.approval:
        assembly.approved_by(*frozen.approval)
    assembly.findings += _corpora(case)
    waiving = _waiving(case, request, assembly)
    if exit_of(assembly.findings) >= Exit.PROTECTED:
        return assembly.finish(scored=False)

    source = GitPatch(repository, case.base, case.head, case.jurisdiction.owes, (case.base_tree, case.head_tree))
    ledgers = obligations.collect_all(source, case.jurisdiction)
    owed = sum(len(ledger.classes.obligations) for ledger in ledgers)
    progress(f"changed files: {len(ledgers)}, changed lines that owe: {owed}")
    evidence = _evidence(case, ledgers, request, assembly, progress)
    for ledger in ledgers:
        score_file(ledger, evidence, waiving, assembly)
    assembly.findings += waiving.leftovers(Head(case.head_tree, case.read))
    has_checks = advice.has_checks(trusted_run.candidates(case))
    assembly.findings += advice.for_patch(settings, [ledger.classes for ledger in ledgers], has_checks=has_checks)
    return assembly.finish()


def score_file(ledger: FileLedger, evidence: Evidence | None, waiving: Waiving, assembly: Assembly) -> None:
    """Bring evidence and waivers to bear on one changed file."""
    matches = waiving.match(ledger)
    try:
        seen = _sightings(ledger, evidence)
    except EvidenceError as error:
        assembly.fail(error)
        seen = _sightings(ledger, None)
    seen = _with_hazards(ledger, seen)
    rows = assembly.add(ledger.classes, seen, matches.discharges)
    assembly.show(ledger.text, ledger.classes)
    assembly.findings += waiving.findings(matches, ledger.classes.obligations, rows)
    if all(exempt.line for exempt in ledger.classes.exempt):
        assembly.findings += advice.for_file(ledger.text)


def _sightings(ledger: FileLedger, evidence: Evidence | None) -> Sequence[Sighting]:
    """One answer per obligation of a file, in their order; nothing can run an opaque change."""
    owed = ledger.classes.obligations
    if evidence is None:
        return [NOT_SEEN] * len(owed)
    if Kind.OPAQUE not in map(_KIND, owed):
        return evidence.sightings(ledger.text, owed) if owed else ()
    runnable = tuple(obligation for obligation in owed if obligation.kind is not Kind.OPAQUE)
    answers = iter(evidence.sightings(ledger.text, runnable) if runnable else ())
    return [NOT_SEEN if obligation.kind is Kind.OPAQUE else next(answers) for obligation in owed]


def _with_hazards(ledger: FileLedger, seen: Sequence[Sighting]) -> Sequence[Sighting]:
    """The same answers, with what speaks against a run as a witness of some changed lines that ran."""
    judged = list(zip(ledger.classes.obligations, seen, strict=True))
    ran = {owed.line for owed, sighting in judged if sighting.answer in _RAN and owed.kind is not Kind.DELETION}
    found = hazards(ledger.text, ran) if ran else {}
    if not found:
        return seen
    return [sighting._replace(hazard=found[owed.line]) if owed.line in found else sighting for owed, sighting in judged]


def _corpora(case: Case) -> tuple[Finding, ...]:
    relations = Globs(case.loaded.settings.relations)
    if not any(map(relations.match, case.head_tree)):
        return ()
    from linewitness.trust import corpus

    return corpus.verify(case.head_tree, relations, case.read, case.base.commit or "HEAD")


def _waiving(case: Case, request: CheckRequest, assembly: Assembly) -> Waiving:
    """The waiver file of head: by now it is known to be base's, or an approved one."""
    path = case.loaded.settings.waivers
    data = case.read_head(path)
    assembly.governed_by(data)
    today = day_of_judgement(request.today)
    if data is None:
        return Waiving((), path)
    from linewitness.trust.waivers import load, policy_of

    waiver_file = load(data, path, policy_of(case.loaded.settings, today, case.read_head))
    assembly.findings += waiver_file.findings
    return Waiving(waiver_file.waivers, path)


def day_of_judgement(given: str | None) -> dt.date:
    """The day against which expiry is judged: the one given by hand, else the host's, in UTC."""
    if given is None:
        return dt.datetime.now(dt.UTC).date()
    from linewitness.trust.waivers import iso_day

    day = iso_day(given)
    if day is None:
        raise UsageError(f"--today takes a date such as 2026-12-16, not {given!r}")
    return day


def _evidence(
    case: Case, ledgers: Sequence[FileLedger], request: CheckRequest, assembly: Assembly, progress: Progress
) -> Evidence | None:
    """Who saw what run; ``None`` when nothing that could run is owed, or when the evidence is unusable (exit 3)."""
    wanted = [ledger.text.change.path for ledger in ledgers if needs_evidence(ledger)]
    if not wanted and not request.always_run:
        progress("nothing that could run is owed, so no check is run")
        return None
    try:
        if request.exports.paths:
            evidence = _imported(case, wanted, request)
        else:
            wishes = trusted_run.Wishes(request.root, request.witnesses, request.sandbox, request.always_run)
            evidence = trusted_run.collect(case, ledgers, wishes, progress)
    except EvidenceError as error:
        assembly.fail(error)
        return None
    assembly.seen_by(evidence.sources)
    assembly.findings += evidence.findings
    return evidence


def _imported(case: Case, wanted: list[RepoPath], request: CheckRequest) -> Evidence:
    from linewitness.evidence.acceptance import Acceptance
    from linewitness.evidence.formats.paths import Checkout
    from linewitness.evidence.imported import load_exports
    from linewitness.languages import demands

    if case.loaded.settings.imported_evidence == "refuse":
        raise UsageError('the settings say imported-evidence = "refuse": run check without --cov')
    checkout = Checkout(case.repository.root, case.head_tree, wanted)
    exports = request.exports
    settings = case.loaded.settings
    return load_exports(
        exports.paths,
        checkout,
        demands,
        path_maps=exports.path_maps,
        format_name=exports.format_name,
        acceptance=Acceptance(Globs(settings.relations), Globs(settings.generated), case.head_tree),
    )


def needs_evidence(ledger: FileLedger) -> bool:
    """Whether any line of the file could be discharged by running it."""
    return any(obligation.kind is not Kind.OPAQUE for obligation in ledger.classes.obligations)
