"""``@relation``: one test over all cases of a frozen corpus, which cannot pass without having compared enough."""

from __future__ import annotations

import functools
import inspect
import json
import os
from collections.abc import Callable
from contextlib import nullcontext
from hashlib import blake2b
from typing import Any, NamedTuple

from .corpus import Case, Corpus, find, read
from .tally import SEED_VARIABLE, NotApplicable, Tally, counting
from .trouble import (
    LawBroken,
    RelationError,
    RelationFailed,
    VacuousRelation,
    place_of,
    raise_at,
    without_library,
)
from .values import show

_LIBRARY = os.path.dirname(os.path.abspath(__file__))
_OTHERS_NAMED = 5
_LINES_SHOWN = 12


def relation(corpus: str, *, at_least: int) -> Callable[[Callable[..., Any]], Callable[..., None]]:
    """Make a function of one case a test over every distinct case of ``corpus``.

    ``corpus`` is a file or a folder in the nearest folder called ``corpus``; the manifest there has to vouch for it.
    The test fails when the function raises for a case, and when fewer than ``at_least`` distinct cases were checked:
    neither left out with ``not_applicable`` nor, inside the gate, left without an assertion. The function's first
    parameter takes the case; others are fixtures.
    """
    if not isinstance(corpus, str) or not corpus:
        raise RelationError("@relation takes the name of a corpus: @relation(corpus='orders.jsonl', at_least=20)")
    if type(at_least) is not int or at_least < 1:
        raise RelationError(f"at_least has to be a number from 1 on, not {at_least!r}: no case proves nothing")

    def decorate(function: Callable[..., Any]) -> Callable[..., None]:
        return _over_corpus(function, corpus, at_least)

    return decorate


def _over_corpus(function: Callable[..., Any], name: str, least: int) -> Callable[..., None]:
    if inspect.iscoroutinefunction(function) or inspect.isgeneratorfunction(function):
        raise RelationError(
            f"{function.__qualname__} has to be an ordinary function, called once for each case; the product's own"
            " functions may be async"
        )
    test_file = inspect.getsourcefile(function) or ""
    parameters = list(inspect.signature(function).parameters.values())
    place = 1 if parameters and parameters[0].name == "self" else 0
    if len(parameters) <= place:
        raise RelationError(f"{function.__qualname__} takes no case: its first parameter is the case")
    takes_case = parameters.pop(place)

    @functools.wraps(function)
    def over_corpus(*arguments: Any, **fixtures: Any) -> None:
        __tracebackhide__ = True
        try:
            with counting(Tally()) if Tally.current is None else nullcontext(Tally.current) as tally:
                _run(_Relation(function, takes_case.name, find(name, test_file), least), tally, arguments, fixtures)
        except (RelationError, RelationFailed, VacuousRelation) as error:
            told = error
        else:
            return
        trace = without_library(told.__traceback__)
        if trace is None:
            raise_at(told.with_traceback(None), function)
        raise told.with_traceback(trace) from told.__cause__

    over_corpus.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return over_corpus


class _Relation(NamedTuple):
    function: Callable[..., Any]
    parameter: str
    corpus: Corpus
    least: int


class _Failure(NamedTuple):
    """One case for which the relation does not hold."""

    case: Case
    error: BaseException


def _run(relation_: _Relation, tally: Tally, arguments: tuple[Any, ...], fixtures: dict[str, Any]) -> None:
    scope = f"{os.path.basename(relation_.function.__code__.co_filename)}::{relation_.function.__qualname__}"
    tally.begin(relation_.corpus.path, relation_.corpus.digest, relation_.least, scope)
    failed: list[str] = []
    smallest: _Failure | None = None
    seen: set[bytes] = set()
    for case in read(relation_.corpus):
        key = blake2b(case.text, digest_size=16).digest()
        if key in seen:
            tally.repeated += 1
            continue
        seen.add(key)
        error = _one(relation_, case, tally, arguments, fixtures)
        if error is not None:
            failed.append(case.name)
            if smallest is None or len(case.text) < len(smallest.case.text):
                smallest = _Failure(case, error)
    if smallest is not None:
        error = RelationFailed(_report(smallest, failed, tally, relation_.function))
        raise error.with_traceback(smallest.error.__traceback__) from smallest.error.__cause__
    tally.skip_untelling()
    if tally.checked < relation_.least:
        raise VacuousRelation(_too_few(tally, relation_.corpus))


