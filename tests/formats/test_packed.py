from __future__ import annotations

import gzip
import json
from functools import partial
from pathlib import Path

import pytest

from linewitness.errors import EvidenceError
from linewitness.evidence import formats
from linewitness.evidence.formats import packed
from linewitness.evidence.formats.source import ExportFile
from tests.formats.files import written

#: Without the time of day, which would give the parameters of tests new names.
pack = partial(gzip.compress, mtime=0)
TRACEFILE = b"SF:a.c\nDA:1,1\nend_of_record\n"


def names(path: Path) -> tuple[str, list[str]]:
    name, reader = formats.open_export(ExportFile(path))
    return name, list(reader.names)


def test_a_packed_export_is_read_like_any_other(tmp_path: Path) -> None:
    tree = {"gcc_version": "12", "current_working_directory": "/r", "files": [{"file": "a.c", "lines": []}]}
    assert names(written(tmp_path, pack(json.dumps(tree).encode()))) == ("gcov", ["/r/a.c"])
    path = written(tmp_path, pack(TRACEFILE))
    _name, reader = formats.open_export(ExportFile(path))
    assert reader.facts("a.c").counts == {1: 1}


def test_several_members_are_one_export_and_padding_is_none(tmp_path: Path) -> None:
    parts = pack(TRACEFILE) + pack(TRACEFILE.replace(b"a.c", b"b.c")) + b"\0" * 512
    assert names(written(tmp_path, parts)) == ("lcov", ["a.c", "b.c"])


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        (pack(TRACEFILE)[:-9], "cut off"),
        (pack(TRACEFILE)[:-8] + b"12345678", "damaged"),
        (pack(TRACEFILE) + b"xy", "damaged"),
        (pack(b""), "nothing in it"),
        (b"\x1f\x8b", "cut off"),
    ],
)
def test_what_cannot_be_unpacked_is_refused(tmp_path: Path, data: bytes, complaint: str) -> None:
    with pytest.raises(EvidenceError, match=complaint):
        names(written(tmp_path, data))


def test_a_small_file_that_unpacks_to_a_huge_one_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packed, "MAX_WHOLE", 10_000)
    path = written(tmp_path, pack(b"TN:\n" * 5_000_000))
    assert path.stat().st_size < 30_000
    with pytest.raises(EvidenceError, match="more than 10000 bytes"):
        names(path)


def test_what_is_packed_twice_is_of_no_format(tmp_path: Path) -> None:
    with pytest.raises(EvidenceError, match="known format"):
        names(written(tmp_path, pack(pack(TRACEFILE))))
