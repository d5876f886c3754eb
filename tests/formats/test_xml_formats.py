"""JaCoCo, Clover, OpenCover and Visual Studio: what their writers differ in, each as small as it can be."""

from __future__ import annotations

from pathlib import Path

import pytest

from linewitness.errors import EvidenceError
from linewitness.evidence import formats
from linewitness.evidence.formats import clover, jacoco, opencover
from linewitness.evidence.formats.facts import (
    SOME_ARM,
    SOME_MISSED_ARM,
    BranchArm,
    FileFacts,
    FunctionHit,
    Grain,
    Reader,
)
from linewitness.evidence.formats.regions import Scope, Unit
from linewitness.evidence.formats.source import ExportFile
from linewitness.model import Pos
from tests.formats.files import written

DTD = '<?xml version="1.0" encoding="UTF-8"?><!DOCTYPE report PUBLIC "-//JACOCO//DTD Report 1.1//EN" "report.dtd">'


def java(folder: Path, body: str) -> Reader:
    return jacoco.Report(ExportFile(written(folder, f'{DTD}<report name="r"><sessioninfo id="x"/>{body}</report>')))


def source(lines: str, *, package: str = "shop", file: str = "A.java") -> str:
    return f'<package name="{package}"><sourcefile name="{file}">{lines}<counter type="LINE"/></sourcefile></package>'


def line(number: int, *counts: int) -> str:
    named = zip(("mi", "ci", "mb", "cb"), counts, strict=False)
    return f'<line nr="{number}" ' + " ".join(f'{key}="{count}"' for key, count in named) + "/>"


# ---------------------------------------------------------------- JaCoCo


def test_a_line_of_jacoco_ran_when_an_instruction_did_and_is_complete_when_all_did(tmp_path: Path) -> None:
    reader = java(tmp_path, source(line(3, 0, 2, 0, 0) + line(4, 3, 0, 0, 0) + line(5, 1, 4, 1, 3)))
    facts = reader.facts("shop/A.java")
    assert list(reader.names) == ["shop/A.java"]
    assert facts.grain is Grain.COMPILED
    assert facts.counts == {3: 1, 4: 0, 5: 1}
    assert facts.complete == {3: True, 5: False}
    assert facts.branches == (BranchArm(5, SOME_ARM, True), BranchArm(5, SOME_MISSED_ARM, False))


def test_a_line_without_instructions_has_no_count_unless_a_branch_of_it_was_taken(tmp_path: Path) -> None:
    lines = line(3, 0, 0, 0, 0) + '<line nr="4"/><line nr="5" mb="1" cb="1"/><line nr="6" mb="2" cb="0"/>'
    facts = java(tmp_path, source(lines)).facts("shop/A.java")
    assert facts.counts == {5: 1}
    assert facts.uncounted == {3, 4, 6}
    assert facts.complete == {}


def test_a_file_of_the_default_package_has_no_folder(tmp_path: Path) -> None:
    assert list(java(tmp_path, source(line(1, 0, 1), package="")).names) == ["A.java"]


def test_the_same_file_twice_in_one_module_is_merged(tmp_path: Path) -> None:
    twice = source(line(1, 2, 0, 0, 0) + line(2, 0, 1, 0, 0)) + source(line(1, 0, 2, 0, 0))
    facts = java(tmp_path, twice).facts("shop/A.java")
    assert (facts.counts, facts.complete) == ({1: 1, 2: 1}, {1: True, 2: True})


def test_two_modules_with_the_same_file_are_kept_apart_and_one_with_another_keeps_its_plain_name(
    tmp_path: Path,
) -> None:
    one, two = source(line(1, 0, 1)), source(line(1, 1, 0)) + source(line(9, 1, 0), file="B.java")
    reader = java(tmp_path, f'<group name="all"><group name="a">{one}</group><group name="b">{two}</group></group>')
    assert sorted(reader.names) == ["all/a/**/shop/A.java", "all/b/**/shop/A.java", "shop/B.java"]
    assert [reader.facts(name).counts for name in sorted(reader.names)] == [{1: 1}, {1: 0}, {9: 0}]


def test_methods_are_known_by_the_class_of_their_source_file(tmp_path: Path) -> None:
    method = '<method name="{0}" desc="()V" line="{1}"><counter type="METHOD" missed="0" covered="{2}"/></method>'
    named = '<class name="shop/A$1" sourcefilename="A.java">' + method.format("run", 4, 1) + "</class>"
    named += '<class name="shop/B" sourcefilename="B.java">' + method.format("other", 4, 1) + "</class>"
    body = source(line(4, 0, 1)).replace('<package name="shop">', '<package name="shop">' + named)
    assert java(tmp_path, body).facts("shop/A.java").functions == (FunctionHit(4, "run", 1),)


