"""What has to hold between two results: of the case, and of the transformed case."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any, Union

from .trouble import RelationError
from .values import canonical, equal

View = Union[Callable[[Any], Any], str, None]  # noqa: UP007 - read by Python 3.9


class Law:
    """A named question about two results. ``a & b`` asks both.

    ``is_reflexive`` tells that every result is in this relation with itself.
    """

    def __init__(
        self, name: str, holds: Callable[[Any, Any], bool], view: View = None, *, is_reflexive: bool = True
    ) -> None:
        if not (view is None or isinstance(view, str) or callable(view)):
            raise RelationError(f"a law is about a key, an attribute or a function of the result, and not {view!r:.80}")
        self.name = name
        self.is_reflexive = is_reflexive
        self._holds = holds
        self._view = view

    def holds(self, before: Any, after: Any) -> bool:
        """Whether the law holds. Errors: those of looking and comparing, as for things that have no order."""
        return self._holds(self.part(before), self.part(after))

    def part(self, result: Any) -> Any:
        """The part of a result that the law is about: all, what stands under a key or attribute, a function of it."""
        view = self._view
        if view is None:
            return result
        if callable(view):
            return view(result)
        return result[view] if isinstance(result, dict) else getattr(result, view)

    def __and__(self, other: Law) -> Law:
        return _Both(self, other)

    def __repr__(self) -> str:
        return f"<{self.name}>"


class _Both(Law):
    def __init__(self, one: Law, other: Law) -> None:
        super().__init__(
            f"{one.name}, and {other.name}",
            lambda before, after: one.holds(before, after) and other.holds(before, after),
            is_reflexive=one.is_reflexive and other.is_reflexive,
        )
        self._laws = (one, other)

    def part(self, result: Any) -> Any:
        """Both parts. The whole result is what the two laws are asked about."""
        return [law.part(result) for law in self._laws]

    def holds(self, before: Any, after: Any) -> bool:
        """Whether both hold."""
        return all(law.holds(before, after) for law in self._laws)


def _named(name: str, view: View) -> str:
    if view is None:
        return name
    return f"{view if isinstance(view, str) else getattr(view, '__name__', 'a part')}: {name}"


def same(view: View = None) -> Law:
    """Both results are equal. NaN equals NaN."""
    return Law(_named("the result stays the same", view), equal, view)


def close(view: View = None, *, rel: float = 1e-9, abs_: float = 0.0) -> Law:
    """Both results are equal but for numbers, which are nearly equal in the sense of ``math.isclose``, at any depth."""
    if not (rel >= 0 and abs_ >= 0):
        raise RelationError(f"a tolerance is a number from 0 on, and not rel={rel!r}, abs_={abs_!r}")
    name = _named("the result stays nearly the same", view)
    return Law(name, lambda before, after: _near(before, after, rel, abs_), view)


def _near(before: Any, after: Any, rel: float, abs_: float) -> bool:
    kinds = (type(before), type(after))
    if kinds == (dict, dict):
        return before.keys() == after.keys() and all(_near(before[key], after[key], rel, abs_) for key in before)
    if kinds in {(list, list), (tuple, tuple)}:
        return len(before) == len(after) and all(
            _near(*pair, rel, abs_)
            for pair in zip(before, after)  # noqa: B905 - Python 3.9 knows no strict=
        )
    if equal(before, after) or bool in kinds:
        return equal(before, after)
    try:
        return math.isclose(before, after, rel_tol=rel, abs_tol=abs_)
    except (TypeError, OverflowError):
        return False  # no numbers of any kind, or larger than any float, and not equal


def multiple(factor: float, view: View = None) -> Law:
    """The result of the transformed case is ``factor`` times as much, exactly."""
    name = _named(f"the result is {factor} times as much", view)
    return Law(name, lambda b, a: equal(b * factor, a), view, is_reflexive=factor == 1)


def at_least(view: View = None) -> Law:
    """The result does not become smaller."""
    return Law(_named("the result does not become smaller", view), lambda b, a: (a >= b) is True, view)


def at_most(view: View = None) -> Law:
    """The result does not become larger."""
    return Law(_named("the result does not become larger", view), lambda b, a: (a <= b) is True, view)


def permutation(view: View = None) -> Law:
    """Both results have the same elements, each as often."""
    return Law(_named("the elements stay the same", view), lambda b, a: _bag(b) == _bag(a), view)


def subset(view: View = None) -> Law:
    """Every element of the later result is in the earlier one, as often at least."""
    return Law(_named("no element appears", view), lambda b, a: not _bag(a) - _bag(b), view)


def superset(view: View = None) -> Law:
    """Every element of the earlier result is in the later one, as often at least."""
    return Law(_named("no element disappears", view), lambda b, a: not _bag(b) - _bag(a), view)


def _bag(values: Iterable[Any]) -> Counter[bytes]:
    return Counter(canonical(value) for value in values)
