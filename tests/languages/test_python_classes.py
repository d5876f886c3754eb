"""Each class of a changed Python line, with the near miss that owes."""

from __future__ import annotations

from textwrap import dedent

import pytest

from linewitness.model import LineOptions
from tests.support.texts import change, classes, marked


def added(head: str) -> list[str]:
    """The classes of a new file, without its blank lines."""
    return [row for row in marked("", dedent(head)) if not row.startswith("blank")]


def test_blank_and_comment_lines_owe_nothing() -> None:
    head = "x = 1\n\n  # note\n\t\n\x0c\n# type: ignore\n"
    assert classes(change("", head)) == {
        1: "statement",
        2: "blank",
        3: "comment",
        4: "blank",
        5: "blank",
        6: "type-comment",
    }


def test_a_line_that_looks_like_a_comment_inside_a_string_owes() -> None:
    assert added('x = """\n# not a comment\n"""\n') == [
        'statement: x = """',
        "statement: # not a comment",
        'statement: """',
    ]


def test_a_blank_line_inside_a_string_owes() -> None:
    assert classes(change("", 'x = """\n\n"""\n'))[2] == "statement"


def test_blank_and_comment_lines_inside_brackets_owe_nothing() -> None:
    assert classes(change("", "x = [\n\n    # one\n    1,\n]\n")) == {
        1: "statement",
        2: "blank",
        3: "comment",
        4: "statement",
        5: "punctuation",
    }


@pytest.mark.parametrize(
    "doc", ['"""one"""', "'one'", 'r"""one"""', '("one"\n  "two")', 'u"one"', '"""one\n\n  # two\n"""']
)
def test_docstrings_of_modules_classes_and_functions_owe_nothing(doc: str) -> None:
    assert set(classes(change("", doc + "\n")).values()) == {"docstring"}
    body = "\n    ".join(doc.split("\n"))
    for head in (f"def f():\n    {body}\n", f"class A:\n    {body}\n"):
        found = classes(change("", head))
        assert found.pop(1) == "definition"
        assert set(found.values()) == {"docstring"}


@pytest.mark.parametrize("text", ['f"""one"""', 'b"one"', '"one" f"{x}"', '"one".strip()', '"one", "two"'])
def test_other_expressions_where_a_docstring_could_stand_owe(text: str) -> None:
    assert classes(change("", f"def f(x):\n    {text}\n"))[2] == "statement"


def test_a_string_that_is_not_first_owes() -> None:
    assert classes(change("", 'x = 1\n"""two"""\n'))[2] == "statement"


def test_code_behind_a_docstring_on_its_line_owes() -> None:
    assert classes(change("", '"""doc"""; x = 1\n'))[1] == "statement"


def test_branches() -> None:
    head = """\
        if a:
            x
        elif b:
            x
        else:
            x
        while a:
            x
        for a in b:
            x
        with a as b:
            x
        assert a
        x = a if b else c
        x = a and b
        x = [a for a in b if a]
        x = [a for a in b]
        match a:
            case 1:
                x
        try:
            x
        except A:
            x
        finally:
            x
        """
    rows = [
        row
        for row in added(head)
        if row not in ("statement: x", "keyword: try:", "keyword: finally:", "keyword: else:")
    ]
    assert [row.partition(":")[0] for row in rows] == ["branch"] * 9 + ["statement"] + ["branch"] * 3


def test_every_line_of_a_conditional_expression_is_a_branch() -> None:
    head = "x = f(\n    1,\n    a\n    if b\n    else c,\n)\n"
    assert list(classes(change("", head)).values()) == [
        "statement",
        "statement",
        "branch",
        "branch",
        "branch",
        "punctuation",
    ]


