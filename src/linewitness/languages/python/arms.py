"""The ways out of the branches on a line, as far as the text names them."""

from __future__ import annotations

from collections.abc import Iterator

from tree_sitter import Node

from linewitness.languages.python.outline import CLAUSES, Outline, Statement, first_member
from linewitness.languages.python.tokens import skippable_parts
from linewitness.languages.python.tree import find
from linewitness.languages.source import Source
from linewitness.model import Span

Arm = tuple[str, Span | None]

_HOLDERS = """[
  (conditional_expression) (boolean_operator) (comparison_operator) (lambda) (list_comprehension) (set_comprehension)
  (dictionary_comprehension) (generator_expression) (if_clause)
] @holder"""
_TESTS = frozenset({"if_statement", "elif_clause"})
_LOOPS = frozenset({"while_statement", "for_statement"})
_SHOWN = 40


def arms(part: Outline, index: int, line: int) -> Iterator[Arm]:
    """The arms of one statement that begin on its header's line: its suites, then the parts of its expressions."""
    statement = part.statements[index]
    if statement.first <= line <= statement.header_last:
        yield from _suites(part.source, statement)
        yield from _parts(part.source, statement, line)


def _suites(source: Source, statement: Statement) -> Iterator[Arm]:
    kind = statement.kind
    if kind in _TESTS or kind in _LOOPS or kind in ("case_clause", "except_clause", "except_group_clause"):
        yield _shown(source.data, statement.header_end), _first_statement(source, statement.node)
    if kind in _TESTS or kind in _LOOPS:
        other = _else_of(statement.node)
        if other is None:
            yield ("else", None)
        elif other.type == "elif_clause":
            yield _shown(source.data, other.start_byte), _header(source, other)
        else:
            yield "else " + _shown(source.data, _begin(other)), _first_statement(source, other)
    if kind == "case_clause":
        yield ("no match", None)


def _else_of(node: Node) -> Node | None:
    """The clause that runs when the test fails: the next ``elif`` or ``else``."""
    if node.type == "elif_clause":
        after = node.next_named_sibling
        while after is not None and after.type == "comment":
            after = after.next_named_sibling
        return after if after is not None and after.type in CLAUSES else None
    return next((child for child in node.children if child.type in CLAUSES), None)


def _first_statement(source: Source, holder: Node) -> Span | None:
    suite = next((child for child in holder.children if child.type == "block"), None)
    first = first_member(suite) if suite is not None else None
    if first is None:
        return None
    inner = next((child for child in first.children if child.type == "block" or child.type in CLAUSES), None)
    return source.span(first.start_byte, inner.start_byte if inner is not None else first.end_byte)


def _begin(holder: Node) -> int:
    suite = next((child for child in holder.children if child.type == "block"), None)
    first = first_member(suite) if suite is not None else None
    return first.start_byte if first is not None else holder.start_byte


def _header(source: Source, clause: Node) -> Span:
    return source.span(clause.start_byte, _begin(clause))


def _parts(source: Source, statement: Statement, line: int) -> Iterator[Arm]:
    first, last = source.starts[line - 1], source.starts[line]
    within = (max(first, statement.start), min(last, statement.header_end))
    for holder in [*find(_HOLDERS, statement.node, within), statement.node]:
        if holder.start_byte >= statement.header_end:
            continue
        for part in skippable_parts(holder):
            if part.start_byte < last and part.end_byte > first and part.end_byte <= statement.header_end:
                yield _shown(source.data, part.start_byte, part.end_byte), source.span(part.start_byte, part.end_byte)


def _shown(data: bytes, start: int, end: int | None = None) -> str:
    """The text from ``start`` to the end of its line, cut short, for people."""
    stop = data.find(b"\n", start)
    stop = len(data) if stop < 0 else stop
    text = data[start : stop if end is None else min(stop, end)].decode("utf-8", "replace").strip()
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"
