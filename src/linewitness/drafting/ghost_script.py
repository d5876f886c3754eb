"""Asks hypothesis's ghostwriter about modules of the product, and writes down what it guessed as data.

Runs in the *tested* interpreter (3.9 and later), in the sandbox, on an export: it imports the product. Its arguments
are a file with the question and a file for the answer. The question names modules, their functions, and of these the
parameters that a case gives: the value itself for one, a dictionary for several. The answer names round trips, and
gives cases, drawn from the strategies that the ghostwriter wrote; no code crosses. Standard library and hypothesis
only.
"""

from __future__ import annotations

import ast
import json
import math
import sys
import warnings
from importlib import import_module
from operator import attrgetter
from typing import Any

_CASES = 40
_LARGEST = 400
_NO_GHOSTWRITER = 3


def main(arguments: list[str]) -> int:
    """Answer the question. The status is 3 when there is no ghostwriter."""
    with open(arguments[1], encoding="utf-8") as stream:
        question: dict[str, Any] = json.load(stream)
    sys.path[:0] = question["roots"]
    sys.path += question["lent"]
    warnings.simplefilter("ignore")
    try:
        ghostwriter = import_module("hypothesis.extra.ghostwriter")
    except ImportError as error:
        sys.stderr.write(f"{error}\n")
        return _NO_GHOSTWRITER
    answer: dict[str, Any] = {"cases": {}, "pairs": [], "troubles": []}
    for name, functions in question["modules"].items():
        try:
            _look(ghostwriter, name, functions, answer)
        except BaseException as error:  # noqa: BLE001 - whatever the product does when it is imported
            answer["troubles"].append(f"{name} ({type(error).__name__})")
    with open(arguments[2], "w", encoding="utf-8") as stream:
        json.dump(answer, stream)
    return 0


def _look(ghostwriter: Any, name: str, functions: dict[str, list[str]], answer: dict[str, Any]) -> None:
    module = import_module(name)
    tree = ast.parse(ghostwriter.magic(module))
    for test in (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)):
        if test.name.startswith("test_roundtrip_"):
            called = _called(test, name)
            if len(called) == 2:
                answer["pairs"].append([f"{name}:{each}" for each in called])
    for function, parameters in functions.items():
        try:
            test = ast.parse(ghostwriter.fuzz(attrgetter(function)(module)))
            cases = _draw(test, parameters)
        except Exception:  # noqa: BLE001, S112 - a signature that the ghostwriter cannot read has no cases
            continue
        if cases:
            answer["cases"][f"{name}:{function}"] = cases


def _called(test: ast.FunctionDef, name: str) -> list[str]:
    calls = [node for node in ast.walk(test) if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)]
    calls.sort(key=lambda node: node.lineno)
    return [node.func.attr for node in calls if ast.unparse(node.func.value) == name]  # type: ignore[attr-defined]


def _draw(tree: ast.Module, parameters: list[str]) -> list[Any]:
    """Distinct cases for these parameters, from the strategies that the ghostwriter wrote."""
    given = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "given"
    ]
    written = {each.arg: each.value for each in given[0].keywords} if len(given) == 1 else {}
    if not parameters or not written.keys() >= set(parameters):
        return []
    names = [node for node in ast.walk(tree) if isinstance(node, (ast.Import, ast.ImportFrom))]
    space: dict[str, Any] = {}
    for node in names:
        exec(compile(ast.Module([node], []), "ghostwriter", "exec"), space)  # noqa: S102 - its own imports
    strategies = {
        name: eval(compile(ast.Expression(written[name]), "ghostwriter", "eval"), space)  # noqa: S307
        for name in parameters
    }
    if len(strategies) == 1:
        return _examples(next(iter(strategies.values())))
    from hypothesis.strategies import fixed_dictionaries

    return _examples(fixed_dictionaries(strategies))


def _examples(strategy: Any) -> list[Any]:
    from hypothesis import HealthCheck, Phase, given, seed, settings

    found: dict[str, Any] = {}

    @seed(0)
    @settings(
        database=None,
        max_examples=_CASES * 4,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy)
    def collect(value: Any) -> None:
        plain = _plain(value)
        if plain is not None:
            text = json.dumps(plain[0])
            if len(text) <= _LARGEST and len(found) < _CASES:
                found.setdefault(text, plain[0])

    collect()
    return [found[text] for text in sorted(found, key=lambda text: (len(text), text))]


def _plain(value: Any) -> list[Any] | None:
    """The value as JSON, in a list of one; ``None`` when it has no such form. Bytes become hexadecimal digits."""
    if isinstance(value, bytes):
        return [value.hex()]
    if value is None or type(value) in {bool, int, str}:
        return [value] if not isinstance(value, int) or abs(value) < 1 << 53 else None
    if type(value) is float:
        return [value] if math.isfinite(value) else None
    if type(value) in {list, tuple}:
        items = [_plain(item) for item in value]
        bad = any(isinstance(item, bytes) for item in value)
        return None if bad or None in items else [[item[0] for item in items if item]]
    if type(value) is dict and all(type(key) is str for key in value):
        pairs = {key: _plain(item) for key, item in value.items()}
        return None if None in pairs.values() else [{key: item[0] for key, item in pairs.items() if item}]
    return None


if __name__ == "__main__":
    sys.exit(main(sys.argv))
