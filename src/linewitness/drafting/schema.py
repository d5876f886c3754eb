"""The shape of JSON values, inferred from some of them: names of keys and types, never a value.

The result is JSON Schema (draft 2020-12) with the keywords ``type``, ``properties``, ``required``, ``items`` and
``anyOf``. Keys of a dictionary are names only as long as they are few: many different ones are data, and are left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

_MOST_KEYS: Final = 40
_DEEPEST: Final = 12
_MOST_ITEMS: Final = 500
_NAMES: Final = {bool: "boolean", int: "integer", float: "number", str: "string", type(None): "null", bytes: "bytes"}


def infer(values: Iterable[Any]) -> dict[str, Any]:
    """The schema of all these values. Bytes, which JSON does not have, are of the type ``bytes``."""
    return _infer(list(values), 0)


def _infer(values: list[Any], depth: int) -> dict[str, Any]:
    if depth > _DEEPEST or not values:
        return {}
    found: list[dict[str, Any]] = []
    plain = {_NAMES[type(value)] for value in values if type(value) in _NAMES}
    if "number" in plain:
        plain.discard("integer")
    found += [{"type": name} for name in sorted(plain)]
    lists = [value for value in values if isinstance(value, list)]
    if lists:
        items = [item for value in lists for item in value[:_MOST_ITEMS]][: _MOST_ITEMS * 4]
        found.append({"type": "array", "items": _infer(items, depth + 1)})
    mappings = [value for value in values if isinstance(value, dict)]
    if mappings:
        found.append(_infer_object(mappings, depth))
    return found[0] if len(found) == 1 else {"anyOf": found}


def _infer_object(mappings: Sequence[Mapping[str, Any]], depth: int) -> dict[str, Any]:
    keys = sorted({key for mapping in mappings for key in mapping})
    if len(keys) > _MOST_KEYS:
        return {"type": "object"}
    properties = {key: _infer([mapping[key] for mapping in mappings if key in mapping], depth + 1) for key in keys}
    required = [key for key in keys if all(key in mapping for mapping in mappings)]
    return {"type": "object", "properties": properties, "required": required}
