"""Laws at work: the product is called, and what it gives is compared. A comparison that held is an assertion reached.

Code under test may give the same for every call but the first, or look at how often it was asked. So the two calls of
a comparison come in an order that is drawn, and some cases are asked once more in between or afterwards.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

from .laws import Law, same
from .tally import NotApplicable, Tally, reached
from .trouble import LawBroken, RelationError
from .values import Raised, UsedUpError, canonical, clone, digest, equal, settled

Function = Callable[..., Any]
_Facts = tuple[tuple[str, Any], ...]
_SAME = same()


def compare(subject: Function, case: Any, transformation: Callable[[Any], Any], law: Law) -> None:
    """``law`` has to hold between the results of ``case`` and of the transformed case.

    A case that the transformation leaves as it is, is not applicable: comparing a result with itself says nothing.
    Errors: AssertionError with case, transformed case and both results.
    """
    __tracebackhide__ = True
    _refuse_misuse(law, subject=subject, transformation=transformation)
    transformed = _transformed(transformation, case)
    drawn = _draw(case)
    if drawn is not None and drawn.random() < 0.5:
        after = _ask(subject, transformed)
        before = _ask_again(subject, case, _ask(subject, case), law, drawn)
    else:
        before = _ask_again(subject, case, _ask(subject, case), law, drawn)
        after = _ask(subject, transformed)
    facts = (("transformed", transformed), ("before", before), ("after", after))
    name = f"{law.name}, when the case is transformed by {_name(transformation)}"
    _settle(name, law, before, after, facts)
    _tell(name, lambda: law.part(before), lambda: law.part(after))


def commutes(
    subject: Function, case: Any, inside: Callable[[Any], Any], outside: Callable[[Any], Any], law: Law = _SAME
) -> None:
    """``subject(inside(case))`` is ``outside(subject(case))``: a homomorphism.

    A case that ``inside`` leaves as it is, is not applicable. Errors: AssertionError with case, transformed case and
    both results.
    """
    __tracebackhide__ = True
    _refuse_misuse(law, subject=subject, inside=inside, outside=outside)
    transformed = _transformed(inside, case)
    plain = _ask_again(subject, case, _ask(subject, case), law, _draw(case))
    wanted = outside(clone(plain))
    found = _ask(subject, transformed)
    name = f"{_name(inside)} before is {_name(outside)} after"
    _settle(name, law, wanted, found, (("transformed", transformed), ("wanted", wanted), ("found", found)))
    _tell(name, lambda: plain, lambda: found)


def round_trip(there: Function, back: Function, case: Any, law: Law = _SAME) -> None:
    """``back(there(case))`` is ``case``. Errors: AssertionError with both."""
    __tracebackhide__ = True
    _refuse_misuse(law, there=there, back=back)
    between = _ask(there, case)
    returned = _ask(back, between)
    name = f"{_name(back)} gives back what {_name(there)} was given"
    _settle(name, law, case, returned, (("there", between), ("and back", returned)))
    _tell(name, lambda: case, lambda: between, keep=False)


def idempotent(subject: Function, case: Any, law: Law = _SAME) -> None:
    """``subject(subject(case))`` is ``subject(case)``.

    A case that the subject leaves as it is, is not applicable: the second call would be the first one again.
    Errors: AssertionError with both.
    """
    __tracebackhide__ = True
    _refuse_misuse(law, subject=subject)
    once = _ask(subject, case)
    if canonical(once) == canonical(case):
        raise NotApplicable(f"{_name(subject)} leaves it as it is")
    twice = _ask(subject, once)
    name = f"{_name(subject)} changes nothing the second time"
    _settle(name, law, once, twice, (("once", once), ("twice", twice)))
    _tell(name, lambda: once)


def agrees(subject: Function, other: Function, case: Any, law: Law = _SAME) -> None:
    """Both functions give the same result: one of them may be :func:`base`'s. Errors: AssertionError with both."""
    __tracebackhide__ = True
    _refuse_misuse(law, subject=subject, other=other)
    if subject == other:
        raise RelationError(f"{_name(subject)} always agrees with itself: compare it with another function")
    found, wanted = _ask(subject, case), _ask(other, case)
    name = f"{_name(subject)} gives what {_name(other)} gives"
    _settle(name, law, wanted, found, ((_name(subject), found), (_name(other), wanted)))
    _tell(name, None)


def additive(subject: Function, parts: Sequence[Any], whole: Any, combine: Function, law: Law = _SAME) -> None:
    """``combine`` of the parts' results, in their order, is the result of the whole.

    Errors: AssertionError with all results.
    """
    __tracebackhide__ = True
    _refuse_misuse(law, subject=subject, combine=combine)
    results = [_ask(subject, part) for part in parts]
    together = combine(clone(results))
    found = _ask(subject, whole)
    facts = (("parts", list(parts)), ("their results", results), ("together", together), ("the whole", found))
    name = "the whole is what its parts give together"
    _settle(name, law, together, found, facts)
    _tell(name, lambda: found)


