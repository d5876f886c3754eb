"""Ready transformations of cases, small enough to be put together with ``|``.

Most take a *path* into the case: keys with dots between them, ``[]`` for every element of a list, nothing for the case
itself. ``scale("items[].price", 3)`` triples each price. The case that was given is never changed.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Any

from .tally import DEFAULT_SEED, Tally
from .trouble import RelationError
from .values import clone, digest


class Transformation:
    """A named function from a case to a related case. ``a | b`` is first ``a``, then ``b``."""

    def __init__(self, name: str, function: Callable[[Any], Any]) -> None:
        self.name = name
        self._function = function

    def __call__(self, case: Any) -> Any:
        """The related case."""
        return self._function(clone(case))

    def __or__(self, other: Transformation) -> Transformation:
        return Transformation(f"{self.name}, then {other.name}", lambda case: other(self(case)))

    def __repr__(self) -> str:
        return f"<{self.name}>"


def change(path: str, function: Callable[[Any], Any], name: str = "") -> Transformation:
    """Put ``function`` of what stands at ``path`` in its place."""
    steps = _steps(path)
    called = name or getattr(function, "__name__", "changed")
    return Transformation(f"{called} {path}".strip(), lambda case: _changed(case, steps, function, path))


def _steps(path: str) -> tuple[str, ...]:
    found: list[str] = []
    for part in path.split(".") if path else ():
        key, brackets, rest = part.partition("[]")
        if rest.replace("[]", "") or (not key and not brackets):
            raise RelationError(f"{path!r} is no path: keys with dots between them, `[]` for every element of a list")
        found += [key] * bool(key) + ["[]"] * part.count("[]")
    return tuple(found)


def _changed(value: Any, steps: tuple[str, ...], function: Callable[[Any], Any], path: str) -> Any:
    if not steps:
        return function(value)
    step, rest = steps[0], steps[1:]
    if step == "[]":
        if not isinstance(value, list):
            raise RelationError(f"the case has no list at `[]` of {path!r}, but {value!r:.80}")
        return [_changed(item, rest, function, path) for item in value]
    if not isinstance(value, dict) or step not in value:
        raise RelationError(f"the case has no key {step!r} of {path!r}")
    return {**value, step: _changed(value[step], rest, function, path)}


# ---------------------------------------------------------------- sequences


def reverse(path: str = "") -> Transformation:
    """The other way round: lists, text and bytes."""
    return change(path, lambda value: value[::-1], "reverse")


def rotate(path: str = "", by: int = 1) -> Transformation:
    """The first ``by`` elements go to the end."""
    return change(path, lambda value: value[by % max(len(value), 1) :] + value[: by % max(len(value), 1)], "rotate")


def duplicate(path: str = "") -> Transformation:
    """Every element twice: the sequence after itself."""
    return change(path, lambda value: value + value, "duplicate")


def prefix(path: str = "", share: float = 0.5) -> Transformation:
    """The beginning of a sequence: ``share`` of its elements, rounded up."""
    return change(path, lambda value: value[: math.ceil(len(value) * share)], "prefix")


def sort(path: str = "", key: Callable[[Any], Any] | None = None) -> Transformation:
    """A list in order. Without ``key`` elements are compared as they are."""
    return change(path, lambda value: sorted(value, key=key), "sort")


# ---------------------------------------------------------------- numbers and keys


def scale(path: str, factor: float) -> Transformation:
    """A number, ``factor`` times."""
    return change(path, lambda value: value * factor, f"scale by {factor}:")


def shift(path: str, amount: float) -> Transformation:
    """A number, ``amount`` more."""
    return change(path, lambda value: value + amount, f"shift by {amount}:")


def drop(key: str, path: str = "") -> Transformation:
    """A dictionary without ``key``; one that has no such key stays as it is."""
    return change(path, lambda value: {name: item for name, item in value.items() if name != key}, f"drop {key}")


# ---------------------------------------------------------------- drawn at run time


def seeded(function: Callable[[Any, random.Random], Any]) -> Transformation:
    """A transformation that draws: ``function`` takes the case and a ``random.Random``.

    The gate draws the seed when the patch is frozen and writes it into the map. Elsewhere it is fixed, or taken from
    ``LINEWITNESS_SEED``. The same seed, relation and case always give the same draw.
    """
    name = getattr(function, "__name__", "seeded")

    def draw(case: Any) -> Any:
        tally = Tally.current
        seed, scope = (tally.world.seed, tally.scope) if tally is not None else (DEFAULT_SEED, "")
        if tally is not None:
            tally.seeded = True
        # Text as a seed is hashed in the same way by every version of Python.
        return function(case, random.Random(f"{seed} {scope} {name} {digest(case)}"))  # noqa: S311 - drawn to be repeated

    return Transformation(name, draw)


def permute(path: str = "") -> Transformation:
    """The elements in another order, drawn with the seed; another one whenever there is one."""
    steps = _steps(path)

    def draw(case: Any, source: random.Random) -> Any:
        return _changed(case, steps, lambda value: _shuffled(value, source), path)

    draw.__name__ = f"permute {path}".strip()
    return seeded(draw)


def _shuffled(value: list[Any], source: random.Random) -> list[Any]:
    for _ in range(8):
        drawn = source.sample(value, len(value))
        if drawn != value:
            return drawn
    return value[::-1]
