"""Corpora: the manifest says exactly what is there, and ``sha256sum`` comes to the same result."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tracemalloc
from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from linewitness.errors import UsageError
from linewitness.globs import Globs
from linewitness.model import Blob, Finding, ObjectId, RepoPath, Severity
from linewitness.trust import corpus
from linewitness.trust.manifest import MANIFEST, parse, render
from tests.support.repos import Repo

FOLDER = "tests/relations/corpus/"
RELATIONS = Globs(["tests/relations/**"])
EMPTY = hashlib.sha256(b"").hexdigest()


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def line(data: bytes, name: str, between: str = "  ") -> bytes:
    return f"{sha256(data)}{between}{name}\n".encode()


def verify(
    files: dict[str, bytes], modes: dict[str, int] | None = None, folder: str = FOLDER
) -> list[tuple[str, str, int]]:
    found = errors(judged(files, modes, folder))
    return [(each.code, each.path.removeprefix(folder), each.line) for each in found]


def errors(findings: Iterable[Finding]) -> list[Finding]:
    return [finding for finding in findings if finding.severity is Severity.ERROR]


def judged(files: dict[str, bytes], modes: dict[str, int] | None = None, folder: str = FOLDER) -> tuple[Finding, ...]:
    store = {sha256(data): data for data in files.values()}
    blobs = {name: Blob((modes or {}).get(name, 0o100644), ObjectId(sha256(data))) for name, data in files.items()}
    tree = {RepoPath(folder + name): blob for name, blob in blobs.items()}
    return corpus.verify(tree, RELATIONS, lambda blob: store[blob.oid])


GOOD = {"a.json": b"{}", "deep/b.txt": b"b"}
GOOD_MANIFEST = line(b"{}", "a.json") + line(b"b", "deep/b.txt")


def test_a_manifest_that_lists_exactly_what_is_there_is_quiet() -> None:
    assert verify(GOOD | {MANIFEST: GOOD_MANIFEST}) == []


@pytest.mark.parametrize(
    "manifest",
    [
        line(b"b", "deep/b.txt") + line(b"{}", "a.json"),
        b"# a comment\n\n" + GOOD_MANIFEST,
        GOOD_MANIFEST.replace(b"\n", b"\r\n"),
        GOOD_MANIFEST.removesuffix(b"\n"),
        GOOD_MANIFEST.replace(b"  ", b" *"),
        GOOD_MANIFEST.replace(b"  ", b" "),
        line(b"{}", "a.json").upper().replace(b"A.JSON", b"a.json") + line(b"b", "deep/b.txt"),
    ],
    ids=["unsorted", "comments", "crlf", "no last newline", "binary", "one space", "upper case"],
)
def test_every_spelling_that_sha256sum_accepts_is_accepted(manifest: bytes, tmp_path: Path) -> None:
    write(tmp_path, GOOD | {MANIFEST: manifest})

    assert verify(GOOD | {MANIFEST: manifest}) == []
    assert sha256sum_check(tmp_path)


@pytest.mark.parametrize(
    ("manifest", "expected"),
    [
        (line(b"{}", "a.json") + line(b"B", "deep/b.txt"), [("LW401", "deep/b.txt", 0)]),
        (line(b"{}", "a.json"), [("LW402", "deep/b.txt", 0)]),
        (GOOD_MANIFEST + line(b"", "gone"), [("LW401", MANIFEST, 3)]),
        (GOOD_MANIFEST + line(b"{}", "a.json"), [("LW401", MANIFEST, 3)]),
        (GOOD_MANIFEST + line(b"", "../test_r.py"), [("LW401", MANIFEST, 3)]),
        (GOOD_MANIFEST + line(b"", "/etc/passwd"), [("LW401", MANIFEST, 3)]),
        (GOOD_MANIFEST + line(b"", "./a.json"), [("LW401", MANIFEST, 3)]),
        (GOOD_MANIFEST + line(b"", "deep//b.txt"), [("LW401", MANIFEST, 3)]),
        (GOOD_MANIFEST + line(b"", "deep/"), [("LW401", MANIFEST, 3)]),
        (GOOD_MANIFEST + line(b"", MANIFEST), [("LW401", MANIFEST, 3)]),
        (GOOD_MANIFEST + b"not a line\n", [("LW401", MANIFEST, 3)]),
        (GOOD_MANIFEST + b"SHA256 (a.json) = " + EMPTY.encode(), [("LW401", MANIFEST, 3)]),
        (GOOD_MANIFEST + b"\\" + line(b"", "a\\q"), [("LW401", MANIFEST, 3)]),
        (b"e3b0c44298fc1c149afbf4c8996fb924 a.json\n" + line(b"b", "deep/b.txt"), [("LW401", MANIFEST, 1)]),
        (b"\xff\0", [("LW401", MANIFEST, 1), ("LW402", "a.json", 0), ("LW402", "deep/b.txt", 0)]),
        (b"", [("LW401", MANIFEST, 0), ("LW402", "a.json", 0), ("LW402", "deep/b.txt", 0)]),
    ],
)
def test_every_way_in_which_a_manifest_is_not_the_folder_is_a_finding(
    manifest: bytes, expected: list[tuple[str, str, int]]
) -> None:
    assert verify(GOOD | {MANIFEST: manifest}) == expected


def test_the_placeholder_of_the_published_example_says_what_is_wrong_with_it() -> None:
    text = b"""# tests/relations/corpus/MANIFEST.sha256
