"""What recent versions of each language look like, line by line, judged by hand.

The first character of a line in ``tests/fixtures/languages/modern`` is its class in a new file: ``x`` owes, ``i`` is an
import of names that only the file itself uses, ``d`` declares or is the header of a definition that is new as a whole,
``}`` has brackets and words such as ``else``, ``#`` is a comment, and a blank line has none. What a grammar is too
old for stands there too: it owes.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from linewitness.languages import tables
from linewitness.languages.files import language
from tests.support.texts import change, classes

FOLDER = Path(__file__).parent.parent / "fixtures" / "languages" / "modern"
FILES = sorted(FOLDER.iterdir())
#: Braces of a type stand in its declaration, those of code around it.
NO_CODE = frozenset({"declaration", "punctuation", "keyword"})
MEANING = {
    "x": frozenset({"statement", "branch", "definition"}),
    "i": NO_CODE,
    "d": NO_CODE,
    "}": NO_CODE,
    "#": frozenset({"comment"}),
    "": frozenset({"blank"}),
}


def test_there_is_a_modern_file_in_every_language() -> None:
    assert {language(path.stem, b"") for path in FILES} == tables.MODULES.keys()


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_each_line_of_a_modern_file_is_what_people_say_it_is(path: Path) -> None:
    lines = path.read_text(encoding="utf-8").splitlines()
    found = classes(change(None, "".join(f"{line[2:]}\n" for line in lines), path.stem))
    wrong = [
        f"{number} is {found[number]}: {line}"
        for number, line in enumerate(lines, 1)
        if found[number] not in MEANING[line[:1]]
    ]
    assert not wrong
