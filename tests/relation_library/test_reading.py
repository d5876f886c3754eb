"""How cases are read from a corpus, and that a corpus of any size is read one case after the other."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path

import pytest

from linewitness.relations.corpus import find, read
from linewitness.relations.trouble import CorpusError
from tests.relation_library.projects import frozen, write


def cases(root: Path, name: str) -> list[tuple[str, object]]:
    return [(case.name, case.value) for case in read(find(name, str(root / "test_it.py")))]


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("a.jsonl", '{"a": 1}\n\n[2]\r\n"x"', [("a.jsonl:1", {"a": 1}), ("a.jsonl:3", [2]), ("a.jsonl:4", "x")]),
        ("a.ndjson", "1\n", [("a.ndjson:1", 1)]),
        ("a.json", '[1, {"a": 2}]', [("a.json[0]", 1), ("a.json[1]", {"a": 2})]),
        ("b.json", '{"a": 2}', [("b.json", {"a": 2})]),
        ("a.csv", 'x,y\n1,"a\n b"\n2,c\n', [("a.csv:3", {"x": "1", "y": "a\n b"}), ("a.csv:4", {"x": "2", "y": "c"})]),
        ("a.tsv", "x\ty\n1\t2\n", [("a.tsv:2", {"x": "1", "y": "2"})]),
        ("a.txt", "one\n\n two \r\n", [("a.txt:1", "one"), ("a.txt:3", " two ")]),
        ("a.TXT", "one\n", [("a.TXT:1", "one")]),
        ("a.bin", b"\xff\0", [("a.bin", b"\xff\0")]),
        ("no_suffix", b"", [("no_suffix", b"")]),
    ],
)
def test_the_suffix_says_what_a_case_is(
    tmp_path: Path, name: str, content: str | bytes, expected: list[tuple[str, object]]
) -> None:
    write(tmp_path, frozen({name: content}, "corpus"))
    assert cases(tmp_path, name) == expected


def test_a_folder_gives_the_cases_of_its_files_in_order(tmp_path: Path) -> None:
    write(tmp_path, frozen({"p/b.txt": "one\ntwo\n", "p/a/x.json": "[1]", "p/c.bin": b"\0", "q.txt": "no"}, "corpus"))
    expected = [("p/a/x.json[0]", 1), ("p/b.txt", "one\ntwo\n"), ("p/c.bin", b"\0")]
    assert cases(tmp_path, "p") == expected
    assert cases(tmp_path, "p/") == expected


def test_the_nearest_manifest_vouches(tmp_path: Path) -> None:
    write(tmp_path, frozen({"a.txt": "a\n"}, "corpus/inner"))
    assert cases(tmp_path / "deep" / "below", "inner/a.txt") == [("a.txt:1", "a")]
    assert cases(tmp_path, "inner") == [("a.txt", "a\n")]


@pytest.mark.parametrize("name", ["../secret.txt", "a/../../secret.txt", "/etc/hosts", ".", "a//b"])
def test_a_name_cannot_leave_the_corpus(tmp_path: Path, name: str) -> None:
    write(tmp_path, {**frozen({"a.txt": "a\n"}, "corpus"), "secret.txt": "s\n"})
    with pytest.raises(CorpusError):
        cases(tmp_path, name)


def test_what_the_manifest_does_not_list_is_refused_in_a_folder(tmp_path: Path) -> None:
    write(tmp_path, frozen({"p/a.txt": "a\n"}, "corpus"))
    (tmp_path / "corpus" / "p" / "b.txt").write_text("b\n")
    with pytest.raises(CorpusError, match="is not in the manifest"):
        cases(tmp_path, "p")
    with pytest.raises(CorpusError, match=r"lists nothing called 'p/b\.txt'"):
        cases(tmp_path, "p/b.txt")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", "x,y\n1\n"),
        ("a.csv", "x,y\n1,2,3\n"),
        ("a.txt", b"\xff\n"),
        ("a.json", "{"),
        ("a.json", "[" * 100_000),
    ],
)
def test_a_file_that_cannot_be_read_as_cases_is_told(tmp_path: Path, name: str, content: str | bytes) -> None:
    write(tmp_path, frozen({name: content}, "corpus"))
    with pytest.raises(CorpusError, match="a\\."):
        cases(tmp_path, name)


def test_a_large_corpus_is_read_in_little_memory(tmp_path: Path) -> None:
    line = json.dumps({"filler": "x" * 1000})
    write(tmp_path, frozen({"big.jsonl": "".join(f'{{"n": {n}, "rest": {line}}}\n' for n in range(20_000))}, "corpus"))
    corpus = find("big.jsonl", str(tmp_path / "test_it.py"))
    tracemalloc.start()
    try:
        count = sum(1 for _ in read(corpus))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert count == 20_000
    assert peak < 4_000_000 < (tmp_path / "corpus" / "big.jsonl").stat().st_size
