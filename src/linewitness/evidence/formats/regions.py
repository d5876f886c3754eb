"""Counts of stretches of text, as formats with columns have them.

Writers nest their regions in different ways. Here they are laid flat: disjoint pieces in the order of the text, each
with the count of the innermost region around it, so that asking for a place is one binary search and two exports of
the same text can be united place by place, whatever their nesting.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from enum import StrEnum
from itertools import pairwise
from typing import Final

from linewitness.model import Pos, Span
from linewitness.values import NamedTuple

#: The column that stands for the end of a line in formats that leave it out.
END_OF_LINE: Final = 1 << 30


class Scope(StrEnum):
    """What the count of a region says of the code inside, where no inner region says otherwise.

    ``BLOCKS``: how often control entered this stretch; all code in it shares the count.
    ``STATEMENTS``: how often one statement or expression began. Statements inside it have counts of their own or none,
    so that the count says nothing about a statement that begins further inside.
    ``ARMS``: how often an arm of a branch was chosen; what follows inside has counts of its own by line.
    """

    BLOCKS = "blocks"
    STATEMENTS = "statements"
    ARMS = "arms"


class Part(StrEnum):
    """Code that a statement may skip while it runs, as far as formats differ in counting it apart.

    ``OPERAND``: arms of a conditional expression, right operands of logical operators. ``DEFAULT``: the default value
    of a parameter or of a pattern. ``CHAIN``: arguments behind an optional chain. ``ASSIGNED``: the value of a logical
    assignment. ``FUNCTION``: the body of a function without a name.
    """

    OPERAND = "operand"
    DEFAULT = "default"
    CHAIN = "chain"
    ASSIGNED = "assigned"
    FUNCTION = "function"


class Unit(StrEnum):
    """What columns count: bytes, UTF-16 units, or UTF-16 units from the start of the file (then all lines are 0)."""

    BYTES = "bytes"
    UTF16 = "utf16"
    OFFSET = "offset"


class Piece(NamedTuple):
    """A half-open stretch of text in which ``region`` is the innermost one that has a count.

    ``hits`` is ``None`` where the export says that it has none: the piece may have run or not.
    """

    start: Pos
    end: Pos
    hits: int | None
    region: Span


class Regions(NamedTuple):
    """The regions of one file: disjoint ``pieces``, sorted. Text outside of all pieces has no counter.

    ``counted`` are the parts of statements that have a region of their own whenever their count differs from that of
    the code around them, so that the count around them is theirs where no region is named. Any other part of a
    statement that may be skipped is known only where a piece's region lies inside of it.
    """

    pieces: tuple[Piece, ...]
    scope: Scope
    counted: frozenset[Part] = frozenset()
    unit: Unit = Unit.BYTES

    def at(self, place: Pos) -> Piece | None:
        """The piece that holds a place, or ``None``."""
        index = bisect_right(self.pieces, place, key=_start) - 1
        if index < 0 or place >= self.pieces[index].end:
            return None
        return self.pieces[index]

    def within(self, span: Span) -> tuple[Piece, ...]:
        """The pieces that share text with a span, in order."""
        first = max(0, bisect_right(self.pieces, span.start, key=_start) - 1)
        last = bisect_right(self.pieces, span.end, key=_start)
        return tuple(each for each in self.pieces[first:last] if each.start < span.end and each.end > span.start)


def _start(piece: Piece) -> Pos:
    return piece.start


def flat(regions: Iterable[tuple[Span, int | None]], *, later_is_inner: bool = False) -> tuple[Piece, ...]:
    """Nested regions as pieces. Of several with the same span the largest count stands; empty ones are dropped.

    With ``later_is_inner`` they are nested too, and the count of the last one stands.

    A region that crosses the end of the one around it, which no writer means, is cut there.
    """
    best: dict[Span, int | None] = {}
    for span, count in regions:
        if span.start < span.end:
            merge = span in best and not later_is_inner
            best[span] = _larger(best[span], count) if merge else count
    pieces: list[Piece] = []
    open_regions: list[tuple[Span, int | None]] = []
    at = Pos(0, 0)

    def advance(to: Pos) -> Pos:
        """Lay down what lies between the last place and the next, closing the regions that end on the way."""
        here = at
        while open_regions and open_regions[-1][0].end <= to:
            here = lay(here, open_regions[-1][0].end)
            open_regions.pop()
        return lay(here, to)

    def lay(start: Pos, end: Pos) -> Pos:
        if open_regions and start < end:
            region, count = open_regions[-1]
            pieces.append(Piece(start, end, count, region))
        return max(start, end)

    for span in sorted(best, key=lambda each: (each.start, _backwards(each.end))):
        at = advance(span.start)
        end = min(span.end, open_regions[-1][0].end) if open_regions else span.end
        open_regions.append((Span(span.start, end), best[span]))
    if open_regions:
        advance(open_regions[0][0].end)
    return tuple(pieces)


def _backwards(place: Pos) -> tuple[int, int]:
    return -place.line, -place.col


def united(left: Regions | None, right: Regions | None) -> Regions | None:
    """Two exports of the same text as one: in each place the larger count, for a hit in any of them is a hit."""
    if left is None or right is None:
        return left if right is None else right
    if left.unit is not right.unit:
        raise ValueError("regions in different units cannot be united; place them first")
    scope = left.scope if left.scope is right.scope else Scope.STATEMENTS
    return Regions(_overlay(left.pieces, right.pieces), scope, left.counted & right.counted, left.unit)


def _overlay(left: Sequence[Piece], right: Sequence[Piece]) -> tuple[Piece, ...]:
    found: list[Piece] = []
    cuts = sorted({place for piece in (*left, *right) for place in (piece.start, piece.end)})
    cursors = [0, 0]
    for start, end in pairwise(cuts):
        here: list[Piece] = []
        for side, pieces in enumerate((left, right)):
            while cursors[side] < len(pieces) and pieces[cursors[side]].end <= start:
                cursors[side] += 1
            if cursors[side] < len(pieces) and pieces[cursors[side]].start <= start:
                here.append(pieces[cursors[side]])
        if here:
            best = max(here, key=lambda each: -1 if each.hits is None else each.hits)
            inner = max((each.region for each in here), key=lambda span: (span.start, _backwards(span.end)))
            unsure = best.hits == 0 and any(each.hits is None for each in here)
            found.append(Piece(start, end, None if unsure else best.hits, inner))
    return tuple(found)


def _larger(left: int | None, right: int | None) -> int | None:
    """The larger count; a hit beats an unknown, and an unknown beats zero."""
    if left is None or right is None:
        known = right if left is None else left
        return known or None
    return max(left, right)
