"""The scope of a line and which of the equal lines of its scope it is: what makes an obligation's identity stable."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from tree_sitter import Node

from linewitness.languages.python.source import Source, find
from linewitness.model import FileText, Hunk, Kind, Obligation
from linewitness.patch.identity import decode_line, hash_of_text, lines_of

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
    places: dict[bytes, list[int]] = {lines[number - 1]: [] for number in wanted}
    for number, text in enumerate(lines, 1):
        if text in places:
            places[text].append(number)
    found: dict[int, int] = {}
    for equal in places.values():
        if len(equal) == 1:
            found[equal[0]] = 1
            continue
        seen: dict[str, int] = {}
        for number in equal:
            scope = scope_of(number)
            seen[scope] = found[number] = seen.get(scope, 0) + 1
    return found


def changed_lines(hunks: Iterable[Hunk]) -> list[int]:
    """The lines of head that the hunks added, in order."""
    return [line for hunk in hunks for line in range(hunk.head_start, hunk.head_start + hunk.head_count)]


def obligations(
    text: FileText, kinds: Mapping[int, Kind], ranges: Mapping[int, tuple[int, int]], scope_of: Callable[[int], str]
) -> tuple[Obligation, ...]:
    """The obligations of lines, in line order, with their identities."""
    lines = lines_of(text.head or b"")
    numbers = _occurrences(lines, kinds, scope_of)
    path = text.change.path
    # by position: this runs for every line of a patch, and names cost as much as the rest
    return tuple(
        Obligation(
            path,
            line,
            hash_of_text(raw),
            decode_line(raw),
            kinds[line],
            scope_of(line),
            numbers[line],
            ranges[line],
        )
        for line, raw in ((line, lines[line - 1]) for line in sorted(kinds))
    )
