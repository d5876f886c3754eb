"""Proofs that something is the same on both sides, though lines of it differ."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import zip_longest

from tree_sitter import Node

from linewitness.languages.grammar.leaves import Leaf, Role
from linewitness.languages.grammar.side import Side
from linewitness.model import Hunk


class Twins:
    """Compares definitions, hunks and files of the two sides."""

    def __init__(self, base: Side | None, head: Side) -> None:
        self._base, self._head = base, head
        self._lost: dict[int, bool] = {}

    def same_hunk(self, hunk: Hunk) -> bool:
        """Whether a hunk has the same tokens in the same surroundings on both sides: only layout or comments differ."""
        if self._base is None or not hunk.base_count:
            return False
        before = range(hunk.base_start, hunk.base_start + hunk.base_count)
        after = range(hunk.head_start, hunk.head_start + hunk.head_count)
        starts = self._base.source.starts
        removed = self._base.source.data[starts[before.start - 1] : starts[before.stop - 1]]
        if not _may_stem_from(self._head, (leaf for line in after for leaf in self._head.code_on(line)), removed):
            return False
        if _touches(before, self._base.outline.broken) or _touches(after, self._head.outline.broken):
            return False
        return _tokens(self._base, before) == _tokens(self._head, after)

    def same_definition(self, holder: int) -> bool:
        """Whether a definition of head (-1: the file) has the same tree as base's of the same name, layout aside."""
        if self._base is None:
            return False
        if not _may_stem_from(self._head, _leaves_in(self._head, holder), self._base.source.data):
            return False
        if holder < 0:
            return self._same_files
        name = self._head.scopes.dotted(holder)
        return any(_equal(self._head, holder, self._base, other) for other in self._of_base.get(name, ()))

    def same_lost(self, holder: int) -> bool:
        """The same question about a definition of base."""
        if self._base is None:
            return False
        if holder < 0:
            return self._same_files
        if holder not in self._lost:
            name, base, head = self._base.scopes.dotted(holder), self._base, self._head
            self._lost[holder] = any(_equal(base, holder, head, other) for other in self._of_head.get(name, ()))
        return self._lost[holder]

    @cached_property
    def _same_files(self) -> bool:
        return self._base is not None and _equal(self._base, -1, self._head, -1)

    @cached_property
    def _of_base(self) -> dict[str, list[int]]:
        return {} if self._base is None else _by_name(self._base)

    @cached_property
    def _of_head(self) -> dict[str, list[int]]:
        return _by_name(self._head)


def _leaves_in(side: Side, holder: int) -> Sequence[Leaf]:
    """The leaves of a definition (-1: of the file)."""
    leaves = side.outline.leaves
    if holder < 0:
        return leaves
    each = side.outline.definitions[holder]
    return leaves[bisect_left(leaves, each.start, key=_start) : bisect_left(leaves, each.end, key=_start)]


def _start(leaf: Leaf) -> int:
    return leaf.start


def _may_stem_from(side: Side, leaves: Iterable[Leaf], text: bytes) -> bool:
    """Whether the tokens stand in a text of the other side in their order, whatever is between them.

    If not, they are not the tokens of that text laid out anew, and most changes are told so without parsing it. Tokens
    of several lines are passed over: the text may hold a part of them only.
    """
    data = side.source.data
    at, last = 0, -1
    for leaf in leaves:
        if leaf.start <= last or leaf.first != leaf.last or leaf.role is Role.COMMENT:
            continue
        last = leaf.start
        at = text.find(data[last : leaf.end], at)
        if at < 0:
            return False
        at += leaf.end - last
    return True


def _by_name(side: Side) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for index, each in enumerate(side.outline.definitions):
        if each.name and not each.is_closure:
            found.setdefault(side.scopes.dotted(index), []).append(index)
    return found


def _equal(one_side: Side, one_holder: int, other_side: Side, other_holder: int) -> bool:
    """Whether two definitions (-1: files) are the same trees. One with an error in it is equal to nothing."""
    one, other = _node_of(one_side, one_holder), _node_of(other_side, other_holder)
    if one is None or other is None or one.has_error or other.has_error:
        return False
    pairs = zip_longest(_stream(one_side, one), _stream(other_side, other), fillvalue=())
    return all(mine == theirs for mine, theirs in pairs)


def _node_of(side: Side, holder: int) -> Node | None:
    if holder < 0:
        return side.root
    each = side.outline.definitions[holder]
    return side.root.descendant_for_byte_range(each.start, each.end)


def _stream(side: Side, node: Node) -> Iterator[object]:
    """A tree as a sequence: types, texts of leaves, and where nodes end. Comments are left out.

    It is read until it differs from another, which for most is near their beginning.
    """
    todo: list[Node | None] = [node]
    while todo:
        each = todo.pop()
        if each is None:
            yield None
        elif each.is_extra and "comment" in each.type and not side.table.is_directive(side.source.text(each)):
            continue
        elif not each.children:
            if each.start_byte != each.end_byte:
                yield each.type, side.source.text(each)
        else:
            yield each.type
            todo.append(None)
            todo.extend(reversed(each.children))


def _tokens(side: Side, lines: Iterable[int]) -> list[tuple[bytes, int]]:
    seen: dict[int, Leaf] = {}
    for line in lines:
        for leaf in side.code_on(line):
            seen[leaf.start] = leaf
    return [(side.outline.text(leaf), leaf.path) for leaf in seen.values() if leaf.role is not Role.COMMENT]


def _touches(lines: range, broken: frozenset[int]) -> bool:
    return not broken.isdisjoint(lines)
