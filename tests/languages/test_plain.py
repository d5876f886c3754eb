"""The short cut for plain lines gives what the full rule gives, wherever it gives anything."""

from __future__ import annotations

import random
import re
import sysconfig
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from linewitness.languages.python import plain
from linewitness.languages.python.classify import classify
from linewitness.model import FileText, Kind, LineOptions
from tests.support.texts import change

ASSIGNMENT = re.compile(rb"\w+ = .*")
STDLIB = sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"))


def same(text: FileText) -> bool:
    """Whether the short cut was taken; it must then agree with the full rule."""
    short = plain.classify(text)
    if short is None:
        return False
    assert short == classify(text, LineOptions())
    return True


def test_a_table_of_assignments_is_settled_without_parsing() -> None:
    base = b"".join(b"V%d = %d\n" % (number, number) for number in range(50))
    head = b"# generated\n\n" + base.replace(b" = 1", b" = 100 + 1")
    short = plain.classify(change(base, head))
    assert short is not None
    assert {owed.kind for owed in short.obligations} == {Kind.STATEMENT}
    assert len(short.obligations) == 11
    assert same(change(base, head))


@pytest.mark.parametrize(
    "line",
    [
        "x = [\n    1,\n]",
        'x = """\ny = 1\n"""',
        "x = 1 if y else 2",
        "f = lambda: 1",
        "if x:\n    y = 1",
        "import os",
        "x: int = 1",
        "def f(): return 1",
        "assert x",
        "x = a and b",
        "x = 1; y = 2",
        '"""A docstring."""',
        "@decorated\ndef f():\n    pass",
        "    y = 1",
        "with x:\n    pass",
        "del x",
        "x = 1 \\\n    + 1",
        "x = (y := 1)",
        "x = {1: 2}",
    ],
)
def test_whatever_is_less_simple_is_left_to_the_full_rule(line: str) -> None:
    base = "a = 1\n"
    if line.startswith(" "):
        base, line = "class A:\n    x = 1\n", f"class A:\n    x = 1\n{line}"
    assert plain.classify(change(base, base + line + "\n")) is None


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('"""\n', '\n"""\n'),
        ("x = (\n", "\n)\n"),
        ("x = [\n1,\n", "\n]\n"),
        ('x = f"""\n', '\n"""\n'),
        ("x = '''\n", "\n'''\n"),
        ("x = 1 + \\\n", "\n"),
    ],
)
def test_a_line_inside_of_a_longer_one_is_never_taken_for_a_statement(before: str, after: str) -> None:
    head = before + "y = 2" + after
    base = before + "y = 1" + after
    assert plain.classify(change(base, head)) is None


def test_equal_lines_inside_of_strings_send_the_file_to_the_full_rule() -> None:
    base = 'def f():\n    """\ny = 2\n"""\n\n\n'
    assert plain.classify(change(base, base + "y = 2\n")) is None


@pytest.mark.parametrize("seed", range(12))
def test_the_short_cut_agrees_with_the_full_rule_on_real_code(seed: int) -> None:
    chooser = random.Random(seed)
    taken = 0
    for path in chooser.sample(STDLIB, 12):
        head = path.read_bytes().replace(b"\r\n", b"\n")
        try:
            head.decode()
        except UnicodeDecodeError:
            continue
        lines = head.split(b"\n")
        columns = [number for number, line in enumerate(lines) if not line or ASSIGNMENT.fullmatch(line)]
        for _ in range(4):
            gone = set(chooser.sample(columns, min(len(columns), chooser.randint(1, 3))))
            base = b"\n".join(line for number, line in enumerate(lines) if number not in gone)
            taken += same(change(base, head))
    assert taken


PIECES = st.sampled_from(
    [
        *(
            "a = 1",
            "b = f'{x}'",
            "c = f'{a['k']}'",
            'd = """',
            "e = '''",
            "'''",
            '"""',
            "g(",
            ")",
            "h = [1, 2]",
            "# no",
        ),
        *(
            "",
            "i += 2",
            "j = 'it'",
            'k = "\\""',
            "l = r'\\'",
            "m = rf'{x}'",
            "n = (1,",
            "    o = 1",
            "p = 1 \\",
            "q = {",
        ),
        *("}", "r[0] = 2", "s.t = 1"),
    ]
)


@given(st.lists(PIECES, max_size=12), st.lists(PIECES, max_size=12))
def test_the_short_cut_agrees_with_the_full_rule_on_any_mixture(before: list[str], after: list[str]) -> None:
    base, head = ("".join(f"{line}\n" for line in lines).encode() for lines in (before, after))
    text = change(base, head)
    short = plain.classify(text)
    if short is not None and text.hunks:
        full = classify(text, LineOptions())
        owed = {entry.line for entry in short.obligations}
        assert owed == {entry.line for entry in full.obligations}
        assert short.exempt == full.exempt
