"""Where the map is put together: rows, exemptions and findings go in, counts and the verdict follow from them."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter, itemgetter
from typing import Literal

import msgspec.structs
from msgspec import UNSET, UnsetType

from linewitness import policy
from linewitness._version import __version__
from linewitness.digests import sha256
from linewitness.errors import Exit, LinewitnessError
from linewitness.findings import exit_of, finding_of
from linewitness.map_relations import relation_rows
from linewitness.model import (
    Commit,
    Confinement,
    EvidenceSource,
    Exempt,
    FileClasses,
    FileText,
    Finding,
    Kind,
    Obligation,
    Sighting,
    Waiver,
)
from linewitness.obligation_map import (
    SCHEMA,
    ApprovalRow,
    CommitRef,
    EvidenceRow,
    ExemptRow,
    FindingRow,
    LeftOutRow,
    ObligationMap,
    Row,
    SandboxRow,
    Status,
    TestCounts,
    Tool,
)
from linewitness.patch.identity import sha1_12
from linewitness.patch.passages import Passages
from linewitness.policy import ScorePolicy
from linewitness.settings import LoadedSettings

LineHash = Literal["sha256-16", "sha1-12"]


# Path, line, code and message of a finding, by their places in it: a big patch has one for each line.
_PLACE = itemgetter(*map(Finding._fields.index, ("path", "line", "code", "message")))


class Assembly:
    """A map in the making. Files are added in the order of their paths; nothing else decides about the result."""

    def __init__(self, command: Literal["check", "map"], line_hash: LineHash, today: str | None) -> None:
        self.findings: list[Finding] = []
        self._command = command
        self._line_hash = line_hash
        self._today = today
        self._policy = ScorePolicy()
        self._rows: list[Row] = []
        self._exempt: list[Exempt] = []
        self._sources: list[EvidenceSource] = []
        self._passages = Passages()
        self._base = self._head = CommitRef("", "")
        self._approval: ApprovalRow | UnsetType = UNSET
        self._merge: CommitRef | UnsetType = UNSET
        self._settings_digest = ""
        self._waivers_digest = ""

    def fail(self, error: LinewitnessError) -> None:
        """Put a failure on record. A file outside the repository is named without its folder, as maps hold no such."""
        finding = finding_of(error)
        name = os.path.basename(finding.path) if os.path.isabs(finding.path) else finding.path
        self.findings.append(finding._replace(path=name))

    def about(self, base: Commit, head: Commit, loaded: LoadedSettings) -> None:
        """Say which trees and settings the map is about."""
        self._base, self._head = _commit_ref(base), _commit_ref(head)
        self._settings_digest = loaded.digest
        self._policy = ScorePolicy(loaded.settings.branches, loaded.settings.import_hits, loaded.settings.hazards)

    def merging(self, tip: Commit) -> None:
        """Say that head is what a merge of this commit into base would give."""
        self._merge = _commit_ref(tip)

    def approved_by(self, commit: str, fingerprint: str, principal: str) -> None:
        """Say whose signature made changed protected content an approved one."""
        self._approval = ApprovalRow(commit, fingerprint, principal)

    def governed_by(self, waiver_file: bytes | None) -> None:
        """Say which waiver file applied; the digest of a file that is not there is empty."""
        self._waivers_digest = "" if waiver_file is None else sha256(waiver_file)

    def seen_by(self, sources: Iterable[EvidenceSource]) -> None:
        """Say where evidence came from."""
        self._sources.extend(sources)

    def add(
        self, classes: FileClasses, sightings: Sequence[Sighting], waivers: Mapping[Obligation, Waiver]
    ) -> tuple[Row, ...]:
        """Score one file, whose obligations ``sightings`` answer in their order; its rows in that order."""
        scored = policy.score(classes.obligations, sightings, waivers, self._policy)
        self._rows.extend(map(_with_sha1, scored.rows) if self._line_hash == "sha1-12" else scored.rows)
        self._exempt.extend(classes.exempt)
        self.findings.extend(scored.findings)
        return scored.rows

    def show(self, text: FileText, classes: FileClasses) -> None:
        """Keep what changed in one file for people to read."""
        self._passages.add(text, owes=bool(classes.obligations))

    def finish(self, *, scored: bool = True) -> ObligationMap:
        """The map. ``scored`` is false when the gate closed before the lines were judged."""
        status = exit_of(self.findings)
        counts = Counter(map(attrgetter("status"), self._rows))
        return ObligationMap(
            approval=self._approval,
            base=self._base,
            command=self._command,
            evidence=tuple(map(_evidence_row, self._sources)),
            exempt=tuple(ExemptRow(entry.line, entry.path, entry.reason) for entry in self._exempt),
            exit=int(status),
            findings=_finding_rows(self.findings),
            head=self._head,
            line_hash=self._line_hash,
            merge=self._merge,
            owed=len(self._rows),
            patch=self._passages.rows or UNSET,
            relations=tuple(relation_rows(self._sources)) or UNSET,
            rows=tuple(self._rows),
            schema=SCHEMA,
            scored=scored,
            settings_digest=self._settings_digest,
            today=UNSET if self._today is None else self._today,
            tool=Tool("linewitness", __version__),
            trusted_hit=counts[Status.TRUSTED_HIT],
            unwitnessed=counts[Status.UNWITNESSED],
            verdict="open" if status is Exit.OPEN else "closed",
            waived=counts[Status.WAIVED],
            waivers_digest=self._waivers_digest,
        )


def _with_sha1(row: Row) -> Row:
    """The same row under the identity that early adopters wrote. A file's identity stays its blob id."""
    return row if row.kind is Kind.OPAQUE else msgspec.structs.replace(row, hash=sha1_12(row.content.encode()))


def _commit_ref(commit: Commit) -> CommitRef:
    return CommitRef(commit.commit or "", commit.tree)


def _evidence_row(source: EvidenceSource) -> EvidenceRow:
    tests = source.tests
    counts = None if tests is None else TestCounts(tests.failed, tests.passed, tests.skipped, tests.xfailed)
    return EvidenceRow(
        digest=source.digest,
        kind=source.kind,
        left_out=tuple(LeftOutRow(by, path) for path, by in source.left_out) or UNSET,
        provenance=source.provenance,
        sandbox=UNSET if source.confinement is None else _sandbox_row(source.confinement),
        suite=source.suite,
        tests=counts,
    )


def _sandbox_row(what: Confinement) -> SandboxRow:
    return msgspec.convert(what._asdict() | {"limits": dict(what.limits)}, SandboxRow)


def _finding_rows(findings: Sequence[Finding]) -> tuple[FindingRow, ...]:
    """Findings in one fixed order: place first, so that a reader meets them as they meet the files."""
    # mostly in order already, and to sort that is cheap
    ordered = sorted(dict.fromkeys(findings), key=_PLACE)
    return tuple(FindingRow(code, line, message, path, severity) for code, path, line, message, severity in ordered)