def outcome(subject: Function, *arguments: Any, raises: type[BaseException] | tuple[type[BaseException], ...]) -> Any:
    """The result, or :class:`Raised` when the subject raised one of the declared exceptions. Others are failures."""
    __tracebackhide__ = True
    kinds = raises if isinstance(raises, tuple) else (raises,)
    if not kinds or not all(isinstance(kind, type) and issubclass(kind, BaseException) for kind in kinds):
        raise RelationError(f"raises takes classes of exceptions, as in raises=(ValueError,), and not {raises!r:.80}")
    try:
        return settled(subject(*arguments))
    except kinds as error:
        return Raised(type(error).__name__, str(error))


# ---------------------------------------------------------------- asking


def _refuse_misuse(law: Any, **functions: Any) -> None:
    """What was given in a wrong place is the relation's mistake, and is told before the product is called."""
    __tracebackhide__ = True
    for role, given in functions.items():
        if not callable(given):
            raise RelationError(f"{role} has to be a function, and is {given!r:.80}: hand it over without calling it")
        if getattr(given, "__module__", "") == f"{__package__}.transformations" and isinstance(given, type(_ask)):
            raise RelationError(
                f"{given.__name__} makes a transformation when it is called: write {given.__name__}(...)"
            )
    if not isinstance(law, Law):
        called = f": write {law.__name__}()" if getattr(law, "__module__", "") == Law.__module__ else ""
        raise RelationError(f"the law has to be one like same(), and is {law!r:.80}{called}")


def _transformed(transformation: Callable[[Any], Any], case: Any) -> Any:
    __tracebackhide__ = True
    try:
        transformed = settled(transformation(clone(case)))
    except UsedUpError as error:
        raise RelationError(f"the transformation {_name(transformation)} gives no case: {error}") from None
    if canonical(transformed) == canonical(case):
        raise NotApplicable(f"the transformation {_name(transformation)} leaves it as it is")
    return transformed


def _ask(subject: Function, case: Any) -> Any:
    """What the subject gives for a copy of the case."""
    __tracebackhide__ = True
    try:
        return settled(subject(clone(case)))
    except UsedUpError as error:
        raise RelationError(f"{_name(subject)} gives nothing that can be compared: {error}") from None


def _draw(case: Any) -> random.Random | None:
    """What decides about order and repetition; ``None`` outside of a relation."""
    tally = Tally.current
    if tally is None:
        return None
    return random.Random(f"{tally.world.seed} {tally.scope} asking {digest(case)}")  # noqa: S311 - to be repeated


def _ask_again(subject: Function, case: Any, result: Any, law: Law, drawn: random.Random | None) -> Any:
    """The result; the first case, and every second one of the others, is asked for it twice."""
    __tracebackhide__ = True
    tally = Tally.current
    if drawn is None or tally is None or (tally.tried > 1 and drawn.random() < 0.5):
        return result
    again = _ask(subject, case)
    if law.is_reflexive and not _holds(law, result, again, (("once", result), ("again", again))):
        tally.seeded = True
        name = f"{_name(subject)} gives the same for the same case, however often it is asked"
        raise LawBroken(name, (("once", result), ("again", again)))
    return result


# ---------------------------------------------------------------- judging


def _settle(name: str, law: Law, before: Any, after: Any, facts: _Facts) -> None:
    __tracebackhide__ = True
    if not _holds(law, before, after, facts):
        raise LawBroken(name, facts)
    reached()


def _holds(law: Law, before: Any, after: Any, facts: _Facts) -> bool:
    """Whether a law holds; results of which it cannot be asked break it, with the reason."""
    __tracebackhide__ = True
    try:
        return law.holds(before, after)
    except Exception as error:  # noqa: BLE001 - a view is the relation's, and a comparison the product's
        why = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        raise LawBroken(f"{law.name}: that cannot be asked of these results ({why})", facts) from None


def _tell(name: str, *parts: Callable[[], Any] | None, keep: bool = True) -> None:
    """Note whether a law could have failed: a subject that always gives the same fulfils most laws.

    It could when any of ``parts`` differs from the first one that was seen, for this case or an earlier one; a law
    without parts always could. With ``keep=False`` the parts of one case only are compared.
    """
    tally = Tally.current
    if tally is None or tally.telling.get(name):
        return
    if parts == (None,):
        tally.telling[name] = True
        return
    values = [part() for part in parts if part is not None]
    first = tally.first.setdefault(name, values[0]) if keep else values[0]
    tally.telling[name] = not all(equal(first, value) for value in values)


def _name(function: Any) -> str:
    return str(getattr(function, "name", "") or getattr(function, "__name__", "") or function)
