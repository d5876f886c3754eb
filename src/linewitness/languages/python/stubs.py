"""Functions that are there to be read, not to be entered: stubs of overloads and methods of protocols.

Their bodies are nothing but ``...`` or a docstring. Nobody can enter them once their module is imported, so the import
that ran their header is all the evidence there can be. What *could* be entered is not a stub: it has to be.
"""

from __future__ import annotations

from tree_sitter import Node

from linewitness.languages.python import lines
from linewitness.languages.python.outline import DEFINITIONS, Statement, is_plain_text
from linewitness.languages.python.places import definition_node
from linewitness.languages.python.side import Side

_NOT_STATEMENTS = frozenset({"comment", "line_continuation"})


def is_never_entered(side: Side, statement: Statement) -> bool:
    """Whether a definition is an overload (proved, or a stub that a later definition replaces) or a protocol's stub."""
    if statement.kind != "function_definition":
        return False
    if is_overload(side, statement):
        return True
    if not _does_nothing(definition_node(statement.node)):
        return False
    return (_says_overload(statement.node) and _is_replaced(side, statement)) or _is_of_protocol(side, statement.node)


def is_overload(side: Side, statement: Statement) -> bool:
    """Whether a decorator of the definition is proved to be ``typing.overload``. Proofs are dear: signs come first."""
    return _says_overload(statement.node) and lines.is_overload(statement, side.names)


def _does_nothing(function: Node) -> bool:
    body = function.child_by_field_name("body")
    members = [child for child in body.named_children if child.type not in _NOT_STATEMENTS] if body else []
    return bool(members) and all(_is_ellipsis(member) or is_plain_text(member) for member in members)


def _is_ellipsis(member: Node) -> bool:
    return member.type == "expression_statement" and [child.type for child in member.named_children] == ["ellipsis"]


def _says_overload(node: Node) -> bool:
    """Whether something called ``overload`` decorates the definition: what it does cannot matter to a stub."""
    decorators = [child for child in node.children if child.type == "decorator"]
    texts = [(child.text or b"") for decorator in decorators for child in decorator.named_children]
    return any(text == b"overload" or text.endswith(b".overload") for text in texts)


def _is_replaced(side: Side, statement: Statement) -> bool:
    """Whether the scope defines the name again, after the stub and whenever it defined the stub.

    Looks at the tree of the whole file: the statements of an excerpt have lost their neighbours.
    """
    name = definition_node(statement.node).child_by_field_name("name")
    here: Node | None = side.root.descendant_for_byte_range(statement.start, statement.end)
    while here is not None and here.type not in DEFINITIONS | {"decorated_definition"}:
        here = here.parent
    while here is not None and name is not None:
        after = here.next_named_sibling
        while after is not None:
            if _defines(after, name.text):
                return True
            after = after.next_named_sibling
        here = here.parent
        if here is not None and here.type in DEFINITIONS:
            return False
    return False


def _defines(node: Node, name: bytes | None) -> bool:
    inner = definition_node(node)
    if inner.type != "function_definition":
        return False
    own = inner.child_by_field_name("name")
    return own is not None and own.text == name


def _is_of_protocol(side: Side, node: Node) -> bool:
    """Whether the definition stands directly in a class one of whose bases is proved to be ``typing.Protocol``."""
    holder = node.parent.parent if node.parent is not None else None
    if holder is None or holder.type != "class_definition":
        return False
    bases = holder.child_by_field_name("superclasses")
    if bases is None or b"Protocol" not in (bases.text or b""):
        return False
    named = [base.child_by_field_name("value") if base.type == "subscript" else base for base in bases.named_children]
    return any(base is not None and base.text in side.protocols for base in named)
