"""An index of the stretches of text that own code: which is the smallest that covers a token."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator

from linewitness.evidence.hits import Site
from linewitness.model import Span
from linewitness.values import NamedTuple


class Stretch(NamedTuple):
    """All sites of one kind with one span, as one: any copy of a piece of code is as good as the other."""

    span: Span
    idents: tuple[int, ...]
    weak: bool
    lazy: bool


class Spans:
    """Stretches sorted by their start; each knows the nearest earlier one that is still open where it begins."""

    def __init__(self, sites: Iterable[Site]) -> None:
        grouped: dict[tuple[Span, bool, bool], list[int]] = {}
        for site in sites:
            grouped.setdefault((site.span, site.weak, site.lazy), []).append(site.ident)
        stretches = [Stretch(span, tuple(ids), weak, lazy) for (span, weak, lazy), ids in grouped.items()]
        stretches.sort(key=_order)
        self._stretches = stretches
        self._starts = [stretch.span.start for stretch in stretches]
        self._around = list(_enclosing(stretches))

    def values(self) -> Iterator[Stretch]:
        """The stretches that are more than bookkeeping and run as part of their statement."""
        return (stretch for stretch in self._stretches if not stretch.weak and not stretch.lazy)

    def covering(self, text: Span, header: Span, within: Span) -> Stretch | None:
        """The smallest stretch over ``text`` that begins in ``header`` and ends in ``within``; weak only if alone."""
        best: Stretch | None = None
        at = bisect_right(self._starts, text.start) - 1
        while at >= 0:
            stretch = self._stretches[at]
            if stretch.span.end >= text.end and _inside(stretch.span, header, within):
                best = stretch if best is None or _rank(stretch) < _rank(best) else best
            at = self._around[at]
        return best

    def begun(self, header: Span, within: Span, *, lazy: bool = True) -> Stretch | None:
        """All code that begins in ``header`` and ends in ``within``, as one; weak only if there is nothing else."""
        first = bisect_left(self._starts, header.start)
        last = bisect_left(self._starts, header.end)
        found = [s for s in self._stretches[first:last] if s.span.end <= within.end and (lazy or not s.lazy)]
        found = [s for s in found if not s.weak] or found
        if not found:
            return None
        idents = tuple(ident for stretch in found for ident in stretch.idents)
        return Stretch(header, idents, found[0].weak, all(stretch.lazy for stretch in found))


def _order(stretch: Stretch) -> tuple[tuple[int, int], int, int]:
    return stretch.span.start, -stretch.span.end.line, -stretch.span.end.col


def _enclosing(stretches: list[Stretch]) -> Iterator[int]:
    """For each stretch the nearest earlier one that ends after it begins, -1 for none.

    Following these links from the last stretch that begins before a place visits every stretch that could cover the
    place, also where stretches overlap without nesting.
    """
    open_: list[int] = []
    for index, stretch in enumerate(stretches):
        while open_ and stretches[open_[-1]].span.end <= stretch.span.start:
            open_.pop()
        yield open_[-1] if open_ else -1
        open_.append(index)


def _inside(span: Span, header: Span, within: Span) -> bool:
    return header.start <= span.start < header.end and span.end <= within.end


def _rank(stretch: Stretch) -> tuple[bool, int, int]:
    """Value code before bookkeeping, then by size."""
    (line, col), (end_line, end_col) = stretch.span
    return stretch.weak, end_line - line, end_col - (col if line == end_line else 0)
