"""What has to hold between results. A law that was asked counts as an assertion that was reached."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from .tally import NotApplicable, reached
from .trouble import LawBroken
from .values import Raised, canonical, clone, equal

Function = Callable[..., Any]
View = Callable[[Any], Any]


class Law:
    """A named question about two results: of the case, and of the transformed case."""

    def __init__(self, name: str, holds: Callable[[Any, Any], bool], view: View | str | None = None) -> None:
        self.name = name
        self._holds = holds
        self._view = view

    def holds(self, before: Any, after: Any) -> bool:
        """Whether the law holds. Errors: those of comparing, as for things that have no order."""
        return self._holds(look(before, self._view), look(after, self._view))

    def __repr__(self) -> str:
        return f"<{self.name}>"


def look(result: Any, view: View | str | None) -> Any:
    """The part of a result that a law is about: all, what stands under a key or attribute, or a function of it."""
    if view is None:
        return result
    if callable(view):
        return view(result)
    return result[view] if isinstance(result, dict) else getattr(result, view)


def _named(name: str, view: View | str | None) -> str:
    if view is None:
        return name
    return f"{view if isinstance(view, str) else getattr(view, '__name__', 'a part')}: {name}"


def same(view: View | str | None = None) -> Law:
    """Both results are equal. NaN equals NaN."""
    return Law(_named("the result stays the same", view), equal, view)


def close(view: View | str | None = None, *, rel: float = 1e-9, abs_: float = 0.0) -> Law:
    """Both results are numbers that are nearly equal, in the sense of ``math.isclose``."""
    return Law(
        _named("the result stays nearly the same", view),
        lambda before, after: math.isclose(before, after, rel_tol=rel, abs_tol=abs_),
        view,
    )


def multiple(factor: float, view: View | str | None = None) -> Law:
    """The result of the transformed case is ``factor`` times as much, exactly."""
    return Law(_named(f"the result is {factor} times as much", view), lambda b, a: equal(b * factor, a), view)


def at_least(view: View | str | None = None) -> Law:
    """The result does not become smaller."""
    return Law(_named("the result does not become smaller", view), lambda b, a: (a >= b) is True, view)


def at_most(view: View | str | None = None) -> Law:
    """The result does not become larger."""
    return Law(_named("the result does not become larger", view), lambda b, a: (a <= b) is True, view)


def permutation(view: View | str | None = None) -> Law:
    """Both results have the same elements, each as often."""
    return Law(_named("the elements stay the same", view), lambda b, a: _bag(b) == _bag(a), view)


def subset(view: View | str | None = None) -> Law:
    """Every element of the later result is in the earlier one, as often at least."""
    return Law(_named("no element appears", view), lambda b, a: not _bag(a) - _bag(b), view)


def superset(view: View | str | None = None) -> Law:
    """Every element of the earlier result is in the later one, as often at least."""
    return Law(_named("no element disappears", view), lambda b, a: not _bag(b) - _bag(a), view)


def _bag(values: Sequence[Any]) -> Counter[bytes]:
    return Counter(canonical(value) for value in values)


# ---------------------------------------------------------------- laws at work


def _settle(name: str, holds: bool, facts: tuple[tuple[str, Any], ...]) -> None:
    __tracebackhide__ = True
    if not holds:
        raise LawBroken(name, facts)
    reached()


def compare(subject: Function, case: Any, transformation: Callable[[Any], Any], law: Law) -> None:
    """``law`` has to hold between the results of ``case`` and of the transformed case.

    A case that the transformation leaves as it is, is not applicable: comparing a result with itself says nothing.
    Errors: AssertionError with case, transformed case and both results.
    """
    __tracebackhide__ = True
    transformed = transformation(clone(case))
    if canonical(transformed) == canonical(case):
        raise NotApplicable(f"the transformation {_name(transformation)} leaves it as it is")
    before = subject(clone(case))
    after = subject(clone(transformed))
    facts = (("transformed", transformed), ("before", before), ("after", after))
    _settle(f"{law.name}, when the case is transformed by {_name(transformation)}", law.holds(before, after), facts)


def commutes(subject: Function, case: Any, inside: Callable[[Any], Any], outside: Callable[[Any], Any]) -> None:
    """``subject(inside(case))`` equals ``outside(subject(case))``: a homomorphism.

    Errors: AssertionError with case, transformed case and both results.
    """
    __tracebackhide__ = True
    transformed = inside(clone(case))
    wanted = outside(subject(clone(case)))
    found = subject(clone(transformed))
    facts = (("transformed", transformed), ("wanted", wanted), ("found", found))
    _settle(f"{_name(inside)} before is {_name(outside)} after", equal(wanted, found), facts)


def round_trip(there: Function, back: Function, case: Any) -> None:
    """``back(there(case))`` equals ``case``. Errors: AssertionError with both."""
    __tracebackhide__ = True
    between = there(clone(case))
    returned = back(clone(between))
    facts = (("there", between), ("and back", returned))
    _settle(f"{_name(back)} gives back what {_name(there)} was given", equal(case, returned), facts)


def idempotent(subject: Function, case: Any) -> None:
    """``subject(subject(case))`` equals ``subject(case)``. Errors: AssertionError with both."""
    __tracebackhide__ = True
    once = subject(clone(case))
    twice = subject(clone(once))
    _settle(f"{_name(subject)} changes nothing the second time", equal(once, twice), (("once", once), ("twice", twice)))


def agrees(subject: Function, other: Function, case: Any) -> None:
    """Both functions give the same result: one of them may be :func:`base`'s. Errors: AssertionError with both."""
    __tracebackhide__ = True
    found, wanted = subject(clone(case)), other(clone(case))
    facts = ((_name(subject), found), (_name(other), wanted))
    _settle(f"{_name(subject)} gives what {_name(other)} gives", equal(found, wanted), facts)


def additive(subject: Function, parts: Sequence[Any], whole: Any, combine: Function) -> None:
    """``combine`` of the parts' results, in their order, equals the result of the whole.

    Errors: AssertionError with all results.
    """
    __tracebackhide__ = True
    results = [subject(clone(part)) for part in parts]
    together = combine(results)
    found = subject(clone(whole))
    facts = (("parts", list(parts)), ("their results", results), ("together", together), ("the whole", found))
    _settle("the whole is what its parts give together", equal(together, found), facts)


def outcome(subject: Function, *arguments: Any, raises: tuple[type[BaseException], ...]) -> Any:
    """The result, or :class:`Raised` when the subject raised one of the declared exceptions. Others are failures."""
    try:
        return subject(*arguments)
    except raises as error:
        return Raised(type(error).__name__, str(error))


def _name(function: Any) -> str:
    return str(getattr(function, "name", "") or getattr(function, "__name__", "") or function)
