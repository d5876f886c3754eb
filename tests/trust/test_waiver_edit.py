"""Editing the waiver file: what people wrote stays as they wrote it, and nothing else than what was meant happens."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linewitness.errors import UsageError
from linewitness.model import Reason, RepoPath, Waiver
from linewitness.trust.waiver_edit import append, prune
from linewitness.trust.waivers import parse

FILE = "tests/waivers.yaml"
NEW = Waiver(
    path=RepoPath("src/new.py"),
    line_hash="123456789012",
    blob=None,
    scope="f.g",
    reason=Reason.EXPERIMENT,
    owner="ada",
    expires="2026-10-01",
    note='says "why": in # words',
    at=0,
    occurrence=2,
)
RECORD = """\
  - path: src/new.py
    line_hash: "123456789012"
    scope: f.g
    occurrence: 2
    reason: experiment
    owner: ada
    expires: "2026-10-01"
    note: "says \\"why\\": in # words"
"""

OLD = """\
# Ask platform-reviewers before you add to this.
waivers:
  # the schema compiler
  - path: src/codegen/emit.py   # generated
    line_hash: 'a1b2c3d4e5f6'
    reason: codegen
    owner: platform-reviewers
    expires: 2026-10-16

  # vendored
  - path: src/vendor/a.py
    line_hash: "0000000000000000"
    reason: vendor
    owner: ada
    expires: "2026-10-16"
    note: >
      folded
      text
"""


def paths(data: bytes) -> list[str]:
    waivers, findings = parse(data, FILE)
    assert findings == ()
    return [waiver.path for waiver in waivers]


@pytest.mark.parametrize("data", [None, b"", b"\n\n"])
def test_a_file_is_started_when_there_is_none(data: bytes | None) -> None:
    text = append(data, FILE, NEW).decode()

    assert text.startswith("# ")
    assert text.endswith("\nwaivers:\n" + RECORD)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (OLD, OLD + RECORD),
        ("waivers:\n", "waivers:\n" + RECORD),
        ("waivers: []\n", "waivers:\n" + RECORD),
        ("waivers: []", "waivers:\n" + RECORD),
        ("waivers: ~  # none\n", "waivers:  # none\n" + RECORD),
        ("waivers: []   # none\n# end\n", "waivers:   # none\n# end\n" + RECORD),
        ("# only a comment\n", "# only a comment\nwaivers:\n" + RECORD),
        ("\ufeffwaivers: []\n", "\ufeffwaivers:\n" + RECORD),
        ('"waivers": []\n', '"waivers":\n' + RECORD),
        ("---\nwaivers: []\n", "---\nwaivers:\n" + RECORD),
        (OLD.replace("\n", "\r\n"), (OLD + RECORD).replace("\n", "\r\n")),
        (OLD + "\n# the end\n", OLD + "\n# the end\n" + RECORD),
    ],
)
def test_a_record_is_added_and_every_other_character_stays(old: str, new: str) -> None:
    assert append(old.encode(), FILE, NEW).decode() == new


def test_the_layout_of_the_list_is_continued() -> None:
    old = """\
waivers:
-   path: a
    line_hash: 'a1b2c3d4e5f6'
    reason: vendor
    owner: ada
    expires: 2026-10-16
"""
    wide = RECORD.replace("  - ", "-   ", 1)

    assert append(old.encode(), FILE, NEW).decode() == old + wide


@pytest.mark.parametrize(
    "old",
    [
        "waivers: [{path: a, line_hash: 'a1b2c3d4e5f6', reason: vendor, owner: ada, expires: 2026-10-16}]\n",
        "{waivers: []}\n",
        "waivers: []\n...\n",
    ],
)
def test_a_layout_that_has_no_place_for_a_record_is_left_to_people(old: str) -> None:
    with pytest.raises(UsageError, match="by hand"):
        append(old.encode(), FILE, NEW)


@pytest.mark.parametrize(
    "old", ["waivers: 3\n", "waivers:\n  - path: x\n", "a: b\n", "[", "waivers: []\nwaivers: []\n"]
)
def test_a_file_that_is_not_valid_is_never_touched(old: str) -> None:
    with pytest.raises(UsageError, match="not touched") as caught:
        append(old.encode(), FILE, NEW)
    assert caught.value.path == FILE
    with pytest.raises(UsageError, match="not touched"):
        prune(old.encode(), FILE, [2])


def test_a_second_record_for_the_same_line_is_refused() -> None:
    with pytest.raises(UsageError, match="waives the same line"):
        append(append(None, FILE, NEW), FILE, NEW)


def test_a_record_is_taken_out_and_comments_between_records_stay() -> None:
    first = """\