@pytest.mark.parametrize(
    "bad", ['nr="99999999" ci="1"', 'nr="x" ci="1"', 'ci="1"', 'nr="1" ci="0x1"', 'nr="1" ci="NaN"']
)
def test_a_line_that_is_none_is_refused_with_what_it_says(tmp_path: Path, bad: str) -> None:
    with pytest.raises(EvidenceError, match="is no line"):
        java(tmp_path, source(f"<line {bad}/>")).facts("shop/A.java")


@pytest.mark.parametrize("count", ["-1", str(2**64), "1e30", "99999999999999999999999999"])
def test_counts_out_of_range_are_read_as_far_as_they_can_be(tmp_path: Path, count: str) -> None:
    facts = java(tmp_path, source(f'<line nr="1" mi="1" ci="{count}" mb="0" cb="0"/>')).facts("shop/A.java")
    assert facts.counts == {1: 0 if count == "-1" else 1}


def test_a_report_without_source_files_is_refused(tmp_path: Path) -> None:
    with pytest.raises(EvidenceError, match="<sourcefile>"):
        java(tmp_path, '<package name="shop"><class name="shop/A"/></package>')


# ---------------------------------------------------------------- Clover


def php(folder: Path, body: str) -> FileFacts:
    text = f'<?xml version="1.0"?><coverage generated="1"><project timestamp="1">{body}</project></coverage>'
    reader = clover.Report(ExportFile(written(folder, text)))
    (name,) = reader.names
    return reader.facts(name)


@pytest.mark.parametrize("attributes", ['name="/r/A.php"', 'name="A.php" path="/r/A.php"'])
def test_a_file_of_clover_is_where_its_path_says_or_its_name(tmp_path: Path, attributes: str) -> None:
    text = f"<coverage><project><package><file {attributes}/></package></project></coverage>"
    assert list(clover.Report(ExportFile(written(tmp_path, text))).names) == ["/r/A.php"]


def test_headers_of_functions_are_entries_and_no_statements(tmp_path: Path) -> None:
    body = '<line num="3" type="method" name="run" count="2"/><line num="4" type="stmt" count="0"/>'
    facts = php(tmp_path, f'<file name="/r/A.php"><class name="A"/>{body}<metrics loc="1"/></file>')
    assert facts.counts == {4: 0}
    assert facts.functions == (FunctionHit(3, "run", 2),)


def test_istanbul_counts_arms_that_were_taken_and_arms_that_were_not(tmp_path: Path) -> None:
    body = '<line num="1" count="2" type="cond" truecount="2" falsecount="1"/>'
    body += '<line num="2" count="2" type="cond" truecount="2" falsecount="0"/>'
    facts = php(tmp_path, f'<file name="a.js" path="/r/a.js">{body}</file>')
    assert facts.counts == {1: 2, 2: 2}
    assert facts.branches == (
        BranchArm(1, SOME_ARM, True),
        BranchArm(1, SOME_MISSED_ARM, False),
        BranchArm(2, SOME_ARM, True),
    )


def test_openclover_counts_outcomes_and_not_the_line(tmp_path: Path) -> None:
    body = '<line num="1" type="cond" truecount="0" falsecount="3" complexity="1"/>'
    facts = php(tmp_path, f'<file name="A.java" path="/r/A.java">{body}</file>')
    assert facts.counts == {1: 3}
    assert facts.branches == (BranchArm(1, "true", False), BranchArm(1, "false", True))


@pytest.mark.parametrize(
    "bad", ['num="1" type="stmt"', 'num="1" count="1"', 'num="1" count="1" type="odd"', 'type="cond" num="1"']
)
def test_a_line_of_clover_that_is_none_is_refused(tmp_path: Path, bad: str) -> None:
    with pytest.raises(EvidenceError, match="is no line"):
        php(tmp_path, f'<file name="/r/A.php"><line {bad}/></file>')


def test_repeated_files_and_lines_of_clover_keep_the_larger_count(tmp_path: Path) -> None:
    stmt = '<line num="4" type="stmt" count="{}"/>'
    one = "<file name='/r/A.php'>" + stmt.format(2) + stmt.format(0) + "</file>"
    assert php(tmp_path, one + "<file name='/r/A.php'>" + stmt.format(1) + "</file>").counts == {4: 2}


# ---------------------------------------------------------------- OpenCover


def net(folder: Path, *modules: str) -> Reader:
    text = "<CoverageSession><Modules>" + "".join(f"<Module>{each}</Module>" for each in modules)
    return opencover.Report(ExportFile(written(folder, text + "</Modules></CoverageSession>")))


