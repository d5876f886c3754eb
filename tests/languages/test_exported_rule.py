"""What the facts of an export prove about the lines of other languages: run, not run, or not provable."""

from __future__ import annotations

import pytest

from linewitness.evidence.exported_rule import ExportedRule, best_of
from linewitness.evidence.formats.facts import BranchArm, FileFacts, FunctionHit, Grain
from linewitness.evidence.formats.regions import Part, Regions, Scope, flat
from linewitness.languages import classify, demands
from linewitness.model import Answer, LineOptions, Pos, Precision, Sighting, Span
from tests.support.texts import change

CHOICE = "function f(a) {\n  return a\n    ? g(1)\n    : g(2);\n}\n"
FILTER = "run(\n  rows.filter((r) => r > 1),\n);\n"
EXPRESSION = Precision.EXPRESSION


def span(first: int, left: int, last: int, right: int) -> Span:
    return Span(Pos(first, left), Pos(last, right))


def answers(head: str, facts: FileFacts, path: str = "a.js") -> dict[int, str]:
    text = change(None, head, path)
    owed = classify(text, LineOptions(), lambda _: False).obligations
    rule = ExportedRule(head.encode(), facts)
    return {each.line: str(rule.sight(demand).answer) for each, demand in zip(owed, demands(text, owed), strict=True)}


def regions(scope: Scope, *counts: tuple[Span, int | None], counted: frozenset[Part] = frozenset()) -> FileFacts:
    return FileFacts(Grain.STATEMENTS, {}, regions=Regions(flat(counts), scope, counted))


def test_the_count_of_the_innermost_stretch_decides() -> None:
    facts = regions(Scope.BLOCKS, (span(1, 0, 5, 1), 3), (span(4, 4, 4, 10), 0), counted=frozenset({Part.OPERAND}))
    assert answers(CHOICE, facts) == {2: "run", 3: "run", 4: "not-run"}


def test_an_arm_that_the_export_does_not_count_apart_is_not_provable() -> None:
    facts = regions(Scope.BLOCKS, (span(1, 0, 5, 1), 3))
    assert answers(CHOICE, facts) == {2: "run", 3: "not-provable", 4: "not-provable"}


def test_the_count_of_a_statement_says_nothing_of_statements_inside_of_it() -> None:
    head = "call(() => {\n  inner();\n});\n"
    assert answers(head, regions(Scope.STATEMENTS, (span(1, 0, 3, 3), 1)))[2] != "run"
    assert answers(head, regions(Scope.STATEMENTS, (span(1, 0, 3, 3), 1), (span(2, 2, 2, 10), 1)))[2] == "run"


def test_a_declaration_goes_with_its_initialiser_where_statements_begin_there() -> None:
    head = "const MAX =\n  10\n  + 1;\n"
    assert answers(head, regions(Scope.STATEMENTS, (span(2, 2, 3, 5), 1))) == {1: "run", 2: "run", 3: "run"}
    assert answers(head, regions(Scope.STATEMENTS, (span(2, 2, 3, 5), 0)))[1] == "not-run"


@pytest.mark.parametrize(("entered", "answer"), [(1, "run"), (0, "partial")])
def test_a_closure_on_a_line_has_to_be_entered(entered: int, answer: str) -> None:
    facts = regions(Scope.BLOCKS, (span(1, 0, 3, 2), 1), (span(2, 14, 2, 26), entered))
    assert answers(FILTER, facts)[2] == answer


def test_a_closure_that_the_export_cannot_tell_is_not_provable() -> None:
    assert answers(FILTER, FileFacts(Grain.STATEMENTS, {1: 1}))[2] == "not-provable"


def test_statements_by_line_witness_their_lines_and_not_what_they_may_skip() -> None:
    facts = FileFacts(Grain.STATEMENTS, {2: 5})
    assert answers(CHOICE, facts) == {2: "run", 3: "not-provable", 4: "not-provable"}
    assert answers(CHOICE, FileFacts(Grain.STATEMENTS, {2: 0})) == {2: "not-run", 3: "not-run", 4: "not-run"}


