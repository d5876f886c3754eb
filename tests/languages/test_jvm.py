"""Java, Kotlin and Scala on their virtual machine: what their compilers count on which line, as JaCoCo tells it."""

from __future__ import annotations

import pytest

from linewitness.evidence.exported_rule import ExportedRule
from linewitness.evidence.formats.facts import SOME_ARM, BranchArm, FileFacts, Grain
from linewitness.evidence.formats.placing import placed
from linewitness.languages import classify, demands
from linewitness.model import LineOptions
from tests.support.texts import change, classes

IN_PART = 1
WHOLE = 2


def answers(path: str, head: str, rows: dict[int, int], *taken: int) -> dict[int, str]:
    """The answers by line. ``rows`` say how much of a line ran, ``taken`` on which lines a branch was taken."""
    text = change(None, head, path)
    owed = classify(text, LineOptions(), lambda _: False).obligations
    facts = FileFacts(
        Grain.COMPILED,
        {line: int(ran > 0) for line, ran in rows.items()},
        branches=tuple(BranchArm(line, SOME_ARM, True) for line in taken),
        complete={line: ran == WHOLE for line, ran in rows.items() if ran},
        solid=True,
    )
    rule = ExportedRule(head.encode(), placed(facts, head.encode(), path))
    return {each.line: str(rule.sight(demand).answer) for each, demand in zip(owed, demands(text, owed), strict=True)}


JAVA = [
    pytest.param("class A { int f() {\n  int x = a()\n    ? g()\n    : h();\n  return x;\n} }\n", 4, id="ternary"),
    pytest.param(
        "class A { int f() {\n  int x = switch (a) {\n    case 1 -> g();\n    default -> h();\n  };\n} }\n",
        4,
        id="rule",
    ),
    pytest.param(
        "class A { int f() {\n  return switch (a) {\n    case 1 -> g();\n    default -> {\n      i();\n"
        "      yield h();\n    }\n  };\n} }\n",
        6,
        id="yield in a block",
    ),
    pytest.param(
        "class A { int f() {\n  int x = switch (a) {\n    case 1:\n      yield g();\n    default:\n      yield h();\n"
        "  };\n} }\n",
        6,
        id="yield",
    ),
]
KOTLIN = [
    pytest.param("fun f(a: Boolean): Any =\n  if (a)\n    g()\n  else\n    h()\n", 5, id="if"),
    pytest.param("fun f(a: Boolean) {\n  val b = if (a) {\n    g()\n  } else {\n    h()\n  }\n}\n", 5, id="block"),
    pytest.param("fun f(a: Int): Any = when (a) {\n  1 -> g()\n  else ->\n    h()\n}\n", 4, id="when"),
    pytest.param("fun f(a: Int): Any = when (a) {\n  1 -> g()\n  else -> {\n    h() // i\n  }\n}\n", 4, id="comment"),
    pytest.param("fun f() {\n  val a = try {\n    g()\n  } catch (e: E) {\n    h()\n  }\n}\n", 5, id="catch"),
    pytest.param("fun f() {\n  a {\n    h()\n  }\n}\n", 3, id="lambda"),
    pytest.param("fun f() {\n  while (a()) {\n    b()\n    h()\n  }\n}\n", 4, id="loop"),
]
SCALA = [
    pytest.param("object A {\n  def f: Any =\n    if (a)\n      g\n    else\n      h(1)\n}\n", 6, id="if"),
    pytest.param("object A {\n  val b = if (a) {\n    g\n  } else {\n    h(1)\n  }\n}\n", 5, id="block"),
    pytest.param(
        "object A {\n  def f = a match {\n    case 1 =>\n      g\n    case _ =>\n      h(1)\n  }\n}\n", 6, id="case"
    ),
    pytest.param(
        "object A {\n  val b = try {\n    g\n  } catch {\n    case e: E =>\n      h(1)\n  }\n}\n", 6, id="catch"
    ),
    pytest.param("object A {\n  val b = try {\n    h(1)\n  } finally g\n}\n", 3, id="try"),
    pytest.param("object A {\n  val b = later {\n    h(1)\n  }\n}\n", 3, id="by name, in a block"),
    pytest.param("object A {\n  val b = later(\n    h(1)\n  )\n}\n", 3, id="by name"),
    pytest.param("object A {\n  def f = {\n    a getOrElse\n      h(1)\n  }\n}\n", 4, id="by name, behind an operator"),
    pytest.param("object A:\n  def f =\n    if a then\n      g\n    else\n      h(1)\n", 6, id="indented"),
]


