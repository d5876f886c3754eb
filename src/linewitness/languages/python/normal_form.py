"""Proof that two pieces of Python are the same program text, laid out differently.

The normal form of a syntax tree is the sequence of its nodes and tokens in order, without what only lays text out:
comments, line breaks, parentheses around an expression, the last comma in brackets, semicolons, and the way in which
a plain string literal is quoted and split. Equal forms mean equal syntax trees as the ``ast`` module would build
them; the reverse does not hold, and is not needed: whoever is not proved equal owes.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import starmap, zip_longest
from operator import eq

from tree_sitter import Node

from linewitness.patterns import late

_LAYOUT = frozenset({"comment", "line_continuation"})
_LOOSE_COMMA = frozenset({
    "argument_list", "parameters", "lambda_parameters", "list", "set", "dictionary", "tuple", "import_from_statement",
})  # fmt: skip
_CLOSERS = frozenset({")", "]", "}"})
_OPENING = late(rb"(?P<prefix>[A-Za-z]*)(?P<quote>\"\"\"|'''|\"|')")
_PLAIN_ESCAPE = late(rb"""\\(?:[\\'"abfnrtv\n]|[0-3][0-7]{2}|[0-7]{1,2}(?![0-7])|x[0-9A-Fa-f]{2})""")
_TEXT_ESCAPE = late(rb"\\(?:u[0-9A-Fa-f]{4}|U000[0-9A-Fa-f]{5}|U0010[0-9A-Fa-f]{4})")

Form = Iterator[str | bytes]


def equal(one: Node, other: Node) -> bool:
    """Whether two nodes have the same form. Stops at the first difference, which in most definitions comes early."""
    return all(starmap(eq, zip_longest(normal_form(one), normal_form(other))))


def normal_form(node: Node) -> Form:
    """The form of a module, a definition with its decorators, or any other node of a tree without errors, in pieces."""
    todo: list[Node | str] = [node]
    while todo:
        item = todo.pop()
        if isinstance(item, str):
            yield item
        elif item.type in ("string", "concatenated_string"):
            yield from _string(item)
        elif not item.is_named:
            yield item.type
        elif item.child_count == 0:
            yield item.type
            yield item.text or b""
        else:
            kind = _open(item, todo)
            if kind:
                yield "<"
                yield kind


def _open(node: Node, todo: list[Node | str]) -> str:
    """Put what a node holds on the pile; its type, or nothing for parentheses that do not show."""
    children = [child for child in node.children if child.type not in _LAYOUT and child.type != ";"]
    if node.type == "parenthesized_expression" and _is_redundant(node, children):
        todo.append(children[1])
        return ""
    if node.type in _LOOSE_COMMA:
        children = _without_last_comma(children)
    if node.type == "import_from_statement":
        children = [child for child in children if child.type not in ("(", ")")]
    todo.append(">")
    todo.extend(reversed(children))
    return node.type


def _is_redundant(node: Node, children: list[Node]) -> bool:
    """Whether the parentheses do not show in the syntax tree; in chains of ``and``/``or``, flattened, they do."""
    if len(children) != 3:
        return False
    parent = node.parent
    return not (
        parent is not None and parent.type == "boolean_operator" and _innermost(node).type == "boolean_operator"
    )


def _innermost(node: Node) -> Node:
    while node.type == "parenthesized_expression":
        named = [child for child in node.named_children if child.type not in _LAYOUT]
        if len(named) != 1:
            break
        node = named[0]
    return node


def _without_last_comma(children: list[Node]) -> list[Node]:
    if len(children) >= 2 and children[-1].type in _CLOSERS and children[-2].type == ",":
        return [*children[:-2], children[-1]]
    return children


def _string(node: Node) -> list[str | bytes]:
    """One literal by its value where that is beyond doubt, else as it is written."""
    parts = [node] if node.type == "string" else [child for child in node.children if child.type not in _LAYOUT]
    values = [_value(part) for part in parts]
    if all(isinstance(value, str) for value in values):
        return ["str", "".join(value for value in values if isinstance(value, str))]
    if all(isinstance(value, bytes) for value in values):
        return ["bytes", b"".join(value for value in values if isinstance(value, bytes))]
    return ["<", "strings", *(part.text or b"" for part in parts), ">"]


def _value(part: Node) -> str | bytes | None:
    text = part.text or b""
    opening = _OPENING.match(text)
    prefix = opening["prefix"].lower() if opening else b"?"
    if opening is None or part.type != "string" or not set(prefix) <= set(b"rbu"):
        return None
    body = text[opening.end() : len(text) - len(opening["quote"])]
    if b"\\" in body and b"r" not in prefix:
        body_is_plain = _has_plain_escapes_only(body, text=b"b" not in prefix)
        return _evaluated(text) if body_is_plain else None
    try:
        return body if b"b" in prefix else body.decode()
    except UnicodeDecodeError:
        return None


def _has_plain_escapes_only(body: bytes, *, text: bool) -> bool:
    """Escapes that mean the same in every version and need no table of character names."""
    rest = _PLAIN_ESCAPE.sub(b"", body)
    return b"\\" not in (_TEXT_ESCAPE.sub(b"", rest) if text else rest)


def _evaluated(text: bytes) -> str | bytes | None:
    try:
        value = ast.literal_eval(text.decode())
    except (ValueError, SyntaxError, MemoryError):
        return None
    return value if isinstance(value, str | bytes) else None
