"""Which of the tests that are there make the best first witnesses, told from their texts alone.

A witness has to run the product and to say what should come out. So a test module is worth the more, the more of the
product it imports and the more its tests assert; one that replaces parts of the product says less about it.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Mapping
from typing import Final

from linewitness.model import RepoPath
from linewitness.reports.words import plural
from linewitness.values import NamedTuple

_EXPECTING: Final = frozenset({"raises", "warns"})
_REPLACING: Final = frozenset({"patch", "MagicMock", "Mock", "monkeypatch", "mocker"})


class Candidate(NamedTuple):
    """One test module: the product's top-level names it imports, its tests, its assertions, what it replaces."""

    path: RepoPath
    imports: tuple[str, ...]
    tests: int
    assertions: int
    replaced: int

    @property
    def says_something(self) -> bool:
        """Whether it can be a witness worth having: it runs the product and asserts something."""
        return bool(self.imports and self.tests and self.assertions)

    @property
    def why(self) -> str:
        """What speaks for it, as a phrase: ``imports shop, 12 assertions in 5 tests``."""
        counts = f"{plural(self.assertions, 'assertion')} in {plural(self.tests, 'test')}"
        names = f"imports {', '.join(self.imports)}" if self.imports else "imports nothing of the product"
        return f"{names}, {counts}"


def rank(texts: Mapping[RepoPath, str], product: Collection[str]) -> tuple[Candidate, ...]:
    """The test modules that parse, best first. ``product`` holds the top-level names that the project owns."""
    found = [candidate for path, text in texts.items() if (candidate := _look(path, text, product))]
    return tuple(sorted(found, key=_merit))


def _merit(candidate: Candidate) -> tuple[object, ...]:
    """Fewer replaced parts for each assertion go before more assertions: a test of mocks asserts a lot, too."""
    mostly_replaced = candidate.replaced * 2 > candidate.assertions
    return (not candidate.says_something, mostly_replaced, -candidate.assertions, -candidate.tests, candidate.path)


def _look(path: RepoPath, text: str, product: Collection[str]) -> Candidate | None:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    nodes = tuple(ast.walk(tree))
    names = sorted({name for node in nodes for name in _imported(node)} & set(product))
    functions = [node for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    tests = sum(function.name.startswith("test") for function in functions)
    replaced = sum(_name_of(node) in _REPLACING for node in nodes)
    return Candidate(path, tuple(names), tests, sum(map(_asserts, nodes)), replaced)


def _imported(node: ast.AST) -> Iterable[str]:
    """The top-level names that a statement imports; of a package called ``src`` also what is right below it."""
    if isinstance(node, ast.Import):
        return [part for alias in node.names for part in alias.name.split(".")[:2]]
    if isinstance(node, ast.ImportFrom) and node.module and not node.level:
        return node.module.split(".")[:2]
    return ()


def _asserts(node: ast.AST) -> bool:
    if isinstance(node, ast.Assert):
        return not isinstance(node.test, ast.Constant)
    if not isinstance(node, ast.Call):
        return False
    name = _name_of(node.func)
    return name in _EXPECTING or name.startswith("assert")


def _name_of(node: ast.AST) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    if isinstance(node, ast.arg):
        return node.arg
    return node.id if isinstance(node, ast.Name) else ""