# Ask platform-reviewers before you add to this.
waivers:
  # the schema compiler

  # vendored
  - path: src/vendor/a.py
"""
    assert prune(OLD.encode(), FILE, [4]).decode() == first + OLD.partition("- path: src/vendor/a.py\n")[2]
    assert prune(OLD.encode(), FILE, [11]).decode() == OLD.partition("  - path: src/vendor/a.py\n")[0]


def test_a_file_whose_last_record_is_taken_out_can_be_read_by_everyone() -> None:
    text = prune(OLD.encode(), FILE, [4, 11]).decode()

    assert "waivers: []\n" in text
    assert "# vendored\n" in text
    assert paths(text.encode()) == []
    assert append(text.encode(), FILE, NEW).decode().endswith(RECORD)


def test_records_in_unusual_layouts_are_taken_out_whole() -> None:
    old = """\
waivers:
  -
    # the first
    path: a
    line_hash: "a1b2c3d4e5f6"
    reason: vendor
    owner: ada
    expires: 2026-10-16
    note: |+
      text

  # about b
  - {path: b, line_hash: "a1b2c3d4e5f6",
     reason: vendor, owner: ada, expires: 2026-10-16
    }
"""
    assert paths(prune(old.encode(), FILE, [4])) == ["b"]
    assert "text" not in prune(old.encode(), FILE, [4]).decode()
    assert prune(old.encode(), FILE, [13]).decode() == old.partition("  - {path")[0]


def test_nothing_to_take_out_changes_nothing() -> None:
    for old in (OLD, "waivers: []\n", "# nothing\nwaivers:\n"):
        assert prune(old.encode(), FILE, []) == old.encode()


TEXT = st.text(st.characters(codec="utf-8"), max_size=12)
NAMES = st.text(
    st.characters(codec="utf-8", categories=["L", "N", "P", "S"], exclude_characters="/"), min_size=1, max_size=8
)
RECORDS = st.builds(
    NEW._replace,
    path=NAMES.filter(lambda name: name not in {".", ".."}).map(RepoPath) | st.just("caf\udce9.py").map(RepoPath),
    line_hash=st.text("0123456789abcdef", min_size=16, max_size=16),
    owner=NAMES,
    scope=st.none() | st.just("") | st.just("f.<locals>.g"),
    occurrence=st.none() | st.integers(1, 9),
    note=TEXT.filter(lambda text: all(char.isprintable() or char in "\n\t" for char in text)),
)


@settings(max_examples=30)  # each example parses the file once per record
@given(
    st.lists(RECORDS, min_size=1, max_size=4, unique_by=lambda record: record.path),
    st.sampled_from(["", "waivers: []\r\n", OLD]),
    st.data(),
)
def test_what_is_written_is_read_back_and_can_be_taken_out_again(
    records: list[Waiver], start: str, data: st.DataObject
) -> None:
    text = start.encode()
    before, _ = parse(text, FILE)
    for record in records:
        text = append(text, FILE, record)
    waivers, findings = parse(text, FILE)

    assert findings == ()
    assert [waiver._replace(at=0) for waiver in waivers] == [*(one._replace(at=0) for one in before), *records]
    gone = {waiver.at for waiver in waivers if data.draw(st.booleans())}
    left, _ = parse(prune(text, FILE, gone), FILE)
    assert [one._replace(at=0) for one in left] == [one._replace(at=0) for one in waivers if one.at not in gone]
