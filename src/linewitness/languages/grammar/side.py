"""One side of a changed file, parsed, with everything that the rules ask about it."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cached_property, lru_cache
from typing import Final

from tree_sitter import Node

from linewitness.languages.files import suffix
from linewitness.languages.grammar import wheels
from linewitness.languages.grammar.leaves import LUMP, Definition, Import, Leaf, Role
from linewitness.languages.grammar.outline import Outline, outline
from linewitness.languages.grammar.table import Table
from linewitness.languages.source import Source, read

#: An error with more children than this holds no structure worth looking for.
_RUBBLE: Final = 2000
_WORDS: Final = re.compile(rb"[\w$]+|[^\x00-\x7f\s]+")


class Side:
    """Base or head. Everything is worked out when first asked for."""

    def __init__(self, raw: bytes, path: str, table: Table) -> None:
        self.source: Source = read(raw)
        self.table = table
        self._suffix = suffix(path)

    @cached_property
    def root(self) -> Node:
        """The root of the syntax tree. Errors: as :func:`linewitness.languages.grammar.wheels.language`."""
        return wheels.parse(self.table, self._suffix, self.source.data).root_node

    @cached_property
    def outline(self) -> Outline:
        """The leaves, units and definitions of the whole file; none when the grammar makes nothing of it."""
        if self._is_rubble:
            everything = frozenset(range(1, self.source.line_count + 1))
            return Outline(self.source, (), (), (), (), (), {}, everything)
        return outline(self.source, self.root, wheels.marks(self.table, self._suffix, self.root), self.table)

    @property
    def _is_rubble(self) -> bool:
        """Whether the parser gave up on a long stretch: queries over such a heap of tokens take quadratic time."""
        if not self.root.has_error:
            return False
        return any(node.is_error and node.child_count > _RUBBLE for node in (self.root, *self.root.children))

    @cached_property
    def by_line(self) -> Mapping[int, list[Leaf]]:
        """The leaves that stand on each line, comments included; a leaf of several lines stands on all of them."""
        found: dict[int, list[Leaf]] = {}
        for leaf in self.outline.leaves:
            for line in range(leaf.first, leaf.last + 1):
                found.setdefault(line, []).append(leaf)
        return found

    def code_on(self, line: int) -> list[Leaf]:
        """The leaves of a line without its comments."""
        return [leaf for leaf in self.by_line.get(line, ()) if leaf.role is not Role.COMMENT]

    @cached_property
    def inner_units(self) -> Mapping[int, list[int]]:
        """The units right inside of each unit (-1: of the file), in the order of the text."""
        found: dict[int, list[int]] = {}
        for index, each in enumerate(self.outline.units):
            found.setdefault(each.parent, []).append(index)
        return found

    @cached_property
    def leaves_of(self) -> Mapping[int, list[Leaf]]:
        """The leaves of each unit, without those of units inside of it."""
        found: dict[int, list[Leaf]] = {}
        for leaf in self.outline.leaves:
            found.setdefault(leaf.unit, []).append(leaf)
        return found

    @cached_property
    def closures_on(self) -> Mapping[int, list[Definition]]:
        """The functions and closures whose whole body stands on one line, by that line."""
        found: dict[int, list[Definition]] = {}
        at = self.source.line_at
        for each in self.outline.definitions:
            if each.role is Role.HEADER and each.body is not None:
                line = at(each.body[0])
                if at(max(each.body[1] - 1, each.body[0])) == line:
                    found.setdefault(line, []).append(each)
        return found

    @cached_property
    def beginnings(self) -> Counter[int]:
        """Of how many functions and closures each line holds what stands in front of the body, or a part of it."""
        at = self.source.line_at
        begun = [
            (each.start, each.body[0]) for each in self.outline.definitions if each.role is Role.HEADER and each.body
        ]
        return Counter(line for start, body in begun for line in range(at(start), at(body) + 1))

    @cached_property
    def imports_of(self) -> Mapping[int, list[Import]]:
        """The imported items by the unit of their import."""
        found: dict[int, list[Import]] = {}
        for each in self.outline.imports:
            found.setdefault(each.unit, []).append(each)
        return found

    def imports_on(self, line: int, units: Iterable[int]) -> list[Import]:
        """What the imports among some units import on a line, or altogether when the line names no item."""
        at = self.source.line_at
        items = [item for unit in sorted(set(units)) for item in self.imports_of.get(unit, ())]
        return [item for item in items if at(item.start) <= line <= at(item.end - 1)] or items

    def lines_of_conditional(self, unit: int) -> range:
        """The lines that a condition of the compiler decides about: those inside of it, else what follows it."""
        part, each = self.outline, self.outline.units[unit]
        last = each.end
        if unit not in self.inner_units:
            beside = self.inner_units[each.parent]
            for index in beside[bisect_right(beside, unit) :]:
                other = part.units[index]
                if other.role is Role.CONDITIONAL:
                    if self.table.flat_conditionals:
                        break
                    continue
                last = other.end
                if not self.table.flat_conditionals:
                    break
        at = self.source.line_at
        return range(each.first, at(max(each.start, last - 1)) + 1)

    @cached_property
    def scopes(self) -> Scopes:
        """The dotted names of definitions by line."""
        return Scopes(self.outline)

    @cached_property
    def import_counts(self) -> Counter[tuple[str, bytes]]:
        """How often each scope imports each thing."""
        return Counter((self.scope_of_unit(each.unit), each.key) for each in self.outline.imports)

    def scope_of_unit(self, unit: int) -> str:
        """The dotted name of the scope that holds a unit."""
        return self.scopes.dotted(self.outline.units[unit].holder)

    @cached_property
    def uses(self) -> Mapping[bytes, list[Leaf]]:
        """Where each word of the code stands, imports and comments aside."""
        found: dict[bytes, list[Leaf]] = {}
        for leaf in self.outline.leaves:
            if leaf.role not in (Role.COMMENT, Role.IMPORT):
                text = self.outline.text(leaf)
                for word in {text} if leaf.type != LUMP else set(_WORDS.findall(text)):
                    found.setdefault(word, []).append(leaf)
        return found


@lru_cache(maxsize=1)
def head_side(raw: bytes, path: str, table: Table) -> Side:
    """The side of a text, kept for the next question about it: what a line demands is asked after what it is."""
    return Side(raw, path, table)


class Scopes:
    """The definitions around each line, as dotted names."""

    def __init__(self, part: Outline) -> None:
        self._part = part
        named = [index for index, each in enumerate(part.definitions) if each.name and not each.is_closure]
        named.sort(key=lambda index: (part.definitions[index].first, -part.definitions[index].last))
        self._order = named
        self._starts = [part.definitions[index].first for index in named]

    def dotted(self, holder: int) -> str:
        """The names of a definition and of those around it."""
        names = []
        while holder >= 0:
            each = self._part.definitions[holder]
            if each.name and not each.is_closure:
                names.append(each.name)
            holder = each.parent
        return ".".join(reversed(names))

    def of(self, line: int) -> str:
        """The dotted name of the innermost definition around a line, empty at the top."""
        at = bisect_right(self._starts, line) - 1
        holder = self._order[at] if at >= 0 else -1
        while holder >= 0 and self._part.definitions[holder].last < line:
            holder = self._part.definitions[holder].parent
        return self.dotted(holder)
