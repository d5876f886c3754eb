"""What one export says about one file, whatever its format, and what every adapter has to offer.

An adapter knows a format and no language. It opens an export once, lists the paths as the export spells them, and
decodes the facts of one file when somebody asks; nothing is kept, so that memory stays flat however large it is.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping
from enum import StrEnum
from functools import reduce
from types import MappingProxyType
from typing import Final, Generic, Protocol, TypeVar

from linewitness.errors import EvidenceError
from linewitness.evidence.formats.regions import Regions, united
from linewitness.evidence.formats.source import ExportFile
from linewitness.model import Span
from linewitness.values import NamedTuple

_Place = TypeVar("_Place")

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
    ``COMPILED``: a line stands for the machine or byte code that a compiler's line table puts there. Any line of a
    statement may have an entry or none, and gcc may hang a whole statement on its last line.
    ``TOUCHED``: a line has the largest count of the stretches of code that touch it, as llvm-cov reckons lines. The
    stretch may be a block that ends there: on ``} else if (x) {`` the closing bracket alone can make the count.
    ``PHYSICAL``: every line of the file has an entry, comments included; zero means that nothing on it ran, any other
    count that something did.
    """

    EVENTS = "events"
    STATEMENTS = "statements"
    COMPILED = "compiled"
    TOUCHED = "touched"
    PHYSICAL = "physical"


class BranchArm(NamedTuple):
    """One way out of the branch on ``line``; ``taken`` is ``None`` when the export cannot tell.

    ``span`` is the code of the arm, 1-based lines and byte columns, where the format names it.
    """

    line: int
    text: str
    taken: bool | None
    span: Span | None = None


class FunctionHit(NamedTuple):
    """A function that begins on ``line`` and how often it was entered; ``end`` is its last line when it is known.

    Compilers mangle names, and one function may stand here once per instance of a template.
    """

    line: int
    name: str
    hits: int
    end: int | None = None


class Condition(NamedTuple):
    """One operand of a decision on ``line``: whether it was seen true, and false; ``None`` where nobody can tell.

    An operand that was seen neither true nor false (two times ``False``) was never evaluated.
    """

    line: int
    text: str
    true: bool | None
    false: bool | None
    span: Span | None = None


class FileFacts(NamedTuple):
    """The finest facts that an export has about one file.

    ``counts`` maps a line to how often it ran; zero says that it did not. ``excluded`` are lines that the coverage
    tool was told to hide. ``contexts`` maps a line that ran to the contexts in which it did, and is ``None`` where
    contexts were not exported. ``checksums`` maps a line to the MD5 of its text without the terminator, ``digests``
    are MD5s of the whole file, all as 32 hexadecimal digits. ``entries`` maps a line to the contexts in which a code
    object that begins there was entered, and is ``None`` where the export does not know entries.

    ``regions`` are counts of stretches of text, finer than lines; ``placing.placed`` turns their columns into bytes.
    ``functions`` and ``conditions`` are what their classes say. ``complete`` tells of lines that ran whether all of
    their code did: ``True`` when the export knows of no code on the line that did not run, ``False`` when it knows of
    some; lines that are absent are untold. ``uncounted`` are lines that the export calls code and has no count for.
    ``solid`` tells that a line with a count holds code in this format, so that a blank one means another file.
    """

    grain: Grain
    counts: Mapping[int, int]
    excluded: frozenset[int] = frozenset()
    branches: tuple[BranchArm, ...] = ()
    contexts: Mapping[int, tuple[str, ...]] | None = None
    checksums: Mapping[int, str] = MappingProxyType({})
    digests: frozenset[str] = frozenset()
    entries: Mapping[int, tuple[str, ...]] | None = None
    regions: Regions | None = None
    functions: tuple[FunctionHit, ...] = ()
    conditions: tuple[Condition, ...] = ()
    complete: Mapping[int, bool] = MappingProxyType({})
    uncounted: frozenset[int] = frozenset()
    solid: bool = False


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


