"""What CPython's line events prove about the tokens of a line, and what they do not.

coverage.py's raw data are line events: an instruction of that line was about to run. Some of them belong to jumps that
the compiler hung on a line, so that the line is named although nothing written on it ran. Which ones was measured, by
comparing the events of random programs with what these programs evaluated, on 3.9 to 3.13 (the export does not tell the
version, so that a lie of any version counts):

* the first arm of a conditional expression, all versions;
* the element of a comprehension, 3.12 and later;
* an operand, a condition, an ``else`` arm or a guard that holds a comparison or ``not``, 3.10 and 3.11;
* an operand inside a ``lambda``, 3.10;
* a later alternative of a pattern, up to 3.11.

All other events of a line are believed when nothing else on the line could have caused them.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator
from functools import cached_property, lru_cache
from types import MappingProxyType
from typing import Final

import tree_sitter_python
from tree_sitter import Language, Node, Parser, Point, Query, QueryCursor

from linewitness.model import Pos, Span, Token

_CLAUSE: Final = re.compile(rb"\s*(?:(?:try|else|finally)\s*:\s*)?")
_BEFORE: Final = re.compile(rb"[\s)\]},]*(?:(?:and|or|else|if|in|not\s+in|is|is\s+not|[<>!=]=|[<>])(?!\w)\s*)?")
_AFTER: Final = re.compile(rb"[\s)\]},:]*(?:\\|#.*)?")
#: What may stand before a literal on its line without being able to raise.
_HARMLESS: Final = re.compile(
    rb"\s*(?:return\b\s*|(?:if|elif|while)\s+\w+\s+(?:not\s+)?in\b\s*|[\w.]+\s*(?::[\w\s.,|\[\]]*)?=\s*)?"
    rb"(?:\w+\s*\(\s*)?(?:\w+\s*=\s*|(?:\"[^\"]*\"|'[^']*'|\d+)\s*:\s*)?[(\[{]*\s*"
)
_COMPREHENSIONS: Final = frozenset(
    {"list_comprehension", "set_comprehension", "dictionary_comprehension", "generator_expression"}
)
_LEAF_LITERALS: Final = frozenset({"integer", "float", "true", "false", "none", "ellipsis"})
_DISPLAYS: Final = frozenset(
    {"tuple", "list", "set", "dictionary", "pair", "parenthesized_expression", "unary_operator", "concatenated_string"}
)
_CODE_OBJECTS: Final = """[
  (function_definition) (class_definition) (lambda) (generator_expression) (type_parameter)
  (list_comprehension) (set_comprehension) (dictionary_comprehension)
] @code"""
#: How many operands of these run whenever the expression does.
_ALWAYS_RUN: Final = MappingProxyType(
    {"boolean_operator": 1, "assert_statement": 1, "comparison_operator": 2, "if_clause": 0}
)
_SHAKY: Final = frozenset({"comparison_operator", "not_operator"})
#: Longer beginnings of lines are not looked at: the patterns are not linear, and code is not written like that.
_LONG: Final = 400
_BLOCKS: Final = frozenset({"module", "block"})


class LineEvents:
    """The text of one Python file at head, parsed when a question needs it."""

    def __init__(self, head: bytes) -> None:
        self._data = head.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n")

    @cached_property
    def lines(self) -> list[bytes]:
        """The lines without their terminators, and what follows the last one."""
        return self._data.split(b"\n")

    @property
    def line_count(self) -> int:
        """How many lines the file has; text after the last terminator is one."""
        return self._data.count(b"\n") + (not self._data.endswith(b"\n") and bool(self._data))

    def md5_of(self, line: int) -> tuple[str, ...]:
        """The MD5 of a line's text, as a tool saw it that keeps the carriage return of its terminator, or not."""
        text = self.lines[line - 1]
        return tuple(hashlib.md5(each, usedforsecurity=False).hexdigest() for each in (text, text + b"\r"))

    def lines_of_body(self, body: Span) -> range:
        """The lines on which nothing but the body of a function stands."""
        (first, column), (last, end) = body
        if self.lines[first - 1][:column].strip():
            first += 1
        if not end or not _AFTER.fullmatch(self.lines[last - 1][end:]):
            last -= 1
        return range(first, last + 1)

    @cached_property
    def _root(self) -> Node:
        return Parser(_language()).parse(self._data).root_node

    def believable(self, token: Token, line: int) -> bool:
        """Whether an event of ``line`` shows that code around ``token`` ran, rather than something else on the line."""
        if not self.starts_its_line(token.header, line) or self._is_later_alternative(token):
            return False
        if token.span == token.statement and self._root.has_error:
            # the line rule could not read the file and asks for the line as a whole: it may be an arm or an element
            return False
        return token.region is None or self._region_owns(token.region, line, deferred=token.deferred)

    def starts_its_line(self, header: Span, line: int) -> bool:
        """Whether ``line`` begins inside the statement, so that no code before the statement can have run it.

        ``try:``, ``else:`` and ``finally:`` in front of a statement have no code of their own.
        """
        if line > header.start.line:
            return True
        return _CLAUSE.fullmatch(self.lines[line - 1][: header.start.col]) is not None

    def _region_owns(self, region: Span, line: int, *, deferred: bool) -> bool:
        node = self._node(region)
        if node is None or not self._kind_is_honest(node, deferred=deferred):
            return False
        text = self.lines[line - 1]
        before = text[: region.start.col] if region.start.line == line else b""
        if len(before) > _LONG or not _BEFORE.fullmatch(before):
            return False
        return region.end.line != line or _AFTER.fullmatch(text[region.end.col :]) is not None

    def _kind_is_honest(self, node: Node, *, deferred: bool) -> bool:
        """Whether events of this part of a statement come from the part itself, in every version."""
        parent = node.parent
        kind = parent.type if parent is not None else ""
        if kind in ("lambda", "assert_statement") or node.type == "for_in_clause":
            return True
        if parent is not None and kind == "conditional_expression":
            operands = [child for child in parent.named_children if child.type != "comment"]
            return operands[-1] == node and not deferred and not _holds(node, _SHAKY)
        if kind in ("boolean_operator", "if_clause", "comparison_operator"):
            return not deferred and not _holds(node, _SHAKY)
        return False

    def sole_code_at(self, line: int) -> bool:
        """Whether one code object at most begins on a line, in every version. The module begins on the first."""
        return line > 1 and self._code_starts.count(line) <= 1

    @cached_property
    def _code_starts(self) -> list[int]:
        cursor = QueryCursor(Query(_language(), _CODE_OBJECTS))
        found = (node for nodes in cursor.captures(self._root).values() for node in nodes)
        return sorted(_first_line(node) for node in found)

    def region_around(self, span: Span) -> Span | None:
        """The innermost part around some text that its statement may skip while it runs."""
        node = self._node(span)
        while node is not None and node.parent is not None and node.type not in _BLOCKS:
            if _may_be_skipped(node, node.parent):
                (first, left), (last, right) = node.start_point, node.end_point
                return Span(Pos(first + 1, left), Pos(last + 1, right))
            node = node.parent
        return None

    def _is_later_alternative(self, token: Token) -> bool:
        start = token.header.start
        if not self.lines[start.line - 1].startswith(b"case", start.col):
            return False
        node = self._node(token.span)
        while node is not None and node.type != "case_clause":
            parent = node.parent
            if parent is not None and parent.type == "union_pattern" and parent.named_children[0] != node:
                return True
            node = parent
        return False

    def line_of_literal(self, token: Token) -> int | None:
        """The line on which the literal around a constant begins, which alone has an event when the compiler folds it.

        ``None`` when the token is no part of such a literal, or when what stands before it on that line could raise.
        """
        node = self._node(token.span)
        found: Node | None = None
        while node is not None and self._is_constant(node):
            found, node = node, node.parent
        if found is None or found.start_point.row + 1 == token.span.start.line:
            return None
        before = self.lines[found.start_point.row][: found.start_point.column]
        return found.start_point.row + 1 if len(before) <= _LONG and _HARMLESS.fullmatch(before) else None

    @cached_property
    def _constants(self) -> dict[int, bool]:
        return {}

    def _is_constant(self, node: Node) -> bool:
        known = self._constants.get(node.id)
        if known is None:
            known = self._constants[node.id] = _constant(node)
        return known

    def proofs_of_completion(self, token: Token) -> Iterator[int]:
        """Lines that can run only after the header was evaluated to its end, apart from what it may skip."""
        header, statement = token.header, token.statement
        if self._is_later_alternative(token):
            return
        if header.end < statement.end and not self.lines[header.end.line - 1][: header.end.col].strip():
            yield header.end.line
        node = self._node(statement)
        if node is None or node.parent is None or node.parent.type not in _BLOCKS:
            return
        following = node.next_named_sibling
        while following is not None and following.type == "comment":
            following = following.next_named_sibling
        if following is not None:
            start = following.start_point
            if not self.lines[start.row][: start.column].strip():
                yield start.row + 1

    def without_code(self, ran: Callable[[int], bool]) -> int | None:
        """The first line that ran and is blank or a comment, and not the inside of a string.

        A module without any code runs on its first line, whatever stands there (up to Python 3.10).
        """
        squeezed = (b"\n" + self._data).translate(None, b" \t\f\r")
        if b"\n\n" not in squeezed and b"\n#" not in squeezed:
            return None
        silent = [number for number, line in enumerate(self.lines, start=1) if not line.partition(b"#")[0].strip()]
        if len(silent) == len(self.lines):
            silent = silent[1:]
        return next((line for line in silent if ran(line) and not self._inside_string(line)), None)

    def _inside_string(self, line: int) -> bool:
        node = self._root.descendant_for_point_range(Point(line - 1, 0), Point(line - 1, 0))
        while node is not None and node.type != "string":
            node = node.parent
        return node is not None

    def _node(self, span: Span) -> Node | None:
        """The outermost node that covers exactly this text."""
        start, end = Point(span.start.line - 1, span.start.col), Point(span.end.line - 1, span.end.col)
        node = self._root.descendant_for_point_range(start, end)
        if node is None or (node.start_point, node.end_point) != (start, end):
            return None
        while node.parent is not None and (node.parent.start_point, node.parent.end_point) == (start, end):
            node = node.parent
        return node


