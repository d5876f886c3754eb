"""The significant tokens of lines, with the bounds inside which evidence for them may be looked for."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Collection, Iterator

from tree_sitter import Node

from linewitness.languages.python.outline import DEFINITIONS, Outline, Statement
from linewitness.model import Weight
from linewitness.values import NamedTuple

_OPENERS = frozenset("([{")
_CLOSERS = frozenset(")]},:;.")
# Keywords with code of their own: what they do may happen although no name or literal beside them ran, or the reverse.
_STRONG_WORDS = frozenset({"lambda", "yield", "await", "__future__", "print", "exec"})
_SILENT = frozenset({"comment", "line_continuation"})
_NAMED_WEIGHTS = {
    "string_content": Weight.STRONG,
    "string_start": Weight.OPENER,
    "string_end": Weight.CLOSER,
    "type_conversion": Weight.KEYWORD,
    "comment": Weight.KEYWORD,
    "line_continuation": Weight.KEYWORD,
}
_COMPREHENSIONS = frozenset({
    "list_comprehension", "set_comprehension", "dictionary_comprehension", "generator_expression",
})  # fmt: skip
# Which operand is the first that may be skipped.
_SKIPPED_OPERANDS = {"conditional_expression": 0, "comparison_operator": 2, "assert_statement": 1, "if_clause": 0}
_SHOWN = 40


class _Place(NamedTuple):
    """A node on the way down: the stretch that may be skipped around it, and whether a lambda defers it."""

    node: Node
    region: tuple[int, int] | None
    deferred: bool


class Leaf(NamedTuple):
    """A token by offsets, and where it stands."""

    text: str
    start: int
    end: int
    weight: Weight
    statement: int
    region: tuple[int, int] | None
    deferred: bool


def leaves(part: Outline, index: int, lines: Collection[int]) -> Iterator[Leaf]:
    """The tokens of one statement's header that touch the lines, in order, and the next strong one after each run.

    That one more token is the pivot of keywords and openers at the end of a line. Works without recursion: text may
    nest as deep as it likes.
    """
    statement = part.statements[index]
    touches = _touching(part, statement, lines)
    pending = False
    todo = [_Place(statement.node, None, False)]
    while todo:
        place = todo.pop()
        node = place.node
        if node.start_byte >= statement.header_end and node.start_byte != statement.start:
            continue
        touched = touches(node)
        if not (pending or touched):
            continue
        weight = _weight(node)
        if weight is None:
            todo.extend(reversed(_children(place)))
            continue
        if node.start_byte == node.end_byte or node.type in _SILENT:
            continue
        if touched or weight is Weight.STRONG:
            yield Leaf(_shown(node), node.start_byte, node.end_byte, weight, index, place.region, place.deferred)
            pending = weight in (Weight.KEYWORD, Weight.OPENER) or (pending and weight is not Weight.STRONG)


def _touching(part: Outline, statement: Statement, lines: Collection[int]) -> Callable[[Node], bool]:
    """A test for nodes that lie on one of the lines, cheap when all lines of the header are wanted."""
    if len(lines) > statement.header_last - statement.first:
        return lambda _: True
    source, wanted = part.source, sorted(lines)

    def touches(node: Node) -> bool:
        at = bisect_left(wanted, source.line_at(node.start_byte))
        return at < len(wanted) and wanted[at] <= source.line_at(max(node.start_byte, node.end_byte - 1))

    return touches


def _weight(node: Node) -> Weight | None:
    """The class of a token; ``None`` for a node whose children are the tokens."""
    kind = node.type
    if not node.is_named:
        return _weight_of_sign(node)
    if kind in _NAMED_WEIGHTS:
        return _NAMED_WEIGHTS[kind]
    if kind == "string" and not any(child.type == "interpolation" for child in node.children):
        return Weight.STRONG
    if kind == "format_specifier" and not any(child.type == "format_expression" for child in node.children):
        return Weight.STRONG
    return Weight.STRONG if node.child_count == 0 else None


def _weight_of_sign(node: Node) -> Weight | None:
    kind = node.type
    if node.child_count and kind not in ("not in", "is not"):
        return None
    if kind in _STRONG_WORDS or _is_star_import(node) or _starts_loop(node):
        return Weight.STRONG
    if kind in _OPENERS:
        return Weight.OPENER
    return Weight.CLOSER if kind in _CLOSERS else Weight.KEYWORD


def _is_star_import(node: Node) -> bool:
    return node.type == "*" and node.parent is not None and node.parent.type == "wildcard_import"


def _starts_loop(node: Node) -> bool:
    """The head of a loop runs also when its target is never bound, because there was nothing to loop over."""
    return node.type == "for" and node.parent is not None and node.parent.type == "for_statement"


def _shown(node: Node) -> str:
    """The token's text for people: its first line, cut short."""
    text = (node.text or b"").decode("utf-8", "replace")
    line = text.partition("\n")[0]
    return line if line == text and len(line) <= _SHOWN else line[:_SHOWN] + "…"


def _children(place: _Place) -> list[_Place]:
    """The parts of a node, each with the innermost stretch around it that may be skipped."""
    node = place.node
    if node.type in ("block", "string_content") or _is_parameter_list(node):
        return []
    skippable = {(part.start_byte, part.end_byte) for part in skippable_parts(node)}
    is_lambda = node.type == "lambda"
    found = []
    for child in node.children:
        bounds = (child.start_byte, child.end_byte)
        own = bounds in skippable
        found.append(_Place(child, bounds if own else place.region, place.deferred or (own and is_lambda)))
    return found


def _is_parameter_list(node: Node) -> bool:
    """Whether these are a definition's type parameters: their bounds are evaluated only when asked for (PEP 695)."""
    return node.type == "type_parameter" and node.parent is not None and node.parent.type in DEFINITIONS


def skippable_parts(node: Node) -> list[Node]:
    """The children of a node that need not run when it does.

    Arms of a conditional expression, later operands, a lambda's body, a comprehension's element, conditions and inner
    iterables, the message of an ``assert``, a guard.
    """
    kind = node.type
    if kind in ("boolean_operator", "lambda") or kind in _COMPREHENSIONS:
        part = node.child_by_field_name("right" if kind == "boolean_operator" else "body")
        return ([part] if part is not None else []) + _later_clauses(node)
    if kind not in _SKIPPED_OPERANDS:
        return []
    operands = [child for child in node.named_children if child.type not in _SILENT]
    if kind == "conditional_expression":
        return [operands[0], operands[-1]] if len(operands) == 3 else []
    return operands[_SKIPPED_OPERANDS[kind] :]


def _later_clauses(node: Node) -> list[Node]:
    return [child for child in node.children if child.type == "for_in_clause"][1:]
