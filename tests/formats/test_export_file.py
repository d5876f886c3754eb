from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from linewitness.errors import EvidenceError
from linewitness.evidence.formats import source
from linewitness.evidence.formats.source import ExportFile
from tests.formats.files import written


def test_the_digest_is_the_one_that_sha256sum_shows(tmp_path: Path) -> None:
    data = os.urandom(3 * source.WINDOW + 17)
    assert ExportFile(written(tmp_path, data)).digest() == hashlib.sha256(data).hexdigest()


@pytest.mark.parametrize("overlap", [0, 1, 5])
def test_windows_repeat_the_end_of_the_one_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, overlap: int
) -> None:
    monkeypatch.setattr(source, "WINDOW", 3)
    seen = list(ExportFile(written(tmp_path, b"abcdefgh")).windows(overlap))
    for start, data in seen:
        assert b"abcdefgh"[start : start + len(data)] == data
    ends = [start + len(data) for start, data in seen]
    assert ends == [3, 6, 8]
    assert [end - min(end, overlap) for end in ends[:-1]] == [start for start, _data in seen[1:]]


def test_what_is_missing_empty_or_no_file_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to("loop")
    written(tmp_path, b"", "empty")
    for name in ("missing", "empty", "pipe", "loop", ".", "a\0b"):
        with pytest.raises(EvidenceError):
            ExportFile(tmp_path / name)


def test_a_file_that_changes_while_it_is_read_is_refused(tmp_path: Path) -> None:
    export = ExportFile(written(tmp_path, b"abc"))
    assert export.read(0, 2) == b"ab"
    with export.path.open("ab") as more:
        more.write(b"d")
    with pytest.raises(EvidenceError, match="changed"):
        export.read(0, 2)


def test_a_record_of_gigabytes_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "MAX_RECORD", 10)
    with pytest.raises(EvidenceError, match="more than 10"):
        ExportFile(written(tmp_path, b"x" * 20)).read(0, 20)


def test_a_file_that_needs_a_parser_is_read_whole_only_up_to_a_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source, "MAX_WHOLE", 10)
    with pytest.raises(EvidenceError, match="up to 10 bytes"):
        ExportFile(written(tmp_path, b"x" * 20)).whole()