class WithoutContexts:
    """What adapters have in common whose format names neither tests nor folders against which its paths are meant."""

    bases: tuple[str, ...] = ()

    def context_names(self) -> tuple[str, ...]:
        """No test is named."""
        return ()


class ByFile(WithoutContexts, ABC, Generic[_Place]):
    """An adapter that finds the places of every file when it is opened, and decodes them one by one when asked."""

    def __init__(self, export: ExportFile) -> None:
        self._export = export
        self._places: dict[str, list[_Place]] = {}

    @property
    def names(self) -> Collection[str]:
        """Every path, as the export spells it."""
        return self._places.keys()

    def facts(self, name: str) -> FileFacts:
        """The union of what is said of one file. Errors: ``EvidenceError`` for what cannot be read."""
        return combine(*(self._decode(place) for place in self._places[name]))

    @abstractmethod
    def _decode(self, place: _Place) -> FileFacts:
        """What stands in one place. Errors: ``EvidenceError``."""


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
        regions=united(left.regions, right.regions),
        functions=_merged_functions((*left.functions, *right.functions)),
        conditions=merged_conditions((*left.conditions, *right.conditions)),
        complete=_merged_complete(left, right),
        uncounted=(left.uncounted | right.uncounted).difference(left.counts, right.counts),
        solid=left.solid and right.solid,
    )


def _merged_functions(hits: Iterable[FunctionHit]) -> tuple[FunctionHit, ...]:
    best: dict[tuple[int, str], FunctionHit] = {}
    for hit in hits:
        known = best.get((hit.line, hit.name))
        if known is None or hit.hits > known.hits:
            best[hit.line, hit.name] = hit
    return tuple(sorted(best.values(), key=lambda hit: hit.line))


def merged_conditions(conditions: Iterable[Condition]) -> tuple[Condition, ...]:
    """Each condition once, in order of line: seen true, or false, when any mention says so."""
    best: dict[tuple[int, str, Span | None], Condition] = {}
    for each in conditions:
        known = best.setdefault((each.line, each.text, each.span), each)
        best[each.line, each.text, each.span] = each._replace(
            true=_seen(known.true, each.true), false=_seen(known.false, each.false)
        )
    return tuple(sorted(best.values(), key=lambda each: each.line))


def _seen(left: bool | None, right: bool | None) -> bool | None:
    if left or right:
        return True
    return None if left is None or right is None else False


def _merged_complete(left: FileFacts, right: FileFacts) -> dict[int, bool]:
    """Complete in one run is complete in all. Incomplete in both may be complete in their union, which is untold."""
    merged: dict[int, bool] = {}
    for line in left.complete.keys() | right.complete.keys():
        answers = [each.complete.get(line) for each in (left, right) if each.counts.get(line, 0) > 0]
        if True in answers:
            merged[line] = True
        elif answers == [False]:
            merged[line] = False
    return merged


_ByLine = Mapping[int, tuple[str, ...]]


def _joined(left: _ByLine | None, right: _ByLine | None) -> _ByLine | None:
    if left is None or right is None:
        return left if right is None else right
    return {line: tuple(sorted({*left.get(line, ()), *right.get(line, ())})) for line in (*left, *right)}


def merged_arms(arms: Iterable[BranchArm]) -> tuple[BranchArm, ...]:
    """Each arm once, in order of line and first mention: taken when any mention says so."""
    rank = {True: 2, False: 1, None: 0}
    best: dict[tuple[int, str, Span | None], bool | None] = {}
    for line, text, taken, span in arms:
        known = best.setdefault((line, text, span), taken)
        if rank[taken] > rank[known]:
            best[line, text, span] = taken
    ordered = sorted(best.items(), key=lambda item: item[0][0])
    return tuple(BranchArm(line, text, taken, span) for (line, text, span), taken in ordered)
