"""The tables of languages and the engine that reads them, on cases that a table alone does not decide."""

from __future__ import annotations

import sys

import pytest

from linewitness.errors import Exit, UsageError
from linewitness.languages import classify, demands, tables
from linewitness.languages.grammar import wheels
from linewitness.languages.grammar.table import Grammar, Table
from linewitness.model import Kind, LineOptions
from tests.support.texts import change, classes


def told(base: str | None, head: str, path: str) -> list[str]:
    lines = head.split("\n")
    return [f"{reason}: {lines[line - 1].strip()}" for line, reason in classes(change(base, head, path)).items()]


@pytest.mark.parametrize("language", sorted(tables.MODULES))
def test_the_query_of_every_table_fits_each_of_its_grammars(language: str) -> None:
    table = tables.table(language)
    assert table is not None
    assert table.name == language
    for suffix, _grammar in table.grammars:
        root = wheels.parse(table, suffix, b"x\n").root_node
        assert "block" in wheels.marks(table, suffix, root)[root.id]


def test_a_language_without_its_grammar_is_refused_with_the_name_of_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    wheels._language.cache_clear()
    monkeypatch.setitem(sys.modules, "tree_sitter_go", None)
    with pytest.raises(UsageError, match=r"Go, and tree-sitter-go .* pip install 'linewitness\[go\]'") as raised:
        classify(change(None, "package a\n", "a.go"), LineOptions(), lambda _: False)
    assert raised.value.exit is Exit.USAGE


def test_a_grammar_with_other_names_than_the_table_is_refused() -> None:
    table = Table("x", "X", "x", (("", Grammar("tree_sitter_go")),), "(no_such_node) @block")
    with pytest.raises(UsageError, match=r"other names than the table for X knows.*linewitness\[x\]"):
        wheels.parse(table, "", b"package a\n")


def test_a_table_with_a_mark_that_the_engine_does_not_know_is_a_bug_in_the_table() -> None:
    table = Table("x", "X", "x", (("", Grammar("tree_sitter_go")),), "(source_file) @blocks")
    with pytest.raises(ValueError, match="blocks"):
        wheels.parse(table, "", b"")


def test_a_changed_header_of_a_function_that_was_there_owes_its_entry() -> None:
    base = "function f(a, b) {\n  return a - b;\n}\n"
    text = change(base, base.replace("a, b", "b, a"), "a.js")
    found = classify(text, LineOptions(), lambda _: False).obligations
    assert [(owed.kind, owed.line) for owed in found] == [(Kind.DEFINITION, 1)]
    (demand,) = demands(text, found)
    assert [function.name for function in demand.functions] == ["f"]


def test_the_header_of_a_new_function_is_settled_by_its_body() -> None:
    assert told("var a = 1;\n", "var a = 1;\nfunction f(\n  b,\n) {\n  return b;\n}\n", "a.js") == [
        "declaration: function f(",
        "declaration: b,",
        "punctuation: ) {",
        "statement: return b;",
        "punctuation: }",
    ]


def test_a_new_function_without_a_body_to_run_owes_its_entry() -> None:
    assert told("", "function f() {}\n", "a.js") == ["definition: function f() {}"]


BRACES = "if (a) {\n  b();\n}\nc();\n"


def test_a_brace_that_moves_code_into_another_suite_owes() -> None:
    moved = "if (a) {\n  b();\nc();\n}\n"
    text = change(BRACES, moved, "a.c")
    wrapped = change("void f() {\n" + BRACES + "}\n", "void f() {\n" + moved + "}\n", "a.c")
    assert "deletion" in classes(wrapped).values() or "statement" in classes(wrapped).values()
    assert classify(text, LineOptions(), lambda _: False).obligations


def test_a_brace_of_a_new_statement_owes_nothing() -> None:
    head = "void f() {\n  if (a) {\n    b();\n  }\n  c();\n}\n"
    assert told("void f() {\n  c();\n}\n", head, "a.c") == ["branch: if (a) {", "statement: b();", "punctuation: }"]


def test_wrapping_old_code_owes_the_condition_only() -> None:
    base = "void f() {\n  b();\n  c();\n}\n"
    head = "void f() {\n  if (a) {\n  b();\n  }\n  c();\n}\n"
    assert told(base, head, "a.c") == ["branch: if (a) {", "punctuation: }"]


