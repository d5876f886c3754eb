"""The proof that a definition was only laid out anew, and its limits."""

from __future__ import annotations

import ast
import random
import sysconfig
import tokenize
from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linewitness.languages.python.normal_form import equal, normal_form
from linewitness.languages.python.reformatted import Wording
from linewitness.languages.python.tree import parse
from linewitness.languages.source import read
from linewitness.model import LineOptions
from tests.support.texts import change, classes, marked


def form(text: str) -> list[str | bytes]:
    root = parse(read(text.encode()).data).root_node
    assert not root.has_error
    return list(normal_form(root))


SAME = [
    ("x = f(a, b)", "x = f(\n    a,\n    b,\n)"),
    ("x = a + b", "x = (\n    a\n    + b\n)"),
    ("x = 'a'", 'x = "a"'),
    ("x = 'a' 'b'", "x = 'ab'"),
    ("x = 'it\\'s'", 'x = "it\'s"'),
    ("x = r'a'", "x = 'a'"),
    ("x = u'a'", "x = 'a'"),
    ("x = b'a' b'b'", "x = b'ab'"),
    ("x = a + \\\n    b", "x = a + b"),
    ("x = [1, 2,]", "x = [1, 2]"),
    ("x = {1: 2,}", "x = {1: 2}"),
    ("x = (1, 2,)", "x = (1, 2)"),
    ("def f(a, b,): pass", "def f(a, b):\n    pass"),
    ("if (a): b", "if a:\n    b"),
    ("x = 1; y = 2", "x = 1\ny = 2"),
    ("x = 1  # one", "x = 1  # two"),
    ("from a import (b, c,)", "from a import b, c"),
    ("x = a not   in b", "x = a not in b"),
    ("return_ = (yield_)", "return_ = yield_"),
    ("with (open(x)) as f: pass", "with open(x) as f: pass"),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_layout_does_not_change_the_form(one: str, other: str) -> None:
    assert form(one + "\n") == form(other + "\n")


DIFFERENT = [
    ("x = (1,)", "x = (1)"),
    ("x = 1,", "x = 1"),
    ("x = a[1,]", "x = a[1]"),
    ("x = (a and b) and c", "x = a and b and c"),
    ("x = a < b < c", "x = (a < b) < c"),
    ("x = 'a'", "x = b'a'"),
    ("x = 'a'", "x = 'b'"),
    ("x = '\\n'", "x = r'\\n'"),
    ("x = f'{a}'", "x = '{a}'"),
    ("x = f'{a=}'", "x = f'{ a=}'"),
    ("x = t'{a}'", "x = t'{ a}'"),
    ("(x): int = 1", "x: int = 1"),
    ("x = 1", "x = 1.0"),
    ("x = a - (b - c)", "x = a - b - c"),
    ("x = -(a ** b)", "x = (-a) ** b"),
    ("if a:\n    b\n    c", "if a:\n    b\nc"),
    ("del (a, b)", "del a, b"),
    ("match x:\n    case (a,): pass", "match x:\n    case (a): pass"),
    ("match x:\n    case a,: pass", "match x:\n    case a: pass"),
    ("def f():\n    'a'\n    b", "def f():\n    'c'\n    b"),
    ("x = '\\N{DASH}'", "x = '-'"),
    ("f((a for a in b))", "f((a for a in b), 1)"),
    ("x = not (a in b)", "x = not a not in b"),
]


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_a_change_of_meaning_changes_the_form(one: str, other: str) -> None:
    assert form(one + "\n") != form(other + "\n")


CORPUS = sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"))[::7]
SPLICES = [
    b"(",
    b")",
    b",",
    b";",
    b" ",
    b"\n",
    b"\\\n",
    b"'",
    b'"',
    b"r",
    b"u",
    b"b",
    b"f",
    b"not ",
    b"1",
    b"#x\n",
    b"    ",
    b"",
]


def plain(tree: ast.AST) -> str:
    """The tree as text; the mark of a u prefix is no part of the program's meaning."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant):
            node.kind = None
    return ast.dump(tree)


def edited(raw: bytes, seed: int) -> bytes:
    """A file with one edit between, around or instead of tokens."""
    chance = random.Random(seed)
    tokens = [token for token in tokenize.tokenize(BytesIO(raw).readline) if token.string.strip()][1:]
    lines = raw.split(b"\n")
    token = chance.choice(tokens)
    row, column = token.start[0] - 1, len(token.line.split("\n")[0][: token.start[1]].encode())
    size = len(token.string.encode()) if token.start[0] == token.end[0] else 0
    line, splice = lines[row], chance.choice(SPLICES)
    around = chance.random()
    if around < 0.3:
        line = line[:column] + b"(" + line[column : column + size] + b")" + line[column + size :]
    elif around < 0.8:
        line = line[:column] + splice + line[column:]
    else:
        line = line[:column] + splice + line[column + size :]
    return b"\n".join([*lines[:row], line, *lines[row + 1 :]])


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(CORPUS), st.integers(0, 2**32))
def test_equal_forms_of_real_files_mean_equal_syntax_trees(path: Path, seed: int) -> None:
    raw = path.read_bytes()
    if len(raw) > 60_000:
        raw = b"\n".join(raw.split(b"\n")[:20]) + b"\n"
    try:
        before = ast.parse(raw)
        after = ast.parse(changed := edited(raw, seed))
    except (SyntaxError, ValueError, tokenize.TokenError):
        return
    one, other = parse(read(raw).data).root_node, parse(read(changed).data).root_node
    if one.has_error or other.has_error or not equal(one, other):
        return
    assert plain(before) == plain(after)


def test_reformatted_lines_owe_nothing_and_the_strict_setting_makes_them_owe() -> None:
    base, head = "def f(a):\n    return g(a, 1)\n", "def f(a):\n    return g(\n        a,\n        1,\n    )\n"
    assert set(classes(change(base, head)).values()) == {"reformatted"}
    strict = classes(change(base, head), LineOptions(reformatted="owe"))
    assert list(strict.values()) == ["statement", "statement", "statement", "punctuation"]


def test_a_change_of_meaning_elsewhere_in_the_definition_makes_its_reformatted_lines_owe() -> None:
    base = "def f(a):\n    x = g(a, 1)\n    return x\n\ndef h(a):\n    return g(a,  1)\n"
    head = "def f(a):\n    x = g(a,\n          1)\n    return -x\n\ndef h(a):\n    return g(a, 1)\n"
    assert marked(base, head) == [
        "statement: x = g(a,",
        "statement: 1)",
        "statement: return -x",
        "reformatted: return g(a, 1)",
    ]


@pytest.mark.parametrize(
    ("base", "head"),
    [
        ("x = (alpha *\n     beta) + gamma\n", "x = alpha * beta + gamma\n"),
        ("x = (alpha *  # not delta\n     beta + gamma)\n", "x = alpha * beta + gamma\n"),
        ("x = alpha * \\\n    beta + gamma\n", "x = alpha * beta + gamma\n"),
        ("x = 1if y else z\nw = 1 if q else r\n", "x = 1 if y else z\nw = 1if q else r\n"),
        ("x = alpha + 0xfor beta\ny = 0xf or alpha\n", "x = alpha + 0xf or beta\ny = 0xfor alpha\n"),
        ('x = alpha + beta + u"text", u\n', 'x = alpha + beta + "text", u\n'),
        ('x = alpha + beta + "text", u\n', 'x = alpha + beta + u"text", u\n'),
        ("größe = alpha + beta, gamma\n", "größe = (alpha + beta, gamma)\n"),
        ("x = alpha + beta; y = gamma\n", "x = alpha + beta\ny = gamma\n"),
    ],
)
def test_the_cheap_look_at_words_never_hides_that_only_the_layout_changed(base: str, head: str) -> None:
    codes = head.encode().splitlines(keepends=True)
    # as if the patch had removed these very words elsewhere too: then their order alone decides
    assert Wording((base + head).encode(), base.encode()).may_be(codes, codes)


def test_words_in_another_order_are_known_for_a_change_without_asking_a_tree() -> None:
    base, head = b"n = n * 1 + 2\nn = n * 2 + 1\n", [b"n = n * 2 + 2\n"]
    assert not Wording(base, base).may_be(head, head)


def test_a_comment_behind_code_may_change() -> None:
    assert marked("def f():\n    x = 1  # one\n", "def f():\n    x = 1  # pragma: two\n") == [
        "reformatted: x = 1  # pragma: two"
    ]


def test_moving_a_definition_out_of_a_condition_is_not_reformatting() -> None:
    base = "if win:\n    def f():\n        return 1\nx = 1\n"
    head = "if win:\n    pass\ndef f():\n    return 1\nx = 1\n"
    assert "definition: def f():" in marked(base, head)


def test_moving_a_statement_out_of_a_guard_is_not_reformatting() -> None:
    base = "def f(a):\n    if a:\n        b()\n        c()\n"
    assert marked(base, "def f(a):\n    if a:\n        b()\n    c()\n") == ["statement: c()"]


def test_swapping_two_definitions_of_one_name_is_not_reformatting() -> None:
    one, two = "def f():\n    return 1\n", "def f():\n    return 2\n"
    rows = marked(one + two, two + one)
    assert not any(row.startswith("reformatted") for row in rows)


def test_a_method_of_another_class_is_another_definition() -> None:
    base = "class A:\n    def f(self):\n        return 1\nclass B:\n    x = 1\n"
    head = "class A:\n    x = 1\nclass B:\n    def f(self):\n        return 1\n"
    assert not any(row.startswith("reformatted") for row in marked(base, head))


def test_new_line_ends_are_reformatting() -> None:
    base = b"def f():\n    return 1\n"
    assert set(classes(change(base, base.replace(b"\n", b"\r\n"))).values()) == {"reformatted"}
