"""Whether every assertion of a drafted relation compares two runs of the product.

A test that compares a result with a value somebody wrote down is an example, not a relation: whoever drafts it looked
at what the code does and called it right. So an assertion has to depend on two calls of the product, and may not have a
constant on one side; laws of the library compare two runs by themselves, and have to be given the product's functions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import Final

from linewitness.drafting.vocabulary import LAWS_AT_WORK, LIBRARY, SUBJECTS
from linewitness.values import NamedTuple

_MANY: Final = 2
_REPEATS: Final = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.For, ast.Lambda)
_FUNCTIONS_OF_FUNCTIONS: Final = frozenset({"map", "filter", "reduce", "starmap", "accumulate", "sorted", "max", "min"})

Names = Mapping[str, tuple[str, str]]


class _Facts(NamedTuple):
    """``products`` are names that stand for functions of the product, ``runs`` how many runs a value depends on.

    ``varied`` are names whose value depends on the case.
    """

    names: Names
    products: frozenset[str]
    runs: Mapping[str, int]
    varied: frozenset[str]


def complaints(tree: ast.Module, names: Names, modules: frozenset[str]) -> Iterator[tuple[int, str]]:
    """Line and reason of each assertion that is none of a relation, and of each test without any."""
    products = _products(tree, names, modules)
    yield from _deaf(tree)
    for function in tree.body:
        if not isinstance(function, ast.FunctionDef):
            continue
        facts = _follow(function, names, products)
        asserted = 0
        for node in ast.walk(function):
            found = _judge(node, facts)
            if found is not None:
                asserted += 1
                if found:
                    yield node.lineno, found  # type: ignore[attr-defined]  # statements and calls have lines
        if not asserted and function.name.lower().startswith("test"):
            helped = any(_called(node) in products for node in ast.walk(function))
            if not helped or not _asserting_helper(tree, function, names):
                yield function.lineno, "the test asserts nothing"


def _deaf(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Functions that do not look at what they are given: a view of such a sort makes any two results equal."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Lambda | ast.FunctionDef):
            given = {each.arg for each in ast.walk(node.args) if isinstance(each, ast.arg)}
            body = node.body if isinstance(node, ast.FunctionDef) else [node.body]
            used = {each.id for part in body for each in ast.walk(part) if isinstance(each, ast.Name)}
            if not given <= used:
                yield node.lineno, f"a function does not use {', '.join(sorted(given - used))}, which it is given"


def _asserting_helper(tree: ast.Module, test: ast.FunctionDef, names: Names) -> bool:
    called = {_called(node) for node in ast.walk(test)}
    helpers = (node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name in called)
    return any(isinstance(n, ast.Assert) or _law(n, names) for helper in helpers for n in ast.walk(helper))


def _called(node: ast.AST) -> str:
    return node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ""


# ---------------------------------------------------------------- what is the product


def _products(tree: ast.Module, names: Names, modules: frozenset[str]) -> frozenset[str]:
    """Names that stand for functions of the product: imports, subjects, and functions here that call one of them."""
    found = {name for name, (module, _) in names.items() if module in modules}
    size = -1
    while size != len(found):
        size = len(found)
        for node in tree.body:
            if isinstance(node, ast.FunctionDef) and _mentions(node, found, names):
                found.add(node.name)
            elif isinstance(node, ast.Assign) and _mentions(node.value, found, names):
                found |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    return frozenset(found)


def _mentions(node: ast.AST, products: set[str] | frozenset[str], names: Names) -> bool:
    return any(
        (isinstance(each, ast.Name) and each.id in products) or _library(each, names) in SUBJECTS
        for each in ast.walk(node)
    )


def _library(node: ast.AST, names: Names) -> str:
    """The name of the relations library that is called, empty when something else is."""
    if not isinstance(node, ast.Call):
        return ""
    if isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name):
        return node.func.attr if names.get(node.func.value.id) == (LIBRARY, "") else ""
    module, name = names.get(_called(node), ("", ""))
    return name if module == LIBRARY else ""


def _law(node: ast.AST, names: Names) -> str:
    found = _library(node, names)
    return found if found in LAWS_AT_WORK else ""


# ---------------------------------------------------------------- what values depend on


def _follow(function: ast.FunctionDef, names: Names, products: frozenset[str]) -> _Facts:
    """What the local names of a function depend on, whatever the order of its statements."""
    varied = {each.arg for each in ast.walk(function.args) if isinstance(each, ast.arg)}
    runs: dict[str, int] = {}
    for _ in range(2):
        facts = _Facts(names, products, runs, frozenset(varied))
        for value, targets, many in _bindings(function):
            count = min(_runs(value, facts) * (_MANY if many else 1), _MANY)
            for name in targets:
                runs[name] = max(runs.get(name, 0), count)
            if _varies(value, facts):
                varied |= targets
    return _Facts(names, products, runs, frozenset(varied))


def _bindings(function: ast.FunctionDef) -> Iterator[tuple[ast.expr, set[str], bool]]:
    """Each value with the names that it is given to, and whether that happens again and again."""
    repeated = {id(each) for node in ast.walk(function) if isinstance(node, ast.For) for each in ast.walk(node)}
    for node in ast.walk(function):
        if isinstance(node, ast.Assign):
            yield node.value, {name for target in node.targets for name in _stored(target)}, id(node) in repeated
        elif isinstance(node, ast.AnnAssign | ast.AugAssign | ast.NamedExpr) and node.value is not None:
            yield node.value, _stored(node.target), id(node) in repeated
        elif isinstance(node, ast.For | ast.comprehension):
            yield node.iter, _stored(node.target), False
        elif isinstance(node, ast.Lambda):
            yield ast.Constant(None), set(), False
        elif (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and isinstance(node.func.value, ast.Name)
        ):
            # a list that results are put into, one after the other
            for argument in node.args:
                yield argument, {node.func.value.id}, id(node) in repeated


def _stored(target: ast.AST) -> set[str]:
    return {node.id for node in ast.walk(target) if isinstance(node, ast.Name)}


def _runs(node: ast.AST, facts: _Facts, many: bool = False) -> int:
    """How many runs of the product a value depends on; two stands for two or more."""
    if isinstance(node, ast.Name):
        return facts.runs.get(node.id, 0)
    total = 0
    if isinstance(node, ast.Call):
        own = _is_product(node.func, facts) or _library(node, facts.names) == "outcome"
        handed = _called(node) in _FUNCTIONS_OF_FUNCTIONS and any(_is_product(each, facts) for each in node.args)
        total += (_MANY if many or handed else 1) if own or handed else 0
    inside = many or isinstance(node, _REPEATS)
    total += sum(_runs(child, facts, inside) for child in ast.iter_child_nodes(node))
    return min(total, _MANY)


def _is_product(node: ast.AST, facts: _Facts) -> bool:
    """Whether an expression is a function of the product: a name of one, a subject, or a lambda that calls one."""
    while isinstance(node, ast.Attribute):
        node = node.value
    if isinstance(node, ast.Name):
        return node.id in facts.products
    if isinstance(node, ast.Call):
        return _library(node, facts.names) in SUBJECTS or _is_product(node.func, facts)
    return isinstance(node, ast.Lambda) and _mentions(node, facts.products, facts.names)


def _varies(node: ast.AST, facts: _Facts) -> bool:
    """Whether a value depends on the case or on a run."""
    return any(
        isinstance(each, ast.Name) and (each.id in facts.varied or facts.runs.get(each.id, 0))
        for each in ast.walk(node)
    )


# ---------------------------------------------------------------- the judgement


def _judge(node: ast.AST, facts: _Facts) -> str | None:
    """What is wrong with an assertion, empty when nothing is; ``None`` for what is no assertion."""
    law = _law(node, facts.names)
    if law and isinstance(node, ast.Call):
        wanted = LAWS_AT_WORK[law]
        given = node.args[:wanted]
        if len(given) < wanted or not all(_is_product(each, facts) for each in given):
            return f"{law} is not given the product's own function: it compares two runs of the product"
        return ""
    if not isinstance(node, ast.Assert):
        return None
    for each in ast.walk(node.test):
        if isinstance(each, ast.Compare) and _is_golden(each, facts):
            return "an assertion compares a result of the product with a value that was written down"
    if _runs(node.test, facts) < _MANY:
        return "an assertion does not compare two runs of the product"
    return ""


def _is_golden(node: ast.Compare, facts: _Facts) -> bool:
    sides = [node.left, *node.comparators]
    return any(_runs(side, facts) for side in sides) and any(
        not _runs(side, facts) and not _varies(side, facts) for side in sides
    )
