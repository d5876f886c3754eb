"""What one export says about one file, whatever its format, and what every adapter has to offer.

An adapter knows a format and no language. It opens an export once, lists the paths as the export spells them, and
decodes the facts of one file when somebody asks; nothing is kept, so that memory stays flat however large it is.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from enum import StrEnum
from functools import reduce
from types import MappingProxyType
from typing import Final, NamedTuple, Protocol

from linewitness.errors import EvidenceError
from linewitness.evidence.formats.source import ExportFile

#: Lines above this are no lines of a source file; an export that names them is broken or hostile.
MAX_LINE: Final = 10_000_000


#: Counts above this are all the same to us; it keeps a hostile number of a million digits out of the arithmetic.
MAX_COUNT: Final = (1 << 63) - 1
#: How arms are called in formats that count them and do not name all.
SOME_ARM: Final = "another arm"
SOME_MISSED_ARM: Final = "an arm that the export does not name"
UNNAMED_ARM: Final = frozenset({SOME_ARM, SOME_MISSED_ARM})


class Grain(StrEnum):
    """What a line number of the export stands for.

    ``EVENTS``: lines on which the interpreter started an instruction; a line that is absent did not start one.
    ``STATEMENTS``: a line stands for the whole statement that begins there, and its other lines are never named.
    """

    EVENTS = "events"
    STATEMENTS = "statements"


class BranchArm(NamedTuple):
    """One way out of the branch on ``line``; ``taken`` is ``None`` when the export cannot tell."""

    line: int
    text: str
    taken: bool | None


class FileFacts(NamedTuple):
    """The finest facts that an export has about one file.

    ``counts`` maps a line to how often it ran; zero says that it did not. ``excluded`` are lines that the coverage
    tool was told to hide. ``contexts`` maps a line that ran to the contexts in which it did, and is ``None`` where
    contexts were not exported. ``checksums`` maps a line to the MD5 of its text without the terminator, ``digests``
    are MD5s of the whole file, all as 32 hexadecimal digits. ``entries`` maps a line to the contexts in which a code
    object that begins there was entered, and is ``None`` where the export does not know entries.
    """

    grain: Grain
    counts: Mapping[int, int]
    excluded: frozenset[int] = frozenset()
    branches: tuple[BranchArm, ...] = ()
    contexts: Mapping[int, tuple[str, ...]] | None = None
    checksums: Mapping[int, str] = MappingProxyType({})
    digests: frozenset[str] = frozenset()
    entries: Mapping[int, tuple[str, ...]] | None = None


class Reader(Protocol):
    """One opened export."""

    @property
    def names(self) -> Collection[str]:
        """Every path that the export has facts about, as it spells them."""
        ...

    @property
    def bases(self) -> tuple[str, ...]:
        """Folders that the names may be relative to; empty when the format has no such notion."""
        ...

    def facts(self, name: str) -> FileFacts:
        """The facts of one of ``names``. Errors: :class:`linewitness.errors.EvidenceError`."""
        ...

    def context_names(self) -> Collection[str]:
        """Contexts of the whole export; once the empty one is among several, the rest may be left out."""
        ...


class Format(NamedTuple):
    """One row of the table of formats. ``sniff`` judges by the first bytes, never by the file's name."""

    name: str
    sniff: Callable[[bytes], bool]
    open: Callable[[ExportFile], Reader]


def broken(export: ExportFile, what: str, *, line: int = 0, offset: int | None = None) -> EvidenceError:
    """The error for an export that cannot be read, with its file and the place inside."""
    place = f" at byte {offset}" if offset is not None else ""
    message = f"cannot read this coverage export: {what}{place}; write it again"
    return EvidenceError(message, path=str(export.path), line=line)


def merged_counts(pairs: Iterable[tuple[int, int]]) -> dict[int, int]:
    """Counts by line; of entries for the same line the largest stands, for a hit in any of them is a hit."""
    counts: dict[int, int] = {}
    for line, count in pairs:
        if count > counts.get(line, -1):
            counts[line] = count
    return counts


def combine(first: FileFacts, *others: FileFacts) -> FileFacts:
    """The union of what an export says of the same file in several places."""
    return reduce(_union, others, first)


def _union(left: FileFacts, right: FileFacts) -> FileFacts:
    return FileFacts(
        grain=left.grain if left.grain == right.grain else Grain.STATEMENTS,
        counts=merged_counts((*left.counts.items(), *right.counts.items())),
        excluded=left.excluded | right.excluded,
        branches=merged_arms((*left.branches, *right.branches)),
        contexts=_joined(left.contexts, right.contexts),
        checksums={**left.checksums, **right.checksums},
        digests=left.digests | right.digests,
        entries=_joined(left.entries, right.entries),
    )


_ByLine = Mapping[int, tuple[str, ...]]


def _joined(left: _ByLine | None, right: _ByLine | None) -> _ByLine | None:
    if left is None or right is None:
        return left if right is None else right
    return {line: tuple(sorted({*left.get(line, ()), *right.get(line, ())})) for line in (*left, *right)}


def merged_arms(arms: Iterable[BranchArm]) -> tuple[BranchArm, ...]:
    """Each arm once, in order of line and first mention: taken when any mention says so."""
    rank = {True: 2, False: 1, None: 0}
    best: dict[tuple[int, str], bool | None] = {}
    for line, text, taken in arms:
        known = best.setdefault((line, text), taken)
        if rank[taken] > rank[known]:
            best[line, text] = taken
    ordered = sorted(best.items(), key=lambda item: item[0][0])
    return tuple(BranchArm(line, text, taken) for (line, text), taken in ordered)
