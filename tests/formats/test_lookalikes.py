"""Files that people pass instead of an export are named, with what to do."""

from __future__ import annotations

from pathlib import Path

import pytest

from linewitness.errors import EvidenceError
from linewitness.evidence import formats
from linewitness.evidence.formats.source import ExportFile
from tests.formats.files import written
from tests.formats.writers import WRITERS

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
    "Istanbul's reporter": b'{"total": {"lines":{"total":1}}}',
    ".resultset.json": b'{"result":{"line":97.5}}',
    "monocart's own": b'{"name":"x"}'.replace(b"name", b"type").replace(b"x", b"v8"),
    "nothing was measured": b"{}\n",
    "dotCover's report": f'{XML}<Root CoveredStatements="1" TotalStatements="2"><Assembly/></Root>'.encode(),
    "ReportGenerator's summary": f'{XML}<CoverageReport scope="Summary"></CoverageReport>'.encode(),
    "before version 5": b'!coverage.py: This is a private format, don\'t read it directly!{"lines":{}}',
    "coverage.py's table": b"Name    Stmts   Miss  Cover\n----\na.py  1  0  100%\n",
    "gcov's listing": b"        -:    0:Source:a.c\n        1:    1:int a;\n",
    "llvm-cov's listing": b"    1|      3|fn main() {\n",
    "llvm-cov's listing for": b"/r/src/a.rs:\n    1|       |// a\n    2|  1.2k|fn main() {\n",
    "Xcode's archive": b'{"/r/A.swift": [{"line": 1, "isExecutable": false}]}',
    "Xcode's summary": b'{"coveredLines": 3, "executableLines": 4, "targets": []}',
    "grcov's covdir": b'{"children":{"src":{"children":{}}},"coveragePercent":50.0}',
}


@pytest.mark.parametrize("what", LOOKALIKES)
def test_what_is_no_export_is_called_what_it_is(tmp_path: Path, what: str) -> None:
    with pytest.raises(EvidenceError, match="this is no coverage export but") as refusal:
        formats.open_export(ExportFile(written(tmp_path, LOOKALIKES[what])))
    assert what in str(refusal.value)


@pytest.mark.parametrize("write", WRITERS)
@pytest.mark.parametrize("at", [0.2, 0.5, 0.8])
def test_two_exports_that_git_could_not_merge_are_refused(tmp_path: Path, write: str, at: float) -> None:
    ours, theirs = (WRITERS[write]({"a.c": {1: 1, 2: hits}, "b.c": {3: 1}}) for hits in (0, 1))
    cut = int(len(ours) * at)
    conflict = f"\n<<<<<<< HEAD\n{ours[cut : cut + 1]}\n=======\n{theirs[cut : cut + 1]}\n>>>>>>> 6cc8ab0 (again)\n"
    mixed = written(tmp_path, ours[:cut] + conflict + ours[cut + 1 :])
    with pytest.raises(EvidenceError, match=r"the marks of a merge conflict at byte \d+|of a known format"):
        formats.open_export(ExportFile(mixed))
    with pytest.raises(EvidenceError, match="the marks of a merge conflict at byte"):
        formats.open_export(ExportFile(mixed), write)
