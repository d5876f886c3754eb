"""Codecov's own JSON: counts, shares of a line, and arrays of both."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from linewitness.errors import EvidenceError
from linewitness.evidence import formats
from linewitness.evidence.formats.facts import FileFacts
from linewitness.evidence.formats.source import ExportFile
from tests.formats.files import written


def facts(folder: Path, lines: object) -> FileFacts:
    path = written(folder, msgspec.json.encode({"coverage": {"src/a.rs": lines}}))
    name, reader = formats.open_export(ExportFile(path))
    assert (name, list(reader.names)) == ("codecov", ["src/a.rs"])
    return reader.facts("src/a.rs")


def test_a_line_counts_when_all_of_it_ran_or_none(tmp_path: Path) -> None:
    found = facts(tmp_path, {"1": 0, "2": 5, "3": "3/3", "4": "0/2", "5": None, "7": "0/0"})
    assert found.counts == {1: 0, 2: 5, 3: 3, 4: 0, 7: 0}
    assert found.complete == {}, "arguments of macros have no region that could have been counted"


@pytest.mark.parametrize("some", ["1/2", True])
def test_a_line_that_ran_in_part_has_no_count_for_nothing_tells_which_part(tmp_path: Path, some: object) -> None:
    found = facts(tmp_path, {"1": 1, "2": some})
    assert dict(found.counts) == {1: 1}
    assert set(found.uncounted) == {2}


def test_the_first_item_of_an_array_stands_for_no_line(tmp_path: Path) -> None:
    found = facts(tmp_path, [None, 1, 0, None, "1/3"])
    assert dict(found.counts) == {1: 1, 2: 0}
    assert set(found.uncounted) == {4}


@pytest.mark.parametrize("hit", ["2/1", "x", "1", "-1/2", 1.5, [1]])
def test_a_hit_that_is_none_is_refused(tmp_path: Path, hit: object) -> None:
    with pytest.raises(EvidenceError):
        facts(tmp_path, {"1": hit})


@pytest.mark.parametrize("line", ["0", "x", "-1", "99999999999"])
def test_a_line_that_is_none_is_refused(tmp_path: Path, line: str) -> None:
    with pytest.raises(EvidenceError, match="no line number"):
        formats.open_export(ExportFile(written(tmp_path, '{"coverage":{"a":{"%s":1}}}' % line)), "codecov")  # noqa: UP031
