"""The text of a patch that a map carries for people."""

from __future__ import annotations

import subprocess
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from linewitness.model import Blob, FileChange, FileText, ObjectId, RepoPath
from linewitness.obligation_map import PatchRow
from linewitness.patch.hunks import line_diff
from linewitness.patch.identity import split_lines
from linewitness.patch.passages import MOST_LINES_OF_FREE_FILE, Passages

BLOB = Blob(0o100644, ObjectId("a" * 40))


def text_of(base: bytes | None, head: bytes | None, name: str = "a.py", before: str = "") -> FileText:
    change = FileChange(RepoPath(name), RepoPath(before or name), BLOB if base else None, BLOB if head else None)
    hunks = tuple(line_diff(split_lines(base or b""), split_lines(head or b"")))
    return FileText(change, base, head, hunks)


def taken(*texts: FileText, owes: bool = True, most: int = 50_000) -> tuple[PatchRow, ...]:
    passages = Passages(most)
    for text in texts:
        passages.add(text, owes=owes)
    return passages.rows


def numbered(count: int, change: dict[int, str] | None = None) -> bytes:
    return b"".join(f"{(change or {}).get(line, f'line {line}')}\n".encode() for line in range(1, count + 1))


def test_a_change_has_three_lines_around_it_and_the_numbers_of_both_sides() -> None:
    (row,) = taken(text_of(numbered(20), numbered(20, {10: "new"})))

    (hunk,) = row.hunks
    assert (hunk.base, hunk.head) == (7, 7)
    assert hunk.text.split("\n") == [
        " line 7",
        " line 8",
        " line 9",
        "-line 10",
        "+new",
        " line 11",
        " line 12",
        " line 13",
    ]


def test_changes_whose_surroundings_touch_are_one_passage_and_others_are_two() -> None:
    (near,) = taken(text_of(numbered(40), numbered(40, {10: "x", 17: "y"})))
    (far,) = taken(text_of(numbered(40), numbered(40, {10: "x", 18: "y"})))

    assert len(near.hunks) == 1
    assert len(far.hunks) == 2


def test_a_moved_file_says_from_where_and_a_new_one_has_no_removed_lines() -> None:
    moved, new = taken(text_of(b"a\n", b"b\n", "new.py", "old.py"), text_of(None, b"x\n", "n.py"))

    assert moved.base_path == "old.py"
    assert new.base_path == ""
    assert new.hunks[0].text == "+x"


def test_binary_files_and_files_without_a_change_of_lines_have_no_passage() -> None:
    assert taken(text_of(None, b"\x00\x01\n"), text_of(b"a\n", b"a\n")) == ()


def test_bytes_that_are_not_utf_8_are_shown_as_escapes_and_a_carriage_return_at_the_end_is_not() -> None:
    (row,) = taken(text_of(None, b"caf\xe9\r\n"))

    assert row.hunks[0].text == r"+caf\xe9"


def test_what_is_left_out_is_counted() -> None:
    first, second = taken(text_of(None, numbered(60)), text_of(None, numbered(50), "b.py"), most=100)

    assert (first.cut, len(first.hunks)) == (0, 1)
    assert (second.cut, second.hunks) == (50, ())


def test_a_file_that_owes_nothing_takes_a_small_share_only() -> None:
    lines = MOST_LINES_OF_FREE_FILE + 1
    (lock,) = taken(text_of(None, numbered(lines)), owes=False)
    (code,) = taken(text_of(None, numbered(lines)))

    assert lock.cut == lines
    assert code.cut == 0


def test_an_endless_line_is_cut_at_a_whole_character_and_says_by_how_much() -> None:
    (row,) = taken(text_of(None, "é".encode() * 5000 + b"\n"))

    assert row.hunks[0].text == "+" + "é" * 999 + " … 8002 more bytes"


lines = st.lists(st.sampled_from("abcde"), max_size=25)


@given(lines, lines)
def test_the_passages_are_a_patch_that_git_applies(before: list[str], after: list[str]) -> None:
    base = "".join(f"{line}\n" for line in before).encode()
    head = "".join(f"{line}\n" for line in after).encode()
    rows = taken(text_of(base, head))
    rebuilt = applied(before, rows)

    assert rebuilt == after


def applied(base: list[str], rows: tuple[PatchRow, ...]) -> list[str]:
    """The head side, from base and the passages alone."""
    result: list[str] = []
    at = 0
    for row in rows:
        for hunk in row.hunks:
            result += base[at : hunk.base - 1]
            assert len(result) == hunk.head - 1
            at = hunk.base - 1
            for line in hunk.text.split("\n"):
                mark, text = line[:1], line[1:]
                if mark != "+":
                    assert base[at] == text
                    at += 1
                if mark != "-":
                    result.append(text)
    return result + base[at:]


def test_git_reads_the_passages_as_its_own(tmp_path: Path) -> None:
    base, head = numbered(30), numbered(30, {5: "x", 20: "y", 21: "z"})
    (row,) = taken(text_of(base, head))
    body = ""
    for hunk in row.hunks:
        marks = [line[:1] for line in hunk.text.split("\n")]
        old, new = marks.count(" ") + marks.count("-"), marks.count(" ") + marks.count("+")
        body += f"@@ -{hunk.base},{old} +{hunk.head},{new} @@\n{hunk.text}\n"
    (tmp_path / "a.py").write_bytes(base)
    patch = f"--- a/a.py\n+++ b/a.py\n{body}".encode()
    subprocess.run(["git", "apply", "-"], cwd=tmp_path, input=patch, check=True)

    assert (tmp_path / "a.py").read_bytes() == head
