"""Files that people pass instead of an export are named, with what to do."""

from __future__ import annotations

from pathlib import Path

import pytest

from linewitness.errors import EvidenceError
from linewitness.evidence import formats
from linewitness.evidence.formats.source import ExportFile
from tests.formats.files import written

XML = '<?xml version="1.0"?>\n'
LOOKALIKES = {
    "as UTF-8": '{"data":[]}'.encode("utf-16"),
    "write it as UTF-8": '{"data":[]}'.encode("utf-16-le"),
    "its XML report": b"\x01\xc0\xc0\x10\x07",
    "llvm-profdata": b"\x81rforpl\xff\0",
    "llvm-cov export": b"\xfflprofi\x81\0",
    "gcov --json-format": b"adcg*11B",
    "gcovr --json": b"oncg*11B",
    "covdata textfmt": b"\0cvm\0\0",
    "coverage-clover": b"<?php return unserialize('')",
    "for people": b"\n<!DOCTYPE html><html>",
    "without coverage": f"{XML}<testsuites></testsuites>".encode(),
    "a report on complexity": f"{XML}<crap_result><coverage>1</coverage></crap_result>".encode(),
    "one file for each source": f'{XML}<phpunit xmlns="x"></phpunit>'.encode(),
    "its Cobertura report": f"{XML}<scoverage></scoverage>".encode(),
    "dotnet-coverage": f"{XML}<results><modules/></results>".encode(),
    "Istanbul's reporter": b'{"total": {"lines":{"total":1}}}',
    ".resultset.json": b'{"result":{"line":97.5}}',
    "monocart's own": b'{"name":"x"}'.replace(b"name", b"type").replace(b"x", b"v8"),
    "nothing was measured": b"{}\n",
}


@pytest.mark.parametrize("what", LOOKALIKES)
def test_what_is_no_export_is_called_what_it_is(tmp_path: Path, what: str) -> None:
    with pytest.raises(EvidenceError, match="this is no coverage export but") as refusal:
        formats.open_export(ExportFile(written(tmp_path, LOOKALIKES[what])))
    assert what in str(refusal.value)