def method(points: str, *, ref: str = '<FileRef uid="1"/>') -> str:
    return f"<Method visited='true'><Name>M</Name>{ref}<SequencePoints>{points}</SequencePoints></Method>"


FILES = '<Files><File uid="1" fullPath="C:\\r\\A.cs"/><File uid="2" fullPath="C:\\r\\B.cs"/></Files>'


def test_sequence_points_are_statements_with_columns(tmp_path: Path) -> None:
    points = '<SequencePoint vc="2" sl="3" sc="5" el="4" ec="9"/><SequencePoint vc="0" sl="3" sc="20" el="3" ec="28"/>'
    facts = net(tmp_path, FILES + method(points)).facts("C:\\r\\A.cs")
    assert facts.counts == {3: 2}
    assert facts.functions == (FunctionHit(3, "", 2),)
    assert facts.regions is not None
    assert (facts.regions.scope, facts.regions.unit) == (Scope.STATEMENTS, Unit.UTF16)
    assert [(piece.start, piece.hits) for piece in facts.regions.pieces] == [
        (Pos(3, 4), 2),
        (Pos(3, 19), 0),
        (Pos(3, 27), 2),
    ]


def test_points_of_coverlet_are_lines(tmp_path: Path) -> None:
    points = '<SequencePoint vc="1" uspid="3" ordinal="0" sl="3" sc="1" el="3" ec="2" fileid="1"/>'
    facts = net(tmp_path, FILES + method(points)).facts("C:\\r\\A.cs")
    assert (facts.counts, facts.regions) == ({3: 1}, None)


def test_points_of_unity_are_places_without_width(tmp_path: Path) -> None:
    points = '<SequencePoint vc="1" offset="1" sl="3" sc="13" el="3" ec="13" fileid="1"/>'
    facts = net(tmp_path, FILES + method(points)).facts("C:\\r\\A.cs")
    assert (facts.counts, facts.regions, facts.grain) == ({3: 1}, None, Grain.TOUCHED)


def test_what_coverlet_says_of_a_whole_method_is_no_point(tmp_path: Path) -> None:
    point = (
        '<MethodPoint vc="3" uspid="0" p8:type="SequencePoint" sc="0" sl="6" ec="1" el="8" fileid="1" xmlns:p8="xsi"/>'
    )
    with_point = method("").replace("</Method>", f"{point}</Method>")
    assert net(tmp_path, FILES + with_point).facts("C:\\r\\A.cs").counts == {}


def test_modules_that_were_skipped_have_no_files(tmp_path: Path) -> None:
    skipped = "<FullName>mscorlib.dll</FullName><ModuleName>mscorlib</ModuleName><Classes/>"
    text = f"<CoverageSession><Modules><Module skippedDueTo='Filter'>{skipped}</Module>"
    text += f"<Module>{FILES}{method('')}</Module></Modules></CoverageSession>"
    assert list(opencover.Report(ExportFile(written(tmp_path, text))).names) == ["C:\\r\\A.cs", "C:\\r\\B.cs"]


def test_a_point_belongs_to_the_file_that_it_names_and_hidden_points_to_none(tmp_path: Path) -> None:
    points = '<SequencePoint vc="1" sl="3" sc="1" el="3" ec="9" fileid="2"/>'
    points += '<SequencePoint vc="1" sl="16707566" sc="0" el="16707566" ec="0" fileid="1"/>'
    points += '<SequencePoint vc="0" sl="7" sc="1" el="7" ec="9" fileid="1"/>'
    reader = net(tmp_path, FILES + method(points, ref=""))
    assert reader.facts("C:\\r\\A.cs").counts == {7: 0}
    assert reader.facts("C:\\r\\B.cs").counts == {3: 1}


def test_numbers_of_files_are_those_of_their_module(tmp_path: Path) -> None:
    point = '<SequencePoint vc="{}" sl="3" sc="1" el="3" ec="9"/>'
    other = '<Files><File uid="1" fullPath="C:\\r\\B.cs"/></Files>'
    reader = net(tmp_path, FILES + method(point.format(0)), other + method(point.format(4)))
    assert reader.facts("C:\\r\\A.cs").counts == {3: 0}
    assert reader.facts("C:\\r\\B.cs").counts == {3: 4}


def test_branch_points_are_arms(tmp_path: Path) -> None:
    points = '<BranchPoint vc="1" sl="3" offset="8" path="0"/><BranchPoint vc="0" sl="3" offset="8" path="1"/>'
    facts = net(tmp_path, FILES + method(points)).facts("C:\\r\\A.cs")
    assert facts.branches == (BranchArm(3, "branch at 8, path 0", True), BranchArm(3, "branch at 8, path 1", False))


