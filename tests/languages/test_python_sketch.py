"""What is read from the text of a big patch is what the syntax tree says, wherever anything is read from it."""

from __future__ import annotations

import keyword
import random
import re
import sys
import sysconfig
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from linewitness.languages.python.classify import classify
from linewitness.languages.python.side import Side
from linewitness.languages.python.sketch import sketch
from linewitness.model import FileClasses, FileText, LineOptions
from linewitness.patch.hunks import added_lines
from tests.support.texts import change

STDLIB = sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"))
NAME = re.compile(rb"\b[a-z]{3,}\b")

BLOCKS = [
    "x = 1\n",
    "x = y if z else w\n",
    "x = f(\n    a,\n    b or c,\n)\n",
    "x = {\n    'if': 1,  # or\n\n    # and\n}\n",
    'x = """\n\n# no comment\n)\n"""\n',
    "x = a + \\\n    b\n",
    "f'{a if b else c} or'\n",
    "f'{a[\"b\"]} if'\n",
    "f'{a[\"}\"]}'\n",
    'f"{\'}\' + x["a"]}"\n',
    "def f():\n    '''Doc.'''\n    return 1\n",
    "def f():\n    b'no doc'\n    x: int\n    y: int = 2\n",
    "def f(a=b or c,\n      d=1,\n):\n    ...\n",
    "class C:\n    'Doc' 'of two'\n    x: int\n    y: dict[str, int] = {}\n    global z\n",
    "class C: pass\n",
    "def f(): return x or y\n",
    "def f():\n    global z\n    nonlocal y\n",
    "@d\n# why\n@e(1 if x else 2)\nasync def f(a):\n    async with a: pass\n    async for b in a:\n        await b\n",
    "if x:\n    y\nelif z:\n    w\nelse:\n    v\n",
    "if x: y = 1\nelse: y = 2\n",
    "try:\n    x\nexcept (A, B):\n    y\nexcept C: z\nelse:\n    w\nfinally:\n    v\n",
    "try: x\nfinally: y\n",
    "while a and b:\n    break\nelse:\n    c\n",
    "for a in b:\n    if a:\n        '''no doc'''\n",
    "with a as b, \\\n     c as d:\n    assert b, \\\n        d\n",
    "import a.b as c\nfrom d import (\n    e,\n)\n",
    "x = lambda: 1\nx = y[1:2]\nx: int\nself.x: int\n",
    "x = 1; y = 2\n",
    "match x:\n    case 1 if y:\n        z\n",
    "type X = int\n",
    "x = (\n  1\n    if y\n  else 2)\n",
    "...\nx = ...\n",
    "print(x)\ndel x\nraise X from y\n",
    "é = 1\n",
    "(x) = 1\n('doc')\n",
    "    x = 1\n",
    "if x:\n  y\n    z\n",
    "if x:\n",
    "x = (\n",
    "x = 'a\n",
    ")\n",
    "else:\n    x\n",
    "\tx = 1\n",
    "# a comment\n\n",
    "x = 1  # type: int\n# type: ignore\n",
]


# The package has a function of the module's name.
MODULE = sys.modules[classify.__module__]


def of_text_and_tree(text: FileText) -> tuple[FileClasses, FileClasses]:
    """The classes with the text read wherever it may be, and with nothing but the tree."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(MODULE, "_MANY", 1)
        first = classify(text, LineOptions())
        patched.setattr(MODULE, "_MANY", 1 << 30)
        return first, classify(text, LineOptions())


def is_read(text: FileText) -> bool:
    lines = added_lines(text.hunks)
    return sketch(Side(text.head or b"").source, lines) is not None


def renamed(source: bytes, chance: float, seed: int) -> bytes:
    numbers = random.Random(seed)

    def other(match: re.Match[bytes]) -> bytes:
        is_changed = numbers.random() < chance and not keyword.iskeyword(match[0].decode())
        return match[0] + b"_" * is_changed

    return NAME.sub(other, source)


@pytest.mark.parametrize("block", BLOCKS)
def test_a_new_file_has_the_classes_that_its_tree_gives_it(block: str) -> None:
    for text in (block, f"'''Doc.'''\n{block}", f"class C:\n    def f(self):\n{_indented(block, 8)}    x = 1\n"):
        new = change(b"", text.encode())
        first, second = of_text_and_tree(new)
        assert first == second


def _indented(block: str, columns: int) -> str:
    return "".join(" " * columns + line if line.strip() else line for line in block.splitlines(keepends=True))


@given(st.lists(st.tuples(st.sampled_from(BLOCKS), st.sampled_from([0, 4, 8])), min_size=1, max_size=6))
def test_any_sequence_of_pieces_has_the_classes_that_its_tree_gives_it(pieces: list[tuple[str, int]]) -> None:
    head = "".join(_indented(block, columns) for block, columns in pieces).encode()
    new = change(b"", head)
    first, second = of_text_and_tree(new)
    assert first == second


@pytest.mark.parametrize("path", STDLIB[::7], ids=lambda path: path.name)
@pytest.mark.parametrize("chance", [0.3, 0.9])
def test_a_renamed_library_has_the_classes_that_its_tree_gives_it(path: Path, chance: float) -> None:
    base = path.read_bytes()
    text = change(base, renamed(base, chance, len(base)))
    first, second = of_text_and_tree(text)
    assert first == second


def test_most_of_a_renamed_library_is_read_from_its_text() -> None:
    texts = [(path.read_bytes(), path) for path in STDLIB[::7]]
    read = [is_read(change(base, renamed(base, 0.9, 1))) for base, _ in texts]
    assert sum(read) * 3 > len(read) * 2


@pytest.mark.parametrize(
    "line",
    [
        "x = 1; y = 2",
        "match x:",
        "type X = int",
        "f'{x[\"}\"]}'",
        "x = 'a",
        "x = (",
        "  y = 1",
        "from typing import overload",
    ],
)
def test_what_is_not_certain_from_its_text_is_left_to_the_tree(line: str) -> None:
    assert is_read(change(b"", b"x = 1\n" * 9))
    assert not is_read(change(b"", b"x = 1\n" * 8 + line.encode() + b"\n"))


def test_a_file_with_few_changes_is_left_to_its_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    base = b"".join(b"def f%d(n):\n    return n + 1\n" % number for number in range(300))
    monkeypatch.setitem(sys.modules, "linewitness.languages.python.sketch", None)
    assert classify(change(base, base.replace(b"f7(n):\n    return n + 1", b"f7(n):\n    return n + 2")), LineOptions())
    with pytest.raises(ImportError):
        classify(change(base, base.replace(b"n + 1", b"n + 2")), LineOptions())
