"""Relations between what two patches owe, over a frozen corpus of small edits."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from linewitness.languages import classify
from linewitness.model import Blob, FileChange, FileClasses, FileText, LineOptions, ObjectId, RepoPath
from linewitness.patch.hunks import line_diff, prove
from linewitness.patch.identity import split_lines

CORPUS = Path(__file__).parent / "corpus" / "edits.jsonl"
EDITS = [json.loads(line) for line in CORPUS.read_text(encoding="utf-8").splitlines()]


def owed(base: str, head: str) -> FileClasses:
    before, after = split_lines(base.encode()), split_lines(head.encode())
    hunks = prove(before, after, line_diff(before, after))
    assert hunks is not None
    path = RepoPath("app.py")
    change = FileChange(path, path, Blob(0o100644, ObjectId("a" * 40)), Blob(0o100644, ObjectId("b" * 40)))
    return classify(FileText(change, base.encode(), head.encode(), hunks), LineOptions(), lambda _: False)


def contents(classes: FileClasses) -> list[str]:
    return sorted(obligation.content for obligation in classes.obligations)


@pytest.mark.parametrize("edit", EDITS, ids=lambda edit: str(edit["name"]))
def test_a_comment_after_the_patch_owes_nothing_more(edit: dict[str, str]) -> None:
    plain = owed(edit["base"], edit["head"])
    commented = owed(edit["base"], edit["head"] + "\n# a remark\n")
    assert contents(commented) == contents(plain)


@pytest.mark.parametrize("edit", EDITS, ids=lambda edit: str(edit["name"]))
def test_line_ends_do_not_change_what_is_owed(edit: dict[str, str]) -> None:
    plain = owed(edit["base"], edit["head"])
    windows = owed(edit["base"].replace("\n", "\r\n"), edit["head"].replace("\n", "\r\n"))
    assert contents(windows) == contents(plain)


@pytest.mark.parametrize("edit", EDITS, ids=lambda edit: str(edit["name"]))
def test_a_new_file_owes_at_least_what_an_edit_of_it_owes(edit: dict[str, str]) -> None:
    edited = {o.content for o in owed(edit["base"], edit["head"]).obligations if o.kind.value != "deletion"}
    assert edited <= {o.content for o in owed("", edit["head"]).obligations}


@pytest.mark.parametrize("edit", EDITS, ids=lambda edit: str(edit["name"]))
def test_nothing_is_owed_when_nothing_changes(edit: dict[str, str]) -> None:
    assert owed(edit["head"], edit["head"]).obligations == ()
