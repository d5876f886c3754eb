"""An excerpt of a big file gives the same answers as the whole, or is not made."""

from __future__ import annotations

import random
import sysconfig
from pathlib import Path

import pytest

from linewitness.languages import classify
from linewitness.languages.python import PythonRule, side
from linewitness.languages.python.excerpt import excerpt
from linewitness.languages.python.tree import parse
from linewitness.languages.source import read
from linewitness.model import Demand, FileClasses, FileText, Hunk, LineOptions
from tests.support.texts import change

BULK = "".join(f"v{number} = {number}\n" for number in range(800))


def kept(head: str, line: int) -> list[str] | None:
    """The lines that an excerpt for one line keeps, without the bulk that makes it worth while."""
    text = excerpt(read((head + BULK).encode()), [line])
    return None if text is None else [row for row in text.decode().split("\n") if row.strip()]


def test_only_the_first_and_the_wanted_statement_are_kept_at_their_places() -> None:
    text = '"""doc"""\nimport a\n\ndef f():\n    return 1\n\nx = 2\n' + BULK
    found = excerpt(read(text.encode()), [5])
    assert found is not None
    assert len(found) == len(text)
    assert found.rstrip() == b'"""doc"""\n        \n\ndef f():\n    return 1'


@pytest.mark.parametrize(
    ("head", "line", "first"),
    [
        ("x = [\n1,\n2,\n]\n", 3, "x = ["),
        ("s = '''\nx = 1\n'''\n", 2, "s = '''"),
        ("x = 1 + \\\ny\n", 2, "x = 1 + \\"),
        ("if a:\n    b\nelse:\n    c\n", 4, "if a:"),
        ("try:\n    b\nfinally:\n    c\n", 4, "try:"),
        ("@d\n@e\ndef f():\n    c\n", 4, "@d"),
        ("s = 'a\\\nb'\n", 2, "s = 'a\\"),
        ("x = f(  # (\n1)\n", 2, "x = f(  # ("),
        ("s = f'{a}('\nx = [\nb]\n", 3, "x = ["),
    ],
)
def test_a_statement_over_several_lines_is_kept_whole(head: str, line: int, first: str) -> None:
    rows = kept("first = 1\n" + head, line + 1)
    assert rows is not None
    assert rows[:2] == ["first = 1", first] or rows[1] == first
    assert head.rstrip().split("\n")[-1] in rows


@pytest.mark.parametrize(
    "head",
    [
        "s = f'{a[\"b\"]}'\n",
        's = f"{x["k"]}"\n',
        's = f"""{x # }"""\n}"""\n',
        's = f"}}{ {x["a"]} }"\n',
        "s = (\n",
        "s = )\n",
        "s = 'a\n",
        "x = \x01\n",
        "s = 'a' \\ \n",
    ],
)
def test_no_excerpt_is_made_when_the_end_of_a_literal_or_bracket_is_not_certain(head: str) -> None:
    assert kept(head, 1) is None


def test_small_files_and_large_changes_are_parsed_whole() -> None:
    assert excerpt(read(b"x = 1\n"), [1]) is None
    assert excerpt(read(BULK.encode()), range(1, 700)) is None


def test_an_excerpt_of_a_definition_parses() -> None:
    text = excerpt(read(("class A:\n    def f(self):\n        return 1\n" + BULK).encode()), [2])
    assert text is not None
    assert not parse(text).root_node.has_error


def answers(text: FileText) -> tuple[FileClasses, tuple[Demand, ...]]:
    found = classify(text, LineOptions(), lambda _: False)
    opaque = any(row.line == 0 for row in found.obligations)
    return found, () if opaque else PythonRule().demands(text.head or b"", found.obligations)


@pytest.mark.parametrize(
    "path", sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"))[::5], ids=lambda path: path.name
)
def test_excerpts_of_real_files_give_the_answers_of_the_whole(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    raw = path.read_bytes()
    count = raw.count(b"\n")
    chance = random.Random(path.name)
    for _ in range(4):
        lines = sorted(chance.sample(range(1, count + 1), min(3, count)))
        text = change(None, raw)._replace(hunks=tuple(Hunk(1, 0, line, 1) for line in lines))
        with monkeypatch.context() as patched:
            patched.setattr(side, "excerpt", lambda *_: None)
            whole = answers(text)
        assert answers(text) == whole