def test_statements_by_line_witness_all_arms_when_all_are_known_to_be_taken() -> None:
    arms = (BranchArm(2, "a", True), BranchArm(2, "b", True))
    assert answers(CHOICE, FileFacts(Grain.STATEMENTS, {2: 5}, branches=arms))[4] == "run"
    some = (BranchArm(2, "a", True), BranchArm(2, "b", False))
    assert answers(CHOICE, FileFacts(Grain.STATEMENTS, {2: 5}, branches=some))[4] == "not-provable"


def test_a_line_that_no_export_lists_was_not_run() -> None:
    assert set(answers(CHOICE, FileFacts(Grain.STATEMENTS, {})).values()) == {"not-run"}


def test_zero_in_a_line_table_is_certain_and_more_may_be_of_another_part() -> None:
    facts = FileFacts(Grain.COMPILED, {2: 5, 3: 5, 4: 0}, complete={3: True})
    assert answers(CHOICE, facts) == {2: "run", 3: "run", 4: "not-run"}
    assert answers(CHOICE, facts._replace(complete={3: False}))[3] == "not-provable"


def test_lines_that_a_comment_hides_are_not_believed_where_every_line_has_a_count() -> None:
    head = "a();\n/* c8 ignore next 2 */\nb();\nc();\nd();\n"
    facts = FileFacts(Grain.PHYSICAL, dict.fromkeys(range(1, 6), 1))
    assert answers(head, facts) == {1: "run", 3: "not-provable", 4: "not-provable", 5: "run"}


def definition(facts: FileFacts) -> Sighting:
    base = "function f(a, b) {\n  return g(a, b);\n}\n"
    head = base.replace("a, b)", "b, a)", 1)
    text = change(base, head, "a.js")
    owed = classify(text, LineOptions(), lambda _: False).obligations
    (demand,) = demands(text, owed)
    return ExportedRule(head.encode(), facts).sight(demand)


@pytest.mark.parametrize(
    ("facts", "answer"),
    [
        (FileFacts(Grain.STATEMENTS, {1: 1, 2: 0}), Answer.NOT_RUN),
        (FileFacts(Grain.STATEMENTS, {1: 1, 2: 1}), Answer.RUN),
        (FileFacts(Grain.STATEMENTS, {1: 1}), Answer.NOT_PROVABLE),
        (FileFacts(Grain.STATEMENTS, {1: 1}, functions=(FunctionHit(1, "f", 0),)), Answer.NOT_RUN),
        (FileFacts(Grain.STATEMENTS, {1: 1}, functions=(FunctionHit(1, "f", 2),)), Answer.RUN),
        (regions(Scope.BLOCKS, (span(1, 0, 3, 2), 1)), Answer.NOT_PROVABLE),
        (regions(Scope.BLOCKS, (span(1, 0, 3, 1), 1)), Answer.RUN),
        (regions(Scope.BLOCKS, (span(1, 0, 3, 1), 0)), Answer.NOT_RUN),
    ],
)
def test_a_definition_is_witnessed_by_its_entry_and_not_by_being_made(facts: FileFacts, answer: Answer) -> None:
    assert definition(facts).answer is answer


def test_of_several_exports_the_one_closest_to_a_witness_answers() -> None:
    sightings = [Sighting(Answer.NOT_RUN), Sighting(Answer.PARTIAL), Sighting(Answer.NOT_PROVABLE)]
    assert best_of(sightings).answer is Answer.PARTIAL


def test_the_map_is_told_how_fine_the_answer_is() -> None:
    text = change(None, CHOICE, "a.js")
    owed = classify(text, LineOptions(), lambda _: False).obligations
    demand = demands(text, owed)[0]
    fine = ExportedRule(CHOICE.encode(), regions(Scope.BLOCKS, (span(1, 0, 5, 1), 3))).sight(demand)
    coarse = ExportedRule(CHOICE.encode(), FileFacts(Grain.STATEMENTS, {2: 1})).sight(demand)
    assert (fine.precision, coarse.precision) == (EXPRESSION, Precision.STATEMENT)
