"""What can go wrong in a relation. All of it fails the test; only the first two say something about the product."""

from __future__ import annotations

import os
from collections.abc import Callable
from types import TracebackType
from typing import Any, NoReturn

_LIBRARY = os.path.dirname(os.path.abspath(__file__))


class RelationFailed(AssertionError):  # noqa: N818 - it is a finding about the product
    """The relation does not hold: the report names the smallest case of the corpus for which it fails."""


class LawBroken(AssertionError):  # noqa: N818 - as above
    """One law does not hold for one case. ``facts`` are pairs of a label and a value, in the order of telling."""

    def __init__(self, law: str, facts: tuple[tuple[str, Any], ...]) -> None:
        super().__init__(law)
        self.law = law
        self.facts = facts


class VacuousRelation(AssertionError):  # noqa: N818 - it is a finding about the relation
    """Fewer distinct cases were checked than the relation declares, so it says nothing."""


class RelationError(Exception):
    """The relation itself is written in a way that cannot mean what its author hoped."""


class CorpusError(RelationError):
    """The corpus is not what its manifest says, or a file of it cannot be read as cases."""


class SubjectError(Exception):
    """The subject, in an interpreter of its own, raised, crashed, took too long or gave something that is no data."""


def without_library(trace: TracebackType | None) -> TracebackType | None:
    """A traceback without the frames of this library: what is left is the relation's and the product's."""
    if trace is None:
        return None
    rest = without_library(trace.tb_next)
    if os.path.dirname(os.path.abspath(trace.tb_frame.f_code.co_filename)) == _LIBRARY:
        return rest
    return TracebackType(rest, trace.tb_frame, trace.tb_lasti, trace.tb_lineno)


def place_of(trace: TracebackType | None, file: str) -> str:
    """``file.py:12``, the innermost line of a file in a traceback; empty when there is none."""
    found = ""
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == file:
            found = f"{os.path.relpath(file)}:{trace.tb_lineno}"
        trace = trace.tb_next
    return found


def raise_at(error: Exception, function: Callable[..., Any]) -> NoReturn:
    """Raise an error that has no line of its own where a function is defined."""
    __tracebackhide__ = True
    code = function.__code__
    raising = compile("raise error", code.co_filename, "exec").replace(
        co_name=code.co_name, co_firstlineno=code.co_firstlineno
    )
    exec(raising, {"error": error})  # noqa: S102 - one statement, written above
    raise error
