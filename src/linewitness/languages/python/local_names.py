"""Which uses of a name mean a local variable: Python's scoping, as far as it is needed to tell a module's name apart.

The Python reference, 4.2.2: functions, lambdas, comprehensions and classes have names of their own; a class's are seen
in its own body only. Bindings of a sort that is not listed here make no scope local, so that whoever asks about a
module's name finds them and believes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tree_sitter import Node

_COMPREHENSIONS = frozenset({
    "list_comprehension", "set_comprehension", "dictionary_comprehension", "generator_expression",
})  # fmt: skip
_FUNCTIONS = frozenset({"function_definition", "lambda"})
_PARAMETERS = frozenset({"parameters", "lambda_parameters"})
_PATTERNS = frozenset({
    "pattern_list", "tuple_pattern", "list_pattern", "list_splat_pattern", "dictionary_splat_pattern",
    "as_pattern_target",
})  # fmt: skip
# The field that holds what is bound, by the type of the node that binds it.
_BINDERS = {
    "default_parameter": "name",
    "typed_default_parameter": "name",
    "assignment": "left",
    "augmented_assignment": "left",
    "for_statement": "left",
    "for_in_clause": "left",
    "named_expression": "name",
    "as_pattern": "alias",
}

_Spot = tuple[int, int, str]


def local_uses(uses: Iterable[Node]) -> list[bool]:
    """For each identifier of one name in one tree, all of them given, whether it means a local variable."""
    uses = list(uses)
    binders = {_spot(scope) for use in uses if _binds(use) and (scope := _binding_scope(use)) is not None}
    binders -= {_spot(scope) for use in uses if _is_declared_global(use) and (scope := _binding_scope(use)) is not None}
    return [any(_spot(scope) in binders for scope in _visible_scopes(use)) for use in uses]


def _spot(node: Node) -> _Spot:
    return node.start_byte, node.end_byte, node.type


def _is_declared_global(use: Node) -> bool:
    return use.parent is not None and use.parent.type == "global_statement"


def _binds(use: Node) -> bool:
    node, parent = use, use.parent
    while parent is not None and parent.type in _PATTERNS:
        node, parent = parent, parent.parent
    if parent is None:
        return False
    if parent.type in _PARAMETERS:
        return True
    if parent.type == "typed_parameter":
        return parent.child_by_field_name("type") != node
    field = _BINDERS.get(parent.type)
    return field is not None and parent.child_by_field_name(field) == node


def _binding_scope(use: Node) -> Node | None:
    """The scope that the binding makes the name local to, ``None`` for the module. ``:=`` skips comprehensions."""
    skips = use.parent is not None and use.parent.type == "named_expression"
    scopes = (scope for scope in _scopes(use) if not (skips and scope.type in _COMPREHENSIONS))
    return next(scopes, None)


def _visible_scopes(use: Node) -> Iterator[Node]:
    """The scopes whose names the use sees, the innermost first."""
    for depth, scope in enumerate(_scopes(use)):
        if scope.type != "class_definition" or depth == 0:
            yield scope


def _scopes(use: Node) -> Iterator[Node]:
    """The scopes around a node: not those of a function whose default, annotation or decorator it stands in."""
    node, parent, in_signature = use, use.parent, False
    while parent is not None:
        if parent.type in ("default_parameter", "typed_default_parameter", "typed_parameter"):
            in_signature = in_signature or _is_field(parent, node, "value") or _is_field(parent, node, "type")
        elif parent.type in _FUNCTIONS:
            is_parameter = node.type in _PARAMETERS and not in_signature
            if _is_field(parent, node, "body") or is_parameter:
                yield parent
            in_signature = False
        elif parent.type == "class_definition":
            if _is_field(parent, node, "body"):
                yield parent
        elif parent.type in _COMPREHENSIONS and not _is_first_iterable(parent, use):
            yield parent
        node, parent = parent, parent.parent


def _is_field(parent: Node, node: Node, field: str) -> bool:
    return parent.child_by_field_name(field) == node


def _is_first_iterable(comprehension: Node, use: Node) -> bool:
    """What the first ``for`` loops over is evaluated outside of the comprehension."""
    clause = next((child for child in comprehension.named_children if child.type == "for_in_clause"), None)
    iterable = clause.child_by_field_name("right") if clause is not None else None
    return iterable is not None and iterable.start_byte <= use.start_byte and use.end_byte <= iterable.end_byte
