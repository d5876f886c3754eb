"""Reads the journals of a finished run and judges each test on all its reports."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

import msgspec

from linewitness.errors import EvidenceError

FORMAT = 1
FileHits = list[tuple[str, list[int]]]
Report = tuple[str, str, str, str]


class _Row(msgspec.Struct, array_like=True, frozen=True, forbid_unknown_fields=True):
    """One line of a journal: an array whose first element names the kind."""


class Start(_Row, frozen=True, tag="start"):
    """First row of a journal. ``role`` is ``main``, ``worker`` or ``child``."""

    format: int
    role: str
    pid: int
    worker: str
    cache_tag: str


class Collected(_Row, frozen=True, tag="collected"):
    """Node ids of every test that is going to be run here."""

    ids: list[str]


class CollectFault(_Row, frozen=True, tag="collect"):
    """A module or class that could not be collected or that skipped itself; ``place`` is from where, if unprotected."""

    nodeid: str
    outcome: str
    reason: str
    place: str


class TestRow(_Row, frozen=True, tag="test"):
    """One test: nanoseconds of its start and end, its reports (phase, outcome, reason, place), what it hit first."""

    __test__ = False
    nodeid: str
    since: int
    until: int
    reports: list[Report]
    hits: FileHits


class ImportRow(_Row, frozen=True, tag="import"):
    """What ran while no test was running."""

    hits: FileHits


class ForeignRow(_Row, frozen=True, tag="foreign"):
    """What ran on threads that outlived their test: nobody's."""

    hits: FileHits


class ChildHit(_Row, frozen=True, tag="hit"):
    """One first hit of a child process, with the test it inherited and the time."""

    test: str | None
    at: int
    file: str
    ident: int


class Alien(_Row, frozen=True, tag="alien"):
    """Code under a changed file's name that is not the file's own compilation."""

    file: str
    name: str
    line: int


class Fault(_Row, frozen=True, tag="fault"):
    """A sign that the recorder's hooks were touched."""

    text: str


class WorkerRow(_Row, frozen=True, tag="worker"):
    """The controller's view of one xdist worker."""

    name: str
    event: str
    error: str


class Modules(_Row, frozen=True, tag="modules"):
    """Own modules that were loaded from outside the export: name and file."""

    strays: list[tuple[str, str]]


class Files(_Row, frozen=True, tag="files"):
    """Files of the export that this process loaded or ran."""

    paths: list[str]


class End(_Row, frozen=True, tag="end"):
    """The end marker, with pytest's exit status in the controlling process."""

    status: int


Row = (
    Start | Collected | CollectFault | TestRow | ImportRow | ForeignRow | ChildHit | Alien | Fault | WorkerRow | Modules
    | Files | End
)  # fmt: skip


class Outcome(StrEnum):
    """How a test ended. Only ``PASSED`` witnesses."""

    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"
    XFAILED = "xfailed"
    XPASSED = "xpassed"
    RERUN = "rerun"
    INCOMPLETE = "incomplete"


class Journal(NamedTuple):
    """All rows of one process, in their order. ``whole`` is false when the last row is cut."""

    name: str
    rows: tuple[Row, ...]
    whole: bool

    @property
    def start(self) -> Start | None:
        """The first row, when it is what a first row has to be."""
        first = self.rows[0] if self.rows else None
        return first if isinstance(first, Start) else None

    @property
    def end(self) -> End | None:
        """The end marker, when it is the last row."""
        last = self.rows[-1] if self.rows else None
        return last if isinstance(last, End) else None


class Journals(NamedTuple):
    """The journals of one run by role."""

    main: tuple[Journal, ...]
    workers: tuple[Journal, ...]
    children: tuple[Journal, ...]

    @property
    def all(self) -> tuple[Journal, ...]:
        """Every journal."""
        return self.main + self.workers + self.children

    def rows(self) -> Iterable[Row]:
        """Every row of every process."""
        for journal in self.all:
            yield from journal.rows


def read_journals(folder: Path) -> Journals:
    """All journals of a run. Errors: EvidenceError (LW503) when one is damaged or of another format."""
    roles: Mapping[str, list[Journal]] = {"main": [], "worker": [], "child": []}
    for path in sorted(folder.iterdir()):
        journal = _journal(path)
        start = journal.start
        if start is None or start.format != FORMAT or start.role not in roles:
            raise EvidenceError(f"the record {path.name} of the trusted run has no valid beginning.", code="LW503")
        roles[start.role].append(journal)
    return Journals(tuple(roles["main"]), tuple(roles["worker"]), tuple(roles["child"]))


_DECODER = msgspec.json.Decoder(Row)


def _journal(path: Path) -> Journal:
    try:
        *lines, rest = path.read_bytes().split(b"\n")
        return Journal(path.name, tuple(_DECODER.decode(line) for line in lines), whole=not rest)
    except (OSError, UnicodeDecodeError, msgspec.MsgspecError) as error:
        raise EvidenceError(f"the record {path.name} of the trusted run is damaged: {error}", code="LW503") from error


def judge(reports: Iterable[Report]) -> tuple[Outcome, Report | None]:
    """The outcome of a test from all its reports, and the report that decided when it is not ``PASSED``.

    A test passed when set-up, call and teardown passed, each exactly once, and with them every subtest: a second
    attempt, an expected failure or a skip of any part is none.
    """
    reports = list(reports)
    for bad, outcome in (
        ("failed", Outcome.FAILED),
        ("rerun", Outcome.RERUN),
        ("xfailed", Outcome.XFAILED),
        ("xpassed", Outcome.XPASSED),
        ("skipped", Outcome.SKIPPED),
    ):
        for report in reports:
            if report[1] == bad:
                return outcome, report
    phases = sorted(when for when, _, _, _ in reports if when != "subtest")
    odd = any(outcome != "passed" for _, outcome, _, _ in reports)
    if phases != ["call", "setup", "teardown"] or odd:
        return Outcome.INCOMPLETE, reports[-1] if reports else None
    return Outcome.PASSED, None
