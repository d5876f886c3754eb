"""A rename is free only where the lines were obligations of the product before."""

from __future__ import annotations

from pathlib import Path

import pytest

from linewitness.case import Question, open_case
from linewitness.obligations import collect
from linewitness.patch.diff import GitPatch
from linewitness.patch.repository import Repository
from tests.support.repos import Repo

CODE = "def refund(n):\n    return -n\n\n\ndef charge(n):\n    return n + n\n"
BASE = {"app/__init__.py": "", "app/shop.py": "A = 1\n", "src/one.py": "B = 1\n"}


def classes_after_move(home: Path, old: str, new: str, edit: str = "") -> tuple[list[int], list[str]]:
    """The owed lines at the new path, and the reasons for which changes owe nothing."""
    repo = Repo(home)
    base = repo.commit("base", {**BASE, old: CODE})
    repo.remove(old)
    repo.commit("move", {new: CODE + edit})
    with Repository(home) as repository:
        case = open_case(repository, Question(base))
        source = GitPatch(repository, case.base, case.head, case.jurisdiction.owes)
        ledgers = list(collect(source, case.jurisdiction))
    owed = [owed.line for ledger in ledgers for owed in ledger.classes.obligations]
    return owed, [str(entry.reason) for ledger in ledgers for entry in ledger.classes.exempt if entry.line == 0]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("app/money.py", "app/refunds.py"),
        ("app/money.py", "src/refunds.py"),
        ("money.py", "app/refunds.py"),
        ("docs/sample.py", "docs/example.py"),
    ],
)
def test_a_move_inside_of_the_product_or_beside_it_owes_nothing(tmp_path: Path, old: str, new: str) -> None:
    assert classes_after_move(tmp_path, old, new) == ([], ["renamed"])


def test_a_move_with_an_edit_owes_the_edited_lines_only(tmp_path: Path) -> None:
    owed, _ = classes_after_move(tmp_path, "app/money.py", "app/refunds.py", edit="\n\nRATE = 3\n")
    assert owed == [9]


@pytest.mark.parametrize("new", ["app/refunds.py", "src/refunds.py", "refunds.py"])
@pytest.mark.parametrize("old", ["docs/sample.py", "examples/sample.py", "tests/generated/sample.py"])
def test_code_that_is_moved_into_the_product_owes_every_line(tmp_path: Path, old: str, new: str) -> None:
    owed, _ = classes_after_move(tmp_path, old, new)
    assert owed == [1, 2, 5, 6]
