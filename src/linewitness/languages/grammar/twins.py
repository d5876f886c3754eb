"""Proofs that something is the same on both sides, though lines of it differ."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

from tree_sitter import Node

from linewitness.languages.grammar.leaves import Leaf, Role
from linewitness.languages.grammar.side import Side
from linewitness.model import Hunk

Stream = tuple[object, ...]


class Twins:
    """Compares definitions, hunks and files of the two sides."""

    def __init__(self, base: Side | None, head: Side) -> None:
        self._base, self._head = base, head

    def same_hunk(self, hunk: Hunk) -> bool:
        """Whether a hunk has the same tokens in the same surroundings on both sides: only layout or comments differ."""
        if self._base is None or not hunk.base_count:
            return False
        before = range(hunk.base_start, hunk.base_start + hunk.base_count)
        after = range(hunk.head_start, hunk.head_start + hunk.head_count)
        if _touches(before, self._base.outline.broken) or _touches(after, self._head.outline.broken):
            return False
        return _tokens(self._base, before) == _tokens(self._head, after)

    def same_definition(self, holder: int) -> bool:
        """Whether a definition of head (-1: the file) has the same tree as base's of the same name, layout aside."""
        if self._base is None:
            return False
        if holder < 0:
            return self._same_files
        return _stream_of(self._head, holder) in self._of_base.get(self._head.scopes.dotted(holder), ())

    def same_lost(self, holder: int) -> bool:
        """The same question about a definition of base."""
        if self._base is None:
            return False
        if holder < 0:
            return self._same_files
        return _stream_of(self._base, holder) in self._of_head.get(self._base.scopes.dotted(holder), ())

    @cached_property
    def _same_files(self) -> bool:
        return self._base is not None and _stream(self._base, self._base.root) == _stream(self._head, self._head.root)

    @cached_property
    def _of_base(self) -> dict[str, list[Stream]]:
        return {} if self._base is None else _streams(self._base)

    @cached_property
    def _of_head(self) -> dict[str, list[Stream]]:
        return _streams(self._head)


def _streams(side: Side) -> dict[str, list[Stream]]:
    found: dict[str, list[Stream]] = {}
    for index, each in enumerate(side.outline.definitions):
        if each.name and not each.is_closure:
            found.setdefault(side.scopes.dotted(index), []).append(_stream_of(side, index))
    return found


def _stream_of(side: Side, holder: int) -> Stream:
    each = side.outline.definitions[holder]
    node = side.root.descendant_for_byte_range(each.start, each.end)
    return (holder, side) if node is None else _stream(side, node)


def _stream(side: Side, node: Node) -> Stream:
    """A tree as a sequence: types, texts of leaves, and where nodes end. Comments are left out.

    A tree with an error in it is equal to nothing.
    """
    if node.has_error:
        return (node.id, object())
    found: list[object] = []
    todo: list[Node | None] = [node]
    while todo:
        each = todo.pop()
        if each is None:
            found.append(None)
        elif each.is_extra and "comment" in each.type and not side.table.is_directive(each.text or b""):
            continue
        elif not each.children:
            if each.start_byte != each.end_byte:
                found.append((each.type, each.text))
        else:
            found.append(each.type)
            todo.append(None)
            todo.extend(reversed(each.children))
    return tuple(found)


def _tokens(side: Side, lines: Iterable[int]) -> list[tuple[bytes, int]]:
    seen: dict[int, Leaf] = {}
    for line in lines:
        for leaf in side.code_on(line):
            seen[leaf.start] = leaf
    return [(side.outline.text(leaf), leaf.path) for leaf in seen.values() if leaf.role is not Role.COMMENT]


def _touches(lines: range, broken: frozenset[int]) -> bool:
    return not broken.isdisjoint(lines)
