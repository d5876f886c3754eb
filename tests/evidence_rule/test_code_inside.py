"""Lambdas and generator expressions: making one is not running it, whatever else is on the line."""

from __future__ import annotations

import pytest

from linewitness.languages.python import PythonRule
from linewitness.model import Answer, LineOptions, Phase
from tests.evidence_rule.test_rule import TEST, nothing, seen
from tests.support.texts import change

IDLE = "made, but not entered in a test's call: "


def test_a_lambda_on_a_line_of_its_module_is_not_witnessed_by_a_call_at_import() -> None:
    source = "g = int\nf = lambda: g()\nx = f()\n"
    answer = seen(source, nothing)[2]
    assert (answer.answer, answer.note) == (Answer.NOT_RUN, IDLE + "lambda: g()")
    answer = seen(source, lambda names: names["f"]())[2]
    assert (answer.answer, answer.phase, answer.witnesses) == (Answer.RUN, Phase.CALL, TEST)


def test_a_lambda_that_was_made_and_not_called_keeps_its_line_open() -> None:
    source = "def f():\n    return sorted([], key=lambda row: row.price)\n"
    answer = seen(source, lambda names: names["f"]())[2]
    assert (answer.answer, answer.note) == (Answer.NOT_RUN, IDLE + "lambda row: row.price")


@pytest.mark.parametrize("body", ["1", "None", "()", "g", "g + 1", "[g for g in [1]]", "(yield)", "(\n    g)"])
def test_a_lambda_counts_whatever_its_body_is_made_of(body: str) -> None:
    source = f"def f(g):\n    return [g, lambda: {body}]\n"
    last = source.count("\n")
    assert seen(source, lambda names: names["f"](0))[last].answer is Answer.NOT_RUN
    entered = seen(source, lambda names: [*(names["f"](0)[1]() or [])])[last]
    assert (entered.answer, entered.note) == (Answer.RUN, "")


@pytest.mark.parametrize("bodies", [("1", "2"), ("g", "1"), ("1", "g"), ("g", "g")])
def test_each_of_two_lambdas_on_a_line_has_to_be_entered(bodies: tuple[str, str]) -> None:
    source = f"def f(g):\n    return [lambda: {bodies[0]}, lambda: {bodies[1]}]\n"
    assert seen(source, lambda names: names["f"](0)[0]())[2].answer is Answer.NOT_RUN
    assert seen(source, lambda names: names["f"](0)[1]())[2].answer is Answer.NOT_RUN
    both = seen(source, lambda names: [made() for made in names["f"](0)])[2]
    assert (both.answer, {arm.taken for arm in both.arms}) == (Answer.RUN, {True})


def test_two_lambdas_that_the_compiler_may_make_one_are_not_taken_for_witnessed() -> None:
    answer = seen("def f():\n    return [lambda: 1, lambda: 1]\n", lambda names: names["f"]()[0]())[2]
    assert answer.answer in (Answer.NOT_RUN, Answer.NOT_PROVABLE)


def test_every_lambda_on_a_signature_or_class_line_has_to_be_entered() -> None:
    source = "def f(key=lambda x: x): return key\n"
    assert seen(source, lambda names: names["f"]())[1].answer is Answer.NOT_RUN
    assert seen(source, lambda names: names["f"]()(1))[1].answer is Answer.RUN
    source = "class A(d := {}.get(lambda x: x, object)):\n    def f(self): pass\n"
    assert seen(source, lambda names: names["A"]().f())[1].answer is Answer.NOT_RUN


def test_a_lambda_whose_body_is_on_other_lines_is_asked_for_on_those() -> None:
    source = "def f():\n    return [\n        lambda: (\n            f\n        ),\n    ]\n"
    answer = seen(source, lambda names: names["f"]())
    assert [answer[line].answer for line in (3, 4)] == [Answer.RUN, Answer.NOT_RUN]


MADE = ["(x for x in g)", "(1 for x in g)", "(x for x in g if x > 0)", "(y for x in [g] for y in x)"]


@pytest.mark.parametrize("made", MADE)
def test_a_generator_expression_has_to_be_begun(made: str) -> None:
    source = f"def f(g):\n    return {made}\n"
    idle = seen(source, lambda names: names["f"]([1]))[2]
    assert (idle.answer, idle.note) == (Answer.NOT_RUN, IDLE + made)
    assert seen(source, lambda names: list(names["f"]([1])))[2].answer is Answer.RUN


def test_a_generator_expression_that_found_nothing_was_not_entered_on_any_version() -> None:
    source = "def f(g):\n    return sum(x for x in g)\n"
    assert seen(source, lambda names: names["f"]([]))[2].answer is Answer.NOT_RUN


def test_a_generator_whose_condition_ran_was_entered_and_its_element_is_what_did_not_run() -> None:
    answer = seen("def f(g):\n    return list(x + 1 for x in g if x)\n", lambda names: names["f"]([0]))[2]
    assert (answer.answer, answer.note) == (Answer.PARTIAL, "did not run: x, 1")


def test_a_comprehension_runs_where_it_stands_and_its_element_is_a_part_of_the_line() -> None:
    answer = seen("def f(g):\n    return [y + 1 for x in g]\n", lambda names: names["f"]([]))[2]
    assert answer.answer is Answer.PARTIAL
    assert answer.note.startswith("did not run: y, 1")


def test_a_generator_expression_of_a_module_is_witnessed_by_import_where_that_consumed_it() -> None:
    answer = seen("x = tuple(y for y in [1])\nz = (y for y in [1])\n", nothing)
    assert (answer[1].answer, answer[1].phase) == (Answer.RUN, Phase.IMPORT)
    assert answer[2].answer is Answer.NOT_RUN


def test_a_lambda_in_an_annotation_that_nobody_evaluates_is_not_asked_for() -> None:
    local = "def f():\n    x: [lambda: 1] = 2\n    return x\n"
    assert seen(local, lambda names: names["f"]())[2].answer in (Answer.RUN, Answer.PARTIAL)
    text = '"""doc"""\nfrom __future__ import annotations\nx: [lambda: 1] = 2\n'
    assert seen(text, nothing)[3].answer in (Answer.RUN, Answer.PARTIAL)
    assert seen("x: [lambda: 1] = 2\n", nothing)[1].answer is Answer.NOT_RUN


def test_a_deletion_point_does_not_ask_for_the_lambdas_of_the_line_that_follows() -> None:
    base = "def f(a):\n    guard(a)\n    return lambda: a\n"
    text = change(base, base.replace("    guard(a)\n", ""))
    (owed,) = PythonRule().classify(text, LineOptions()).obligations
    (demand,) = PythonRule().demands(text.head or b"", (owed,))
    assert demand.inner == ()