def test_a_new_else_in_front_of_old_code_owes() -> None:
    base = "void f() {\n  if (a) {\n    b();\n    c();\n  }\n}\n"
    head = "void f() {\n  if (a) {\n    b();\n  } else {\n    c();\n  }\n}\n"
    assert told(base, head, "a.c") == ["branch: } else {"]


@pytest.mark.parametrize(
    ("path", "base", "head"),
    [
        ("a.js", "f(1, 2);\n", "f(1,\n  2);\n"),
        ("a.go", "package a\n\nfunc f() {\n\tg(1,\n\t\t2)\n}\n", "package a\n\nfunc f() {\n\tg(1, 2)\n}\n"),
        ("A.java", "class A { int f() { return 1; } }\n", "class A {\n  int f() {\n    return 1;\n  }\n}\n"),
        ("a.rs", "fn f() { g(1) }\n", "fn f() {\n    g(1)\n}\n"),
        ("a.kt", "fun f(): Int { return 1 }\n", "fun f(): Int {\n  return 1\n}\n"),
        ("a.rb", "def f\n  g(1, 2)\nend\n", "def f\n  g(1,\n    2)\nend\n"),
        ("a.php", "<?php\nf(1, 2);\n", "<?php\nf(1,\n  2);\n"),
        ("a.cs", "class A { int F() { return 1; } }\n", "class A {\n  int F() {\n    return 1;\n  }\n}\n"),
        ("a.sh", "if a; then b c; fi\n", "if a; then   b \\\n  c; fi\n"),
    ],
)
def test_another_layout_of_the_same_tree_owes_nothing(path: str, base: str, head: str) -> None:
    assert set(classes(change(base, head, path)).values()) <= {"reformatted", "punctuation", "keyword"}


def test_a_line_end_that_changes_the_meaning_is_no_layout() -> None:
    base = "function f() {\n  return x;\n}\n"
    assert "statement" in classes(change(base, "function f() {\n  return\n    x;\n}\n", "a.js")).values()


def test_a_comment_behind_a_line_of_code_owes_nothing() -> None:
    base = "function f(a) {\n  g(a);\n  return 1;\n}\n"
    head = "function f(a) { // new\n  g(a);\n  return 2;\n}\n"
    assert told(base, head, "a.js") == ["reformatted: function f(a) { // new", "statement: return 2;"]


def test_an_import_in_another_place_owes_nothing() -> None:
    base = "import a from 'a';\nimport b from 'b';\na(b);\n"
    assert set(classes(change(base, "import b from 'b';\nimport a from 'a';\na(b);\n", "a.js")).values()) == {
        "import-reshuffle"
    }


def test_an_import_that_gives_old_code_another_meaning_owes() -> None:
    base = "import { round } from './num';\nround(1);\n"
    assert told(base, base.replace("./num", "./evil"), "a.js") == [
        "statement: import { round } from './evil';",
    ]


def test_an_import_that_only_new_code_uses_owes_nothing() -> None:
    assert told("f();\n", "import { g } from 'g';\nf();\ng();\n", "a.js") == [
        "declaration: import { g } from 'g';",
        "statement: g();",
    ]


def test_an_import_for_its_effect_owes() -> None:
    assert told("f();\n", "import './setup';\nf();\n", "a.js") == ["statement: import './setup';"]
    assert told("package a\n", 'package a\n\nimport _ "b"\n', "a.go") == ["blank: ", 'statement: import _ "b"']


def test_a_removed_import_whose_name_is_still_used_leaves_a_deletion_point() -> None:
    base = "import { fetch } from './safe';\nfetch(1);\n"
    assert told(base, "fetch(1);\n", "a.js") == ["deletion: fetch(1);"]


def test_removed_code_leaves_a_deletion_point_and_a_removed_comment_does_not() -> None:
    base = "void f() {\n  check();\n  // why\n  g();\n}\n"
    assert told(base, "void f() {\n  // why\n  g();\n}\n", "a.c") == ["deletion: g();"]
    assert told(base, "void f() {\n  check();\n  g();\n}\n", "a.c") == []


def test_code_removed_at_the_end_of_a_suite_is_owed_by_its_header() -> None:
    base = "void f() {\n  g();\n}\nvoid h() {\n}\n"
    assert told(base, "void f() {\n}\nvoid h() {\n}\n", "a.c") == ["deletion: void f() {"]


