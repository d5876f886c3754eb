"""The code objects inside of a line's expressions: lambdas and generator expressions.

Making one is not running it, so the statement around it cannot vouch for its code (``gate.md`` 4.3). List, set and
dictionary comprehensions run where they stand, and have no code object of their own since 3.12 (PEP 709): for them the
tokens decide, on every version alike.
"""

from __future__ import annotations

from collections.abc import Collection

from tree_sitter import Node

from linewitness.languages.python.outline import Statement
from linewitness.languages.python.side import Side
from linewitness.languages.python.tree import find
from linewitness.languages.source import Source
from linewitness.model import Function
from linewitness.patterns import late

_MAKERS = "[(lambda) (generator_expression)] @maker"
_MAY_MAKE = late(rb"\blambda\b|\bfor\b")
_SILENT = frozenset({"comment", "line_continuation"})
_SHOWN = 60


def inner_functions(side: Side, statement: Statement, lines: Collection[int]) -> dict[int, list[Function]]:
    """By line, for the wanted lines: what has code of its own there and is made in the statement's header."""
    source, found = side.source, dict[int, list[Function]]()
    start = max(source.starts[min(lines) - 1], statement.start)
    end = min(source.starts[max(lines)], statement.header_end)
    if not _MAY_MAKE.search(source.data, statement.start, end):
        return found
    for node in find(_MAKERS, statement.node, (start, end)):
        if node.end_byte > statement.header_end or _is_never_evaluated(side, node):
            continue
        function = _function(source, node)
        own = {line for part in _own_parts(node) for line in _lines(source, part, start, end)}
        for line in own.intersection(lines):
            found.setdefault(line, []).append(function)
    return found


def _function(source: Source, node: Node) -> Function:
    body = _first_to_run(node)
    name = "<lambda>" if node.type == "lambda" else "<genexpr>"
    return Function(name, source.line_at(node.start_byte), source.span(body.start_byte, body.end_byte), _shown(node))


def _lines(source: Source, part: Node, start: int, end: int) -> range:
    first, last = max(part.start_byte, start), min(part.end_byte, end) - 1
    return range(source.line_at(first), source.line_at(last) + 1) if first <= last else range(0)


def _own_parts(node: Node) -> list[Node]:
    """What runs in the code object itself: not a lambda's defaults, nor what a generator first loops over."""
    body = _bare(node.child_by_field_name("body"))
    clauses = [child for child in node.named_children if child.type in ("for_in_clause", "if_clause")]
    return [*([body] if body is not None else []), *clauses[1:]]


def _bare(node: Node | None) -> Node | None:
    """An expression without the parentheses around it, which have no code."""
    while node is not None and node.type == "parenthesized_expression":
        node = next((child for child in node.named_children if child.type not in _SILENT), None)
    return node


def _first_to_run(node: Node) -> Node:
    """The first own part that a generator with anything to loop over evaluates; the body of a lambda.

    No recorder can see on every version that a generator began and found nothing.
    """
    body, *later = _own_parts(node)
    if not later:
        return body
    part = later[0].child_by_field_name("right") if later[0].type == "for_in_clause" else None
    named = [child for child in later[0].named_children if child.type not in _SILENT]
    return part or named[0]


def _is_never_evaluated(side: Side, node: Node) -> bool:
    """Whether the node stands in the annotation of a local variable, or of anything when those are kept as text."""
    up: Node | None = node
    while up is not None and up.type not in ("block", "module"):
        if up.type == "type" and up.parent is not None:
            return _is_local_annotation(up.parent) or _keeps_annotations_as_text(side)
        up = up.parent
    return False


def _is_local_annotation(holder: Node) -> bool:
    up: Node | None = holder if holder.type == "assignment" else None
    while up is not None:
        if up.type in ("function_definition", "class_definition"):
            return up.type == "function_definition"
        up = up.parent
    return False


def _keeps_annotations_as_text(side: Side) -> bool:
    """Asks the whole file, because an excerpt may lack its imports (PEP 563)."""
    if b"__future__" not in side.source.data:
        return False
    futures = (child for child in side.root.children if child.type == "future_import_statement")
    return any(name.text == b"annotations" for child in futures for name in child.children_by_field_name("name"))


def _shown(node: Node) -> str:
    """The source on one line, cut short, for people."""
    text = " ".join((node.text or b"").decode("utf-8", "replace").split())
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"
