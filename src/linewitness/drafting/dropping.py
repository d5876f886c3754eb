"""Mutants of the simplest kind: one statement dropped, everything else as it was.

A relation that witnesses a statement and does not notice that it is gone ran the line and checked nothing of it. What
cannot be dropped without changing what the file means as a whole is left alone: definitions, imports, declarations,
docstrings, and what is a ``pass`` already.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import Final

from linewitness.drafting.slices import module_body
from linewitness.model import Kind, Obligation
from linewitness.values import NamedTuple

_KEPT: Final = (
    ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom, ast.Global, ast.Nonlocal, ast.Pass,
)  # fmt: skip


class Mutant(NamedTuple):
    """``source`` is the file without the statement that began on ``line``."""

    line: int
    source: bytes


def dropped(source: bytes, rows: Sequence[Obligation]) -> Iterator[Mutant]:
    """One mutant for each statement that holds a row, in the order of the rows."""
    if source.startswith(b"\xef\xbb\xbf") or b"\r" in source:
        return
    statements = [node for node in ast.walk(ast.Module(list(module_body(source)), [])) if isinstance(node, ast.stmt)]
    done: set[int] = set()
    for row in rows:
        node = _innermost(statements, row)
        if node is None or id(node) in done or isinstance(node, _KEPT) or _is_text(node):
            continue
        done.add(id(node))
        changed = _without(source, node)
        if changed is not None:
            yield Mutant(node.lineno, changed)


def _innermost(statements: Sequence[ast.stmt], row: Obligation) -> ast.stmt | None:
    """The smallest statement around a row that is no definition of an import-time kind."""
    if row.kind is Kind.DEFINITION:
        return None
    around = [node for node in statements if node.lineno <= row.line <= (node.end_lineno or node.lineno)]
    return min(around, key=lambda node: (node.end_lineno or 0) - node.lineno, default=None)


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _without(source: bytes, node: ast.stmt) -> bytes | None:
    """The source with ``pass`` in a statement's place; ``None`` when that is no Python, or the same program."""
    lines = source.split(b"\n")
    start = sum(len(line) + 1 for line in lines[: node.lineno - 1]) + node.col_offset
    end = sum(len(line) + 1 for line in lines[: (node.end_lineno or node.lineno) - 1]) + (node.end_col_offset or 0)
    changed = source[:start] + b"pass" + source[end:]
    try:
        compile(changed, "mutant", "exec", dont_inherit=True, flags=ast.PyCF_ONLY_AST)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return changed if ast.dump(ast.parse(changed)) != ast.dump(ast.parse(source)) else None