@pytest.mark.parametrize(
    ("path", "head", "line"),
    [
        ("A.java", "class A {\n  // \\u000a int x = f();\n}\n", 2),
        ("a.go", "//go:build evil\n\npackage a\n", 1),
        ("a.go", 'package a\n\n// int f(void) { return 1; }\nimport "C"\n', 3),
        ("a.js", "x = a\n<!-- b\n", 2),
        ("a.jsx", "/** @jsx h */\nx = 1\n", 1),
        ("a.sc", "//> using dep evil\nval x = 1\n", 1),
    ],
)
def test_a_comment_that_a_compiler_obeys_owes(path: str, head: str, line: int) -> None:
    assert classes(change(None, head, path))[line] == "statement"


@pytest.mark.parametrize(
    ("path", "head", "line"),
    [
        ("a.js", "x = `\n// no comment\n`;\n", 2),
        ("a.rb", "x = <<~T\n  # no comment\n\nT\n", 2),
        ("a.rb", "x = <<~T\n  # no comment\n\nT\n", 3),
        ("a.php", "<?php\n$x = <<<T\n# no comment\nT;\n", 3),
        ("a.sh", "cat <<T\n# no comment $x\nT\n", 2),
        ("a.scala", 'val x = s"""\n// no comment $y\n"""\n', 2),
        ("a.kt", 'val x = """\n// no comment\n"""\n', 2),
        ("a.swift", 'let x = """\n// no comment\n"""\n', 2),
        ("a.cs", 'var x = @"\n// no comment\n";\n', 2),
        ("a.rs", 'fn f() { let x = r#"\n// no comment\n"#; }\n', 2),
        ("a.go", "package a\n\nvar x = `\n// no comment\n`\n", 4),
        ("a.php", "text\n# no comment\n<?php f();\n", 2),
    ],
)
def test_text_that_looks_like_a_comment_inside_of_a_string_owes(path: str, head: str, line: int) -> None:
    assert classes(change(None, head, path))[line] == "statement"


def test_a_heredoc_belongs_to_the_statement_that_begins_it() -> None:
    found = classify(change(None, "f\nx = <<~T\n  a\nT\ng\n", "a.rb"), LineOptions(), lambda _: False).obligations
    assert [owed.statement[0] for owed in found if owed.line in (2, 3)] == [2, 2]


def test_what_decides_at_compile_time_about_old_code_owes() -> None:
    base = "int f() {\n  g();\n  return 1;\n}\n"
    head = "int f() {\n#ifdef X\n  g();\n#endif\n  return 1;\n}\n"
    assert told(base, head, "a.c") == ["branch: #ifdef X", "branch: #endif"]
    old = "fn f() {\n    g();\n}\n"
    assert told(old, '#[cfg(feature = "x")]\n' + old, "a.rs") == ['branch: #[cfg(feature = "x")]']


def test_a_constant_is_witnessed_by_the_code_that_uses_it() -> None:
    text = change(None, "package a\n\nconst limit = 3\n\nfunc f() int {\n\treturn limit\n}\n", "a.go")
    found = classify(text, LineOptions(), lambda _: False).obligations
    demand = demands(text, found)[0]
    assert (found[0].line, demand.substitute, demand.tokens[0].text) == (3, 6, "limit")


def test_lines_beside_a_parse_error_owe_and_others_do_not() -> None:
    head = "// first\n\nfunction f() {\n  return 1;\n}\n\nvar = = 3;\n// beside\n"
    found = classes(change(None, head, "a.js"))
    assert found[1] == "comment"
    assert {found[7], found[8]} == {"statement"}


def test_text_of_which_the_grammar_makes_nothing_owes_line_by_line() -> None:
    head = "(\n" * 3000 + "\n// c\n"
    found = classify(change(None, head, "a.js"), LineOptions(), lambda _: False)
    assert [owed.line for owed in found.obligations] == [*range(1, 3001), 3002]
    assert len(demands(change(None, head, "a.js"), found.obligations)) == 3001


def test_test_code_inside_of_a_source_file_is_not_exempt() -> None:
    head = "#[cfg(test)]\nmod tests {\n    #[test]\n    fn t() {\n        assert!(true);\n    }\n}\n"
    assert classes(change("", head, "a.rs"))[5] == "statement"


def test_test_code_inside_of_a_source_file_is_generated_when_the_settings_say_so() -> None:
    head = "fn g() {\n    h();\n}\n#[test]\nfn t() {\n    assert!(true);\n}\n"
    found = classes(change("", head, "a.rs"), LineOptions(inline_tests="generated"))
    assert (found[2], found[6]) == ("statement", "generated")


