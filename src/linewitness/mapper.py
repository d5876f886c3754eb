"""The mapper alone: somebody else's diff and coverage export, scored.

Nothing of the checkout can change the policy here: no settings file is read, the defaults hold. What the mapper cannot
judge (whether protected content was approved) it says in a warning; only ``check`` is the whole gate.
"""

from __future__ import annotations

from pathlib import Path

from linewitness import obligations
from linewitness.assembly import Assembly, LineHash
from linewitness.errors import LinewitnessError, PatchError, UsageError
from linewitness.evidence.acceptance import Acceptance
from linewitness.evidence.formats.paths import Checkout
from linewitness.evidence.imported import ImportedEvidence, load_exports
from linewitness.gate import Exports, day_of_judgement, score_file
from linewitness.globs import Globs
from linewitness.languages import demands
from linewitness.model import Finding, RepoPath, Severity
from linewitness.obligation_map import ObligationMap
from linewitness.obligations import Jurisdiction
from linewitness.patch.diff_file import DiffPatch
from linewitness.patch.repository import Repository
from linewitness.settings import Settings
from linewitness.settings import load as load_settings
from linewitness.trust.protected import Protection
from linewitness.trust.waivers import load, policy_of
from linewitness.values import NamedTuple
from linewitness.waiving import Waiving


class MapRequest(NamedTuple):
    """What ``map`` is asked to score: a diff, the files it leads to below ``root``, exports, and perhaps waivers."""

    diff: bytes
    root: Path
    exports: Exports
    waivers: Path | None = None
    today: str | None = None
    line_hash: LineHash = "sha256-16"


def score(request: MapRequest) -> ObligationMap:
    """Score a diff against exports. A failure that is the user's to mend closes the gate with its own finding."""
    assembly = Assembly("map", request.line_hash, request.today)
    try:
        return _score(request, assembly)
    except LinewitnessError as error:
        assembly.fail(error)
        return assembly.finish(scored=False)


def _score(request: MapRequest, assembly: Assembly) -> ObligationMap:
    loaded = load_settings(lambda _: None)
    settings = loaded.settings
    protection = Protection(settings)
    jurisdiction = Jurisdiction(settings, protection.is_protected)
    source = DiffPatch(request.diff, request.root, jurisdiction.owes)
    assembly.about(source.patch.base, source.patch.head, loaded)
    waiving = _waiving(request, settings, assembly)
    evidence = _evidence(request, source, jurisdiction, settings)
    assembly.seen_by(evidence.sources)
    for ledger in obligations.collect(source, jurisdiction):
        score_file(ledger, evidence, waiving, assembly)
    assembly.findings += evidence.findings
    assembly.findings += _unjudged(source, protection)
    return assembly.finish()


def _evidence(
    request: MapRequest, source: DiffPatch, jurisdiction: Jurisdiction, settings: Settings
) -> ImportedEvidence:
    owing = [change.path for change in source.patch.changes if change.head and jurisdiction.owes(change.path)]
    known = _known(request.root) | {change.path for change in source.patch.changes}
    exports = request.exports
    return load_exports(
        exports.paths,
        Checkout(request.root, known, owing),
        demands,
        path_maps=exports.path_maps,
        format_name=exports.format_name,
        acceptance=_acceptance(source, settings, known),
    )


def _acceptance(source: DiffPatch, settings: Settings, known: set[RepoPath]) -> Acceptance:
    """Relations that the diff adds or changes are drafts here: whether people approved them is for ``check`` to say."""
    relations = Globs(settings.relations)
    changed = (change.path for change in source.patch.changes if change.head)
    return Acceptance(relations, Globs(settings.generated), known, frozenset(filter(relations.match, changed)))


def _known(root: Path) -> set[RepoPath]:
    """Every file below ``root`` that an export might mean: what git tracks there, or simply what lies there."""
    try:
        with Repository(root) as repository:
            inside = root.resolve().relative_to(repository.root.resolve()).as_posix()
            prefix = "" if inside == "." else f"{inside}/"
            tracked = repository.ls_tree(repository.resolve("HEAD").tree)
            return {RepoPath(path.removeprefix(prefix)) for path in tracked if path.startswith(prefix)}
    except PatchError:
        files = (path.relative_to(root) for path in root.rglob("*.*") if path.is_file())
        return {RepoPath(path.as_posix()) for path in files}


def _waiving(request: MapRequest, settings: Settings, assembly: Assembly) -> Waiving:
    path = request.waivers
    if path is None:
        return Waiving((), settings.waivers)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UsageError(f"the waiver file cannot be read: {error.strerror}", path=str(path)) from error
    assembly.governed_by(data)
    name = _relative(path, request.root)
    waiver_file = load(data, name, policy_of(settings, day_of_judgement(request.today), lambda _: None))
    assembly.findings += waiver_file.findings
    return Waiving(waiver_file.waivers, name)


def _relative(path: Path, root: Path) -> str:
    """How findings call a file: relative to the root when it lies there, so that no map holds a path of a machine."""
    absolute = path.absolute()
    return absolute.relative_to(root.absolute()).as_posix() if absolute.is_relative_to(root.absolute()) else path.name


def _unjudged(source: DiffPatch, protection: Protection) -> list[Finding]:
    """One warning per protected path of the diff: whether people approved that change is for ``check`` to say."""
    message = "protected content changed: `map` cannot tell whether people approved that, `linewitness check` can"
    changed = [change.path for change in source.patch.changes if protection.is_protected(change.path)]
    return [Finding("LW301", path, 0, message, Severity.WARNING) for path in changed]
