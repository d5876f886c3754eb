"""What `gcov --json-format --stdout` writes for several objects: one object of JSON after the other, each on a line."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from linewitness.errors import EvidenceError
from linewitness.evidence import formats
from linewitness.evidence.formats.source import ExportFile
from tests.formats.files import written


def one(file: str, *lines: tuple[int, int], folder: str = "/repo") -> str:
    entries = [{"line_number": line, "count": count, "branches": []} for line, count in lines]
    return json.dumps({"gcc_version": "12", "current_working_directory": folder, "files": [file_of(file, entries)]})


def file_of(name: str, entries: list[dict[str, object]]) -> dict[str, object]:
    return {"file": name, "lines": entries, "functions": []}


FIRST = one("a.c", (1, 3), (2, 0))
SECOND = one("b.c", (7, 1))


@pytest.mark.parametrize("text", [f"{FIRST}\n{SECOND}\n", f"{FIRST}\r\n\r\n  {SECOND}", f"\ufeff{FIRST}\n{SECOND}"])
@pytest.mark.parametrize("packed", [False, True])
def test_every_object_is_read(tmp_path: Path, text: str, packed: bool) -> None:
    data = text.encode()
    name, reader = formats.open_export(ExportFile(written(tmp_path, gzip.compress(data) if packed else data)))

    assert name == "gcov"
    assert sorted(reader.names) == ["/repo/a.c", "/repo/b.c"]
    assert reader.facts("/repo/a.c").counts == {1: 3, 2: 0}
    assert reader.facts("/repo/b.c").counts == {7: 1}


def test_a_hit_of_a_header_in_any_object_is_a_hit(tmp_path: Path) -> None:
    text = "\n".join([one("a.h", (1, 0), (2, 4)), one("a.h", (1, 1), (2, 0)), one("a.h", (1, 9), folder="/other")])
    _, reader = formats.open_export(ExportFile(written(tmp_path, text)))

    assert reader.facts("/repo/a.h").counts == {1: 1, 2: 4}
    assert reader.facts("/other/a.h").counts == {1: 9}


@pytest.mark.parametrize(
    "text",
    [
        FIRST + SECOND,
        f"{FIRST}\n{SECOND[:-3]}",
        f"{FIRST}\nnot JSON\n",
        f'{FIRST}\n{{"gcc_version": "12"}}\n',
        f"{FIRST}\n[]\n",
        f"{FIRST}\n{SECOND[:-1]}, {SECOND[1:]}\n",
    ],
)
def test_what_is_damaged_anywhere_is_refused_as_a_whole(tmp_path: Path, text: str) -> None:
    with pytest.raises(EvidenceError) as caught:
        formats.open_export(ExportFile(written(tmp_path, text)))

    assert "cannot read this coverage export" in caught.value.message
