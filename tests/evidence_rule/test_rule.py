"""The line rule on sources small enough to see what it has to say."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from linewitness.evidence.hits import Entry, FileSites, Hit, Site
from linewitness.evidence.rule import FileRule, lines_needed, sight
from linewitness.languages.python import PythonRule
from linewitness.model import (
    Answer,
    Arm,
    Demand,
    Function,
    LineOptions,
    Phase,
    Pos,
    RepoPath,
    Sighting,
    Span,
    Token,
    Weight,
)
from tests.evidence_rule.test_against_oracle import judged
from tests.support.texts import change
from tests.support.tracer import Traced, merged

TEST = ("tests/trusted/test_case.py::test",)


def seen(source: str, run: Callable[[dict[str, Any]], object]) -> dict[int, Sighting]:
    """The answers for all owing lines of a new file that was imported, and then used by one test."""
    traced = Traced(source)
    rule = FileRule(traced.sites, merged(traced.imported, traced.hits(run)))
    return {line: rule.sight(demand) for line, demand in judged(source)}


def nothing(_: dict[str, Any]) -> None:
    """A test that does not touch the module."""


def test_module_code_is_witnessed_by_import_and_says_so() -> None:
    answer = seen("x = 1\n", nothing)[1]
    assert (answer.answer, answer.phase, answer.witnesses) == (Answer.RUN, Phase.IMPORT, ())


def test_function_code_that_ran_at_import_only_is_not_witnessed() -> None:
    answer = seen("def f():\n    return 1\nx = f()\n", nothing)
    assert answer[2].answer is Answer.NOT_RUN
    assert "only while its module was imported" in answer[2].note
    assert answer[1].answer is Answer.NOT_RUN
    assert answer[3].answer is Answer.RUN


def test_a_lambda_that_only_its_module_called_is_not_witnessed() -> None:
    answer = seen("f = (\n    lambda:\n        g()\n)\ng = int\nx = f()\n", nothing)
    assert answer[2].answer is Answer.RUN
    assert answer[3].answer is Answer.NOT_RUN


def test_a_line_that_a_test_ran_names_the_test() -> None:
    answer = seen("def f():\n    return 1\n", lambda names: names["f"]())
    assert answer[2] == Sighting(Answer.RUN, TEST, Phase.CALL)
    assert answer[1] == Sighting(Answer.RUN, TEST, Phase.CALL)


def test_a_definition_needs_its_function_to_be_entered() -> None:
    source = "@print\ndef f(\n    a,\n    b=1,\n):\n    return a\ndef g():\n    pass\n"
    answer = seen(source, lambda names: names["g"]())
    assert {answer[line].answer for line in (1, 2, 3, 4)} == {Answer.NOT_RUN}
    assert answer[2].note == "not entered in a test's call: f"
    assert answer[7].answer is Answer.RUN


def test_a_class_needs_any_of_its_functions() -> None:
    source = "class A:\n    x: int\n    def f(self):\n        return 1\n    def g(self):\n        return 2\n"
    assert {row.answer for line, row in seen(source, nothing).items() if line in (1, 2)} == {Answer.NOT_RUN}
    used = seen(source, lambda names: names["A"]().g())
    assert (used[1].answer, used[2].answer, used[3].answer) == (Answer.RUN, Answer.RUN, Answer.NOT_RUN)


def test_a_class_without_functions_falls_back_to_its_import() -> None:
    answer = seen("class A:\n    x: int = 1\n    y: int\n", nothing)
    assert {(row.answer, row.phase) for row in answer.values()} == {(Answer.RUN, Phase.IMPORT)}


def test_a_function_inside_a_method_is_not_a_method() -> None:
    source = "class A:\n    def f(self):\n        def g():\n            pass\n        return g\n"
    functions = dict(judged(source))[1].functions
    assert [function.name for function in functions] == ["f"]


def test_a_global_statement_is_witnessed_by_its_function() -> None:
    source = "def f():\n    global x\n    x = 1\n"
    assert seen(source, nothing)[2].answer is Answer.NOT_RUN
    assert seen(source, lambda names: names["f"]())[2].answer is Answer.RUN


def test_an_arm_that_was_not_taken_is_partial_on_one_line_and_not_run_on_its_own() -> None:
    one = seen("def f(a):\n    return g(1) if a else h(2)\ng = h = int\n", lambda names: names["f"](1))[2]
    assert one.answer is Answer.PARTIAL
    assert one.arms == (Arm("g(1)", True), Arm("h(2)", False))
    own = seen("def f(a):\n    return (\n        1\n        if a\n        else 2\n    )\n", lambda names: names["f"](1))
    assert [own[line].answer for line in (3, 4, 5)] == [Answer.RUN, Answer.RUN, Answer.NOT_RUN]


def test_a_branch_lists_its_arms_and_an_arm_without_code_is_unknown() -> None:
    source = "def f(a):\n    if a:\n        return 1\n    if a:\n        x = 1\n"
    source += "    elif a is None:\n        x = 2\n    else:\n        x = 3\n"
    answer = seen(source, lambda names: names["f"](0))
    assert answer[2].arms == (Arm("return 1", False), Arm("else", None))
    assert answer[4].arms == (Arm("x = 1", False), Arm("elif a is None:", True))
    assert answer[6].arms == (Arm("x = 2", False), Arm("else x = 3", True))


def test_code_that_the_compiler_removed_says_so() -> None:
    source = "def f():\n    if False:\n        x = 1\n    return 1\n    y = 2\n"
    answer = seen(source, lambda names: names["f"]())
    assert answer[2].answer is Answer.RUN
    assert (answer[3].answer, answer[5].answer) == (Answer.REMOVED, Answer.REMOVED)
    assert "delete it or waive it" in answer[3].note


def test_an_enclosing_definition_does_not_vouch_for_dead_code() -> None:
    source = "class A:\n    if 0:\n        x = 1\n"
    assert seen(source, nothing)[3].answer is Answer.REMOVED


def test_both_copies_of_a_finally_suite_count() -> None:
    source = "def f(a):\n    try:\n        1 / a\n    finally:\n        x = [a]\n    return x\n"
    assert seen(source, lambda names: names["f"](0))[5].answer is Answer.RUN
    assert seen(source, lambda names: names["f"](1))[5].answer is Answer.RUN


def test_a_bare_clause_is_decided_by_the_first_statement_of_its_suite() -> None:
    base = "def f(a):\n    if a:\n        x = 1\n    if a:\n        x = 3\n    return x\n"
    text = change(base, base.replace("    if a:\n        x = 3", "    else:\n        x = 3"))
    rule = PythonRule()
    (owed,) = rule.classify(text, LineOptions()).obligations
    (demand,) = rule.demands(text.head or b"", (owed,))
    assert (owed.line, demand.substitute) == (4, 5)
    traced = Traced((text.head or b"").decode())
    taken = FileRule(traced.sites, traced.hits(lambda names: names["f"](0)))
    missed = FileRule(traced.sites, traced.hits(lambda names: names["f"](1)))
    assert (taken.sight(demand).answer, missed.sight(demand).answer) == (Answer.RUN, Answer.NOT_RUN)


def test_a_deletion_point_is_decided_by_the_statement_that_follows() -> None:
    base = "def f(a):\n    guard(a)\n    return a\n"
    text = change(base, base.replace("    guard(a)\n", ""))
    rule = PythonRule()
    (owed,) = rule.classify(text, LineOptions()).obligations
    (demand,) = rule.demands(text.head or b"", (owed,))
    traced = Traced((text.head or b"").decode())
    assert FileRule(traced.sites, traced.hits(lambda names: names["f"](1))).sight(demand).answer is Answer.RUN
    assert FileRule(traced.sites, {}).sight(demand).answer is Answer.NOT_RUN


def test_a_file_that_the_evidence_does_not_know_was_not_run() -> None:
    ((_, demand),) = judged("x = 1\n")
    assert sight(demand, FileSites(RepoPath("case.py"), (), ()), {}).answer is Answer.NOT_RUN


def test_a_function_that_the_compiler_removed_cannot_be_entered() -> None:
    demand = Demand((word(WORD, HEADER),), (Function("gone", 1, HEADER),))
    assert sight(demand, sites(WORD), {0: CALL}).answer is Answer.REMOVED


def test_the_lines_that_demands_need_reach_beyond_the_changed_ones() -> None:
    source = "def f(a):\n    if (\n        a\n        or a\n    ):\n        return 1\n    return 2\n\n\nx = 1\n"
    demands = dict(judged(source))
    assert lines_needed([demands[3]]) == ((2, 6),)
    assert lines_needed([demands[1]]) == ((1, 2),)
    assert lines_needed([demands[10], demands[3]]) == ((2, 6), (10, 10))
    assert lines_needed([]) == ()


def span(line: int, col: int, end_line: int, end_col: int) -> Span:
    return Span(Pos(line, col), Pos(end_line, end_col))


def word(at: Span, header: Span, region: Span | None = None) -> Token:
    return Token("x", at, Weight.STRONG, header, header, region, None, leads=False)


def sites(*spans: Span, weak: tuple[int, ...] = (), lazy: tuple[int, ...] = ()) -> FileSites:
    found = tuple(Site(i, where, i in weak, i in lazy) for i, where in enumerate(spans))
    return FileSites(RepoPath("case.py"), found, (Entry(99, "f", 1),))


CALL = Hit(Phase.CALL, TEST)
HEADER = span(1, 0, 3, 1)
WORD = span(2, 4, 2, 5)


@pytest.mark.parametrize(
    ("hit", "answer"),
    [(0, Answer.NOT_RUN), (1, Answer.RUN), (2, Answer.NOT_RUN), (3, Answer.RUN), (4, Answer.NOT_RUN)],
    ids=["larger", "smallest", "smaller but weak", "copy of the smallest", "outside of the header"],
)
def test_the_smallest_covering_value_code_decides(hit: int, answer: Answer) -> None:
    listed = sites(HEADER, span(2, 2, 2, 9), WORD, span(2, 2, 2, 9), span(0, 0, 9, 9), weak=(2,))
    assert sight(Demand((word(WORD, HEADER),)), listed, {hit: CALL}).answer is answer


def test_weak_code_decides_where_there_is_nothing_else() -> None:
    assert sight(Demand((word(WORD, HEADER),)), sites(WORD, weak=(0,)), {0: CALL}).answer is Answer.RUN


def test_code_around_a_part_that_may_be_skipped_does_not_vouch_for_it() -> None:
    demand = Demand((word(WORD, HEADER, span(2, 4, 2, 8)),))
    assert sight(demand, sites(HEADER), {0: CALL}).answer is Answer.REMOVED
    assert sight(demand, sites(HEADER, span(2, 4, 2, 8)), {0: CALL}).answer is Answer.NOT_RUN


def test_stretches_that_overlap_without_nesting_are_all_seen() -> None:
    listed = sites(span(1, 0, 2, 4), span(1, 5, 2, 9), span(2, 0, 2, 3))
    assert sight(Demand((word(WORD, HEADER),)), listed, {1: CALL}).answer is Answer.RUN


def test_code_that_ends_beyond_the_statement_does_not_vouch_for_it() -> None:
    listed = sites(span(1, 0, 4, 0))
    assert sight(Demand((word(WORD, HEADER),)), listed, {0: CALL}).answer is Answer.REMOVED


def test_a_lazy_annotation_owes_nothing_of_its_own() -> None:
    demand = Demand((word(WORD, HEADER),), at_import=True)
    imported = Hit(Phase.IMPORT, ())
    listed = sites(WORD, span(1, 0, 1, 3), lazy=(0,))
    assert sight(demand, listed, {1: imported}).answer is Answer.RUN
    assert sight(demand, listed, {}).answer is Answer.NOT_RUN


def test_code_that_may_run_in_a_call_is_not_witnessed_by_an_import() -> None:
    imported = {0: Hit(Phase.IMPORT, ())}
    assert sight(Demand((word(WORD, HEADER),)), sites(WORD), imported).answer is Answer.NOT_RUN
    assert sight(Demand((word(WORD, HEADER),), at_import=True), sites(WORD), imported).answer is Answer.RUN
    unknown = {0: Hit(Phase.UNKNOWN, TEST)}
    assert sight(Demand((word(WORD, HEADER),)), sites(WORD), unknown).answer is Answer.NOT_RUN


def test_the_fast_path_needs_every_value_code_that_begins_on_the_line() -> None:
    listed = sites(span(2, 0, 2, 3), span(2, 4, 2, 5), span(2, 6, 2, 7), weak=(2,))
    assert FileRule(listed, {0: CALL}).settled(2) is None
    assert FileRule(listed, {0: CALL, 1: CALL}).settled(2) == Sighting(Answer.RUN, TEST, Phase.CALL)
    assert FileRule(listed, {0: CALL, 1: Hit(Phase.IMPORT, ())}).settled(2) is None
    assert FileRule(listed, {2: CALL}).settled(3) is None
