"""Lines that stand in no text: writers put generated code on line 0, .NET's compilers on two lines of their own.

An export with such a line is read all the same, for the others in it are as good as ever.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from linewitness.evidence import formats
from linewitness.evidence.formats.facts import FileFacts, Grain
from linewitness.evidence.formats.placing import Disagreement, placed
from linewitness.evidence.formats.source import ExportFile
from tests.formats.files import written
from tests.formats.writers import Counts, clover, cobertura, coverlet, lcov, sonarqube


def jacoco(counts: Counts) -> str:
    files = ""
    for name, lines in counts.items():
        rows = "".join(
            f'<line nr="{at}" mi="{int(not hits)}" ci="{hits}" mb="0" cb="0"/>' for at, hits in lines.items()
        )
        files += f'<sourcefile name="{name}">{rows}</sourcefile>'
    return f'<report name="Kover Gradle Plugin XML report for :"><package name="">{files}</package></report>'


@pytest.mark.parametrize("nowhere", [0, 0xF00F00, 0xFEEFEE])
@pytest.mark.parametrize("hits", [0, 1])
@pytest.mark.parametrize("write", [lcov, cobertura, clover, sonarqube, coverlet, jacoco])
def test_a_line_that_is_nowhere_is_left_out(
    tmp_path: Path, write: Callable[[Counts], str], nowhere: int, hits: int
) -> None:
    path = written(tmp_path, write({"A.kt": {nowhere: hits, 2: 1, 3: 0}}))
    _name, reader = formats.open_export(ExportFile(path))
    assert reader.facts("A.kt").counts == {2: 1, 3: 0}


def test_arms_that_are_nowhere_are_left_out(tmp_path: Path) -> None:
    record = "SF:a.ts\nDA:2,1\nBRDA:0,0,0,1\nBRDA:2,0,0,1\nend_of_record\n"
    _name, reader = formats.open_export(ExportFile(written(tmp_path, record)))
    assert [arm.line for arm in reader.facts("a.ts").branches] == [2]


def test_the_main_of_rusts_tests_stands_on_the_first_line_and_tells_nothing_of_it() -> None:
    facts = FileFacts(Grain.STATEMENTS, {1: 1, 3: 4})
    assert placed(facts, b"//! A crate.\n\nfn a() { b(); }\n", "lib.rs").counts == {3: 4}
    assert placed(facts, b"\n\nfn a() { b(); }\n", "lib.rs").counts == {3: 4}
    assert placed(facts, b"fn main() {}\n\nfn a() { b(); }\n", "lib.rs").counts == facts.counts
    for path, counts in (("a.c", {1: 1, 3: 4}), ("lib.rs", {2: 1, 3: 4})):
        with pytest.raises(Disagreement):
            placed(facts._replace(counts=counts), b"// A file.\n\nint a() { b(); }\n", path)
