"""Evidence that somebody else collected: one or several coverage exports, read and matched against head.

It has no test names unless the format has contexts, cannot tell passing tests from failing ones, and must agree with
head; where it does not, the gate refuses it (``gate.md`` 4.4).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final, cast

from linewitness.errors import EvidenceError
from linewitness.evidence import formats
from linewitness.evidence.acceptance import Acceptance, drafts_found
from linewitness.evidence.contexts import Contexts, understand
from linewitness.evidence.exported_rule import ExportedRule
from linewitness.evidence.exported_rule import best_of as closest
from linewitness.evidence.formats.facts import FileFacts, Grain, Reader, combine
from linewitness.evidence.formats.paths import Checkout, match
from linewitness.evidence.formats.placing import Disagreement, placed
from linewitness.evidence.formats.source import ExportFile
from linewitness.evidence.imported_lines import Known, Lines
from linewitness.evidence.imported_rule import ImportedRule, best_of
from linewitness.evidence.line_events import LineEvents
from linewitness.evidence.plain_lines import settle
from linewitness.model import (
    Answer,
    Demand,
    EvidenceSource,
    FileText,
    Finding,
    Obligation,
    RepoPath,
    Severity,
    Sighting,
)
from linewitness.values import NamedTuple

Demands = Callable[[FileText, tuple[Obligation, ...]], tuple[Demand, ...]]

_PYTHON: Final = (".py", ".pyi", ".pyw")
_COLLECT_AGAIN: Final = "Collect it again from a clean checkout of head"


class Export(NamedTuple):
    """One opened export: its reader, how to read its contexts, and what it calls the wanted files."""

    path: Path
    source: EvidenceSource
    reader: Reader
    contexts: Contexts | None
    names: Mapping[RepoPath, tuple[str, ...]]
    findings: tuple[Finding, ...]

    def known(self, path: RepoPath) -> Known | None:
        """What the export says of one file."""
        names = self.names.get(path)
        if names is None:
            return None
        return Known(combine(*(self.reader.facts(name) for name in names)), self.contexts)


class ImportedEvidence:
    """Exports, as an answer to the question who saw what. Implements :class:`linewitness.model.Evidence`.

    Nothing is decoded before :meth:`sightings` asks for a file, and nothing is kept afterwards.
    """

    def __init__(self, exports: Sequence[Export], demands: Demands) -> None:
        self._exports = tuple(exports)
        self._demands = demands

    @property
    def sources(self) -> tuple[EvidenceSource, ...]:
        """The exports, in the order in which they were named."""
        return tuple(export.source for export in self._exports)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Paths that fit no file, or several."""
        return tuple(finding for export in self._exports for finding in export.findings)

    def sightings(self, text: FileText, obligations: tuple[Obligation, ...]) -> tuple[Sighting, ...]:
        """One answer per obligation of one file, in their order.

        Errors: :class:`EvidenceError` (``LW504``) when an export disagrees with the file at head.
        """
        head = text.head
        if head is None or not obligations:
            return tuple(Sighting(Answer.NOT_RUN, note="the file is not there at head") for _ in obligations)
        path = text.change.path
        known = [(export, facts) for export in self._exports if (facts := export.known(path)) is not None]
        if not known:
            note = "no export names this file: it was not loaded, or the coverage tool was told to leave it out"
            return tuple(Sighting(Answer.NOT_RUN, note=note) for _ in obligations)
        if not path.endswith(_PYTHON):
            return self._exported(text, obligations, known)
        lines = LineEvents(head)
        for export, each in known:
            _refuse_stale(export, path, head, lines, each.facts)
        grains = _by_grain(facts for _export, facts in known)
        answers = settle(obligations, grains[0]) if len(grains) == 1 else [None] * len(obligations)
        if all(answers):
            return tuple(cast("list[Sighting]", answers))
        rest = tuple(owed for owed, answer in zip(obligations, answers, strict=True) if answer is None)
        demands = iter(self._demands(text, rest))
        rules = [ImportedRule(lines, each) for each in grains]
        return tuple(
            best_of([rule.sight(demand, owed.line) for demand in (next(demands),) for rule in rules])
            if answer is None
            else answer
            for owed, answer in zip(obligations, answers, strict=True)
        )

    def _exported(
        self, text: FileText, obligations: tuple[Obligation, ...], known: Sequence[tuple[Export, Known]]
    ) -> tuple[Sighting, ...]:
        """The answers for a file of another language than Python, from the facts of all exports that name it."""
        head, path = text.head or b"", text.change.path
        rules = []
        for export, each in known:
            _refuse_other_version(export, path, head, each.facts)
            try:
                rules.append(ExportedRule(head, placed(each.facts, head, path)))
            except Disagreement as error:
                raise _stale(export, path, error.line, error.what) from error
        demands = self._demands(text, obligations)
        return tuple(closest([rule.sight(demand) for rule in rules]) for demand in demands)


