"""Cases for a function: frozen corpora whose schema fits, cases that were drawn for it, and values of our own."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from linewitness.drafting.corpora import Sketch
from linewitness.drafting.signatures import Function, Parameter
from linewitness.values import NamedTuple

_TEXTS: Final = (
    "", "a", " a  b ", "A,b;C", "na\u00efve Stra\u00dfe", "tab\tand\nline", "0", "-1.50", "\"quoted\" 'text'",
    "{}[]()<>&%\\", "aaaaaaaaaaaaaaaaaaaaaaaab", "  Mixed Case", "end. \n", " 12 ",
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
    "list[str]": (
        (), ("a",), ("b", "a", "c"), ("a", "a", "b"), ("", " ", "\u00e9"), ("10", "9", "2"), ("x", "y"),
        ("d", "c", "b", "a"),
    ),
}  # fmt: skip
_COMBINATIONS: Final = 24
_JSON_TYPES: Final = {
    "str": "string",
    "int": "integer",
    "float": "number",
    "bool": "boolean",
    "dict": "object",
    "bytes": "bytes",
}


class Inputs(NamedTuple):
    """Cases for a function: a corpus that is there, or a new one with ``lines``, whose values are ``sample``.

    ``list_keys`` are the keys under which every case has a list.
    """

    corpus: str
    cases: int
    list_keys: tuple[str, ...] = ()
    lines: tuple[str, ...] = ()
    sample: tuple[Any, ...] = ()


def inputs_for(function: Function, sketches: tuple[Sketch, ...], drawn: Mapping[str, tuple[Any, ...]]) -> list[Inputs]:
    """Where cases can be had. A new corpus only when none that is there fits."""
    fitting = [each for each in sketches if each.cases and _fits(function, each)]
    found = [Inputs(each.name, each.cases, _list_keys(each.schema)) for each in fitting]
    values = _own(function) or drawn.get(function.target, ())  # ours are the same on every machine
    if values and not found:
        lines = tuple(dict.fromkeys(json.dumps(value) for value in values))
        name = f"draft_{function.name.replace('.', '_')}.jsonl"
        found.append(Inputs(name, len(lines), (), lines, tuple(map(json.loads, lines))))
    return found


def _own(function: Function) -> tuple[Any, ...]:
    """Values of our own; for several parameters combinations of them, each parameter moving on at a pace of its own."""
    known = [VALUES.get(each.kind, ()) for each in function.parameters]
    if not all(known):
        return ()
    if len(known) == 1:
        return known[0]
    names = [each.name for each in function.parameters]
    rows = []
    for number in range(_COMBINATIONS):
        places = ((number * (2 * at + 1) + number // len(each)) % len(each) for at, each in enumerate(known))
        rows.append({name: each[place] for name, each, place in zip(names, known, places, strict=True)})
    return tuple(rows)


def _list_keys(schema: Mapping[str, Any]) -> tuple[str, ...]:
    properties, required = schema.get("properties", {}), schema.get("required", ())
    return tuple(key for key in required if key.isidentifier() and properties[key].get("type") == "array")


def _fits(function: Function, corpus: Sketch) -> bool:
    """Whether each case can be an argument, or for several parameters has a key of the right type for each."""
    schema = corpus.schema
    if len(function.parameters) == 1:
        return _is_of(function.parameters[0], schema.get("type"))
    properties, required = schema.get("properties", {}), schema.get("required", ())
    return all(
        each.name in required and each.kind != "bytes" and _is_of(each, properties[each.name].get("type"))
        for each in function.parameters
    )


def _is_of(parameter: Parameter, found: str | None) -> bool:
    if not parameter.kind:
        return found in {"object", "array", "string"}
    wanted = "array" if parameter.kind.startswith("list[") else _JSON_TYPES.get(parameter.kind, "object")
    return found == wanted
