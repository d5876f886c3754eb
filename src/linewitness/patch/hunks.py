r"""Line diffs as numbers: proving one, and making one when git gives none.

All functions take lines without terminators (:func:`linewitness.patch.identity.split_lines`), so that lines which
differ only in ``\r\n`` against ``\n`` are equal. A hunk here is the plain tuple of :class:`linewitness.model.Hunk`.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain

from linewitness.model import Hunk

_Quad = tuple[int, int, int, int]
_HUNK: Callable[[_Quad], Hunk] = partial(tuple.__new__, Hunk)

_WORK = 20_000_000
"""Upper bound of line comparisons that one diff of our own may spend; regions beyond it are called replaced."""


def whole(base_lines: int, head_lines: int) -> tuple[Hunk, ...]:
    """The diff that says: all of it changed."""
    return (Hunk(1, base_lines, 1, head_lines),) if base_lines or head_lines else ()


def added_lines(hunks: Sequence[_Quad]) -> list[int]:
    """The lines of head that the hunks added, in order."""
    counts = [hunk[3] for hunk in hunks]
    if counts.count(1) == len(counts):
        return [hunk[2] for hunk in hunks]
    return list(chain.from_iterable([range(start, start + count) for _, _, start, count in hunks]))


def prove(base: Sequence[bytes], head: Sequence[bytes], hunks: Iterable[_Quad]) -> tuple[Hunk, ...] | None:
    """The hunks, if they lead from base to exactly head; otherwise ``None``.

    Lines that a hunk removes and adds again at its edges are not changed and are cut off.
    """
    proved: list[Hunk] = []
    b = h = 0
    for base_start, base_count, head_start, head_count in hunks:
        start, other = base_start - 1, head_start - 1
        if start < b or start - b != other - h or base[b:start] != head[h:other]:
            return None
        b, h = start + base_count, other + head_count
        if b > len(base) or h > len(head):
            return None
        if base_count and head_count and (base[start] == head[other] or base[b - 1] == head[h - 1]):
            proved += _trimmed(base, head, (start, b, other, h))
        else:
            proved.append(Hunk(base_start, base_count, head_start, head_count))
    return tuple(proved) if base[b:] == head[h:] else None


def taken_back(base: Sequence[bytes], head: Sequence[bytes], hunks: Iterable[_Quad]) -> tuple[Hunk, ...] | None:
    """As :func:`prove`, for a base that was made of head by taking these very hunks back: their numbers are checked.

    The hunks have to be in order, with as many lines between them on either side, as a parsed diff has them.
    """
    given = tuple(map(_HUNK, hunks))
    if not given:
        return () if len(base) == len(head) else None
    b, n, h, m = given[-1]
    if b + n - 1 > len(base) or h + m - 1 > len(head) or len(base) - (b + n) != len(head) - (h + m):
        return None
    alike = [
        b for b, n, h, m in given if n and m and (base[b - 1] == head[h - 1] or base[b + n - 2] == head[h + m - 2])
    ]
    if not alike:
        return given
    regions = [(b - 1, b + n - 1, h - 1, h + m - 1) for b, n, h, m in given]
    return tuple(chain.from_iterable(_trimmed(base, head, region) for region in regions))


def _trimmed(base: Sequence[bytes], head: Sequence[bytes], region: _Quad) -> Iterator[Hunk]:
    b0, b1, h0, h1 = _narrowed(base, head, region)
    if b0 < b1 or h0 < h1:
        yield Hunk(b0 + 1, b1 - b0, h0 + 1, h1 - h0)


def refine(base: Sequence[bytes], head: Sequence[bytes], hunks: Iterable[_Quad]) -> Iterator[Hunk]:
    """Hunks without the lines that are equal in spite of them, for diffs that took a terminator for a change."""
    for b, n, h, m in hunks:
        for inner in line_diff(base[b - 1 : b - 1 + n], head[h - 1 : h - 1 + m]):
            yield Hunk(b - 1 + inner[0], inner[1], h - 1 + inner[2], inner[3])


def line_diff(base: Sequence[bytes], head: Sequence[bytes]) -> Iterator[Hunk]:
    """A sound diff in bounded time, which may call an equal line changed but never the reverse.

    Lines that occur once on both sides are anchors (patience diff), small gaps between them go through
    :mod:`difflib`, large ones count as replaced.
    """
    from difflib import SequenceMatcher

    work = _WORK
    for region in _between_anchors(base, head):
        b0, b1, h0, h1 = _narrowed(base, head, region)
        n, m = b1 - b0, h1 - h0
        cost = n * m * min(n, m)
        if not (n and m) or cost > work:
            if n or m:
                yield Hunk(b0 + 1, n, h0 + 1, m)
            continue
        work -= cost
        matcher = SequenceMatcher(None, base[b0:b1], head[h0:h1], autojunk=False)
        for tag, i0, i1, j0, j1 in matcher.get_opcodes():
            if tag != "equal":
                yield Hunk(b0 + i0 + 1, i1 - i0, h0 + j0 + 1, j1 - j0)


def _between_anchors(base: Sequence[bytes], head: Sequence[bytes]) -> Iterator[_Quad]:
    first_b, last_b, first_h, last_h = _narrowed(base, head, (0, len(base), 0, len(head)))
    b0, h0 = first_b, first_h
    for b, h in _anchors(base[first_b:last_b], head[first_h:last_h]):
        yield b0, first_b + b, h0, first_h + h
        b0, h0 = first_b + b + 1, first_h + h + 1
    yield b0, last_b, h0, last_h


def _narrowed(base: Sequence[bytes], head: Sequence[bytes], region: _Quad) -> _Quad:
    b0, b1, h0, h1 = region
    while b0 < b1 and h0 < h1 and base[b0] == head[h0]:
        b0, h0 = b0 + 1, h0 + 1
    while b0 < b1 and h0 < h1 and base[b1 - 1] == head[h1 - 1]:
        b1, h1 = b1 - 1, h1 - 1
    return b0, b1, h0, h1


def _anchors(base: Sequence[bytes], head: Sequence[bytes]) -> list[tuple[int, int]]:
    """Pairs of places of lines that occur once on both sides, the longest run of them that rises on both."""
    in_base, in_head = Counter(base), Counter(head)
    places = {line: h for h, line in enumerate(head) if in_head[line] == 1}
    pairs = [(b, places[line]) for b, line in enumerate(base) if in_base[line] == 1 and line in places]
    ends: list[int] = []  # per length of a run: the smallest place in head at which one of that length ends
    last: list[int] = []  # ... and the pair at that end
    before: list[int] = []  # per pair: the pair before it in its run
    for index, (_, h) in enumerate(pairs):
        length = bisect_left(ends, h)
        before.append(last[length - 1] if length else -1)
        ends[length : length + 1] = [h]
        last[length : length + 1] = [index]
    run = []
    index = last[-1] if last else -1
    while index >= 0:
        run.append(pairs[index])
        index = before[index]
    return run[::-1]
