"""The statements of a file, as far as they touch the lines somebody asks about.

A *statement* here is what the line rule calls one: every simple and compound statement, and every clause (``elif``,
``else``, ``except``, ``finally``, ``case``) of its own. The *header* of a statement reaches from its first byte
(decorators included) to the first statement of its suite, or to its end when it has no suite. Visiting every node of
a file from Python is too slow for big patches, so whole subtrees that touch no wanted line are left out.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial

from tree_sitter import Node

from linewitness.languages.source import Source
from linewitness.values import NamedTuple

CLAUSES = frozenset(
    {"elif_clause", "else_clause", "except_clause", "except_group_clause", "finally_clause", "case_clause"}
)
DEFINITIONS = frozenset({"function_definition", "class_definition"})
IMPORTS = frozenset({"import_statement", "import_from_statement", "future_import_statement"})
_COMPOUND = CLAUSES | DEFINITIONS | {
    "if_statement", "while_statement", "for_statement", "with_statement", "match_statement", "try_statement"
}  # fmt: skip
_SUITES = frozenset({"module", "block"})
_NOT_STATEMENTS = frozenset({"comment", "line_continuation"})
_STRINGS = frozenset({"string", "concatenated_string"})


class Statement(NamedTuple):
    """One statement or clause.

    ``node`` is the whole of it (the ``decorated_definition`` for a decorated one; none where only text was read),
    ``kind`` the node type of the definition itself. ``start``, ``header_end``, ``end`` are offsets; ``first``,
    ``header_last``, ``last`` lines.
    ``parent`` is the index of the statement whose suite holds this one, -1 for the module.
    """

    node: Node
    kind: str
    start: int
    header_end: int
    end: int
    first: int
    header_last: int
    last: int
    parent: int
    docstring: bool

    @property
    def header_lines(self) -> tuple[int, int]:
        """First and last line of the header."""
        return self.first, self.header_last


# Big patches have so many that a call of Python for each is felt, as the constructor of a named tuple is one.
STATEMENT: Callable[[tuple[object, ...]], Statement] = partial(tuple.__new__, Statement)


class Outline(NamedTuple):
    """Statements in the order of the text."""

    source: Source
    statements: tuple[Statement, ...]

    def ancestors(self, index: int) -> Iterator[int]:
        """The indices of the statements around one, the nearest first, itself not included."""
        index = self.statements[index].parent
        while index >= 0:
            yield index
            index = self.statements[index].parent

    def suite_of(self, index: int) -> int:
        """The statement in whose suite one stands. A clause stands beside the suite of its own statement, not in it."""
        statement = self.statements[index]
        if statement.kind in CLAUSES:
            statement = self.statements[statement.parent]
        return statement.parent

    def definition_of(self, index: int) -> int:
        """The innermost function or class whose text, header included, holds the statement; -1 for the module."""
        while index >= 0 and self.statements[index].kind not in DEFINITIONS:
            index = self.statements[index].parent
        return index

    def in_function(self, index: int) -> bool:
        """Whether the statement's own header runs as part of a function's body."""
        return any(self.statements[up].kind == "function_definition" for up in self.ancestors(index))

    def owners(self, lines: Collection[int]) -> dict[int, list[int]]:
        """For each line the statements whose header touches it, in order; lines outside of every header are absent."""
        asked, ordered = frozenset(lines), sorted(lines)
        found: dict[int, list[int]] = {}
        for index, (_, _, _, _, _, first, last, _, _, _) in enumerate(self.statements):
            if first == last:
                if first in asked:
                    found.setdefault(first, []).append(index)
                continue
            for line in ordered[bisect_left(ordered, first) : bisect_right(ordered, last)]:
                found.setdefault(line, []).append(index)
        return found

    def definitions(self) -> list[int]:
        """:meth:`definition_of` of every statement."""
        found: list[int] = []
        for index, statement in enumerate(self.statements):
            up = statement.parent
            found.append(index if statement.kind in DEFINITIONS else found[up] if up >= 0 else -1)
        return found


class _Wanted:
    """The lines asked for, as stretches of bytes."""

    def __init__(self, source: Source, lines: Collection[int] | None) -> None:
        starts, ends = list[int](), list[int]()
        for line in sorted(lines or ()):
            start, end = source.starts[line - 1], source.starts[line]
            if ends and ends[-1] == start:
                ends[-1] = end
            else:
                starts.append(start)
                ends.append(end)
        self._everything = lines is None
        self._starts, self._ends = starts, ends

    def holds(self, node: Node) -> bool:
        """Whether a wanted line holds a byte of the node, or the one after it."""
        if self._everything:
            return True
        at = bisect_right(self._ends, node.start_byte)
        return at < len(self._ends) and self._starts[at] <= node.end_byte


def outline(source: Source, root: Node, lines: Collection[int] | None = None) -> Outline:
    """The statements of a tree that touch ``lines`` (all when ``None``), with all their ancestors."""
    wanted = _Wanted(source, lines)
    found: list[Statement] = []
    todo = [_Part(iter([(root, False)]), -1)]
    while todo:
        nodes, parent = todo[-1]
        for node, opens in nodes:
            kind = node.type
            if kind in _SUITES:
                todo.append(_Part(iter(_members(node, wanted)), parent))
                break
            docstring = opens and (parent < 0 or found[parent].kind in DEFINITIONS) and is_plain_text(node)
            if kind not in _COMPOUND and kind != "decorated_definition":
                found.append(_simple(source.starts, node, kind, parent, docstring))
                continue
            statement, below = _statement(source, node, parent)
            todo.append(_Part(iter([(child, False) for child in below if wanted.holds(child)]), len(found)))
            found.append(statement)
            break
        else:
            todo.pop()
    return Outline(source, tuple(found))


class _Part(NamedTuple):
    """What is left to visit of a suite, or of the suites and clauses of a statement."""

    nodes: Iterator[tuple[Node, bool]]
    parent: int


def _members(suite: Node, wanted: _Wanted) -> list[tuple[Node, bool]]:
    """The statements of a suite that are wanted; the flag marks the one that opens the suite."""
    members = [child for child in suite.named_children if child.type not in _NOT_STATEMENTS]
    found = [(member, False) for member in members if wanted.holds(member)]
    if found and found[0][0] == members[0]:
        found[0] = (members[0], True)
    return found


def _simple(starts: Sequence[int], node: Node, kind: str, parent: int, docstring: bool) -> Statement:
    """A statement that holds no other: all of it is header."""
    start, end, lines = node.start_byte, node.end_byte, len(starts) - 1
    first = bisect_right(starts, start, 0, lines)
    last = bisect_right(starts, end - 1, first, lines) if end > start and starts[first] < end else first
    return STATEMENT((node, kind, start, end, end, first, last, last, parent, docstring))


def _statement(source: Source, node: Node, parent: int) -> tuple[Statement, list[Node]]:
    """A statement that holds others, and the suites and clauses below it."""
    inner = node
    if node.type == "decorated_definition":
        inner = node.child_by_field_name("definition") or node
    start, end = node.start_byte, node.end_byte
    below = [child for child in inner.named_children if child.type == "block" or child.type in CLAUSES]
    header_end = min((first_byte(child) for child in below), default=end)
    first, last = source.line_at(start), source.line_at(max(start, end - 1))
    header_last = last
    if header_end != end:
        header_last = source.line_at(max(start, _last_byte(source, start, header_end)))
    return Statement(node, inner.type, start, header_end, end, first, header_last, last, parent, docstring=False), below


def first_byte(suite: Node) -> int:
    """Where the first statement of a suite begins (a comment may come before it inside the suite's node)."""
    first = first_member(suite) if suite.type == "block" else None
    return suite.start_byte if first is None else first.start_byte


def first_member(suite: Node) -> Node | None:
    """The first statement of a ``block`` node."""
    members = (child for child in suite.children if child.is_named and child.type not in _NOT_STATEMENTS)
    return next(members, None)


def _last_byte(source: Source, start: int, header_end: int) -> int:
    """The last byte of a header before the blanks and comment lines that part it from its suite."""
    text = source.data
    at = header_end
    while True:
        at = len(text[start:at].rstrip()) + start
        line_start = source.starts[source.line_at(at - 1) - 1]
        if line_start <= start or not text[line_start:at].lstrip().startswith(b"#"):
            return at - 1
        at = line_start


def is_plain_text(node: Node) -> bool:
    """Whether an expression statement is one literal that CPython keeps as a docstring: no bytes, no f-string."""
    inner = [child for child in node.children if child.type not in _NOT_STATEMENTS]
    while len(inner) == 1 and inner[0].type == "parenthesized_expression":
        inner = [c for c in inner[0].children if c.is_named and c.type not in _NOT_STATEMENTS]
    if len(inner) != 1 or inner[0].type not in _STRINGS:
        return False
    parts = [inner[0]] if inner[0].type == "string" else [c for c in inner[0].children if c.type == "string"]
    return all(_prefix(part) in (b"", b"r", b"u") for part in parts)


def _prefix(string: Node) -> bytes:
    opening = string.children[0].text if string.children else None
    return b"?" if opening is None else opening.rstrip(b"\"'").lower()
