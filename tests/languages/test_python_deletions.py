"""Where removed code leaves its mark."""

from __future__ import annotations

from textwrap import dedent

import pytest

from linewitness.model import LineOptions
from tests.support.texts import change, classes, marked


def after(base: str, head: str) -> list[str]:
    return marked(dedent(base), dedent(head))


FUNCTION = """\
    def f(a):
        first(a)
        guard(a)
        last(a)

    def g():
        return 1
    """


def test_the_statement_that_now_follows_in_the_suite_owes() -> None:
    assert after(FUNCTION, FUNCTION.replace("        guard(a)\n", "")) == ["deletion: last(a)"]


def test_the_header_of_the_suite_owes_when_nothing_follows() -> None:
    assert after(FUNCTION, FUNCTION.replace("        last(a)\n", "")) == ["deletion: def f(a):"]


def test_a_docstring_or_declaration_that_follows_does_not_answer() -> None:
    base = "def f(a):\n    guard(a)\n    x: int\n    last(a)\n"
    assert marked(base, base.replace("    guard(a)\n", "")) == ["deletion: last(a)"]


def test_a_removed_definition_leaves_its_mark_on_what_follows() -> None:
    assert after(FUNCTION, "    def g():\n        return 1\n") == ["deletion: def g():"]


def test_code_removed_at_the_end_of_a_module_leaves_its_mark_on_the_last_statement() -> None:
    assert after(FUNCTION, FUNCTION[: FUNCTION.index("    def g")])[-1] == "deletion: def f(a):"


def test_a_removed_guard_whose_suite_is_dedented_is_replaced_by_the_suite() -> None:
    base = "def f(a):\n    if ok(a):\n        run(a)\n    return a\n"
    assert marked(base, "def f(a):\n    run(a)\n    return a\n") == ["statement: run(a)"]


def test_a_removed_else_leaves_its_mark_on_the_statement_it_belonged_to() -> None:
    base = "def f(a):\n    if a:\n        x()\n    else:\n        y()\n    return a\n"
    head = "def f(a):\n    if a:\n        x()\n    return a\n"
    assert marked(base, head) == ["deletion: if a:"]


def test_a_removed_handler_leaves_its_mark_on_the_try() -> None:
    base = "try:\n    x()\nexcept A:\n    y()\nexcept B:\n    z()\nend()\n"
    assert marked(base, base.replace("except B:\n    z()\n", "")) == ["deletion: try:"]


def test_a_removed_argument_leaves_its_mark_on_its_statement() -> None:
    base = "x = f(\n    1,\n    check=True,\n    last=2,\n)\n"
    assert marked(base, base.replace("    check=True,\n", "")) == ["deletion: x = f("]


def test_a_removed_decorator_leaves_its_mark_on_the_function() -> None:
    base = "class A:\n    @checked\n    def f(self):\n        return 1\n"
    assert marked(base, base.replace("    @checked\n", "")) == ["deletion: def f(self):"]


def test_a_removed_method_that_was_the_last_leaves_its_mark_on_the_class() -> None:
    base = "class A:\n    def f(self):\n        return 1\n\n    def g(self):\n        return 2\n\nx = 1\n"
    assert marked(base, base.replace("    def g(self):\n        return 2\n\n", "")) == ["deletion: class A:"]


def test_a_removed_statement_finds_its_suite_behind_other_changes() -> None:
    base = "a = 1\ndef f(a):\n    guard(a)\n    last(a)\n"
    assert marked(base, "a = 1\nb = 2\nc = 3\ndef f(a):\n    last(a)\n") == [
        "statement: b = 2",
        "statement: c = 3",
        "deletion: last(a)",
    ]


def test_a_removed_statement_of_a_function_whose_head_changed_too_still_leaves_a_mark() -> None:
    base = "def f(a):\n    keep(a)\n    guard(a)\n\nx = 1\n"
    head = "def f(a, b):\n    keep(a)\n\nx = 1\n"
    assert any(row.startswith("deletion") for row in marked(base, head))


@pytest.mark.parametrize(
    "removed",
    ["\n", "    # note\n", '    """doc"""\n', "    x: int\n", "    ...\n"],
    ids=["blank", "comment", "docstring", "declaration", "ellipsis"],
)
def test_removing_what_never_ran_owes_nothing(removed: str) -> None:
    assert marked(f"def f():\n{removed}    return 1\n", "def f():\n    return 1\n") == []


def test_removing_a_global_statement_leaves_a_mark() -> None:
    assert marked("def f():\n    global x\n    x = 1\n", "def f():\n    x = 1\n") == ["deletion: x = 1"]


def test_code_that_something_executable_replaced_leaves_no_mark() -> None:
    assert marked("x = 1\ny = 2\nz = 3\n", "x = 1\ny = 5\nz = 3\n") == ["statement: y = 5"]


def test_a_comment_does_not_take_the_place_of_code() -> None:
    assert marked("x = 1\nguard()\nz = 3\n", "x = 1\n# guard()\nz = 3\n") == ["comment: # guard()", "deletion: z = 3"]


def test_a_definition_that_only_moved_is_not_deleted() -> None:
    f, g = "def f():\n    a = 1\n    return a\n", "def g():\n    return 2\n"
    assert marked(f + g, g + f) == ["reformatted: def g():", "reformatted: return 2"]


def test_two_removals_that_point_to_one_line_make_one_obligation() -> None:
    base = "def f(a):\n    one(a)\n    # note\n    two(a)\n    last(a)\n"
    assert marked(base, "def f(a):\n    # note\n    last(a)\n") == ["deletion: last(a)"]


def test_the_setting_turns_deletion_points_off() -> None:
    head = dedent(FUNCTION).replace("    guard(a)\n", "")
    assert classes(change(dedent(FUNCTION), head), LineOptions(deletions="ignore")) == {}


def test_code_removed_from_source_that_does_not_parse_leaves_a_mark() -> None:
    assert marked("def f(:\n    guard()\n    x = 1\n", "def f(:\n    x = 1\n") == ["deletion: x = 1"]


def test_code_removed_from_a_base_that_did_not_parse_leaves_a_mark() -> None:
    assert marked("x = (\nguard()\ny = 1\n", "y = 1\n") == ["deletion: y = 1"]


def test_a_module_that_lost_all_of_its_code_has_no_line_left_to_owe() -> None:
    assert marked('"""doc"""\nx = 1\n', '"""doc"""\n') == []
