"""The scope of a line: a part of an obligation's identity."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator

from tree_sitter import Node

from linewitness.languages.python.outline import DEFINITIONS, Outline
from linewitness.languages.python.places import definition_node, with_decorators
from linewitness.languages.python.tree import find
from linewitness.languages.source import Source
from linewitness.values import NamedTuple

_ALL_DEFINITIONS = "[(function_definition) (class_definition)] @definition"


class Extent(NamedTuple):
    """A definition by the lines from its first decorator to its end."""

    first: int
    last: int
    name: str


def all_extents(source: Source, root: Node) -> Iterator[Extent]:
    """Every definition below a node, in the order of the text."""
    for node in find(_ALL_DEFINITIONS, root):
        first = source.line_at(with_decorators(node).start_byte)
        yield Extent(first, source.line_at(node.end_byte - 1), _name(node))


def extents(part: Outline) -> Iterator[Extent]:
    """The definitions of an outline, in the order of the text."""
    for statement in part.statements:
        if statement.kind in DEFINITIONS:
            yield Extent(statement.first, statement.last, _name(definition_node(statement.node)))


def _name(node: Node) -> str:
    field = node.child_by_field_name("name")
    return ((field and field.text) or b"").decode()


class Scopes:
    """The dotted names of a file's definitions by line. A definition's header, decorators included, is inside of it."""

    def __init__(self, definitions: Iterable[Extent]) -> None:
        self._begins, self._names = [0], [""]
        open_ = list[Extent]()
        for first, last, name in definitions:
            self._close(open_, first)
            dotted = f"{open_[-1].name}.{name}" if open_ else name
            open_.append(Extent(first, last, dotted))
            self._begin(first, dotted)
        self._close(open_, None)

    def _begin(self, line: int, name: str) -> None:
        self._begins.append(line)
        self._names.append(name)

    def _close(self, open_: list[Extent], before: int | None) -> None:
        """Leave the definitions that end before a line, all of them without one."""
        while open_ and (before is None or open_[-1].last < before):
            after = open_.pop().last + 1
            while open_ and open_[-1].last < after:
                open_.pop()
            self._begin(after, open_[-1].name if open_ else "")

    def of(self, line: int) -> str:
        """The dotted name of the innermost definition around a line, empty at module level."""
        return self._names[bisect_right(self._begins, line) - 1]
