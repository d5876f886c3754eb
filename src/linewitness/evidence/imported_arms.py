"""The arms of a branch as an export knows them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from linewitness.evidence.formats.facts import UNNAMED_ARM, BranchArm
from linewitness.evidence.imported_lines import Lines
from linewitness.model import Answer, Arm, Demand, Span, Token, Weight


class _Proof(Protocol):
    @property
    def answer(self) -> Answer: ...


def arms_of(demand: Demand, line: int, lines: Lines, prove: Callable[..., _Proof]) -> tuple[Arm, ...]:
    """Every way out of the branch on ``line`` that the source or the export names.

    A suite is taken when the export counts a jump to its first line, or else when that line ran. Parts of an expression
    are judged as tokens are. What nothing tells is unknown, never "not taken".
    """
    jumps = lines.arms(line)
    if not jumps and not demand.arms:
        return ()
    if not demand.arms or not demand.tokens:
        return tuple(Arm(jump.text, jump.taken) for jump in jumps)
    sample = demand.tokens[0]
    suites = [(text, span) for text, span in demand.arms if span is None or span.start >= sample.header.end]
    parts = [(text, span) for text, span in demand.arms if span is not None and span.start < sample.header.end]
    told = tuple(Arm(text, _token_taken(sample, span, demand, prove)) for text, span in parts)
    return (*_suite_arms(suites, line, jumps, sample, demand, prove), *told)


def _suite_arms(
    suites: list[tuple[str, Span | None]],
    line: int,
    jumps: tuple[BranchArm, ...],
    sample: Token,
    demand: Demand,
    prove: Callable[..., _Proof],
) -> list[Arm]:
    taken: dict[str, bool | None] = {}
    free = {jump.text: jump.taken for jump in jumps}
    rest: list[str] = []
    for text, span in suites:
        target = f"line {span.start.line}" if span is not None else ""
        if target in free:
            taken[text] = free.pop(target)
        elif span is not None and span.start.line != line and not jumps:
            taken[text] = _token_taken(sample, span, demand, prove)
        else:
            rest.append(text)
    named = {text: value for text, value in free.items() if text not in UNNAMED_ARM}
    if len(rest) == len(named) == 1:
        taken[rest[0]] = next(iter(named.values()))
    elif rest and jumps and not named and not any(value is False for value in free.values()):
        # every arm that was not taken has a name in such an export, and these have none
        taken |= dict.fromkeys(rest, True)
    return [Arm(text, taken.get(text)) for text, _span in suites]


def _token_taken(sample: Token, span: Span | None, demand: Demand, prove: Callable[..., _Proof]) -> bool | None:
    if span is None:
        return None
    inside = span.start < sample.header.end
    where = sample.header if inside else span
    token = Token(
        text="",
        span=span,
        weight=Weight.STRONG,
        header=where,
        statement=sample.statement if inside else span,
        region=span if inside else None,
        pivot=None,
        leads=not inside,
    )
    answer = prove(token, at_import=demand.at_import).answer
    if answer is Answer.RUN:
        return True
    return False if answer is Answer.NOT_RUN else None
