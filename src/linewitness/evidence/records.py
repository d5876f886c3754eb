"""Reads the journals of a finished run and judges each test on all its reports."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Literal

import msgspec

from linewitness.errors import EvidenceError
from linewitness.evidence.seal import KEY_FILE, Seal, worker_key
from linewitness.patterns import late
from linewitness.values import NamedTuple

FORMAT = 3
FileHits = list[tuple[str, list[int]]]
Report = tuple[str, str, str, str]


class _Row(msgspec.Struct, array_like=True, frozen=True, forbid_unknown_fields=True):
    """One line of a journal: an array whose first element names the kind."""


_PASSED: list[Report] = [(when, "passed", "", "") for when in ("setup", "call", "teardown")]


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


class LeftOut(_Row, frozen=True, tag="left-out"):
    """A trusted file that was not collected. ``by`` are conftest files, ``options``, or nobody that can be named."""

    path: str
    by: str


class TakenOut(_Row, frozen=True, tag="taken-out"):
    """Tests that were collected, and then taken out by somebody other than pytest's options."""

    ids: list[str]


class Unchosen(_Row, frozen=True, tag="unchosen"):
    """Node ids, without parameters, of tests that were collected and that pytest's options left out."""

    ids: list[str]


class TestRow(msgspec.Struct, frozen=True):
    """One test: nanoseconds of its start and end, its reports (phase, outcome, reason, place), what it hit first."""

    __test__ = False
    nodeid: str
    since: int
    until: int
    reports: list[Report]
    hits: FileHits


class _TestLine(_Row, frozen=True, tag="test"):
    """A :class:`TestRow` as it is written: with its place among the collected tests, and 0 for a test that passed."""

    test: int | str
    since: int
    until: int
    reports: list[Report] | Literal[0]
    hits: FileHits


class SealOfTests(_Row, frozen=True, tag="sealed"):
    """The common seal of all rows of tests of a process."""

    seal: str


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
    """A sign that somebody meddled with the recorder or with the harness, and from where if that is known."""

    text: str
    path: str = ""
    line: int = 0


class Notice(_Row, frozen=True, tag="notice"):
    """Something was done with which a process can change anything in itself, the record included."""

    text: str
    path: str
    line: int


class Guarded(_Row, frozen=True, tag="guarded"):
    """The guard was at its post until the end, and found the process in order after so many tests."""

    tests: int


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


class RelationRow(_Row, frozen=True, tag="relation"):
    """What one test below the relations did. ``declared`` relations count their cases.

    ``counts`` are distinct cases tried, checked, skipped and repeated, the number declared, and assertions reached.
    ``blank`` tells that every corpus file it opened is empty.
    """

    nodeid: str
    declared: bool
    corpora: list[tuple[str, str]]
    blank: bool
    counts: tuple[int, int, int, int, int, int]
    seed: int | None
    why_skipped: str


class End(_Row, frozen=True, tag="end"):
    """The end marker, with pytest's exit status in the controlling process."""

    status: int


_Sealed = (
    Start | Collected | CollectFault | ImportRow | ForeignRow | ChildHit | Alien | Fault | WorkerRow | Modules
    | Files | End | RelationRow | Notice | Guarded | SealOfTests | LeftOut | TakenOut | Unchosen
)  # fmt: skip
Row = _Sealed | TestRow


class Outcome(StrEnum):
    """How a test ended. Only ``PASSED`` witnesses."""

    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"
    XFAILED = "xfailed"
    XPASSED = "xpassed"
    RERUN = "rerun"
    INCOMPLETE = "incomplete"
    VACUOUS = "vacuous"


class Journal(NamedTuple):
    """All rows of one process, those of tests behind the others. ``whole`` is false when something is cut off."""

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
        last = next((row for row in reversed(self.rows) if not isinstance(row, TestRow)), None)
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


def read_journals(folder: Path, key: bytes) -> Journals:
    """All journals of a run whose processes were given ``key``.

    Errors: EvidenceError, LW503 when one is of another format, LW505 when a row is not the recorder's, or is missing,
    or a file is there that no recorder makes.
    """
    roles: Mapping[str, list[Journal]] = {"main": [], "worker": [], "child": []}
    for path in sorted(folder.iterdir()):
        if path.name == KEY_FILE:
            continue  # Nobody took it: there is no record of the controlling process either.
        role, journal = _journal(path, key)
        start = journal.start
        if start is None or start.format != FORMAT:
            raise EvidenceError(f"the record {path.name} of the trusted run has no valid beginning.", code="LW503")
        if start.role != role or f"{start.pid}" != path.name.split("-")[1]:
            raise _tampered(path, "its beginning is another process's")
        roles[role].append(journal)
    journals = Journals(tuple(roles["main"]), tuple(roles["worker"]), tuple(roles["child"]))
    _check_authors(journals)
    return journals


