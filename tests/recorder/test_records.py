"""The rows of tests are sealed together: nothing can be added, taken away, exchanged or moved among them."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from linewitness.errors import EvidenceError
from linewitness.evidence.records import FORMAT, Journal, TestRow, read_journals
from linewitness.evidence.seal import Seal

KEY = b"k" * 32
IDS = '["collected",["t::a","t::b"]]'
FIRST, SECOND = '["test",0,1,2,0,[]]', '["test","t::b",3,4,[["setup","failed","why",""]],[["a.py",[1]]]]'


def lines(tests: tuple[str, ...] = (FIRST, SECOND), *, whole: bool = True) -> list[bytes]:
    """A record as a recorder writes it; one that was cut short has no seal of its tests and no end."""
    seal = Seal(KEY)
    start = f'["start",{FORMAT},"main",{os.getpid()},"","{sys.implementation.cache_tag}"]'
    written = [seal.row(start), seal.row(IDS)]
    for test in tests:
        line = test.encode() + b"\n"
        seal.add_tests(line)
        written.append(line)
    return [*written, *([seal.row(f'["sealed","{seal.of_tests()}"]'), seal.row('["end",0]')] if whole else [])]


def read(folder: Path, written: list[bytes]) -> Journal:
    (folder / f"main-{os.getpid()}-0.jsonl").write_bytes(b"".join(written))
    [journal] = read_journals(folder, KEY).main
    return journal


def test_a_whole_record_is_read_with_the_names_of_its_tests(tmp_path: Path) -> None:
    journal = read(tmp_path, lines())
    first, second = (row for row in journal.rows if isinstance(row, TestRow))
    assert (first.nodeid, [report[:2] for report in first.reports]) == (
        "t::a",
        [("setup", "passed"), ("call", "passed"), ("teardown", "passed")],
    )
    assert (second.nodeid, second.reports, second.hits) == ("t::b", [("setup", "failed", "why", "")], [("a.py", [1])])
    assert (journal.whole, journal.end is not None) == (True, True)


def test_a_record_that_was_cut_short_is_read_and_is_not_whole(tmp_path: Path) -> None:
    journal = read(tmp_path, lines(whole=False))
    assert (journal.whole, journal.end) == (False, None)
    assert [row.nodeid for row in journal.rows if isinstance(row, TestRow)] == ["t::a", "t::b"]


def test_a_record_without_tests_needs_no_seal_of_them(tmp_path: Path) -> None:
    assert read(tmp_path, lines((), whole=False)).whole


MEDDLING: dict[str, Callable[[list[bytes]], list[bytes]]] = {
    "a test is added": lambda own: [*own[:4], b'["test",1,5,6,0,[]]\n', *own[4:]],
    "a test is added at the end": lambda own: [*own, b'["test",1,5,6,0,[]]\n'],
    "a test is there twice": lambda own: [*own[:3], own[2], *own[3:]],
    "a test is taken away": lambda own: [*own[:3], *own[4:]],
    "tests change places": lambda own: [*own[:2], own[3], own[2], *own[4:]],
    "a test is made green": lambda own: [*own[:3], b'["test",1,3,4,0,[]]\n', *own[4:]],
    "the seal is taken away": lambda own: [*own[:4], own[5]],
    "a sealed row is made a test's": lambda own: [*own[:2], own[0].replace(b'["start"', b'["test"'), *own[2:]],
}


@pytest.mark.parametrize("name", MEDDLING)
def test_meddling_with_the_rows_of_tests_is_told(tmp_path: Path, name: str) -> None:
    with pytest.raises(EvidenceError) as raised:
        read(tmp_path, MEDDLING[name](lines()))
    assert raised.value.code == ("LW505" if name != "a sealed row is made a test's" else raised.value.code)


@pytest.mark.parametrize("number", [-1, 2, 10**30])
def test_a_test_that_was_not_collected_is_refused(tmp_path: Path, number: int) -> None:
    with pytest.raises(EvidenceError):
        read(tmp_path, lines((f'["test",{number},1,2,0,[]]',)))


def test_a_test_that_passed_is_told_in_one_way_only(tmp_path: Path) -> None:
    with pytest.raises(EvidenceError):
        read(tmp_path, lines(('["test",0,1,2,1,[]]',)))