# sha256sum orders.jsonl > MANIFEST.sha256  (recompute only in a human commit)
e3b0c44298fc1c149afbf4c8996fb924 orders.jsonl
"""
    (finding,) = judged({"orders.jsonl": b"{}\n", MANIFEST: text})

    assert (finding.code, finding.line) == ("LW401", 3)
    assert "32 hex digits where SHA-256 has 64" in finding.message
    assert judged({"orders.jsonl": b"{}\n", MANIFEST: line(b"{}\n", "orders.jsonl", " ")}) == ()


def warnings(files: dict[str, bytes]) -> list[tuple[int, str]]:
    return [(found.line, found.message) for found in judged(files) if found.severity is Severity.WARNING]


def test_a_file_that_is_a_copy_of_another_is_pointed_out() -> None:
    """It may be meant, as when a formatter leaves a file alone; relations count distinct cases."""
    files = {"a": b"1", "b": b"2", "c": b"1"}
    manifest = b"".join(line(data, name) for name, data in files.items())
    assert verify(files | {MANIFEST: manifest}) == []
    assert warnings(files | {MANIFEST: manifest}) == [
        (3, "'c' has the bytes of 'a' (line 1): the same case twice counts once")
    ]


def test_names_out_of_order_are_pointed_out_once() -> None:
    files = {"a": b"1", "b": b"2", "c": b"3"}
    manifest = b"".join(line(files[name], name) for name in "cba")
    ((number, message),) = warnings(files | {MANIFEST: manifest})
    assert (number, message.partition(":")[0]) == (2, "'b' is out of order")


def test_an_empty_corpus_is_a_finding() -> None:
    assert verify({MANIFEST: b"# nothing\n"}) == [("LW401", MANIFEST, 0)]


@pytest.mark.parametrize("mode", [0o120000, 0o160000])
def test_links_and_submodules_in_a_corpus_are_findings_even_when_they_are_listed(mode: int) -> None:
    assert verify(GOOD | {MANIFEST: GOOD_MANIFEST}, {"a.json": mode}) == [("LW401", "a.json", 0)]
    assert verify(GOOD | {MANIFEST: GOOD_MANIFEST}, {MANIFEST: mode}) == [("LW401", MANIFEST, 0)]


def test_a_corpus_folder_without_a_manifest_is_one_finding() -> None:
    assert verify(GOOD) == [("LW402", MANIFEST, 0)]
    assert verify({"data.json": b""}, folder="tests/relations/") == []
    assert verify({"Corpus/data.json": b"", "Corpus/x/corpus/b": b""}, folder="tests/relations/") == [
        ("LW402", "Corpus/MANIFEST.sha256", 0)
    ]


def test_a_link_in_the_place_of_a_corpus_is_a_finding() -> None:
    assert verify({"corpus": b"../elsewhere"}, {"corpus": 0o120000}, "tests/relations/") == [("LW401", "corpus", 0)]
    assert verify({"corpus": b"a file"}, folder="tests/relations/") == []


def test_a_manifest_above_covers_the_folders_below_it_and_lists_their_manifests() -> None:
    inner = line(b"b", "b")
    outer = line(b"b", "corpus/b") + line(inner, "corpus/MANIFEST.sha256")
    files = {"corpus/b": b"b", "corpus/MANIFEST.sha256": inner}

    assert verify(files | {MANIFEST: outer}) == []
    assert verify(files | {MANIFEST: line(b"b", "corpus/b")}) == [("LW402", "corpus/MANIFEST.sha256", 0)]


def test_what_lies_outside_the_relations_is_not_judged() -> None:
    assert verify({"a": b"", MANIFEST: b"junk"}, folder="data/corpus/") == []


@given(st.binary(max_size=200))
def test_any_bytes_as_a_manifest_give_findings_or_a_manifest_that_says_the_same_when_written_again(data: bytes) -> None:
    manifest = parse(data, "M")

    assert all(finding.code == "LW401" and finding.message for finding in manifest.findings)
    if not manifest.findings:
        digests = {entry.name: entry.digest for entry in manifest.entries}
        again = parse(render(digests), "M")
        assert {entry.name: entry.digest for entry in again.entries} == digests


NAMES = st.binary(min_size=1, max_size=8).map(lambda raw: raw.decode("utf-8", "surrogateescape"))
PLAIN_NAMES = NAMES.filter(lambda name: "/" not in name and "\0" not in name and name not in {".", "..", MANIFEST})


@given(st.dictionaries(PLAIN_NAMES, st.binary(max_size=4), min_size=1, max_size=5))
def test_every_file_name_survives_the_manifest(files: dict[str, bytes]) -> None:
    manifest = parse(render({name: sha256(data) for name, data in files.items()}), "M")

    assert errors(manifest.findings) == []
    assert {entry.name: entry.digest for entry in manifest.entries} == {
        name: sha256(data) for name, data in files.items()
    }


@given(st.dictionaries(PLAIN_NAMES, st.binary(max_size=4), min_size=1, max_size=5), st.data())
def test_any_edit_of_a_frozen_corpus_is_noticed(files: dict[str, bytes], data: st.DataObject) -> None:
    manifest = render({name: sha256(content) for name, content in files.items()})
    edited = dict(files)
    name = data.draw(st.sampled_from(sorted(files)))
    match data.draw(st.sampled_from(["change", "remove", "add"])):
        case "change":
            edited[name] += b"!"
        case "remove":
            del edited[name]
        case _:
            edited["added/" + name] = b""

    assert verify(files | {MANIFEST: manifest}) == []
    assert len(verify(edited | {MANIFEST: manifest})) == 1


# ---------------------------------------------------------------- on disk


def write(root: Path, files: dict[str, bytes]) -> None:
    for name, data in files.items():
        place = root / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)


def sha256sum_check(folder: Path) -> bool:
    tool = shutil.which("sha256sum")
    if tool is None:
        pytest.skip("no sha256sum here")
    return (
        subprocess.run([tool, "--check", "--strict", MANIFEST], cwd=folder, check=False, capture_output=True).returncode
        == 0
    )


def on_disk(root: Path) -> list[tuple[str, str]]:
    return [(found.code, found.path) for found in errors(corpus.verify_folder(root, "c"))]


ODD = {
    "b c": b"1",
    "n\nl": b"2",
    "back\\slash": b"3",
    "cr\rx": b"4",
    "*star": b"5",
    " lead": b"6",
    "#x": b"7",
    "deep/é": b"8",
}


def test_what_freeze_writes_is_what_verify_and_sha256sum_accept(tmp_path: Path) -> None:
    write(tmp_path, ODD)
    frozen = corpus.freeze(tmp_path)

    assert frozen == corpus.Frozen(tuple(sorted(ODD)), (), (), len(ODD))
    assert on_disk(tmp_path) == []
    assert sha256sum_check(tmp_path)
    lines = (tmp_path / MANIFEST).read_bytes().splitlines()
    assert len(lines) == len(ODD)


def test_freezing_again_says_what_changed_and_keeps_comments(tmp_path: Path) -> None:
    write(tmp_path, {"a": b"1", "b": b"2", "c": b"3", MANIFEST: b"# from the archive\n"})
    corpus.freeze(tmp_path)
    write(tmp_path, {"a": b"x", "d": b"4"})
    (tmp_path / "b").unlink()

    assert corpus.freeze(tmp_path) == corpus.Frozen(("d",), ("b",), ("a",), 3)
    assert not corpus.freeze(tmp_path).is_news
    assert (tmp_path / MANIFEST).read_bytes().startswith(b"# from the archive\n")


@pytest.mark.parametrize("options", [[], ["--binary"], ["--text"]])
def test_what_sha256sum_writes_is_accepted_whatever_the_names(tmp_path: Path, options: list[str]) -> None:
    tool = shutil.which("sha256sum")
    if tool is None:
        pytest.skip("no sha256sum here")
    write(tmp_path, ODD)
    done = subprocess.run([tool, *options, "--", *ODD], cwd=tmp_path, check=True, capture_output=True)
    (tmp_path / MANIFEST).write_bytes(done.stdout)

    assert on_disk(tmp_path) == []
    write(tmp_path, {"b c": b"drifted"})
    assert on_disk(tmp_path) == [("LW401", "c/b c")]
    assert not sha256sum_check(tmp_path)


def test_the_command_that_drift_suggests_restores_the_file(tmp_path: Path) -> None:
    name = "tests/relations/corpus/b c.json"
    repo = Repo(tmp_path)
    digest = sha256(b"{}")
    base = repo.commit("base", {name: b"{}", f"{FOLDER}{MANIFEST}": f"{digest}  b c.json\n"})
    repo.commit("drift", {name: b"[]"})
    tree = {RepoPath(name): Blob(0o100644, ObjectId("1")), RepoPath(FOLDER + MANIFEST): Blob(0o100644, ObjectId("2"))}
    store = {"1": b"[]", "2": f"{digest}  b c.json\n".encode()}
    (finding,) = corpus.verify(tree, RELATIONS, lambda blob: store[blob.oid], base)
    assert finding.path == name
    command = finding.message.partition("`")[2].partition("`")[0]
    assert command == f"git checkout {base} -- 'tests/relations/corpus/b c.json'"
    subprocess.run(["sh", "-c", command], cwd=tmp_path, check=True, capture_output=True)
    assert (tmp_path / name).read_bytes() == b"{}"
    assert [(f.code, f.path) for f in corpus.verify_folder(tmp_path / FOLDER, "c")] == []


def test_thousands_of_files_and_one_large_one_are_judged_in_little_memory(tmp_path: Path) -> None:
    write(tmp_path, {f"{n % 10}/{n}": str(n).encode() for n in range(3000)})
    with (tmp_path / "large").open("wb") as file:
        for _ in range(64):
            file.write(os.urandom(1 << 20))
    tracemalloc.start()
    try:
        assert corpus.freeze(tmp_path).files == 3001
        assert corpus.verify_folder(tmp_path, "c") == ()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 16 << 20


def test_a_file_that_is_not_listed_is_silent_for_sha256sum_and_loud_here(tmp_path: Path) -> None:
    write(tmp_path, GOOD)
    corpus.freeze(tmp_path)
    write(tmp_path, {"extra": b""})

    assert sha256sum_check(tmp_path)
    assert on_disk(tmp_path) == [("LW402", "c/extra")]


def test_links_on_disk_are_not_followed(tmp_path: Path) -> None:
    write(tmp_path / "c", GOOD)
    corpus.freeze(tmp_path / "c")
    (tmp_path / "c" / "a.json").unlink()
    write(tmp_path, {"a.json": b"{}"})
    os.symlink("../a.json", tmp_path / "c" / "a.json")
    os.symlink("c", tmp_path / "linked")

    assert on_disk(tmp_path / "c") == [("LW401", "c/a.json")]
    assert on_disk(tmp_path / "linked") == [("LW401", "c")]
    for folder in ("c", "linked"):
        with pytest.raises(UsageError):
            corpus.freeze(tmp_path / folder)


def test_pipes_are_not_read(tmp_path: Path) -> None:
    write(tmp_path, GOOD)
    corpus.freeze(tmp_path)
    os.mkfifo(tmp_path / "pipe")

    assert on_disk(tmp_path) == [("LW401", "c/pipe")]


def test_a_folder_that_is_missing_or_empty_cannot_be_frozen_and_is_left_as_it_is(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "missing"):
        with pytest.raises(UsageError):
            corpus.freeze(folder)
    assert list(tmp_path.iterdir()) == []


def test_a_corpus_on_disk_without_a_manifest_is_a_finding(tmp_path: Path) -> None:
    write(tmp_path, GOOD)

    assert on_disk(tmp_path) == [("LW402", "c/MANIFEST.sha256")]


def test_the_corpora_of_a_checkout_are_found_deepest_first(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "tests/relations/corpus/a": b"",
            "tests/relations/other/MANIFEST.sha256": b"",
            "tests/relations/other/deep/MANIFEST.sha256": b"",
            "data/corpus/a": b"",
        },
    )

    assert corpus.folders_on_disk(tmp_path, ("tests/relations/**",)) == (
        "tests/relations/other/deep",
        "tests/relations/corpus",
        "tests/relations/other",
    )
    assert corpus.folders_on_disk(tmp_path, ("nowhere/**",)) == ()