def test_definitions_reach_from_the_first_decorator_to_the_body() -> None:
    head = """\
        @a
        @b(
            1
        )
        def f(
            x,
            y=2,
        ) -> (
            int
        ):
            return x
        class A(
            B,
        ):
            x = 1
        """
    assert [row.partition(":")[0] for row in added(head)] == [
        *["definition"] * 3,
        "punctuation",
        *["definition"] * 5,
        "punctuation",
        "statement",
        *["definition"] * 2,
        "punctuation",
        "statement",
    ]


def test_global_and_nonlocal_owe_as_the_definition_of_their_function() -> None:
    assert classes(change("", "def f():\n    global x\n    x = 1\n"))[2] == "definition"


def test_a_bare_annotation_is_a_declaration_in_a_function_only() -> None:
    assert classes(change("", "def f():\n    x: int\n"))[2] == "declaration"
    assert classes(change("", "class A:\n    x: int\n"))[2] == "definition"
    assert classes(change("", "x: int\n"))[1] == "statement"
    assert classes(change("", "def f(self):\n    self.x: int\n"))[2] == "statement"
    assert classes(change("", "def f():\n    x: int = 1\n"))[2] == "statement"


def test_closing_brackets_owe_when_nothing_else_of_their_statement_does() -> None:
    base = "x = f(\n    1\n    )\ny = 2\n"
    assert marked(base, "x = f(\n    1\n).a(\n)\ny = 2\n") == ["statement: ).a(", "punctuation: )"]
    assert marked("x = (\n    1\n)\n", "x = (\n    1\n,)\n") == ["statement: ,)"]


def test_a_bare_clause_owes_when_nothing_in_its_suite_does() -> None:
    assert marked("if a:\n    x\nif 1:\n    y\n", "if a:\n    x\nelse:\n    y\n") == ["branch: else:"]
    assert marked("if a:\n    x\n", "if a:\n    x\nelse:\n    y\n") == ["keyword: else:", "statement: y"]
    assert marked("if 1:\n    x\nfinal()\n", "try:\n    x\nfinally:\n    final()\n")[0] == "statement: try:"


def test_several_statements_on_a_line_owe_as_the_strictest() -> None:
    assert added("x = 1; y = a or b\n") == ["branch: x = 1; y = a or b"]
    assert added("if a: return_ = 1\n") == ["branch: if a: return_ = 1"]


def test_an_import_that_only_moved_within_its_scope_owes_nothing() -> None:
    assert marked("import b\nimport a\n", "import a\nimport b\n") == ["import-reshuffle: import a"]
    assert marked("from m import b, a\n", "from m import a, b\n") == ["import-reshuffle: from m import a, b"]
    assert marked("from m import a, b\n", "from m import (\n    a,\n    b,\n)\n", LineOptions(reformatted="owe")) == [
        "import-reshuffle: from m import (",
        "import-reshuffle: a,",
        "import-reshuffle: b,",
        "import-reshuffle: )",
    ]
    assert marked("import a, b\n", "import a\nimport b\n") == [
        "import-reshuffle: import a",
        "import-reshuffle: import b",
    ]


@pytest.mark.parametrize(
    ("base", "head"),
    [
        ("import b\nx\n", "import a\nx\n"),
        ("import a\nx\n", "import a as b\nx\n"),
        ("from m import a\nx\n", "from .m import a\nx\n"),
        ("from .m import a\nx\n", "from ..m import a\nx\n"),
        ("from m import a\nx\n", "from m import *\nx\n"),
        ("from m import a\nx\n", "from n import a\nx\n"),
        ("import a\ndef f():\n    x\n", "def f():\n    import a\n    x\n"),
        ("try:\n    import a\nexcept E:\n    b\n", "import a\ntry:\n    c\nexcept E:\n    b\n"),
        ("if x:\n    import a\n    c\nelse:\n    b\n", "if x:\n    c\nelse:\n    b\n    import a\n"),
        ("from a import f\nfrom b import f\n", "from b import f\nfrom a import f\n"),
        ("from a import *\nfrom b import g\n", "from b import g\nfrom a import *\n"),
        ("import a\n", "import a\nimport a\n"),
    ],
)
def test_an_import_that_is_new_to_its_place_or_whose_order_matters_owes(base: str, head: str) -> None:
    rows = [row for row in marked(base, head) if "import" in row.partition(": ")[2]]
    assert rows
    assert not any(row.startswith("import-reshuffle") for row in rows)


