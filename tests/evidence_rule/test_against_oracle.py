"""The line rule against an oracle that rewrites the syntax tree: which lines ran, by construct and by file."""

from __future__ import annotations

import sys
import sysconfig
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any

import pytest

from linewitness.evidence.rule import FileRule
from linewitness.languages import classify
from linewitness.languages.python import PythonRule
from linewitness.model import Answer, Demand, LineOptions
from tests.evidence_rule.cases import CASES, Case
from tests.support.embedded import disagreement
from tests.support.oracle import Oracle
from tests.support.texts import change
from tests.support.tracer import Traced

RUNNING = sys.version_info[:2]
# Where the rule is stricter than the oracle on purpose: (case, arguments, line).
STRICTER = {
    # The statement begins on this line, but what is written on the line is an arm that was not taken.
    ("fstring_701", "({},)", 2),
}


def judged(source: str) -> list[tuple[int, Demand]]:
    text = change(None, source)
    assert not disagreement(text, LineOptions())
    found = classify(text, LineOptions(), lambda _: False)
    wanted = PythonRule().demands(source.encode(), found.obligations)
    return [(owed.line, demand) for owed, demand in zip(found.obligations, wanted, strict=True)]


def expected(line: int, demand: Demand, ran: Mapping[int, bool], idle: Collection[int]) -> bool | None:
    """What the oracle says of a demand; ``None`` where it cannot tell. ``idle`` lines have code that nobody entered."""
    if line in idle and not demand.substitute:
        return False
    if not demand.functions:
        return ran.get(demand.substitute or line)
    body = demand.functions[0].body
    inside = [at for at in ran if body.start.line <= at <= body.end.line]
    if demand.any_function or len(demand.functions) > 1 or body.start.line == line or not inside:
        return None
    return ran[min(inside)]


def compare(source: str, run: Callable[[Mapping[str, Any]], object], name: str) -> tuple[list[str], int]:
    traced, oracle = Traced(source), Oracle(source)
    ran, idle = oracle.lines(run), oracle.not_entered()
    rule = FileRule(traced.sites, traced.hits(run))
    lines, different, count = source.split("\n"), list[str](), 0
    for line, demand in judged(source):
        wanted = expected(line, demand, ran, idle)
        if wanted is None or (demand.at_import and not demand.functions and not demand.inner):
            continue
        seen = rule.sight(demand)
        count += 1
        if (seen.answer in (Answer.RUN, Answer.PARTIAL)) != wanted:
            different.append(f"{name}:{line}: {lines[line - 1].strip()}: {seen.answer}, the oracle says {wanted}")
    return different, count


def calling(arguments: str) -> Callable[[Mapping[str, Any]], object]:
    return lambda names: names["f"](*eval(arguments, dict(names)))


def calls() -> list[Any]:
    return [
        pytest.param(case, call, id=f"{case.name}-{number}")
        for case in CASES
        if case.since <= RUNNING
        for number, call in enumerate(case.calls, 1)
    ]


@pytest.mark.parametrize(("case", "call"), calls())
def test_the_rule_and_the_oracle_agree_on_every_line_of_a_construct(case: Case, call: str) -> None:
    different, count = compare(case.source, calling(call), f"{case.name}{call}")
    allowed = [f"{name}{arguments}:{line}:" for name, arguments, line in STRICTER]
    assert [row for row in different if not row.startswith(tuple(allowed))] == []
    assert count


DRIVERS: dict[str, Callable[[Mapping[str, Any]], object]] = {
    "textwrap": lambda m: (
        m["wrap"]("hello big world " * 9, 20),
        m["dedent"]("  a\n   b\n"),
        m["shorten"]("a b " * 9, 9),
    ),
    "difflib": lambda m: (list(m["unified_diff"](list("abcde"), list("abxde"))), list(m["ndiff"](["ab\n"], ["ac\n"]))),
    "fractions": lambda m: (m["Fraction"]("3/7") + m["Fraction"](1.5), m["Fraction"](3, 4).limit_denominator(3)),
    "statistics": lambda m: (m["stdev"]([1, 2, 5]), m["quantiles"]([1, 2, 3]), m["NormalDist"](0, 1).cdf(0.5)),
    "heapq": lambda m: (m["nlargest"](2, [1, 3, 2]), list(m["merge"]([1, 4], [2, 3]))),
    "string": lambda m: (m["Template"]("$a ${b}").substitute(a=1, b=2), m["Formatter"]().format("{0:>{1}}", 1, 3)),
    "tokenize": lambda m: list(m["generate_tokens"](iter(["x = 1 # c\n", "def f():\n", "  return 'a'\n"]).__next__)),
}


@pytest.mark.parametrize("name", DRIVERS)
def test_the_rule_and_the_oracle_agree_on_every_line_of_a_real_module(name: str) -> None:
    source = (Path(sysconfig.get_path("stdlib")) / f"{name}.py").read_text(encoding="utf-8")
    different, count = compare(source, DRIVERS[name], name)
    assert different == []
    assert count > 50


@pytest.mark.parametrize("case", [case for case in CASES if case.since <= RUNNING], ids=lambda case: case.name)
def test_the_fast_path_never_says_more_than_the_rule(case: Case) -> None:
    traced = Traced(case.source)
    for call in case.calls:
        rule = FileRule(traced.sites, traced.hits(calling(call)))
        for line, demand in judged(case.source):
            settled = rule.settled(line)
            if settled is not None and not demand.functions and demand.substitute is None:
                assert rule.sight(demand).answer in (Answer.RUN, Answer.PARTIAL)