def test_line_ends_of_either_kind_and_a_byte_order_mark_change_nothing() -> None:
    plain = "function f() {\n  return 1;\n}\n"
    marked = b"\xef\xbb\xbf" + plain.replace("\n", "\r\n").encode()
    assert classes(change(None, plain, "a.js")) == classes(change(None, marked, "a.js"))


def test_a_scope_is_the_dotted_name_of_the_definitions_around_a_line() -> None:
    head = "namespace n {\nclass A {\n  void f() {\n    g();\n  }\n};\n}\n"
    found = classify(change(None, head, "a.cpp"), LineOptions(), lambda _: False).obligations
    assert [(owed.line, owed.scope) for owed in found] == [(4, "n.A.f")]


def test_a_header_is_read_as_the_language_that_its_words_are_of() -> None:
    head = "template <typename T>\nT twice(T x) {\n  return x + x;\n}\n"
    assert classes(change(None, head, "a.h"))[3] == "statement"
    assert classes(change(None, head, "a.h"))[1] == "declaration"


@pytest.mark.parametrize(
    ("path", "head", "line"),
    [
        ("a.php", "<?php\ninterface A\n{\n    public function f(int $n = 0): int;\n}\n", 4),
        ("A.cs", "interface IA\n{\n    int F(int n = 0);\n}\n", 3),
        ("a.cpp", "template <typename T,\n          int N = 3>\nT f(T x);\n", 2),
    ],
)
def test_a_default_that_nothing_evaluates_owes_nothing(path: str, head: str, line: int) -> None:
    assert classes(change(None, head, path))[line] == "declaration"


def test_a_default_of_a_function_with_a_body_owes() -> None:
    head = "<?php\nfunction f(\n    int $n = 0,\n): int {\n    return $n;\n}\n"
    assert classes(change(None, head, "a.php"))[3] == "statement"


@pytest.mark.parametrize(
    ("path", "head"),
    [
        ("A.java", "class A {\n int f(int n) {\n  switch (n)\n  {\n   case 1:\n    return 1;\n  }\n }\n}\n"),
        ("A.cs", "class A {\n int F(int n) {\n  switch (n)\n  {\n   case 1:\n    return 1;\n  }\n }\n}\n"),
        ("A.cs", "class A {\n int F(int n) {\n  return n switch\n  {\n   1 => 2,\n  };\n }\n}\n"),
        ("a.php", "<?php\nfunction f($n) {\n  return match ($n)\n  {\n    1 => 2,\n  };\n}\n"),
    ],
)
def test_a_brace_on_a_line_of_its_own_owes_nothing_with_the_choice_it_opens(path: str, head: str) -> None:
    lines = head.split("\n")
    assert classes(change(None, head, path))[lines.index("  {") + 1] == "punctuation"


def test_a_bracket_that_begins_a_statement_is_code() -> None:
    assert classes(change(None, "def f(n)\n  [\n    n\n  ].min\nend\n", "a.rb"))[2] == "statement"


def test_an_object_made_with_arguments_is_no_declaration_of_a_function() -> None:
    head = "class A;\nnamespace n {\nstruct B;\nint g(int);\n}\nvoid f() {\n  Guard guard(lock);\n}\n"
    found = classes(change(None, head, "a.cpp"))
    assert [found[line] for line in (1, 3, 4, 7)] == ["declaration", "declaration", "declaration", "statement"]


def test_an_assignment_to_what_a_call_returns_is_no_virtual_function() -> None:
    head = "struct A {\n  virtual int g() = 0;\n  void f() {\n    size() = 0;\n  }\n};\n"
    found = classes(change(None, head, "a.cpp"))
    assert (found[2], found[4]) == ("declaration", "statement")


@pytest.mark.parametrize(
    ("path", "head", "line"),
    [
        ("a.hpp", "struct A {\n  void f(int a,\n         int b = g());\n};\n", 3),
        ("a.scala", "trait A {\n  def f(\n    x: Int = g(),\n  ): Int\n}\n", 3),
    ],
)
def test_a_default_of_a_function_that_is_only_declared_owes_where_a_call_evaluates_it(
    path: str, head: str, line: int
) -> None:
    assert classes(change(None, head, path))[line] == "statement"


def test_an_array_of_objects_is_made_and_an_array_of_numbers_is_only_declared() -> None:
    found = classes(change(None, "void f() {\n  Piece all[3];\n  int some[3];\n  g();\n}\n", "a.cpp"))
    assert (found[2], found[3]) == ("statement", "declaration")