def _one(
    relation_: _Relation, case: Case, tally: Tally, arguments: tuple[Any, ...], fixtures: dict[str, Any]
) -> Exception | None:
    tally.tried += 1
    before = tally.reached
    try:
        relation_.function(*arguments, **{**fixtures, relation_.parameter: case.value})
    except NotApplicable as answer:
        culprit = _outsider(answer, relation_.function)
        if culprit:
            return RelationError(f"{culprit} said that the case is not applicable: only the relation may say so")
        tally.skip(str(answer))
    except RelationError as error:
        # The relation is wrong, and no case would show anything else.
        raise type(error)(f"{error} (case {case.name})").with_traceback(error.__traceback__) from None
    except Exception as error:  # noqa: BLE001 - whatever the relation raises, it does not hold for this case
        return error
    else:
        if tally.world.in_gate and tally.reached == before:
            tally.skip("no assertion was reached")
        else:
            tally.checked += 1
    return None


def _outsider(answer: NotApplicable, function: Callable[..., Any]) -> str:
    """``file:line`` of a frame that is neither the relation's folder's nor ours, empty when there is none."""
    home = os.path.dirname(os.path.realpath(function.__code__.co_filename))
    trace = answer.__traceback__
    while trace is not None:
        file = os.path.realpath(trace.tb_frame.f_code.co_filename)
        if os.path.dirname(file) != _LIBRARY and not file.startswith(home + os.sep):
            return f"{file}:{trace.tb_lineno}"
        trace = trace.tb_next
    return ""


def _report(failure: _Failure, failed: list[str], tally: Tally, function: Callable[..., Any]) -> str:
    many = f"{len(failed)} of {tally.tried} cases" if len(failed) > 1 else "one case"
    where = f"; the smallest is {failure.case.name}" if len(failed) > 1 else f": {failure.case.name}"
    error = failure.error
    lines = [f"the relation does not hold for {many}{where}"]
    if isinstance(error, LawBroken):
        lines += [f"  law: {error.law}"]
    else:
        said = str(error).strip().splitlines()[:_LINES_SHOWN]
        lines += [
            f"  {type(error).__name__}: {said[0] if said else ''}".rstrip(": "),
            *(f"  {line}" for line in said[1:]),
        ]
    lines += [f"  case: {show(_as_given(failure.case))}"]
    if isinstance(error, LawBroken):
        lines += [f"  {label}: {show(value)}" for label, value in error.facts]
    others = [name for name in failed if name != failure.case.name]
    if others:
        more = f" and {len(others) - _OTHERS_NAMED} more" if len(others) > _OTHERS_NAMED else ""
        lines += [f"  also: {', '.join(others[:_OTHERS_NAMED])}{more}"]
    at = place_of(error.__traceback__, function.__code__.co_filename)
    lines += [f"  at: {at}"] * bool(at)
    if tally.seeded:
        lines += [f"  repeat: {SEED_VARIABLE}={tally.world.seed} python -m pytest {_node(tally)}"]
    return "\n".join(lines)


def _as_given(case: Case) -> Any:
    """The case's value before the relation could change it."""
    return case.value if isinstance(case.value, (bytes, str)) else json.loads(case.text)


def _node(tally: Tally) -> str:
    return os.environ.get("PYTEST_CURRENT_TEST", tally.scope).rpartition(" (")[0] or tally.scope


def _too_few(tally: Tally, corpus: Corpus) -> str:
    skipped = f", {tally.skipped} skipped: {tally.why_skipped()}" if tally.skipped else ""
    repeated = f", {tally.repeated} were repetitions" if tally.repeated else ""
    return (
        f"checked {tally.checked} distinct cases of {corpus.name or corpus.path}, at least {tally.least} are wanted"
        f" ({tally.tried} tried{skipped}{repeated})"
    )
