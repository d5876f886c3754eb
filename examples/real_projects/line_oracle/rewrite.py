"""Puts marks into a syntax tree without changing what the program does.

Every node of the tree gets a number. A mark is ``number * 4`` plus what is known once it is set:

* ``BEGUN``: evaluation of the expression, or execution of the statement, started;
* ``ENDED``: the expression has a value;
* ``ENTERED``: the body of the function or generator expression started (a lambda's body is an expression, so its
  beginning says as much).

An expression ``e`` becomes ``(add(begun), e, add(ended))[1]`` where ``add`` is the ``add`` of a set: no Python frame is
entered, so recursion depth, ``sys._getframe``, ``super()``, ``await`` and ``yield`` see what they always saw, and all
positions are those of the source. Expressions whose truth Python tests without making a value of them (``and``, ``or``,
conditional expressions, chained comparisons) are left bare, because making them values would call ``__bool__`` twice.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Collection, Iterator
from types import CodeType
from typing import TypeVar

BEGUN, ENDED, ENTERED = 0, 1, 2
MARKS_PER_NODE = 4

# Both ends carry two underscores: the compiler must not mangle these names inside classes.
ADD = "__line_oracle_add__"
ITERATE = "__line_oracle_iterate__"

LEAVES = (ast.Name, ast.Constant)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
SUITES = ("body", "orelse", "finalbody")

N = TypeVar("N", bound=ast.AST)


class NumberedTree:
    """A parsed module whose nodes are numbered from ``first``; the numbers fit into ``first .. first + size - 1``."""

    def __init__(self, source: bytes, first: int = 0) -> None:
        self.tree = ast.parse(source)
        self.first = first
        for number, node in enumerate(ast.walk(self.tree), start=first):
            node.number = number  # type: ignore[attr-defined]
            self.size = number - first + 1


def mark(node: ast.AST, what: int) -> int:
    """The mark that says ``what`` about a node of a :class:`NumberedTree`."""
    number: int = node.number  # type: ignore[attr-defined]
    return number * MARKS_PER_NODE + what


def is_docstring(statement: ast.AST) -> bool:
    """Whether this statement is a bare string. It is a docstring when it comes first in its block."""
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )


def is_marked_value(node: ast.expr) -> bool:
    """Whether :func:`instrument` marks this expression itself (and not only its parts)."""
    if isinstance(getattr(node, "ctx", None), (ast.Store, ast.Del)):
        return False
    if isinstance(node, ast.Compare):
        return len(node.ops) == 1
    if isinstance(node, ast.Tuple):
        return not any(isinstance(part, ast.Slice) for part in node.elts)
    return not isinstance(node, (ast.BoolOp, ast.IfExp, ast.Starred, ast.Slice, ast.FormattedValue))


def header_end(statement: ast.AST) -> int:
    """The last line of a statement's own part, in front of its first suite."""
    starts = [
        first_line(child)
        for name in (*SUITES, "handlers", "cases")
        for child in getattr(statement, name, ())[:1]
        if isinstance(child, (ast.stmt, ast.excepthandler, ast.match_case))
    ]
    end: int = getattr(statement, "end_lineno", 0) or 0
    return min([end, *starts])


def first_line(node: ast.AST) -> int:
    """The first line of a statement with its decorators, of a handler, or of a ``case``'s pattern."""
    if isinstance(node, ast.match_case):
        return node.pattern.lineno
    decorators = vars(node).get("decorator_list", ())
    lines: list[int] = [vars(node)["lineno"], *(decorator.lineno for decorator in decorators)]
    return min(lines)


