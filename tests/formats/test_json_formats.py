"""What is particular to each JSON format, as small as it can be."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from linewitness.errors import EvidenceError
from linewitness.evidence import formats
from linewitness.evidence.formats.facts import BranchArm, Condition, FileFacts, FunctionHit, Grain, Reader
from linewitness.evidence.formats.json_text import JsonText
from linewitness.evidence.formats.placing import placed
from linewitness.evidence.formats.regions import END_OF_LINE, Part, Scope, Unit
from linewitness.evidence.formats.source import ExportFile
from linewitness.model import Pos, Span
from tests.formats.files import written

Json = dict[str, object]


def opened(folder: Path, name: str, tree: object) -> Reader:
    _name, reader = formats.open_export(ExportFile(written(folder, json.dumps(tree))), name)
    return reader


def only(reader: Reader) -> FileFacts:
    (name,) = reader.names
    return reader.facts(name)


def hits(facts: FileFacts, *places: tuple[int, int]) -> list[int | str | None]:
    assert facts.regions is not None
    pieces = [facts.regions.at(Pos(*place)) for place in places]
    return ["-" if piece is None else piece.hits for piece in pieces]


# ---------------------------------------------------------------- JSON itself


def members_of(folder: Path, text: str) -> dict[str, bytes]:
    document = JsonText(ExportFile(written(folder, text)))
    return {key: document.bytes_of(value) for key, value in document.members(document.top).items()}


def test_members_are_found_where_they_stand_whatever_the_white_space_and_the_keys(tmp_path: Path) -> None:
    text = '\ufeff \n{ "a\\"\\u00e9" : [1, 2] ,\n\t"b":{"a":"}"}\r\n, "": null }\n'
    assert members_of(tmp_path, text) == {'a"é': b"[1, 2]", "b": b'{"a":"}"}', "": b"null"}
    assert members_of(tmp_path, "{}") == members_of(tmp_path, "{ \n }") == {}


@pytest.mark.parametrize(
    "text", ['{"a":1,"a":2}', '{"a":1,"a":1}', '{"a":1,"b":2,"a":1,"c":3}', '{"a":1, "\\u0061":2}']
)
def test_a_key_that_stands_twice_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(EvidenceError, match="twice"):
        members_of(tmp_path, text)


@pytest.mark.parametrize("text", ["{", '{"a":NaN}', '{"a":1}{', "[" * 5000, '{"a":1,}', "[]", '"x"', '{"\\ud800":tru}'])
def test_what_is_no_object_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(EvidenceError, match="cannot read this coverage export"):
        members_of(tmp_path, text)


# ---------------------------------------------------------------- Istanbul


def place(start: tuple[int, int], end: tuple[int, int | None]) -> Json:
    return {"start": {"line": start[0], "column": start[1]}, "end": {"line": end[0], "column": end[1]}}


def entry(**given: object) -> Json:
    empty: Json = {"path": "/r/a.js", "statementMap": {}, "fnMap": {}, "branchMap": {}, "s": {}, "f": {}, "b": {}}
    return {"/r/a.js": empty | given}


STATEMENT = place((2, 2), (3, None))


def test_statements_functions_and_arms_count_where_they_stand(tmp_path: Path) -> None:
    arms = [place((2, 10), (2, 11)), place((2, 14), (2, 15))]
    facts = only(
        opened(
            tmp_path,
            "istanbul",
            entry(
                statementMap={"0": STATEMENT},
                s={"0": 4},
                fnMap={"0": {"name": "f", "decl": place((1, 9), (1, 10)), "loc": place((1, 13), (4, 1)), "line": 1}},
                f={"0": 4},
                branchMap={"0": {"type": "cond-expr", "loc": place((2, 6), (2, 15)), "locations": arms, "line": 2}},
                b={"0": [4, 0]},
            ),
        )
    )
    assert facts.counts == {2: 4}
    assert facts.functions == (FunctionHit(1, "f", 4, 4),)
    assert [(arm.text, arm.taken, arm.span) for arm in facts.branches] == [
        ("then", True, Span(Pos(2, 10), Pos(2, 11))),
        ("else", False, Span(Pos(2, 14), Pos(2, 15))),
    ]
    assert facts.regions is not None
    assert (facts.regions.scope, facts.regions.unit, facts.solid) == (Scope.STATEMENTS, Unit.UTF16, True)
    # behind a function's brace, in the statement, in its arms, on its last line to the end, behind it
    assert hits(facts, (1, 13), (2, 2), (2, 10), (2, 14), (3, 99), (4, 0), (4, 1)) == [None, 4, 4, 0, 4, None, "-"]
    assert Pos(3, END_OF_LINE) in {piece.end for piece in facts.regions.pieces}


def test_code_without_counter_in_a_function_that_never_ran_did_not_run(tmp_path: Path) -> None:
    idle = {"0": {"name": "f", "loc": place((1, 13), (4, 1))}}
    assert hits(only(opened(tmp_path, "istanbul", entry(fnMap=idle, f={"0": 0}))), (2, 0)) == [0]


def test_the_place_of_an_if_is_not_that_of_its_first_arm_and_a_missing_else_has_none(tmp_path: Path) -> None:
    whole = place((1, 0), (3, 1))
    nowhere: Json = {"start": {}, "end": {}}
    branch = {"0": {"type": "if", "loc": whole, "locations": [whole, nowhere], "line": 1}}
    facts = only(
        opened(tmp_path, "istanbul", entry(branchMap=branch, b={"0": [0, 2]}, statementMap={"0": whole}, s={"0": 2}))
    )
    assert facts.branches == (BranchArm(1, "then", False), BranchArm(1, "else", True))
    assert hits(facts, (1, 4)) == [2]


@pytest.mark.parametrize(
    "change",
    [
        {"s": {}},
        {"s": {"0": 1, "1": 1}},
        {"fnMap": {"0": {"name": "", "loc": STATEMENT}}},
        {"branchMap": {"0": {"type": "if", "locations": [STATEMENT]}}, "b": {"0": [1, 2]}},
    ],
)
def test_maps_and_counts_that_do_not_fit_together_are_refused(tmp_path: Path, change: Json) -> None:
    reader = opened(tmp_path, "istanbul", entry(**({"statementMap": {"0": STATEMENT}, "s": {"0": 1}} | change)))
    with pytest.raises(EvidenceError, match="do not fit together"):
        only(reader)


@pytest.mark.parametrize("count", [1.5, "1", None, True, [1]])
def test_a_count_that_is_none_is_refused(tmp_path: Path, count: object) -> None:
    reader = opened(tmp_path, "istanbul", entry(statementMap={"0": STATEMENT}, s={"0": count}))
    with pytest.raises(EvidenceError, match="Expected `int`"):
        only(reader)


@pytest.mark.parametrize("line", [-1, 2**64, 10_000_001, 1.5])
def test_a_line_that_is_none_is_refused(tmp_path: Path, line: object) -> None:
    bad = {"start": {"line": line, "column": 0}, "end": {"line": 3, "column": 0}}
    with pytest.raises(EvidenceError, match="Expected `int"):
        only(opened(tmp_path, "istanbul", entry(statementMap={"0": bad}, s={"0": 1})))


def test_places_of_transpiled_text_are_refused_when_the_file_is_asked_for(tmp_path: Path) -> None:
    mapped = entry(inputSourceMap={"version": 3}) | {"/r/b.js": entry(path="/r/b.js")["/r/a.js"]}
    reader = opened(tmp_path, "istanbul", mapped)
    assert reader.facts("/r/b.js").counts == {}
    with pytest.raises(EvidenceError, match="transpiled"):
        reader.facts("/r/a.js")
    assert only(opened(tmp_path, "istanbul", entry(inputSourceMap=None))).counts == {}


def test_a_plugin_may_put_the_maps_one_level_deeper(tmp_path: Path) -> None:
    deeper: Json = {"/r/a.js": {"data": entry(statementMap={"0": STATEMENT}, s={"0": 2})["/r/a.js"]}}
    assert only(opened(tmp_path, "istanbul", deeper)).counts == {2: 2}


def by_line(lines: int, *, blocks: list[tuple[Json, int]], zero: set[int], idle: Json | None = None) -> Json:
    """The shape of c8: a statement for each line of ten columns, and blocks that it calls branches."""
    statements = {str(n): place((n + 1, 0), (n + 1, 10)) for n in range(lines)}
    branches = {
        str(n): {"type": "branch", "line": 1, "loc": each, "locations": [each]} for n, (each, _) in enumerate(blocks)
    }
    functions = {"0": {"name": "f", "decl": idle, "loc": idle, "line": 1}} if idle else {}
    return entry(
        all=False,
        statementMap=statements,
        s={key: int(int(key) + 1 not in zero) for key in statements},
        branchMap=branches,
        b={str(n): [count] for n, (_, count) in enumerate(blocks)},
        fnMap=functions,
        f=dict.fromkeys(functions, 0),
    )


def test_c8_is_known_by_its_lines_and_its_branches_are_blocks(tmp_path: Path) -> None:
    blocks = [(place((1, 0), (3, 10)), 1), (place((2, 4), (2, 8)), 0)]
    facts = only(opened(tmp_path, "istanbul", by_line(3, blocks=blocks, zero={3}, idle=place((1, 5), (1, 7)))))
    assert (facts.grain, facts.counts, facts.branches) == (Grain.PHYSICAL, {1: 1, 2: 1, 3: 0}, ())
    assert facts.regions is not None
    assert (facts.regions.scope, facts.regions.counted) == (Scope.BLOCKS, frozenset({Part.OPERAND}))
    assert hits(facts, (1, 0), (1, 5), (2, 3), (2, 4), (2, 8)) == [1, 0, 1, 0, 1]


# ---------------------------------------------------------------- V8

SCRIPT = "f(a ? b : c);\n"


def script(*functions: tuple[list[tuple[int, int, int]], bool], url: str = "file:///r/a.js") -> Json:
    return {
        "scriptId": "1",
        "url": url,
        "functions": [
            {
                "functionName": "",
                "isBlockCoverage": block,
                "ranges": [dict(zip(("startOffset", "endOffset", "count"), each, strict=True)) for each in ranges],
            }
            for ranges, block in functions
        ],
    }


def test_ranges_nest_and_the_innermost_counts(tmp_path: Path) -> None:
    whole = len(SCRIPT)
    tree = {"result": [script(([(0, whole, 1), (8, 11, 0)], True))]}
    facts = placed(only(opened(tmp_path, "v8", tree)), SCRIPT.encode())
    assert hits(facts, (1, 6), (1, 8), (1, 10), (1, 11)) == [1, 0, 0, 1]
    assert facts.regions is not None
    assert facts.regions.counted == {Part.OPERAND, Part.FUNCTION}


def test_a_function_that_fills_its_surroundings_is_inside_of_them(tmp_path: Path) -> None:
    tree = {"result": [script(([(0, 14, 1)], True), ([(0, 14, 0)], False))]}
    assert hits(placed(only(opened(tmp_path, "v8", tree)), SCRIPT.encode()), (1, 3)) == [0]


def test_two_processes_are_united_place_by_place(tmp_path: Path) -> None:
    first = script(([(0, 14, 1), (4, 7, 0)], True))
    second = script(([(0, 14, 1), (8, 11, 0)], True))
    facts = placed(only(opened(tmp_path, "v8", {"result": [first, second]})), SCRIPT.encode())
    assert hits(facts, (1, 4), (1, 8)) == [1, 1]


def test_scripts_that_are_no_files_are_left_out(tmp_path: Path) -> None:
    tree = {"result": [script(url="node:fs"), script(url="evalmachine.<anonymous>"), script(url=""), script()]}
    assert list(opened(tmp_path, "v8", tree).names) == ["file:///r/a.js"]


def test_one_name_for_two_texts_is_refused(tmp_path: Path) -> None:
    tree = {"result": [script(([(0, 14, 1)], True)), script(([(0, 20, 1)], True))]}
    with pytest.raises(EvidenceError, match="2 different texts"):
        only(opened(tmp_path, "v8", tree))


def test_offsets_of_transpiled_text_are_refused(tmp_path: Path) -> None:
    tree = {"result": [script(([(0, 14, 1)], True))], "source-map-cache": {"file:///r/a.js": {"lineLengths": [1]}}}
    with pytest.raises(EvidenceError, match="transpiled"):
        only(opened(tmp_path, "v8", tree))


# ---------------------------------------------------------------- LLVM


def llvm(segments: list[list[object]], **given: object) -> Json:
    file = {"filename": "/r/a.c", "segments": segments, "branches": [], "expansions": []} | given
    return {"data": [{"files": [file], "functions": []}], "type": "llvm.coverage.json.export", "version": "3.1.0"}


def test_a_segment_reaches_to_the_next_and_gaps_and_skipped_code_have_no_count(tmp_path: Path) -> None:
    segments: list[list[object]] = [
        [1, 1, 2, True, True, False],
        [2, 5, 0, True, True, False],
        [2, 9, 2, True, False, True],
        [3, 3, 7, True, True, False],
        [4, 2, 0, False, False, False],
        [6, 1, 0, False, True, False],
        [7, 1, 0, False, False, False],
    ]
    facts = only(opened(tmp_path, "llvm-cov", llvm(segments)))
    assert hits(facts, (1, 0), (2, 3), (2, 4), (2, 8), (3, 2), (4, 0), (4, 1), (6, 0)) == [2, 2, 0, "-", 7, 7, "-", "-"]
    assert facts.counts == {1: 2, 2: 2, 3: 7, 4: 7}


def test_conditions_tell_which_outcomes_were_seen_unless_they_stand_in_a_macro(tmp_path: Path) -> None:
    branches = [[1, 5, 1, 6, 3, 0, 0, 0, 4], [1, 9, 1, 10, 0, 0, 0, 0, 4], [2, 1, 2, 4, 1, 1, 1, 0, 4]]
    facts = only(opened(tmp_path, "llvm-cov", llvm([[1, 1, 1, True, True]], branches=branches)))
    assert facts.conditions == (
        Condition(1, "column 5", True, False, Span(Pos(1, 4), Pos(1, 5))),
        Condition(1, "column 9", False, False, Span(Pos(1, 8), Pos(1, 9))),
    )


def test_functions_are_those_that_begin_in_the_file(tmp_path: Path) -> None:
    tree = llvm([[1, 1, 1, True, True, False]])
    named = {"name": "f", "count": 3, "filenames": ["/r/a.c"], "regions": [[4, 1, 9, 2, 3, 0, 0, 0]]}
    tree["data"][0]["functions"] = [named, named | {"name": "g", "filenames": ["/r/b.h", "/r/a.c"]}]  # type: ignore[index]
    assert only(opened(tmp_path, "llvm-cov", tree)).functions == (FunctionHit(4, "f", 3, 9),)


def test_a_summary_or_another_type_is_refused(tmp_path: Path) -> None:
    with pytest.raises(EvidenceError, match="-summary-only"):
        opened(tmp_path, "llvm-cov", {"data": [{"files": [{"filename": "a"}]}], "type": "llvm.coverage.json.export"})
    with pytest.raises(EvidenceError, match="llvm-cov export"):
        opened(tmp_path, "llvm-cov", {"data": [], "type": "other"})


# ---------------------------------------------------------------- gcov, gcovr


def gcov_line(number: int, count: int, **given: object) -> Json:
    return {"line_number": number, "count": count, "branches": [], "unexecuted_block": count == 0} | given


def gcov(*lines: Json, **given: object) -> Json:
    return {"gcc_version": "12", "current_working_directory": "/r", "files": [{"file": "a.c", "lines": lines} | given]}


def test_a_line_of_gcov_is_complete_when_no_block_of_it_was_left_out(tmp_path: Path) -> None:
    lines = [gcov_line(1, 1), gcov_line(2, 2, unexecuted_block=True), gcov_line(3, 0), gcov_line(0, 1)]
    reader = opened(tmp_path, "gcov", gcov(*lines))
    facts = reader.facts("/r/a.c")
    assert (facts.grain, facts.counts, facts.complete) == (Grain.COMPILED, {1: 1, 2: 2, 3: 0}, {1: True, 2: False})


def test_instances_of_a_template_are_one_line_and_the_best_of_them_counts(tmp_path: Path) -> None:
    lines = [gcov_line(1, 0), gcov_line(1, 3, unexecuted_block=True), gcov_line(1, 1), gcov_line(1, -5)]
    facts = only(opened(tmp_path, "gcov", gcov(*lines)))
    assert (facts.counts, facts.complete) == ({1: 3}, {1: True})


def test_an_absolute_file_stays_where_it_is_and_the_way_of_an_exception_is_no_arm(tmp_path: Path) -> None:
    branches = [{"count": 1, "throw": False}, {"count": 0, "throw": True}, {"count": 0, "throw": False}]
    reader = opened(tmp_path, "gcov", gcov(gcov_line(1, 1, branches=branches), file="/usr/include/x.h"))
    assert list(reader.names) == ["/usr/include/x.h"]
    assert only(reader).branches == (BranchArm(1, "branch 0", True), BranchArm(1, "branch 2", False))


def test_gcovr_tells_what_it_left_out_and_the_text_of_its_lines(tmp_path: Path) -> None:
    digest = "0123456789abcdef" * 2
    lines = [
        {"line_number": 1, "count": 1, "gcovr/md5": digest.upper()},
        {"line_number": 2, "count": 5, "gcovr/excluded": True, "gcovr/md5": digest},
        {"line_number": 3, "count": 0, "gcovr/noncode": True},
    ]
    functions = [{"name": "f", "lineno": 1, "execution_count": 4}]
    tree = {"gcovr/format_version": "0.15", "files": [{"file": "a.c", "lines": lines, "functions": functions}]}
    facts = only(opened(tmp_path, "gcovr", tree))
    assert (facts.counts, facts.excluded, facts.complete) == ({1: 1}, frozenset({2}), {})
    assert facts.checksums == {1: digest, 2: digest}
    assert facts.functions == (FunctionHit(1, "f", 4),)


# ---------------------------------------------------------------- SimpleCov


def ruby(lines: list[object], branches: object = None) -> Json:
    return {"RSpec": {"coverage": {"/r/a.rb": {"lines": lines, "branches": branches}}, "timestamp": 1}}


def test_the_first_item_is_line_one_and_null_is_no_code(tmp_path: Path) -> None:
    facts = only(opened(tmp_path, "simplecov", ruby([None, 2, 0, "ignored"])))
    assert (facts.counts, facts.excluded, facts.regions) == ({2: 2, 3: 0}, frozenset({4}), None)


def test_several_commands_are_shards_and_old_files_have_bare_arrays(tmp_path: Path) -> None:
    tree = ruby([1, 0, None]) | {"Cucumber": {"coverage": {"/r/a.rb": [0, 3, None]}}}
    assert only(opened(tmp_path, "simplecov", tree)).counts == {1: 1, 2: 3}


def test_the_places_of_arms_are_read_from_their_names(tmp_path: Path) -> None:
    arms = {"[:then, 1, 2, 6, 2, 9]": 0, "[:else, 2, 2, 0, 4, 3]": 3}
    facts = only(opened(tmp_path, "simplecov", ruby([None, 3], {"[:if, 0, 2, 0, 4, 3]": arms})))
    assert facts.branches == (BranchArm(2, "then", False, Span(Pos(2, 6), Pos(2, 9))), BranchArm(2, "else", True))
    assert facts.regions is not None
    assert facts.regions.scope is Scope.ARMS
    assert hits(facts, (2, 5), (2, 6), (2, 9)) == ["-", 0, "-"]


@pytest.mark.parametrize("spelled", ["system('x')", "[:then]", "[:then, 1, 0, 0, 0, 1]", "[:then, 1, 9, 0, 2, 1]"])
def test_an_arm_that_is_spelled_in_another_way_is_left_out(tmp_path: Path, spelled: str) -> None:
    facts = only(opened(tmp_path, "simplecov", ruby([1], {"[:if, 0, 1, 0, 1, 9]": {spelled: 1}})))
    assert (facts.branches, facts.regions) == ((), None)


def test_the_json_formatter_has_one_coverage_and_arms_without_columns(tmp_path: Path) -> None:
    arms = [
        {"type": "then", "start_line": 2, "end_line": 3, "coverage": 0},
        {"type": "else", "start_line": 4, "end_line": 4, "coverage": "ignored"},
    ]
    tree = {"meta": {"simplecov_version": "0.22.0"}, "coverage": {"/r/a.rb": {"lines": [1], "branches": arms}}}
    assert only(opened(tmp_path, "simplecov", tree)).branches == (BranchArm(2, "then (lines 2 to 3)", False),)


@pytest.mark.parametrize("lines", [["x"], [1.5], {"1": 1}, [True]])
def test_lines_that_are_none_are_refused(tmp_path: Path, lines: object) -> None:
    with pytest.raises(EvidenceError, match=r"Expected|Invalid enum value"):
        only(opened(tmp_path, "simplecov", ruby(lines)))  # type: ignore[arg-type]


def test_istanbul_before_version_1_had_its_counts_in_front_and_functions_without_body(tmp_path: Path) -> None:
    place = {"start": {"line": 1, "column": 0}, "end": {"line": 3, "column": 2}}
    inner = {"start": {"line": 2, "column": 2}, "end": {"line": 2, "column": 9}}
    header = {"start": {"line": 1, "column": 17}, "end": {"line": 1, "column": 29}}
    statements = {str(at): inner if at % 2 else place for at in range(1, 601)}
    entry: Json = {"path": "src\\a.js", "s": {key: int(key) % 2 for key in statements}, "b": {}, "f": {"1": 3}}
    entry |= {"fnMap": {"1": {"name": "(anonymous_1)", "line": 1, "loc": header}}}
    entry |= {"statementMap": statements, "branchMap": {}}
    name, reader = formats.open_export(ExportFile(written(tmp_path, json.dumps({"src\\a.js": entry}))))
    facts = only(reader)
    assert (name, facts.counts) == ("istanbul", {1: 0, 2: 1})
    assert facts.functions == (FunctionHit(1, "(anonymous_1)", 3, 1),)


# ---------------------------------------------------------------- coverlet


def test_methods_of_all_classes_and_modules_meet_in_their_file(tmp_path: Path) -> None:
    first = {"N.A": {"Void N.A::M()": {"Lines": {"3": 1, "4": 0}, "Branches": [{"Line": 3, "Hits": 0, "Path": 1}]}}}
    second = {"N.A/<M>d": {"Void M()": {"Lines": {"4": 2}, "Branches": []}}}
    reader = opened(tmp_path, "coverlet", {"a.dll": {"/r/A.cs": first}, "b.exe": {"/r/A.cs": second}})
    facts = only(reader)
    assert facts.counts == {3: 1, 4: 2}
    assert facts.branches == (BranchArm(3, "branch 0, path 1", False),)
    assert facts.functions == (FunctionHit(3, "Void N.A::M()", 1), FunctionHit(4, "Void M()", 2))


@pytest.mark.parametrize("key", ["-1", "x", "1.0", "99999999"])
def test_a_line_of_coverlet_that_is_none_is_refused(tmp_path: Path, key: str) -> None:
    tree = {"a.dll": {"/r/A.cs": {"N.A": {"M": {"Lines": {key: 1}}}}}}
    with pytest.raises(EvidenceError, match="no line number"):
        only(opened(tmp_path, "coverlet", tree))


def test_lines_of_coverlet_share_brackets_and_closures_with_their_statement(tmp_path: Path) -> None:
    tree = {"a.dll": {"/r/A.cs": {"N.A": {"M": {"Lines": {"3": 1}, "Branches": []}}}}}
    assert only(opened(tmp_path, "coverlet", tree)).grain is Grain.TOUCHED


def test_code_that_stands_nowhere_is_left_out_of_coverlets_lines(tmp_path: Path) -> None:
    arms = [{"Line": 16707566, "Hits": 1}, {"Line": 0, "Hits": 1}]
    tree = {"a.dll": {"/r/A.cs": {"N.A": {"M": {"Lines": {"0": 1, "16707566": 2, "3": 0}, "Branches": arms}}}}}
    facts = only(opened(tmp_path, "coverlet", tree))
    assert (facts.counts, facts.branches) == ({3: 0}, ())


# ---------------------------------------------------------------- tarpaulin


def rust(*traces: tuple[int, object], content: str | None = None, path: tuple[str, ...] = ("/", "r", "a.rs")) -> object:
    entry: dict[str, object] = {"path": path, "content": content, "covered": 1, "coverable": 2}
    entry["traces"] = [{"line": at, "address": [], "length": 0, "stats": stats} for at, stats in traces]
    return {"files": [{key: value for key, value in entry.items() if value is not None}], "coverage": 50.0}


def test_tarpaulin_has_counts_by_line_and_is_known_by_its_first_file(tmp_path: Path) -> None:
    tree = rust((3, {"Line": 2}), (3, {"Line": 0}), (4, {"Line": 0}), (5, {"Branch": {"been_true": True}}))
    name, reader = formats.open_export(ExportFile(written(tmp_path, json.dumps(tree))))
    assert (name, list(reader.names)) == ("tarpaulin", ["/r/a.rs"])
    facts = only(reader)
    assert (facts.counts, facts.grain, facts.digests) == ({3: 2, 4: 0}, Grain.TOUCHED, frozenset())


@pytest.mark.parametrize(
    ("parts", "name"),
    [
        (("/", "home", "me", "src", "a.rs"), "/home/me/src/a.rs"),
        (("src", "a.rs"), "src/a.rs"),
        (("C:", "\\", "me", "a.rs"), "C:/me/a.rs"),
        (("\\\\?\\C:", "\\", "me", "a.rs"), "\\\\?\\C:/me/a.rs"),
    ],
)
def test_the_parts_of_a_path_of_tarpaulin_are_joined(tmp_path: Path, parts: tuple[str, ...], name: str) -> None:
    assert list(opened(tmp_path, "tarpaulin", rust(path=parts)).names) == [name]


@pytest.mark.parametrize("head", ["fn a() {}\n", "fn a() {}\r\n"])
@pytest.mark.parametrize("content", ["fn a() {}\n", "fn a() {}\r\n"])
def test_the_text_in_tarpaulins_export_is_compared_with_head_but_for_its_line_ends(
    tmp_path: Path, content: str, head: str
) -> None:
    facts = only(opened(tmp_path, "tarpaulin", rust(content=content)))
    assert hashlib.md5(head.encode(), usedforsecurity=False).hexdigest() in facts.digests
    assert hashlib.md5(b"fn b() {}\n", usedforsecurity=False).hexdigest() not in facts.digests


@pytest.mark.parametrize("trace", [(0, {"Line": 1}), (99_999_999, {"Line": 1}), (1, {"Line": "x"}), (1, {"Line": 1.5})])
def test_a_trace_of_tarpaulin_that_is_none_is_refused(tmp_path: Path, trace: tuple[int, object]) -> None:
    with pytest.raises(EvidenceError, match="Expected"):
        only(opened(tmp_path, "tarpaulin", rust(trace)))


# ---------------------------------------------------------------- all of them

EMPTY: dict[str, tuple[object, Callable[[str], bool]]] = {
    "istanbul": ({}, lambda text: "no file in it" in text),
    "v8": ({"result": []}, lambda text: "no script" in text),
    "llvm-cov": ({"data": [], "type": "llvm.coverage.json.export"}, lambda text: "no file in it" in text),
    "gcov": ({"files": []}, lambda text: "no file in it" in text),
    "gcovr": ({"files": []}, lambda text: "no file in it" in text),
    "simplecov": ({"RSpec": {"coverage": {}}}, lambda text: "no file in it" in text),
    "coverlet": ({}, lambda text: "no file in it" in text),
    "tarpaulin": ({"files": []}, lambda text: "no file in it" in text),
}


@pytest.mark.parametrize("name", EMPTY)
def test_an_export_of_nothing_is_refused_with_the_likely_reason(tmp_path: Path, name: str) -> None:
    tree, names_the_reason = EMPTY[name]
    with pytest.raises(EvidenceError) as refusal:
        opened(tmp_path, name, tree)
    assert names_the_reason(str(refusal.value))