def test_a_new_import_owes_and_its_neighbours_do_not() -> None:
    head = "import a\nimport b\nimport c\n"
    assert marked("import c\nimport a\n", head) == ["import-reshuffle: import a", "statement: import b"]


def test_code_beside_an_import_that_only_moved_owes() -> None:
    assert marked("import a\nimport b\n", "import b\nimport a; f()\n") == ["statement: import a; f()"]
    assert marked("import a\nimport b\n", "import b\nimport a; a = b\n") == ["statement: import a; a = b"]


def test_removing_code_beside_an_import_that_only_moved_leaves_a_deletion_point() -> None:
    assert marked("import a; f()\nimport b\nx = 1\n", "import b\nimport a\nx = 1\n") == [
        "deletion: import b",
        "import-reshuffle: import a",
    ]
    assert marked("x = 1\nimport a; f()\ny = 2\n", "import a\nx = 1\ny = 2\n")[-1] == "deletion: y = 2"


def test_removing_an_import_leaves_a_deletion_point() -> None:
    assert marked("import a\nimport b\nx = 1\n", "import a\nx = 1\n") == ["deletion: x = 1"]
    assert marked("from m import a, b\nx = 1\n", "from m import a\nx = 1\n") == ["deletion: from m import a"]


TYPING = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import a\n"


def test_the_suite_of_a_type_checking_test_owes_nothing_and_its_head_does() -> None:
    head = TYPING + "    if x:\n        import b\nelse:\n    import c\n    if y:\n        d\n"
    assert added(head) == [
        "statement: from typing import TYPE_CHECKING",
        "branch: if TYPE_CHECKING:",
        "typing-only: import a",
        "typing-only: if x:",
        "typing-only: import b",
        "keyword: else:",
        "statement: import c",
        "branch: if y:",
        "statement: d",
    ]


def test_an_attribute_of_the_typing_module_counts() -> None:
    assert added("import typing as t\nif t.TYPE_CHECKING:\n    import a\n")[2] == "typing-only: import a"


@pytest.mark.parametrize(
    "head",
    [
        "TYPE_CHECKING = True\n" + TYPING,
        TYPING + "TYPE_CHECKING = True\n",
        TYPING + "def f(TYPE_CHECKING): pass\n",
        TYPING + "for TYPE_CHECKING in x: pass\n",
        TYPING + "from x import *\n",
        TYPING + "from x import TYPE_CHECKING\n",
        TYPING + "import x as TYPE_CHECKING\n",
        TYPING + "globals()['TYPE_CHECKING'] = 1\n",
        TYPING + "class TYPE_CHECKING: pass\n",
        TYPING + "def f():\n    global TYPE_CHECKING\n",
        TYPING + "(TYPE_CHECKING := 1)\n",
        TYPING + "del TYPE_CHECKING\n",
        TYPING + "with x as TYPE_CHECKING: pass\n",
        TYPING.replace("from typing", "from .typing"),
        TYPING.replace("from typing", "from nottyping"),
        TYPING.replace("if TYPE", "if not TYPE"),
        TYPING.replace("CHECKING:", "CHECKING or x:"),
        "import typing\ntyping.TYPE_CHECKING = True\nif typing.TYPE_CHECKING:\n    import a\n",
        "import typing\nimport x as typing\nif typing.TYPE_CHECKING:\n    import a\n",
        "import typing\ntyping = x\nif typing.TYPE_CHECKING:\n    import a\n",
        "import x as typing\nif typing.TYPE_CHECKING:\n    import a\n",
        "def f():\n    from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import a\n",
    ],
)
def test_any_rebinding_of_the_name_makes_the_suite_owe(head: str) -> None:
    assert "typing-only: import a" not in added(head)
    assert "statement: import a" in added(head)