class _Marker(ast.NodeTransformer):
    def __init__(self, focus: Collection[int] | None) -> None:
        self.focus = None if focus is None else sorted(focus)
        self.wanted = True

    def in_focus(self, node: ast.AST) -> bool:
        if self.focus is None:
            return True
        first, last = first_line(node), header_end(node)
        return any(first <= line <= last for line in self.focus)

    # ------------------------------------------------------------ blocks

    def block(self, statements: list[ast.stmt], owner: ast.AST) -> list[ast.stmt]:
        """The statements of one block, each behind its mark; a docstring and the future imports stay in front."""
        out: list[ast.stmt] = []
        entered = [mark_statement(owner, ENTERED, statements[0])] if isinstance(owner, FUNCTIONS) else []
        can_document = isinstance(owner, (*FUNCTIONS, ast.ClassDef, ast.Module))
        late: list[ast.stmt] = []
        for index, statement in enumerate(statements):
            if index == 0 and can_document and is_docstring(statement):
                out.append(statement)
                continue
            if isinstance(statement, ast.ImportFrom) and statement.module == "__future__":
                out.append(statement)
                late.append(mark_statement(statement, BEGUN, statement))
                continue
            out += [*late, *entered, mark_statement(statement, BEGUN, statement)]
            late, entered = [], []
            out.append(self.marked(statement))
        return [*out, *late, *entered]

    def marked(self, statement: N) -> N:
        """One statement (or handler, or case) with marks inside."""
        outer, self.wanted = self.wanted, self.in_focus(statement)
        for name, value in ast.iter_fields(statement):
            if name in SUITES and isinstance(value, list):
                setattr(statement, name, self.block(value, statement) if value else [])
            elif name == "handlers":
                setattr(statement, name, [self.marked(handler) for handler in value])
            elif name == "cases":
                setattr(statement, name, [made for case in value for made in self.cases(case)])
            elif self.wanted and name not in ("annotation", "returns", "type_params", "pattern"):
                setattr(statement, name, self.field(statement, value))
        self.wanted = outer
        return statement

    def field(self, owner: ast.AST, value: object) -> object:
        if type(owner).__name__ == "TypeAlias":
            return value  # evaluated when somebody asks, and its text may be asked for
        if isinstance(value, ast.AST):
            return self.visit(value)
        if isinstance(value, list):
            return [self.visit(item) if isinstance(item, ast.AST) else item for item in value]
        return value

    def cases(self, case: ast.match_case) -> Iterator[ast.match_case]:
        """The case behind one that never matches, whose guard tells that matching got this far."""
        place = case.pattern
        tried = ast.match_case(
            pattern=ast.copy_location(ast.MatchAs(), place),
            guard=call_add(mark(case, BEGUN), place),
            body=[ast.copy_location(ast.Pass(), place)],
        )
        yield tried
        yield self.marked(case)

    # ------------------------------------------------------------ expressions

    def generic_visit(self, node: ast.AST) -> ast.AST:
        super().generic_visit(node)
        return self.value(node) if isinstance(node, ast.expr) else node

    def value(self, node: ast.expr) -> ast.expr:
        if not is_marked_value(node):
            return node
        parts: list[ast.expr] = [call_add(mark(node, BEGUN), node), node]
        if not isinstance(node, LEAVES):
            parts.append(call_add(mark(node, ENDED), node))
        return located(ast.Subscript(located(ast.Tuple(parts, ast.Load()), node), number(1, node), ast.Load()), node)

    def visit_arg(self, node: ast.arg) -> ast.arg:
        return node  # an annotation: part of the definition's header

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.expr:
        return self.value(self.format_string(node))

    def format_string(self, node: ast.JoinedStr) -> ast.JoinedStr:
        """The grammar wants constants and replacement fields here, nothing else: mark inside the fields."""
        for part in node.values:
            if isinstance(part, ast.FormattedValue):
                part.value = self.visit(part.value)
                if isinstance(part.format_spec, ast.JoinedStr):
                    part.format_spec = self.format_string(part.format_spec)
        return node

    def visit_TemplateStr(self, node: ast.expr) -> ast.expr:
        return node  # keeps its own source text

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> ast.expr:
        super().generic_visit(node)
        outermost = node.generators[0]
        if not outermost.is_async:
            callee = located(ast.Name(ITERATE, ast.Load()), node)
            arguments = [number(mark(node, ENTERED), node), outermost.iter]
            outermost.iter = located(ast.Call(callee, arguments, []), outermost.iter)
        return self.value(node)


def located(new: N, old: ast.AST) -> N:
    return ast.copy_location(new, old)


def number(value: int, place: ast.AST) -> ast.Constant:
    return located(ast.Constant(value), place)


def call_add(key: int, place: ast.AST) -> ast.expr:
    return located(ast.Call(located(ast.Name(ADD, ast.Load()), place), [number(key, place)], []), place)


def mark_statement(node: ast.AST, what: int, place: ast.AST) -> ast.stmt:
    return located(ast.Expr(call_add(mark(node, what), place)), place)


def instrument(numbered: NumberedTree, path: str, focus: Collection[int] | None = None) -> CodeType:
    """Compile the marked tree. ``focus`` limits the marks inside statements to those that touch these lines."""
    tree = copy.deepcopy(numbered.tree)
    tree.body = _Marker(focus).block(tree.body, tree)
    return compile(tree, path, "exec", dont_inherit=True)
