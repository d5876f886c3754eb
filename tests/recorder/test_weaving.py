"""What the weaver may pass by without a look."""

from __future__ import annotations

import sys
import sysconfig
import warnings
from pathlib import Path

import pytest

from linewitness.evidence import weaving
from linewitness.evidence.sites import Ranges

pytestmark = pytest.mark.skipif(sys.version_info >= (3, 12), reason="probes are for older interpreters")

TRICKY = """\
x = 1if y else 2
x = 0xfor 1
x = 1jor 2
assert x, y
x = a < b < c
x = a in b is c
x = a == b != c
x = [1for i in y]
x = f"{[i for i in y]}{(lambda: 1)}"
color = vector(command)
x = (
    a or
    b.c
    .d
)
x = f(lambda: 1, *(i for i in y), **{i: 1 for i in y})
with a as b, c or d: x = y if z else w
for i in a or b: assert i, i
def f(a=b or c, *, d=lambda: 1) -> e or g: return a and d
"""
FILES = sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"))[::12]


@pytest.mark.parametrize(
    "source",
    [TRICKY.encode(), TRICKY.replace("\n", "\r\n").encode(), *FILES],
    ids=lambda source: getattr(source, "name", "tricky"),
)
def test_lines_that_are_passed_by_have_nothing_to_weave_into(
    source: bytes | Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = source.read_bytes() if isinstance(source, Path) else source
    wanted = Ranges([[1, text.count(b"\n") + 1]])
    warnings.simplefilter("ignore")  # as the listing's own process does
    quick = weaving.listing(text, "a.py", wanted)
    monkeypatch.setattr(weaving, "lines_with_parts", lambda _: frozenset(range(1, text.count(b"\n") + 2)))
    assert quick == weaving.listing(text, "a.py", wanted)


def silent(source: str) -> bool:
    listed = weaving.listing(source.encode(), "a.py", Ranges([[1, source.count("\n") + 1]]))
    return bool(listed["silent"])


@pytest.mark.parametrize("source", ["x = '\\d'\n", "x = 1\ny = x is 1\n", "assert (x, 'y')\n", "x = 1()\n"])
def test_a_file_of_which_python_warns_is_compiled_as_it_stands_too(source: str) -> None:
    assert not silent(source)
    assert silent("x = 1\n")


def test_a_file_that_nests_deeply_is_compiled_as_it_stands_too() -> None:
    before = sys.getrecursionlimit()
    try:
        sys.setrecursionlimit(20_000)
        assert not silent("x = " + "+".join(["y"] * 3000) + "\n")
        assert silent("x = " + "+".join(["y"] * 30) + "\n")
        assert sys.getrecursionlimit() == 20_000
    finally:
        sys.setrecursionlimit(before)
