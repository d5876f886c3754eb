"""An independent answer to "what ran": a syntax tree that marks evaluated expressions and started statements.

Shares no code with the tool: it knows the ``ast`` module of the running interpreter and nothing else. Its answer for a
line is ``True`` when an expression or a statement that begins on the line ran, ``False`` when some begin there and none
ran, and the line is absent when nothing begins there. Lambdas and generator expressions are answered for apart.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

_UNEVALUATED = ("annotation", "returns", "pattern", "type_params", "type_comment", "conversion")


class _Marker(ast.NodeTransformer):
    """Wraps expressions as ``__expression__(key, value)`` and precedes statements with ``__statement__(key)``."""

    def __init__(self) -> None:
        self.expressions: dict[int, ast.expr] = {}
        self.statements: dict[int, ast.stmt] = {}
        self.functions: list[list[ast.expr]] = []

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        self.functions.append([node.body])
        return self.generic_visit(node)

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> ast.AST:
        conditions = [test for loop in node.generators for test in loop.ifs]
        self.functions.append([node.elt, *conditions, *(loop.iter for loop in node.generators[1:])])
        return self.generic_visit(node)

    def generic_visit(self, node: ast.AST) -> ast.AST:
        original = node if isinstance(node, ast.expr) else None
        for name, value in ast.iter_fields(node):
            if name in _UNEVALUATED:
                continue
            if isinstance(value, list):
                setattr(node, name, self._list(node, name, value))
            elif isinstance(value, ast.AST):
                setattr(node, name, self.visit(value))
        return node if original is None else self._wrapped(original)

    def _list(self, holder: ast.AST, name: str, items: list[Any]) -> list[Any]:
        done: list[Any] = []
        for position, item in enumerate(items):
            if isinstance(item, ast.stmt):
                done += self._statement(item, opens=position == 0 and name == "body" and _can_have_docstring(holder))
            else:
                done.append(self.visit(item) if isinstance(item, ast.AST) else item)
        return done

    def _statement(self, item: ast.stmt, *, opens: bool) -> list[ast.stmt]:
        if (
            opens
            and isinstance(item, ast.Expr)
            and isinstance(item.value, ast.Constant)
            and isinstance(item.value.value, str)
        ):
            return [item]
        if isinstance(item, ast.Global | ast.Nonlocal) or (
            isinstance(item, ast.ImportFrom) and item.module == "__future__"
        ):
            return [item]
        key = len(self.statements)
        self.statements[key] = item
        mark = ast.Expr(_call("__statement__", key))
        return [ast.copy_location(mark, item), self.visit(item)]

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        # Before 3.12 the positions of what stands inside an f-string are wrong.
        return self.generic_visit(node) if sys.version_info >= (3, 12) else self._wrapped(node)

    def visit_FormattedValue(self, node: ast.FormattedValue) -> ast.AST:
        node.value = self.visit(node.value)
        if isinstance(node.format_spec, ast.JoinedStr):
            for part in node.format_spec.values:
                if isinstance(part, ast.FormattedValue):
                    self.visit_FormattedValue(part)
        return node

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        return self._wrapped(node)

    def visit_NamedExpr(self, node: ast.NamedExpr) -> ast.AST:
        node.value = self.visit(node.value)
        return self._wrapped(node)

    def visit_match_case(self, node: ast.match_case) -> ast.AST:
        if node.guard is not None:
            node.guard = self.visit(node.guard)
        node.body = self._list(node, "body", node.body)
        return node

    def _wrapped(self, node: ast.expr) -> ast.expr:
        stores = isinstance(getattr(node, "ctx", None), ast.Store | ast.Del)
        if stores or isinstance(node, ast.Starred | ast.Slice | ast.FormattedValue):
            return node
        key = len(self.expressions)
        self.expressions[key] = node
        return ast.copy_location(_call("__expression__", key, node), node)


def _can_have_docstring(node: ast.AST) -> bool:
    return isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)


def _call(name: str, key: int, *more: ast.expr) -> ast.Call:
    return ast.Call(ast.Name(name, ast.Load()), [ast.Constant(key), *more], [])


class Oracle:
    """One source, rewritten and loaded; then any number of recordings."""

    def __init__(self, source: str) -> None:
        tree = ast.parse(source)
        self._marker = _Marker()
        text_parts = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
        self._skip_text(text_parts)
        marked = ast.fix_missing_locations(self._marker.visit(tree))
        self._seen: set[tuple[str, int]] = set()
        self.namespace: dict[str, Any] = {
            "__name__": "case",
            "__statement__": self._began,
            "__expression__": self._evaluated,
        }
        exec(compile(marked, "<oracle>", "exec", dont_inherit=True), self.namespace)

    def _skip_text(self, parts: set[int]) -> None:
        wrapped = self._marker.visit_Constant
        self._marker.visit_Constant = lambda node: node if id(node) in parts else wrapped(node)  # type: ignore[method-assign]

    def _began(self, key: int) -> None:
        self._seen.add(("statement", key))

    def _evaluated(self, key: int, value: object) -> object:
        self._seen.add(("expression", key))
        return value

    def lines(self, run: Callable[[Mapping[str, Any]], object]) -> dict[int, bool]:
        """What ran, by line, while ``run`` was given the module's namespace."""
        self._seen.clear()
        # A case may end in any exception; what ran before it counts.
        with suppress(Exception):
            run(self.namespace)
        answer: dict[int, bool] = {}
        for kind, table in (("expression", self._marker.expressions), ("statement", self._marker.statements)):
            for key, node in table.items():
                # A conditional expression begins with an arm that may not have run.
                if not isinstance(node, ast.IfExp):
                    answer[node.lineno] = answer.get(node.lineno, False) or (kind, key) in self._seen
        return answer

    def not_entered(self) -> set[int]:
        """The lines with code of a lambda or generator expression of which nothing ran in the last recording."""
        keys = {id(node): key for key, node in self._marker.expressions.items()}
        lines: set[int] = set()
        for parts in self._marker.functions:
            if not any(("expression", keys.get(id(part))) in self._seen for part in parts):
                lines.update(line for part in parts for line in range(part.lineno, (part.end_lineno or 0) + 1))
        return lines
