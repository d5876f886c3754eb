"""Values that relations compare and that cross to another interpreter: plain data, and nothing that can pretend.

Data is ``None``, booleans, numbers, text, bytes, lists, tuples (which become lists) and dictionaries with text as keys.
NaN equals NaN, an integer equals the float of the same value, and a boolean equals no number.
"""

from __future__ import annotations

import base64
import copy
import hashlib
import json
import math
from types import CoroutineType
from typing import Any, NamedTuple

_BYTES = "$bytes"
_ATOMS = (str, int, float, bool, type(None))
_SHOWN = 1500


class UsedUpError(TypeError):
    """A result can be read only once, so it cannot be compared."""


class Raised(NamedTuple):
    """The subject raised an exception that the relation declared: its class's name and its message."""

    kind: str
    message: str


def encode(value: Any) -> bytes:
    """One line of JSON. Errors: TypeError naming the place of anything that is not data."""
    try:
        return json.dumps(_plain(value, "the value"), separators=(",", ":")).encode("ascii")
    except RecursionError:
        raise TypeError("the value is nested too deeply, or contains itself") from None
    except ValueError as error:
        raise TypeError(f"the value has no JSON form: {error}") from error


def _plain(value: Any, where: str) -> Any:
    # By exact type: an object that only inherits from a plain type may compare, count or print as it likes.
    kind = type(value)
    if kind in _ATOMS:
        return value
    if kind is bytes:
        return {_BYTES: base64.b64encode(value).decode("ascii")}
    if kind in {list, tuple}:
        return [_plain(item, f"{where}[{index}]") for index, item in enumerate(value)]
    if kind is dict:
        for key in value:
            if type(key) is not str:
                raise TypeError(f"{where} has the key {key!r}, and keys of JSON are text")
        if _BYTES in value:
            raise TypeError(f"{where} has the key {_BYTES!r}, which stands for bytes here")
        return {key: _plain(item, f"{where}[{key!r}]") for key, item in value.items()}
    raise TypeError(f"{where} is of type {kind.__module__}.{kind.__qualname__}, and only JSON values and bytes cross")


def decode(data: bytes) -> Any:
    """The value behind :func:`encode`'s bytes. Errors: ValueError."""
    try:
        return json.loads(data, object_hook=_revive)
    except RecursionError:
        raise ValueError("the value is nested too deeply") from None


def _revive(found: dict[str, Any]) -> Any:
    if _BYTES not in found:
        return found
    text = found[_BYTES]
    if len(found) != 1 or not isinstance(text, str):
        raise ValueError(f"{_BYTES} stands for bytes, and for nothing else")
    return base64.b64decode(text, validate=True)


def canonical(value: Any) -> bytes:
    """Bytes that are equal exactly when two values are the same data, as far as values are data."""
    if isinstance(value, bytes):
        return b"b" + value
    try:
        return json.dumps(value, sort_keys=True, separators=(",", ":")).encode("ascii")
    except (TypeError, ValueError, RecursionError):
        return repr(value).encode("utf-8", "backslashreplace")


def digest(value: Any) -> str:
    """A short name for a value: 16 hex digits."""
    return hashlib.blake2b(canonical(value), digest_size=8).hexdigest()


def clone(value: Any) -> Any:
    """A copy that nobody else holds; the value itself when it is of a kind that cannot be copied.

    Plain data is copied here: the copier of the standard library takes far longer.
    """
    kind = type(value)
    if kind is dict:
        return {clone(key): clone(item) for key, item in value.items()}
    if kind is list:
        return [clone(item) for item in value]
    if kind in _ATOMS or kind is bytes:
        return value
    try:
        return copy.deepcopy(value)
    except Exception:  # noqa: BLE001 - locks, files and what else refuses, in whatever way
        return value


def settled(result: Any) -> Any:
    """What a call came to: an async function is run to its end.

    Errors: :class:`UsedUpError` for an iterator; those of the function.
    """
    if isinstance(result, CoroutineType):
        import asyncio

        result = asyncio.run(result)
    kind = type(result)
    if hasattr(kind, "__next__") or hasattr(kind, "__anext__"):
        raise UsedUpError(f"a {kind.__name__} can be read only once: wrap the function so that it gives a list")
    return result


def equal(one: Any, other: Any) -> bool:
    """Whether two results are the same. What is no data is asked with ``==``, unless its ``==`` accepts anything.

    Errors: TypeError when one of them claims to be equal to everything.
    """
    if isinstance(one, bool) or isinstance(other, bool):
        return type(one) is type(other) and bool(one == other)
    if isinstance(one, float) and isinstance(other, float) and math.isnan(one) and math.isnan(other):
        return True
    if type(one) is dict and type(other) is dict:
        return one.keys() == other.keys() and all(equal(item, other[key]) for key, item in one.items())
    for kind in (list, tuple):
        if type(one) is kind and type(other) is kind:
            return len(one) == len(other) and all(equal(item, other[index]) for index, item in enumerate(one))
    if type(one) in {*_ATOMS, bytes} and type(other) in {*_ATOMS, bytes}:
        return bool(one == other)
    for value in (one, other):
        if (value == object()) is True:
            kind_name = type(value).__qualname__
            raise TypeError(f"a result of type {kind_name} is equal to anything, so comparing it says nothing")
    return (one == other) is True


def show(value: Any, limit: int = _SHOWN) -> str:
    """A value for people, at most ``limit`` characters."""
    try:
        text = repr(value)
    except Exception as error:  # noqa: BLE001 - a result that cannot be printed is still a failure to be told
        text = f"<a {type(value).__qualname__} whose repr raised {type(error).__name__}>"
    return text if len(text) <= limit else f"{text[:limit]}… ({len(text)} characters)"
