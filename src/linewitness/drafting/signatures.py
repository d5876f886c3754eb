"""Functions of the product as their source declares them, and values for what they take. Nothing is imported."""

from __future__ import annotations

import ast
import json
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from linewitness.drafting.corpora import Sketch
from linewitness.drafting.slices import Material, module_body
from linewitness.model import RepoPath

_TEXTS: Final = (
    "", "a", " a  b ", "A,b;C", "na\u00efve Stra\u00dfe", "tab\tand\nline", "0", "-1.50", "\"quoted\" 'text'",
    "{}[]()<>&%\\", "aaaaaaaaaaaaaaaaaaaaaaaab",
)  # fmt: skip
_NUMBERS: Final = (0, 1, -1, 2, 7, 10, 99, 100, 101, 255, 256, -1000, 10**9)
_LISTS: Final = ((), (0,), (3, 1, 2), (1, 1, 2), (-5, 0, 5), (100, 7, 3, 9), (250, 1), (2, 2, 2, 5))
VALUES: Final[Mapping[str, tuple[Any, ...]]] = {
    "str": _TEXTS,
    "int": _NUMBERS,
    "float": (0.0, 1.0, -1.5, 0.1, 2.5, 1e-9, 12345.678),
    "bool": (True, False),
    "bytes": ("", "00", "61", "ff00ff", "616161616162", "61" * 300, "0001020304050607"),
    "list[int]": _LISTS,
    "list[float]": tuple(tuple(value + 0.5 for value in values) for values in _LISTS),
    "list[str]": ((), ("a",), ("b", "a", "c"), ("a", "a", "b"), ("", " ", "\u00e9"), ("10", "9", "2")),
}  # fmt: skip
_JSON_TYPES: Final = {
    "str": "string",
    "int": "integer",
    "float": "number",
    "bool": "boolean",
    "dict": "object",
    "bytes": "bytes",
}


class Function(NamedTuple):
    """A function at the top level of a module. ``parameters`` are those without a default, with their annotations.

    ``at_base`` tells that base has it too, with the same parameters.
    """

    path: RepoPath
    module: str
    name: str
    parameters: tuple[tuple[str, str], ...]
    returns: str
    at_base: bool

    @property
    def takes(self) -> str:
        """The kind of the one parameter, empty when it is not said or there are several."""
        return kind(self.parameters[0][1]) if len(self.parameters) == 1 else ""


class Inputs(NamedTuple):
    """Cases for a function: a corpus that is there, or a new one with ``lines``, whose values are ``sample``.

    ``list_keys`` are the keys under which every case has a list.
    """

    corpus: str
    cases: int
    list_keys: tuple[str, ...] = ()
    lines: tuple[str, ...] = ()
    sample: tuple[Any, ...] = ()


def functions(material: Material) -> tuple[Function, ...]:
    """The functions of all modules with unwitnessed rows, in the order of the files."""
    found = []
    for module in material.modules:
        if not module.names:
            continue
        base_blob = material.case.base_tree.get(module.path)
        base = material.case.read(base_blob) if base_blob is not None and base_blob.is_regular else b""
        before = {node.name: _parameters(node) for node in module_body(base) if isinstance(node, ast.FunctionDef)}
        for node in module_body(material.case.read_head(module.path) or b""):
            if isinstance(node, ast.FunctionDef) and _is_plain(node):
                parameters = _parameters(node)
                returns = ast.unparse(node.returns) if node.returns else ""
                same = before.get(node.name) == parameters
                found.append(Function(module.path, module.names[0], node.name, parameters, kind(returns), same))
    return tuple(found)


def _is_plain(node: ast.FunctionDef) -> bool:
    return not node.args.kwonlyargs or len(node.args.kw_defaults) == len([d for d in node.args.kw_defaults if d])


def _parameters(node: ast.FunctionDef) -> tuple[tuple[str, str], ...]:
    given = [*node.args.posonlyargs, *node.args.args]
    wanted = given[: len(given) - len(node.args.defaults)]
    return tuple((each.arg, ast.unparse(each.annotation) if each.annotation else "") for each in wanted)


def kind(annotation: str) -> str:
    """An annotation in the words of :data:`VALUES`: ``Sequence[int]`` is ``list[int]``; others stay as they are."""
    text = annotation.replace(" ", "").replace("typing.", "").strip("\"'")
    head, bracket, rest = text.partition("[")
    if head.lower() in {"list", "sequence", "iterable", "collection", "iterator", "tuple", "set", "frozenset"}:
        inner = rest.removesuffix("]").removesuffix(",...") if bracket else "int"
        return f"list[{inner}]"
    if head.lower() in {"dict", "mapping", "mutablemapping", "typeddict"}:
        return "dict"
    return text


def inputs_for(function: Function, sketches: tuple[Sketch, ...], sample: Mapping[str, tuple[Any, ...]]) -> list[Inputs]:
    """Where cases can be had: corpora whose schema fits, cases drawn from the signature, and values of our own."""
    fitting = [each for each in sketches if each.cases and _fits(function, each)]
    found = [Inputs(each.name, each.cases, _list_keys(each.schema)) for each in fitting]
    drawn = sample.get(f"{function.module}:{function.name}", ())
    values = VALUES.get(function.takes) or drawn  # ours are the same on every machine
    if values and not found:
        lines = tuple(dict.fromkeys(json.dumps(value) for value in values))
        name = f"draft_{function.name}.jsonl"
        found.append(Inputs(name, len(lines), (), lines, tuple(map(json.loads, lines))))
    return found


def _list_keys(schema: Mapping[str, Any]) -> tuple[str, ...]:
    properties, required = schema.get("properties", {}), schema.get("required", ())
    return tuple(key for key in required if key.isidentifier() and properties[key].get("type") == "array")


def _fits(function: Function, corpus: Sketch) -> bool:
    if len(function.parameters) != 1:
        return False
    found = corpus.schema.get("type")
    takes = function.takes
    if not takes:
        return found in {"object", "array", "string"}
    wanted = "array" if takes.startswith("list[") else _JSON_TYPES.get(takes, "object")
    return found == wanted
