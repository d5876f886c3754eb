"""Which tests of a module the product has a say in: whether they exist, and for which cases.

Read off the text alone. A table that ``parametrize`` takes from the product, a test below an ``if`` or in a loop, or
names that a module makes while it runs, may give another set of tests for every version of the product.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator
from typing import Final

_MAKERS: Final = frozenset({"globals", "vars", "setattr", "exec", "type", "locals"})
_Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def driven_tests(path: str, text: bytes, owned: Collection[str]) -> frozenset[str]:
    """The node ids, without parameters, of tests that depend on the project's own modules; the path stands for all.

    ``owned`` are top-level names of the project. A text that cannot be parsed has none: it cannot be collected either.
    """
    try:
        module = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return frozenset()
    names = frozenset(_imported(module, owned))
    if not names:
        return frozenset()
    if any(_makes_tests(node, names) for node in ast.walk(module)):
        return frozenset({path})
    return frozenset(_driven(path, module.body, names, certain=True))


def _imported(module: ast.Module, owned: Collection[str]) -> Iterator[str]:
    """Names that stand for something of the project's."""
    for node in ast.walk(module):
        if isinstance(node, ast.ImportFrom) and (node.level or (node.module or "").partition(".")[0] in owned):
            yield from (alias.asname or alias.name for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (
                alias.asname or alias.name.partition(".")[0]
                for alias in node.names
                if alias.name.partition(".")[0] in owned
            )


def _makes_tests(node: ast.AST, names: Collection[str]) -> bool:
    """Whether tests of any name may come of this: a hook, a fixture with the product's cases, names made by hand."""
    if isinstance(node, ast.FunctionDef) and node.name == "pytest_generate_tests":
        return True
    if not isinstance(node, ast.Call):
        return False
    if isinstance(node.func, ast.Name) and node.func.id in _MAKERS:
        return node.func.id != "type" or len(node.args) > 1
    return any(word.arg == "params" and _mentions(word.value, names) for word in node.keywords)


def _driven(prefix: str, body: Iterable[ast.stmt], names: Collection[str], *, certain: bool) -> Iterator[str]:
    for node in body:
        if isinstance(node, _Definition):
            nodeid = f"{prefix}::{node.name}"
            is_test = node.name.lower().startswith("test") or isinstance(node, ast.ClassDef)
            if is_test and (not certain or any(_mentions(each, names) for each in _around(node))):
                yield nodeid
            elif isinstance(node, ast.ClassDef):
                yield from _driven(nodeid, node.body, names, certain=True)
        elif isinstance(node, ast.If | ast.For | ast.While | ast.Try | ast.With | ast.Match):
            yield from _driven(prefix, _inside(node), names, certain=False)


def _inside(node: ast.stmt) -> Iterator[ast.stmt]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt):
            yield child
        elif isinstance(child, ast.ExceptHandler | ast.match_case):
            yield from child.body


def _around(node: _Definition) -> Iterator[ast.expr]:
    """What makes something of a definition: its decorators, and the bases of a class."""
    yield from node.decorator_list
    if isinstance(node, ast.ClassDef):
        yield from node.bases
        yield from (word.value for word in node.keywords)


def _mentions(node: ast.expr, names: Collection[str]) -> bool:
    return any(isinstance(each, ast.Name) and each.id in names for each in ast.walk(node))