@lru_cache(maxsize=1)
def _language() -> Language:
    return Language(tree_sitter_python.language())


def _first_line(node: Node) -> int:
    """Where the compiler says that the node's code begins: at its first decorator when it has one."""
    decorated = node.parent is not None and node.parent.type == "decorated_definition"
    return (node.parent if decorated and node.parent is not None else node).start_point.row + 1


def _may_be_skipped(node: Node, parent: Node) -> bool:
    operands = [child for child in parent.named_children if child.type != "comment"]
    kind = parent.type
    if kind == "conditional_expression":
        return node in (operands[0], operands[-1])
    if kind == "lambda":
        return node == parent.child_by_field_name("body")
    if kind in _COMPREHENSIONS:
        return node != next((child for child in operands if child.type == "for_in_clause"), None)
    return kind in _ALWAYS_RUN and node in operands[_ALWAYS_RUN[kind] :]


def _holds(node: Node, kinds: frozenset[str]) -> bool:
    todo = [node]
    while todo:
        each = todo.pop()
        if each.type in kinds:
            return True
        todo.extend(each.named_children)
    return False


def _constant(node: Node) -> bool:
    """Whether the value is known before anything runs, and getting it can raise nothing."""
    todo = [node]
    while todo:
        each = todo.pop()
        if each.type in _LEAF_LITERALS or each.type == "comment":
            continue
        if each.type == "string":
            if any(child.type == "interpolation" for child in each.named_children):
                return False
        elif each.type in _DISPLAYS:
            todo.extend(each.named_children)
        else:
            return False
    return True