def load_exports(
    paths: Sequence[Path],
    checkout: Checkout,
    demands: Demands,
    *,
    path_maps: Sequence[tuple[str, str]] = (),
    format_name: str | None = None,
    acceptance: Acceptance | None = None,
) -> ImportedEvidence:
    """Open coverage exports and find the wanted files in them.

    Several exports are shards of one run: a hit in any of them is a hit. ``path_maps`` are pairs FROM, TO: an export's
    path that begins with FROM begins with TO (relative to the root, or absolute) in the repository. ``format_name``
    forces one of :func:`linewitness.evidence.formats.names`; ``None`` and ``auto`` look at the bytes. ``acceptance``
    tells whose hits are left out.

    Errors: :class:`EvidenceError` when an export is missing, empty, no file, or cannot be read.
    """
    if not paths:
        raise EvidenceError("no coverage export was named; pass at least one with --cov")
    exports = [_load(path, checkout, path_maps, format_name) for path in paths]
    if acceptance is not None:
        exports = [_accepted(export, acceptance) for export in exports]
    return ImportedEvidence(_without_moot_findings(exports), demands)


def _load(path: Path, checkout: Checkout, path_maps: Sequence[tuple[str, str]], format_name: str | None) -> Export:
    file = ExportFile(path)
    name, reader = formats.open_export(file, format_name)
    found = match(reader.names, reader.bases, checkout, path_maps, str(path))
    source = EvidenceSource(suite="imported", kind=name, provenance="imported", digest=file.digest())
    return Export(path, source, reader, understand(reader.context_names()), found.found, found.findings)


def _accepted(export: Export, acceptance: Acceptance) -> Export:
    """The export without the hits of relations that nobody accepted, and of generated tests."""
    if export.contexts is None:
        return export._replace(findings=export.findings + acceptance.inseparable())
    tests = export.contexts.tests(export.reader.context_names())
    drafts = acceptance.drafts_of(tests)
    dropped = frozenset(drafts) | frozenset(filter(acceptance.is_generated, tests))
    return export._replace(
        contexts=export.contexts._replace(dropped=dropped), findings=export.findings + drafts_found(drafts.values())
    )


def _without_moot_findings(exports: Sequence[Export]) -> list[Export]:
    """A warning that one shard does not name a file is moot when another shard does."""
    named = {path for export in exports for path in export.names}
    return [
        export._replace(
            findings=tuple(
                finding
                for finding in export.findings
                if finding.severity is Severity.ERROR or RepoPath(finding.path) not in named
            )
        )
        for export in exports
    ]


def _by_grain(known: Iterable[Known]) -> list[Lines]:
    """Exports that know lines, and exports that know statements, apart: their lines mean different things."""
    groups: dict[Grain, list[Known]] = {}
    for each in known:
        groups.setdefault(each.facts.grain, []).append(each)
    return [Lines(grain, group) for grain, group in groups.items()]


def _refuse_stale(export: Export, path: RepoPath, head: bytes, text: LineEvents, facts: FileFacts) -> None:
    """Errors: ``LW504`` when the export cannot have been collected on the file at head."""
    last = max(text.line_count, 1)
    excluded = max(facts.excluded, default=0)
    # coverage.py excludes a last line `...` together with the one behind it, which need not be there
    beyond = max(max(facts.counts, default=0), excluded if excluded != last + 1 else 0)
    if beyond > last:
        raise _stale(export, path, last, f"names line {beyond} of a file that has {last} lines at head")
    if path.endswith(_PYTHON):
        silent = text.without_code(lambda line: facts.counts.get(line, 0) > 0)
        if silent is not None:
            raise _stale(export, path, silent, "says that this line ran, which is blank or a comment at head")
    _refuse_other_version(export, path, head, facts)


def _refuse_other_version(export: Export, path: RepoPath, head: bytes, facts: FileFacts) -> None:
    """Errors: ``LW504`` when a checksum in the export is that of another text."""
    if facts.digests and hashlib.md5(head, usedforsecurity=False).hexdigest() not in facts.digests:
        raise _stale(export, path, 0, "has the checksum of another version of this file")
    if not facts.checksums:
        return
    text = LineEvents(head)
    for line, checksum in facts.checksums.items():
        if line > text.line_count or checksum not in text.md5_of(line):
            raise _stale(export, path, line, "has the checksum of another text for this line")


def _stale(export: Export, path: RepoPath, line: int, what: str) -> EvidenceError:
    return EvidenceError(f"{export.path} {what}. {_COLLECT_AGAIN}", code="LW504", path=path, line=line)
