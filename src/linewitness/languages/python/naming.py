"""The scope of a line and which of the equal lines of its scope it is: what makes an obligation's identity stable."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from itertools import compress, count, repeat

from tree_sitter import Node

from linewitness.languages.python.source import Source, find
from linewitness.model import FileText, Kind, Obligation
from linewitness.patch.identity import decode_lines, hashes_of, lines_of

# This runs for every line of a patch, and the constructor of a named tuple is a call of Python.
_OBLIGATION: Callable[[tuple[object, ...]], Obligation] = partial(tuple.__new__, Obligation)
_ALL_DEFINITIONS = "[(function_definition) (class_definition)] @definition"


class Scopes:
    """The dotted names of a file's definitions by line. A definition's header, decorators included, is inside of it."""

    def __init__(self, source: Source, root: Node) -> None:
        self._starts: list[int] = []
        self._ends: list[int] = []
        self._names: list[str] = []
        self._parents: list[int] = []
        for node in find(_ALL_DEFINITIONS, root):
            self._add(source, node)

    def _add(self, source: Source, node: Node) -> None:
        holder = node.parent
        start = holder.start_byte if holder is not None and holder.type == "decorated_definition" else node.start_byte
        first = source.line_at(start)
        parent = self._innermost(first)
        field = node.child_by_field_name("name")
        name = ((field and field.text) or b"").decode()
        self._parents.append(parent)
        self._names.append(f"{self._names[parent]}.{name}" if parent >= 0 else name)
        self._starts.append(first)
        self._ends.append(source.line_at(node.end_byte - 1))

    def _innermost(self, line: int) -> int:
        index = bisect_right(self._starts, line) - 1
        while index >= 0 and self._ends[index] < line:
            index = self._parents[index]
        return index

    def of(self, line: int) -> str:
        """The dotted name of the innermost definition around a line, empty at module level."""
        index = self._innermost(line)
        return self._names[index] if index >= 0 else ""


def _occurrences(lines: Sequence[bytes], wanted: Collection[int], scope_of: Callable[[int], str]) -> dict[int, int]:
    """For each wanted line the number, from 1, that it has among the equal lines of its scope in the whole file."""
    texts = {lines[number - 1] for number in wanted}
    equal = list(compress(count(1), map(texts.__contains__, lines)))
    if len(equal) == len(texts):
        return dict.fromkeys(equal, 1)
    places: dict[bytes, list[int]] = {}
    for number in equal:
        places.setdefault(lines[number - 1], []).append(number)
    found: dict[int, int] = {}
    for numbers in places.values():
        if len(numbers) == 1:
            found[numbers[0]] = 1
            continue
        seen: dict[str, int] = {}
        for number in numbers:
            scope = scope_of(number)
            seen[scope] = found[number] = seen.get(scope, 0) + 1
    return found


def obligations(
    text: FileText, kinds: Mapping[int, Kind], ranges: Mapping[int, tuple[int, int]], scope_of: Callable[[int], str]
) -> tuple[Obligation, ...]:
    """The obligations of lines, in line order, with their identities."""
    if not kinds:
        return ()
    lines = lines_of(text.head or b"")
    numbers = _occurrences(lines, kinds, scope_of)
    wanted = sorted(kinds)
    texts = [lines[line - 1] for line in wanted]
    columns = (
        wanted,
        hashes_of(texts),
        decode_lines(texts),
        map(kinds.__getitem__, wanted),
        map(scope_of, wanted),
        map(numbers.__getitem__, wanted),
        map(ranges.__getitem__, wanted),
    )
    return tuple(map(_OBLIGATION, zip(repeat(text.change.path), *columns, repeat(""))))