_DECODER = msgspec.json.Decoder(_Sealed)
_TEST_DECODER = msgspec.json.Decoder(_TestLine)
_OF_A_TEST = b'["test",'
_NAME = late(r"(main|worker|child)-[0-9]+-[0-9a-f]+\.jsonl")
# What only processes that run tests write, and what only the others do.
_OF_TESTS = (
    Collected, CollectFault, TestRow, ImportRow, ForeignRow, WorkerRow, RelationRow, Guarded, SealOfTests, End,
    LeftOut, TakenOut, Unchosen,
)  # fmt: skip


def _tampered(path: Path, why: str) -> EvidenceError:
    return EvidenceError(
        f"the record {path.name} of the trusted run is not as the recorder left it: {why}.", code="LW505"
    )


def _check_authors(journals: Journals) -> None:
    # A worker is a child until its first session is configured, and may have imported a changed file by then.
    authors = {journal.start.pid for journal in journals.main if journal.start is not None}
    for journal in journals.children:
        if any(isinstance(row, _OF_TESTS) for row in journal.rows):
            raise _tampered(Path(journal.name), "a child process does not run tests")
        if journal.start is not None and journal.start.pid in authors:
            raise _tampered(Path(journal.name), "the process that it names has a record of its own")
    for journal in journals.main + journals.workers:
        if any(isinstance(row, ChildHit) for row in journal.rows):
            raise _tampered(Path(journal.name), "a process that runs tests does not report hits one by one")


def _journal(path: Path, key: bytes) -> tuple[str, Journal]:
    name = _NAME.fullmatch(path.name)
    if name is None or path.is_symlink() or not path.is_file():
        raise _tampered(path, "no recorder makes such a file")
    try:
        *lines, rest = path.read_bytes().split(b"\n")
        seal = Seal(_key_of(name[1], lines, key))
        tests = [line for line in lines if line.startswith(_OF_A_TEST)]
        others = [line for line in lines if not line.startswith(_OF_A_TEST)]
        rows = list(map(_DECODER.decode, _opened(path, others, seal)))
        is_sealed = _are_sealed(path, tests, rows, seal)
        rows_of_tests = list(_tests(path, map(_TEST_DECODER.decode, tests), rows))
    except (OSError, UnicodeDecodeError, msgspec.MsgspecError) as error:
        raise EvidenceError(f"the record {path.name} of the trusted run is damaged: {error}", code="LW503") from error
    return name[1], Journal(path.name, (*rows, *rows_of_tests), whole=not rest and is_sealed)


def _are_sealed(path: Path, tests: list[bytes], rows: list[_Sealed], seal: Seal) -> bool:
    """Whether the rows of tests have their seal, which a process that was cut short has not written."""
    told = [row.seal for row in rows if isinstance(row, SealOfTests)]
    seal.add_tests(b"".join(line + b"\n" for line in tests))
    if told and told != [seal.of_tests()]:
        raise _tampered(path, "the rows of tests are not those that the recorder wrote")
    if tests and not told and any(isinstance(row, End) for row in rows):
        raise _tampered(path, "the seal of its tests is missing")
    return bool(told) or not tests


def _tests(path: Path, lines: Iterable[_TestLine], rows: list[_Sealed]) -> Iterator[TestRow]:
    ids = [nodeid for row in rows if isinstance(row, Collected) for nodeid in row.ids]
    for line in lines:
        test, reports = line.test, line.reports
        if isinstance(test, int):
            if not 0 <= test < len(ids):
                raise _tampered(path, "it has a test that was not collected")
            test = ids[test]
        yield TestRow(test, line.since, line.until, _PASSED if isinstance(reports, int) else reports, line.hits)


def _key_of(role: str, lines: list[bytes], key: bytes) -> bytes:
    """Children have no key; a worker's depends on its name, which its first row claims."""
    if role == "main":
        return key
    if role == "child" or not lines:
        return b""
    first = msgspec.json.decode(lines[0])
    return worker_key(key, str(first[4]) if isinstance(first, list) and len(first) > 4 else "")


def _opened(path: Path, lines: list[bytes], seal: Seal) -> list[bytes]:
    """The rows of sealed lines, in the order in which they were numbered: threads of a child may write at once."""
    numbered = []
    for number, line in enumerate(lines, 1):
        try:
            row, at = seal.open(line)
        except ValueError as error:
            raise _tampered(path, f"row {number}: {error}") from error
        numbered.append((at, row))
    numbered.sort()
    if [at for at, _ in numbered] != list(range(len(numbered))):
        raise _tampered(path, "rows are missing, or there twice")
    return [row for _, row in numbered]


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
