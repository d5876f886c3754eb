"""What counts by line prove, as their writers reckon lines: each case is from an export of a real project."""

from __future__ import annotations

import pytest

from linewitness.evidence.exported_rule import ExportedRule
from linewitness.evidence.formats.facts import BranchArm, FileFacts, FunctionHit, Grain
from linewitness.evidence.formats.placing import placed
from linewitness.evidence.formats.regions import Part, Regions, Scope, flat
from linewitness.languages import classify, demands
from linewitness.model import LineOptions, Pos, Span
from tests.support.texts import change


def answers(path: str, head: str, facts: FileFacts) -> dict[int, str]:
    text = change(None, head, path)
    owed = classify(text, LineOptions(), lambda _: False).obligations
    rule = ExportedRule(head.encode(), placed(facts, head.encode(), path))
    return {each.line: str(rule.sight(demand).answer) for each, demand in zip(owed, demands(text, owed), strict=True)}


def by_line(
    counts: dict[int, int], branches: tuple[BranchArm, ...] = (), functions: tuple[FunctionHit, ...] = ()
) -> FileFacts:
    return FileFacts(Grain.STATEMENTS, counts, branches=branches, functions=functions)


ELSE_IF = """\
fn insert(index: usize, len: usize) {
    if index < len {
        shift();
    } else if index == len {
        nothing();
    }
}
"""


def test_the_count_of_a_line_that_begins_with_a_bracket_may_be_that_of_the_block_which_ends_there() -> None:
    # smallvec: llvm-cov's LCOV gives the line the larger count of the two, and the condition was never reached
    assert answers("a.rs", ELSE_IF, by_line({1: 7, 2: 7, 3: 7, 4: 7, 5: 0, 7: 7}))[4] == "not-provable"


@pytest.mark.parametrize(
    "counts",
    [
        pytest.param({3: 7, 4: 7, 5: 2}, id="what is behind the condition ran"),
        pytest.param({3: 4, 4: 7, 5: 0}, id="the line ran more often than the block in front of it"),
        pytest.param({3: 0, 4: 7, 5: 0}, id="the block in front of it did not run"),
    ],
)
def test_other_counts_around_such_a_line_tell_that_it_ran(counts: dict[int, int]) -> None:
    assert answers("a.rs", ELSE_IF, by_line({1: 7, 2: 7, **counts, 7: 7}))[4] == "run"


def test_a_tool_that_counts_statements_counts_the_condition_and_not_the_bracket() -> None:
    head = ELSE_IF.replace("fn insert(index: usize, len: usize)", "function insert(index, len)")
    head = head.replace("index < len", "(index < len)").replace("index == len", "(index == len)")
    assert answers("a.js", head, by_line({2: 7, 3: 7, 4: 7, 5: 0}))[4] == "run"


QUESTION = """\
fn fold(a: &A) -> R<()> {
    a.fold(
        a.span,
    )?;
    done()
}
"""


def test_a_question_mark_that_never_returned_was_reached_all_the_same() -> None:
    # regex-syntax: rustc's region of a `?` is the return, in the JSON as in the LCOV
    regions = flat([(Span(Pos(1, 0), Pos(6, 1)), 3), (Span(Pos(4, 5), Pos(4, 6)), 0)])
    counted = frozenset({Part.OPERAND, Part.FUNCTION})
    facts = FileFacts(Grain.COMPILED, {}, regions=Regions(regions, Scope.BLOCKS, counted))
    assert answers("a.rs", QUESTION, facts)[4] == "run"
    assert answers("a.rs", QUESTION, by_line({1: 3, 2: 3, 3: 3, 4: 0, 5: 3}))[4] == "run"
    assert answers("a.rs", QUESTION, by_line({1: 3, 2: 0, 3: 0, 4: 0, 5: 0}))[4] == "not-run"


def test_what_follows_a_question_mark_that_returned_did_not_run() -> None:
    head = "fn f() -> R<u8> {\n    let n = g()?\n        .pow(2);\n    Ok(n)\n}\n"
    assert answers("a.rs", head, by_line({1: 1, 2: 1, 3: 0, 4: 0}))[3] == "not-run"


def test_nothing_that_begins_on_a_line_with_the_count_zero_is_witnessed_by_its_statement() -> None:
    assert answers("a.js", "call(\n  one,\n  two,\n);\n", by_line({1: 1, 3: 0})) == {1: "run", 2: "run", 3: "not-run"}


def test_a_header_without_counter_is_run_when_its_block_was() -> None:
    # PHPUnit counts neither `for (;;) {` nor `catch`
    endless = "<?php\nfunction f() {\n    for (;;) {\n        step();\n    }\n}\n"
    assert answers("a.php", endless, by_line({4: 2}))[3] == "run"
    assert answers("a.php", endless, by_line({4: 0}))[3] == "not-run"
    caught = "<?php\nfunction f() {\n    try {\n        g();\n    } catch (E $e) {\n        h();\n    }\n}\n"
    assert answers("a.php", caught, by_line({4: 1, 6: 1}))[5] == "run"
    assert answers("a.php", caught, by_line({4: 1, 6: 0}))[5] == "not-run"


@pytest.mark.parametrize(("taken", "answer"), [(True, "run"), (False, "not-run")])
def test_the_arm_of_a_default_value_is_all_that_stands_on_the_line_of_a_parameter(taken: bool, answer: str) -> None:
    head = "export class C {\n  constructor(\n    private unit: Unit = 'mm',\n  ) {\n    start();\n  }\n}\n"
    facts = by_line({5: 1}, branches=(BranchArm(3, "default value", taken),))
    assert answers("a.ts", head, facts)[3] == answer


@pytest.mark.parametrize(("entered", "answer"), [(1, "run"), (0, "not-run")])
def test_a_function_on_one_line_that_was_never_entered_is_not_run_though_its_line_is(entered: int, answer: str) -> None:
    # Jest's V8 provider: the LCOV has a count for every line, and names the function
    head = "class A {\n\n  stop() { this.run(1); }\n\n}\n"
    facts = by_line(dict.fromkeys(range(1, 6), 1), functions=(FunctionHit(3, "stop", entered),))
    assert answers("a.js", head, facts)[3] == answer


def test_a_line_that_ran_in_part_is_not_provable_whatever_the_rest_of_its_statement_did() -> None:
    head = "fn f(n: i32) {\n    let late = |n| {\n        n + 1\n    };\n    late(n);\n}\n"
    facts = FileFacts(Grain.TOUCHED, {1: 1, 3: 0, 5: 1}, uncounted=frozenset({2}))
    assert answers("a.rs", head, facts)[2] == "not-provable"
