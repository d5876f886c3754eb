"""Matching: one waiver, one line; and whatever is not certain discharges nothing."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from linewitness.model import Blob, Kind, ObjectId, Obligation, Reason, RepoPath, Waiver
from linewitness.patch.identity import line_hash, sha1_12
from linewitness.trust.matching import Head, Matches, Presence, match

FILE = "tests/waivers.yaml"
PATH = RepoPath("src/a.py")


def owed(line: int = 1, content: str = "return x", **changes: Any) -> Obligation:
    fields: dict[str, Any] = {
        "path": PATH,
        "hash": line_hash(content.encode()),
        "kind": Kind.STATEMENT,
        "scope": "f",
        "occurrence": 1,
    }
    fields |= {"line": line, "content": content, "statement": (line, line)} | changes
    return Obligation(**fields)


def waiver(content: str = "return x", **changes: Any) -> Waiver:
    fields: dict[str, Any] = {
        "path": PATH,
        "line_hash": line_hash(content.encode()),
        "blob": None,
        "scope": None,
        "at": 2,
    }
    fields |= {"reason": Reason.VENDOR, "owner": "ada", "expires": "2026-10-01", "note": ""} | changes
    return Waiver(**fields)


def holding(files: dict[RepoPath, bytes] | bytes, mode: int = 0o100644) -> Head:
    """A tree with these files, or with one file at the usual path."""
    contents = {PATH: files} if isinstance(files, bytes) else files
    oids = {
        path: ObjectId(hashlib.sha1(b"blob %d\0%b" % (len(data), data)).hexdigest()) for path, data in contents.items()
    }
    store = {oids[path]: data for path, data in contents.items()}
    return Head({path: Blob(mode, oid) for path, oid in oids.items()}, lambda blob: store[blob.oid])


def codes(matches: Matches, unwitnessed: list[Obligation] | None = None) -> list[str]:
    return [finding.code for finding in matches.findings(FILE, unwitnessed)]


@pytest.mark.parametrize(
    "digest", [line_hash(b"return x"), sha1_12(b"return x"), hashlib.sha1(b"return x").hexdigest()[:12]]
)
def test_both_forms_of_the_hash_match(digest: str) -> None:
    obligation = owed()

    assert match([waiver(line_hash=digest)], [obligation]).discharges == {obligation: waiver(line_hash=digest)}


@pytest.mark.parametrize(
    "other",
    [
        {"path": RepoPath("src/b.py")},
        {"path": RepoPath("SRC/a.py")},
        {"path": RepoPath("src/**")},
        {"content": "return  x"},
        {"content": "return y"},
        {"scope": "g"},
        {"scope": ""},
        {"occurrence": 2},
        {"blob": "a" * 40, "line_hash": None},
    ],
)
def test_a_waiver_for_another_line_discharges_nothing_and_is_stale(other: dict[str, Any]) -> None:
    matches = match([waiver(**other)], [owed()])

    assert matches.discharges == {}
    assert codes(matches) == ["LW206"]


def test_a_waiver_follows_its_line_when_code_moves() -> None:
    far_down = owed(9_000)

    assert match([waiver(scope="f")], [far_down]).discharges == {far_down: waiver(scope="f")}


def test_scope_and_occurrence_narrow() -> None:
    first, second, elsewhere = owed(1), owed(2, occurrence=2), owed(3, scope="g")
    chosen = waiver(scope="f", occurrence=2)

    assert match([chosen], [first, second, elsewhere]).discharges == {second: chosen}


def test_a_waiver_that_matches_two_owed_lines_discharges_none() -> None:
    lines = [owed(1), owed(7, scope="g")]
    matches = match([waiver()], lines)

    assert matches.discharges == {}
    (finding,) = matches.findings(FILE)
    assert (finding.code, finding.path, finding.line, finding.severity) == ("LW204", FILE, 2, "error")
    assert "line 1 (scope f, occurrence 1), line 7 (scope g, occurrence 1)" in finding.message
    assert "`scope`" in finding.message


def test_a_waiver_without_scope_is_ambiguous_when_the_file_holds_the_line_elsewhere() -> None:
    text = b"def f():\n    return x\ndef g():\n    return x\n"
    line = owed(2, "    return x")
    vague, exact = waiver("    return x"), waiver("    return x", scope="f")

    assert codes(match([vague], [line], holding(text))) == ["LW204"]
    assert match([vague], [line], holding(text)).discharges == {}
    assert match([exact], [line], holding(text)).discharges == {line: exact}
    assert match([vague], [line], holding(text.replace(b"def g():\n    return x\n", b""))).discharges == {line: vague}


def test_a_second_equal_line_in_one_scope_needs_an_occurrence() -> None:
    line = owed(3, occurrence=2)

    assert codes(match([waiver(scope="f")], [line])) == ["LW204"]
    assert codes(match([waiver(scope="f", occurrence=2)], [line])) == []
    assert codes(match([waiver(scope="f", occurrence=1)], [line])) == ["LW206"]


@pytest.mark.parametrize(
    ("narrow", "words"),
    [({}, "with `scope` and `occurrence`"), ({"scope": "f"}, "with `occurrence`"), ({"occurrence": 1}, "with `scope`")],
)
def test_an_ambiguous_waiver_is_told_what_it_lacks(narrow: dict[str, Any], words: str) -> None:
    twice = [owed(1), owed(2)] if "occurrence" not in narrow else [owed(1), owed(2, scope="g")]

    (finding,) = match([waiver(**narrow)], twice).findings(FILE)
    assert finding.message.endswith(words)


def test_an_ambiguous_waiver_closes_the_gate_only_over_a_line_that_needs_it() -> None:
    lines = [owed(1), owed(2, occurrence=2)]
    matches = match([waiver()], lines)

    assert codes(matches, []) == []
    assert codes(matches, lines[:1]) == ["LW204"]


def test_an_opaque_file_is_waived_by_its_blob_and_by_nothing_else() -> None:
    blob = "b" * 40
    opaque = owed(0, "", kind=Kind.OPAQUE, hash=blob, scope="")
    by_blob = waiver(blob=blob, line_hash=None)

    assert match([by_blob], [opaque]).discharges == {opaque: by_blob}
    assert match([waiver(blob="c" * 40, line_hash=None)], [opaque]).discharges == {}
    assert match([waiver("")], [opaque]).discharges == {}


def test_a_reason_that_a_branch_does_not_allow_is_left_to_the_decision_table() -> None:
    branch = owed(kind=Kind.BRANCH)
    weak, strong = waiver(reason=Reason.EXPERIMENT), waiver(reason=Reason.CODEGEN, scope="f", at=9)

    assert match([weak], [branch]).discharges == {branch: weak}
    assert match([weak, strong], [branch]).discharges == {branch: strong}
    assert match([strong, weak], [branch]).discharges == {branch: strong}


def test_a_waiver_whose_line_stands_in_the_tree_is_not_stale() -> None:
    head = holding({PATH: b"return x\r\n", RepoPath("bin"): b"\0"})
    blob = hashlib.sha1(b"blob 1\0\0").hexdigest()

    assert codes(match([waiver()], [], head)) == []
    assert codes(match([waiver(path=RepoPath("bin"), blob=blob, line_hash=None)], [], head)) == []
    assert codes(match([waiver(blob=blob, line_hash=None)], [], head)) == ["LW206"]
    assert codes(match([waiver("gone")], [], head)) == ["LW206"]
    assert codes(match([waiver(path=RepoPath("gone"))], [], head)) == ["LW206"]


@pytest.mark.parametrize("mode", [0o120000, 0o160000])
def test_a_link_or_a_submodule_has_no_lines(mode: int) -> None:
    assert codes(match([waiver()], [], holding(b"return x", mode))) == ["LW206"]


def test_a_stale_waiver_is_a_warning() -> None:
    (finding,) = match([waiver()], []).findings(FILE)

    assert finding.severity == "warning"
    assert "waivers prune" in finding.message


def test_each_file_is_read_once() -> None:
    head = holding(b"a\nb\nb\n")
    asked: list[Blob] = []

    def read(blob: Blob) -> bytes:
        asked.append(blob)
        return head.read(blob)

    presence = Presence(Head(head.tree, read))
    assert [presence.count(waiver(text)) for text in ("a", "b", "c")] == [1, 2, 0]
    assert len(asked) == 1


def test_no_file_is_read_when_there_is_no_waiver() -> None:
    def read(blob: Blob) -> bytes:
        raise AssertionError(blob)

    assert match([], [owed()], Head(holding(b"x").tree, read)) == Matches({}, (), ())


CONTENTS = st.sampled_from(["return x", "return y", "pass"])
SCOPES = st.sampled_from(["f", "g", ""])
OWED = st.lists(st.tuples(CONTENTS, SCOPES), max_size=6)
WAIVERS = st.lists(
    st.builds(
        lambda content, scope, occurrence, early: waiver(
            content, scope=scope, occurrence=occurrence, **({"line_hash": sha1_12(content.encode())} if early else {})
        ),
        CONTENTS,
        st.none() | SCOPES,
        st.none() | st.integers(1, 3),
        st.booleans(),
    ),
    max_size=4,
    unique=True,
)


def numbered(lines: list[tuple[str, str]]) -> list[Obligation]:
    return [
        owed(number, content, scope=scope, occurrence=lines[:number].count((content, scope)))
        for number, (content, scope) in enumerate(lines, 1)
    ]


def text_of(lines: list[tuple[str, str]]) -> bytes:
    return "".join(f"{content}\n" for content, _ in lines).encode()


@given(OWED, WAIVERS)
def test_a_waiver_discharges_one_line_at_most_and_only_one_that_it_describes(
    lines: list[tuple[str, str]], waivers: list[Waiver]
) -> None:
    matches = match(waivers, numbered(lines), holding(text_of(lines)))

    used = list(matches.discharges.values())
    assert len(used) == len(set(used))
    for obligation, used_waiver in matches.discharges.items():
        assert used_waiver.line_hash in {line_hash(obligation.content.encode()), sha1_12(obligation.content.encode())}
        assert used_waiver.scope in {None, obligation.scope}
        assert used_waiver.occurrence in {None, obligation.occurrence}
    assert not set(used) & {doubt.waiver for doubt in matches.ambiguous}
    assert not set(used) & set(matches.stale)


@given(OWED, WAIVERS, st.data())
def test_a_waiver_less_never_discharges_a_line_more(
    lines: list[tuple[str, str]], waivers: list[Waiver], data: st.DataObject
) -> None:
    fewer = [one for one in waivers if data.draw(st.booleans())]
    head = holding(text_of(lines))

    assert (
        match(fewer, numbered(lines), head).discharges.keys() <= match(waivers, numbered(lines), head).discharges.keys()
    )


@given(OWED, WAIVERS, st.data())
def test_more_witnesses_never_add_a_finding(
    lines: list[tuple[str, str]], waivers: list[Waiver], data: st.DataObject
) -> None:
    obligations = numbered(lines)
    matches = match(waivers, obligations, holding(text_of(lines)))
    open_ = [one for one in obligations if data.draw(st.booleans())]

    assert set(matches.findings(FILE, open_)) <= set(matches.findings(FILE, obligations)) == set(matches.findings(FILE))


@given(OWED, CONTENTS, SCOPES)
def test_a_waiver_never_covers_an_equal_line_that_is_added_later(
    lines: list[tuple[str, str]], content: str, scope: str
) -> None:
    """A line is waived and merged; then a patch adds an equal one below it, and owes only that one."""
    merged = [*lines, (content, scope)]
    (*_, approved) = numbered(merged)
    vague = waiver(content)
    if match([vague], [approved], holding(text_of(merged))).discharges:
        later = [*merged, (content, "later")]
        (*_, added) = numbered(later)

        assert match([vague], [added], holding(text_of(later))).discharges == {}