@pytest.mark.parametrize(
    ("path", "head", "line"),
    [("a.java", *each.values) for each in JAVA]
    + [("a.kt", *each.values) for each in KOTLIN]
    + [("a.scala", *each.values) for each in SCALA],
)
def test_what_follows_a_choice_is_no_witness_for_its_last_arm(path: str, head: str, line: int) -> None:
    everything = dict.fromkeys(range(1, head.count("\n") + 1), WHOLE)
    assert answers(path, head, everything)[line] == "run"
    assert answers(path, head, {**everything, line: IN_PART})[line] == "not-provable"
    # a branch that was taken on the line is no part of what follows
    assert answers(path, head, {**everything, line: IN_PART}, line)[line] == "run"
    assert answers(path, head, {**everything, line: 0})[line] == "not-run"


def test_what_stands_behind_a_safe_call_may_be_skipped() -> None:
    head = "fun f(text: String?) {\n  val n = text\n    ?.trim()\n    ?.let { it }\n    ?.length\n}\n"
    rows = {2: WHOLE, 3: IN_PART, 4: IN_PART, 5: IN_PART}
    assert answers("a.kt", head, rows) == {2: "run", 3: "not-provable", 4: "not-provable", 5: "not-provable"}
    assert answers("a.kt", head, dict.fromkeys(rows, WHOLE)) == dict.fromkeys(rows, "run")


FACADE = "{0}\n@file:JvmMultifileClass\npackage a\n\nfun f(): Int {{\n    return 1\n}}\n"


@pytest.mark.parametrize("first", ["// A licence.", "", "/* A licence. */", '@file:JvmName("A")'])
def test_the_class_that_stands_for_several_files_is_counted_on_a_first_line_of_any_kind(first: str) -> None:
    assert answers("a.kt", FACADE.format(first), {1: WHOLE, 6: WHOLE})[6] == "run"


def test_code_on_the_first_line_of_kotlin_is_not_witnessed_by_that_class() -> None:
    assert answers("a.kt", "fun f() = g()\nfun h() = 1\n", {1: WHOLE, 2: WHOLE}) == {1: "not-provable", 2: "run"}
    assert answers("a.kt", "fun f() = g()\nfun h() = 1\n", {1: 0, 2: WHOLE})[1] == "not-run"


ANNOTATED = """\
/**
 */
public inline fun minOf(a: UShort, b: UShort, c: UShort): UShort {
}
/**
 */
public fun minOf(a: ULong, vararg other: ULong): ULong {
}
/**
 */
@SinceKotlin("1.4")
public fun minOf(a: UShort, vararg other: UShort): UShort {
}
"""


def test_an_annotation_with_a_value_runs_nothing_where_the_grammar_takes_the_value_for_code() -> None:
    # kotlin.comparisons: the same annotation is read well in other surroundings
    assert classes(change(None, ANNOTATED, "a.kt"))[11] == "declaration"


@pytest.mark.parametrize(
    "text", ['@Suppress("x")\n    (g())', '@Suppress("x") (g())', "@Suppress\n    (g())", "@A<B>(g())"]
)
def test_what_an_annotation_stands_in_front_of_is_code(text: str) -> None:
    found = classes(change(None, f"fun f() {{\n    {text}\n}}\n", "a.kt"))
    assert found[3 if "\n" in text else 2] == "statement"