def test_bodies_of_overloads_owe_nothing() -> None:
    head = "from typing import overload\nclass A:\n    @overload\n    def f(self): ...\n"
    head += "    @overload\n    def g(self):\n        x = 1\n"
    assert added(head)[2:] == [
        "definition: @overload",
        "definition: def f(self): ...",
        "definition: @overload",
        "definition: def g(self):",
        "typing-only: x = 1",
    ]


def test_bodies_of_functions_with_an_unproved_overload_owe() -> None:
    assert "statement: x = 1" in added("def overload(f): return f\n@overload\ndef g():\n    x = 1\n")


def test_a_bare_ellipsis_is_typing_only_and_does_not_hide_what_it_replaced() -> None:
    assert added("class A:\n    ...\n") == ["definition: class A:", "typing-only: ..."]
    assert marked("def f(a):\n    guard(a)\n", "def f(a):\n    ...\n") == ["deletion: def f(a):", "typing-only: ..."]


def test_source_that_does_not_parse_owes_for_all_but_blanks_and_comments() -> None:
    assert added("def f(:\n\n    # note\n    return 1\n") == [
        "definition: def f(:",
        "comment: # note",
        "statement: return 1",
    ]


def test_a_comment_that_may_be_in_a_string_of_broken_source_owes() -> None:
    assert "statement: # note" in added('def f(:\n    x = """\n# note\n')


def test_a_python_2_print_is_just_a_statement() -> None:
    assert added('print "x"\n') == ['statement: print "x"']


@pytest.mark.parametrize(
    "head",
    [
        "type X[T: int = str] = list[T]\n",
        "def f[T = int, *Ts = *tuple[int], **P = [int]](a: T) -> T:\n    return a\n",
        "class A[T = dict[str, int], U = (lambda: 1)]:\n    x = 1\n",
        'x = f"{x!r:>{w}} {"a" + f"{"b"}"}"\n',
        't"hello {x}"\n',
        "try:\n    a\nexcept A, B:\n    b\n",
        "try:\n    a\nexcept* (A, B) as e:\n    b\n",
        "match x:\n    case {'a': 1, **r} | [1, *_] if y:\n        pass\n",
        "with (open(a) as b, open(c) as d,):\n    pass\n",
        "a[*b]\n",
        "async def f():\n    return [x async for x in y]\n",
        "match = 1\nmatch(x)\ntype = 3\n",
        "ñ = 1\n",
        "if (n := 10) > 5: pass\n",
        "\ufeffx = 1\n",
    ],
)
def test_the_syntax_of_3_9_to_3_14_is_understood(head: str) -> None:
    torn = added(head + "# c\n'''\n# d\n'''\n")
    assert "comment: # c" in torn


def test_a_crlf_file_is_like_any_other() -> None:
    head = b'"""doc"""\r\nx = 1\r\n\r\n# note\r\ny = """\r\n# no\r\n"""\r\n'
    assert list(classes(change(None, head)).values()) == [
        "docstring", "statement", "blank", "comment", "statement", "statement", "statement",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "head",
    [
        "x = " + "(" * 10_000 + ")" * 10_000 + "\n",
        "x = " + "(\n" * 3_000 + ")\n" * 3_000,
        "x = " + "-" * 20_000 + "1\n",
        "x = " + "+".join(["a"] * 20_000) + "\n",
        "x = '" + "a" * 1_000_000 + "'\n",
        "".join("    " * depth + "if a:\n" for depth in range(90)) + "    " * 90 + "x\n",
        "x = [\n" + "    1,\n" * 20_000 + "]\n",
    ],
    ids=["parens", "paren-lines", "unary", "chain", "long-line", "blocks", "table"],
)
def test_deep_and_long_text_is_judged_without_a_crash(head: str) -> None:
    assert len(classes(change(None, head))) == head.count("\n")