@pytest.mark.parametrize("bad", ['vc="x" sl="1"', 'vc="1" sl="99999999"', 'sl="1"', 'vc="1" sl="-1"'])
def test_a_point_that_is_none_is_refused(tmp_path: Path, bad: str) -> None:
    with pytest.raises(EvidenceError, match="is no SequencePoint"):
        net(tmp_path, FILES + method(f"<SequencePoint {bad}/>")).facts("C:\\r\\A.cs")


# ---------------------------------------------------------------- Visual Studio


def studio(
    folder: Path, *ranges: str, sources: str = '<source_file id="0" path="d:\\r\\A.cs"></source_file>'
) -> Reader:
    functions = "".join(f"<function name='F()'><ranges>{each}</ranges></function>" for each in ranges)
    module = f"<module name='a.dll'><functions>{functions}</functions><source_files>{sources}</source_files></module>"
    text = f'<?xml version="1.0" encoding="UTF-8" ?>\n<results>\n<modules>{module}</modules></results>'
    name, reader = formats.open_export(ExportFile(written(folder, text)))
    assert name == "visual-studio"
    return reader


def part(covered: str, start: tuple[int, int], end: tuple[int, int], source: int = 0) -> str:
    places = f'start_line="{start[0]}" start_column="{start[1]}" end_line="{end[0]}" end_column="{end[1]}"'
    return f'<range source_id="{source}" covered="{covered}" {places} />'


def test_ranges_of_visual_studio_are_statements_with_columns(tmp_path: Path) -> None:
    first = part("partial", (3, 5), (4, 9)) + part("yes", (5, 5), (5, 9))
    facts = studio(tmp_path, first, part("no", (4, 2), (4, 6))).facts("d:\\r\\A.cs")
    assert facts.counts == {3: 1, 5: 1, 4: 0}
    assert facts.complete == {3: False, 4: False, 5: True}
    assert facts.functions == (FunctionHit(3, "", 1), FunctionHit(4, "", 0))
    assert facts.regions is not None
    assert (facts.grain, facts.regions.scope, facts.regions.unit) == (Grain.COMPILED, Scope.STATEMENTS, Unit.UTF16)
    assert [(piece.start, piece.hits) for piece in facts.regions.pieces] == [
        (Pos(3, 4), 1), (Pos(4, 1), 0), (Pos(4, 5), 1), (Pos(5, 4), 1)
    ]  # fmt: skip


def test_ranges_of_native_code_are_lines(tmp_path: Path) -> None:
    md5 = "8A4EC27BE0FE2BCE77401F836581836D"
    source = f'<source_file id="0" path="x:\\r\\a.cpp" checksum_type="MD5" checksum="{md5}"></source_file>'
    facts = studio(tmp_path, part("yes", (3, 0), (3, 0)) + part("no", (4, 0), (4, 0)), sources=source).facts(
        "x:\\r\\a.cpp"
    )
    assert (facts.counts, facts.regions, facts.digests) == ({3: 1, 4: 0}, None, frozenset({md5.lower()}))


def test_other_checksums_than_md5_are_not_compared(tmp_path: Path) -> None:
    source = '<source_file id="0" path="A.cs" checksum_type="SHA256" checksum="8A4EC27BE0FE2BCE77401F836581836D"/>'
    assert studio(tmp_path, part("yes", (3, 1), (3, 2)), sources=source).facts("A.cs").digests == frozenset()


def test_a_range_belongs_to_the_source_that_it_names_and_hidden_ones_to_none(tmp_path: Path) -> None:
    sources = '<source_file id="0" path="A.cs"/><source_file id="1" path="B.cs"/>'
    hidden = (
        part("yes", (16707566, 0), (16707566, 0))
        + part("yes", (15732480, 1), (15732480, 2))
        + part("no", (0, 0), (0, 0))
    )
    reader = studio(tmp_path, hidden + part("yes", (3, 1), (3, 9), 1), sources=sources)
    assert (reader.facts("A.cs").counts, reader.facts("B.cs").counts) == ({}, {3: 1})


@pytest.mark.parametrize(
    "bad",
    [
        part("maybe", (3, 1), (3, 2)),
        part("yes", (3, 1), (2, 2)),
        part("yes", (3, -1), (3, 2)),
        part("yes", (99999999, 1), (99999999, 2)),
        part("yes", (3, 1), (3, 2)).replace('start_line="3"', ""),
    ],
)
def test_a_range_that_is_none_is_refused(tmp_path: Path, bad: str) -> None:
    with pytest.raises(EvidenceError, match="is no range"):
        studio(tmp_path, bad).facts("d:\\r\\A.cs")


def test_a_report_without_sources_is_refused(tmp_path: Path) -> None:
    with pytest.raises(EvidenceError, match="no <source_file>"):
        studio(tmp_path, sources="")
