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


NESTED = """\
fn insert(a: bool, b: bool, c: bool) {
    if a {
        if c {
            shift();
        }
    } else if b {
        nothing();
    }
    done();
}
"""


@pytest.mark.parametrize("path", ["a.rs", "a.cs"])
def test_the_block_in_front_is_all_of_it_and_not_its_last_line(path: str) -> None:
    # what is behind the whole statement ran either way, and the last line in front is the end of an inner block
    head = NESTED if path == "a.rs" else in_csharp(NESTED)
    counts = {1: 1, 2: 1, 3: 1, 4: 0, 5: 0, 6: 1, 7: 0, 9: 1, 10: 1}
    assert answers(path, head, by_line(counts))[6] == "not-provable"
    assert answers(path, head, by_line({**counts, 7: 1}))[6] == "run"
    assert answers(path, head, by_line({**counts, 6: 2}))[6] == "run"


def test_a_condition_and_its_block_on_one_line_are_not_proved_by_the_line_behind_them() -> None:
    head = in_csharp(NESTED).replace("else if (b) {\n        nothing();\n    }", "else if (b) { nothing(); }")
    assert answers("a.cs", head, by_line({1: 1, 2: 1, 3: 1, 4: 0, 5: 0, 6: 1, 7: 1}))[6] == "not-provable"


def test_a_block_without_counts_tells_nothing_of_the_bracket_that_ends_it() -> None:
    head = in_csharp(NESTED).replace("        if (c) {\n            shift();\n        }", "        // nothing\n\n")
    assert answers("a.cs", head, by_line({1: 1, 2: 1, 6: 1, 7: 0, 9: 1}))[6] == "not-provable"


def in_csharp(rust: str) -> str:
    """The same text, line by line, in another language."""
    method = rust.replace("fn insert(a: bool, b: bool, c: bool)", "class A { void Insert(bool a, bool b, bool c)")
    for name in "abc":
        method = method.replace(f"if {name} {{", f"if ({name}) {{")
    return method.rstrip("\n") + " }\n"


LATE = """\
class A {
    int Big(int[] all) {
        return all.Count(
            each => Deep(
                each));
    }
    int Small(int[] all) => all.Count(each => each < 1);
}
"""


@pytest.mark.parametrize("path", ["a.cs", "a.java"])
def test_a_closure_on_the_line_on_which_it_is_made_may_not_have_run(path: str) -> None:
    # coverlet adds the count of the statement to that of a closure on its last line; javac makes it there
    head = LATE.split("    int Small", maxsplit=1)[0] + "}\n"
    if path == "a.java":
        head = head.replace("=>", "->").replace("int[] all", "Bag all")
    assert answers(path, head, by_line({3: 1, 4: 1, 5: 1}))[4] == "not-provable"
    assert answers(path, head, by_line({3: 1, 4: 0, 5: 1}))[4] == "not-run"


@pytest.mark.parametrize(
    ("path", "head", "line"),
    [
        ("a.cs", LATE, 7),
        ("a.php", "<?php\nfunction f($all) { return array_map(fn($x) => $x + 1, $all); }\n", 2),
    ],
)
def test_an_entry_of_the_function_around_a_closure_is_none_of_the_closure(path: str, head: str, line: int) -> None:
    # coverlet and PHPUnit name the method and no closure, and both begin on one line
    facts = by_line({line: 1}, functions=(FunctionHit(line, "f", 1),))
    assert answers(path, head, facts)[line] == "not-provable"
    never = by_line({line: 0}, functions=(FunctionHit(line, "f", 0),))
    assert answers(path, head, never)[line] == "not-run"


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


@pytest.mark.parametrize("path", ["a.cpp", "a.java"])
def test_a_compiler_may_give_the_first_line_of_a_statement_a_zero_and_the_others_not(path: str) -> None:
    # gcov_demo: gcc hangs the calls of a long `<<` on the lines of their names
    head = "void f() {\n    out(one(),\n        two(),\n        three());\n}\n"
    head = f"class A {{ {head.rstrip()} }}\n" if path == "a.java" else head
    assert answers(path, head, by_line({2: 0, 3: 1, 4: 1})) == {2: "not-run", 3: "run", 4: "run"}
    assert answers("a.js", head.replace("void", "function"), by_line({2: 0, 3: 1, 4: 1}))[3] == "not-run"


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


TAIL = """\
object Price {
  def net(gross: Int): Int = {
    val result = gross - tax(gross)
    if (result < 0) {
      warn(result)
    }
    result
  }
}
"""


def test_a_name_alone_that_has_no_entry_is_left_open_when_the_code_in_front_of_it_ran() -> None:
    # scoverage counts no plain name: the value of a Scala function that ends with one has no entry in its exports
    assert answers("a.scala", TAIL, by_line({3: 1, 4: 1, 5: 0}))[7] == "not-provable"
    assert answers("a.scala", TAIL, by_line({3: 0, 4: 0, 5: 0}))[7] == "not-run"
    assert answers("a.scala", TAIL, by_line({3: 1, 4: 1, 5: 0, 7: 0}))[7] == "not-run"


JUMP = """\
fun login(online: Boolean) = flow {
    if (!online) {
        emit(stale())
        return@flow
    }
    emit(fresh())
}
"""


@pytest.mark.parametrize("jump", ["return@flow", "return"])
def test_so_is_a_jump_alone(jump: str) -> None:
    # Kover has no entry for a `return@flow` of a lambda that is suspended
    head = JUMP.replace("return@flow", jump)
    facts = FileFacts(Grain.COMPILED, {1: 3, 2: 8, 3: 21, 6: 9})
    assert answers("a.kt", head, facts)[4] == "not-provable"
    assert answers("a.kt", head, facts._replace(counts={1: 3, 2: 8, 3: 0, 6: 9}))[4] == "not-run"


@pytest.mark.parametrize("line", ["stop()", "return@flow late()", "a.b"])
def test_other_lines_without_an_entry_did_not_run(line: str) -> None:
    facts = FileFacts(Grain.COMPILED, {1: 3, 2: 8, 3: 21, 6: 9})
    assert answers("a.kt", JUMP.replace("return@flow", line), facts)[4] == "not-run"


def test_a_jump_right_behind_the_line_that_decides_about_it_did_not_run() -> None:
    head = JUMP.replace("        emit(stale())\n", "")
    assert answers("a.kt", head, FileFacts(Grain.COMPILED, {1: 3, 2: 8, 5: 9}))[3] == "not-run"


DEFAULTS = """\
<?php
function zone(
    string $name,
    ?string $zone = null
) {
    $found = look($name);
    return $found;
}
"""


def test_a_default_value_without_an_entry_is_left_open_when_the_function_ran() -> None:
    # PHPUnit's Clover has no entry for the lines of a list of parameters
    assert answers("a.php", DEFAULTS, by_line({6: 40, 7: 40}))[4] == "not-provable"
    assert answers("a.php", DEFAULTS, by_line({6: 0, 7: 0}))[4] == "not-run"
    assert answers("a.php", DEFAULTS, by_line({4: 0, 6: 40, 7: 40}))[4] == "not-run"
