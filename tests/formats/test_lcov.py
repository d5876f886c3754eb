from __future__ import annotations

import base64
import hashlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from linewitness.errors import EvidenceError
from linewitness.evidence.formats.facts import BranchArm, Condition, FileFacts, FunctionHit
from linewitness.evidence.formats.lcov import Tracefile
from linewitness.evidence.formats.source import ExportFile
from tests.formats.files import written


def facts(folder: Path, text: str | bytes, name: str = "a.py") -> FileFacts:
    return Tracefile(ExportFile(written(folder, text))).facts(name)


def record(*lines: str, name: str = "a.py") -> str:
    return "\n".join([f"SF:{name}", *lines, "end_of_record", ""])


def test_counts_are_read_by_line(tmp_path: Path) -> None:
    assert facts(tmp_path, record("DA:1,3", "DA:2,0", "LF:2", "LH:1")).counts == {1: 3, 2: 0}


def test_records_of_the_same_file_are_merged_by_maximum_in_either_order(tmp_path: Path) -> None:
    one, two = record("DA:1,1", "DA:2,0"), record("DA:1,0", "DA:2,5")
    assert facts(tmp_path, "TN:a\n" + one + "TN:b\n" + two).counts == {1: 1, 2: 5}
    assert facts(tmp_path, two + one).counts == {1: 1, 2: 5}


def test_a_line_that_is_repeated_in_one_record_keeps_its_largest_count(tmp_path: Path) -> None:
    assert facts(tmp_path, record("DA:1,4", "DA:1,0")).counts == {1: 4}


@pytest.mark.parametrize(
    ("written_count", "read"),
    [("-", 0), ("-3", 0), ("2.0", 2), ("1e3", 1000), ("0.4", 1), ("9" * 20, 2**63 - 1), ("00", 0)],
)
def test_odd_counts_are_read_for_what_they_say(tmp_path: Path, written_count: str, read: int) -> None:
    assert facts(tmp_path, record(f"DA:7,{written_count}")).counts == {7: read}


def test_a_count_of_a_million_digits_is_a_hit_and_no_hang(tmp_path: Path) -> None:
    assert facts(tmp_path, record("DA:7," + "9" * 1_000_000)).counts[7] > 0


@pytest.mark.parametrize(
    "line",
    ["DA:-1,1", "DA:x,1", "DA:1", "DA:1,", "DA:1,x", "DA:1,nan", "DA:1,inf", "DA:99999999999,1", "DA:1.5,1",
     "DA:1,2],[3,4", "DA:1,0x1", "BRDA:1,0,1", "BRDA:x,0,1,1", "BRDA:1,0,1,x", "DA:1,1\rDA:2,1"],
)  # fmt: skip
def test_a_line_that_is_none_is_an_error_and_not_skipped(tmp_path: Path, line: str) -> None:
    with pytest.raises(EvidenceError, match="byte"):
        facts(tmp_path, record("DA:4,1", line))


def test_windows_line_ends_and_a_byte_order_mark_change_nothing(tmp_path: Path) -> None:
    text = record("DA:1,3", "BRDA:1,0,0,1").replace("\n", "\r\n")
    assert facts(tmp_path, b"\xef\xbb\xbf" + text.encode()).counts == {1: 3}


def test_checksums_of_all_writers_become_hexadecimal(tmp_path: Path) -> None:
    digest = hashlib.md5(b"x = 1")
    encoded = base64.b64encode(digest.digest()).decode().rstrip("=")
    text = record(f"DA:1,1,{digest.hexdigest()}", f"DA:2,1,{encoded}", "DA:3,1,something-else")
    found = facts(tmp_path, text)
    assert dict(found.checksums) == {1: digest.hexdigest(), 2: digest.hexdigest()}
    assert found.counts == {1: 1, 2: 1, 3: 1}


def test_a_checksum_of_digits_only_is_not_taken_for_a_count(tmp_path: Path) -> None:
    assert facts(tmp_path, record("DA:1,0,7")).counts == {1: 0}


def test_a_version_that_is_a_checksum_of_the_file_is_kept(tmp_path: Path) -> None:
    assert facts(tmp_path, record("VER:" + "A" * 32, "DA:1,1")).digests == {"a" * 32}


def test_arms_of_old_and_new_writers_are_read(tmp_path: Path) -> None:
    jump = "BRDA:4,0,jump to line 5,"
    lines = (f"{jump}1", "BRDA:4,0,(net_ < 0, x) == True,0", "BRDA:6,f0,1,-", f"{jump}0")
    assert facts(tmp_path, record("DA:4,1", *lines)).branches == (
        BranchArm(4, "line 5", True),
        BranchArm(4, "(net_ < 0, x) == True", False),
        BranchArm(6, "block f0, branch 1", False),
    )


@pytest.mark.parametrize("block", ["e0", "U0", "fe0"])
def test_the_way_of_an_exception_and_unreachable_code_are_no_arms(tmp_path: Path, block: str) -> None:
    assert facts(tmp_path, record("DA:4,1", f"BRDA:4,{block},0,0")).branches == ()


def test_functions_meet_their_counts_by_name_and_in_new_files_by_number(tmp_path: Path) -> None:
    old = ("FN:3,shop::rate(int, int)", "FN:9,12,main", "FNDA:2,shop::rate(int, int)", "FNDA:0,main", "FN:20,lost")
    new = ("FNL:0,30,33", "FNA:0,4,alias, of two", "FNA:0,0,other", "FNL:1,40", "FNA:1,-,idle", "FNA:9,1,nowhere")
    assert facts(tmp_path, record("DA:1,1", *old, *new)).functions == (
        FunctionHit(3, "shop::rate(int, int)", 2),
        FunctionHit(9, "main", 0, 12),
        FunctionHit(30, "alias, of two", 4, 33),
        FunctionHit(30, "other", 0, 33),
        FunctionHit(40, "idle", 0),
    )


def test_a_condition_that_decided_nothing_may_have_been_evaluated(tmp_path: Path) -> None:
    lines = ("MCDC:5,2,t,3,0,'a' in 'a, b'", "MCDC:5,2,f,0,0,'a' in 'a, b'", "MCDC:5,U2,t,0,1,")
    assert facts(tmp_path, record("DA:5,1", *lines)).conditions == (
        Condition(5, "'a' in 'a, b'", True, None),
        Condition(5, "condition 1", None, None),
    )


@pytest.mark.parametrize("rest", ["<coverage/>", "mode: set", "{}", "\x00", "end"])
def test_anything_but_lines_of_the_format_behind_the_last_record_is_refused(tmp_path: Path, rest: str) -> None:
    with pytest.raises(EvidenceError, match="something else"):
        facts(tmp_path, record("DA:1,1") + rest + "\n")


def test_names_are_kept_as_written_whatever_they_hold(tmp_path: Path) -> None:
    text = record("DA:1,1", name="C:\\src\\a b.py").encode() + b"SF:caf\xe9.py\nDA:1,1\nend_of_record\n"
    names = Tracefile(ExportFile(written(tmp_path, text))).names
    assert list(names) == ["C:\\src\\a b.py", "caf\udce9.py"]


def test_a_tracefile_that_is_cut_off_is_refused_also_when_the_wanted_record_is_whole(tmp_path: Path) -> None:
    with pytest.raises(EvidenceError, match="cut off"):
        facts(tmp_path, record("DA:1,1") + "SF:b.py\nDA:1,1\n")


def test_a_record_that_runs_into_the_next_is_refused(tmp_path: Path) -> None:
    with pytest.raises(EvidenceError, match="end_of_record"):
        facts(tmp_path, "SF:a.py\nDA:1,1\n" + record("DA:1,1", name="b.py"))


def test_lines_after_the_end_of_a_record_belong_to_no_file(tmp_path: Path) -> None:
    assert facts(tmp_path, record("DA:1,0") + "DA:1,1\n").counts == {1: 0}


def test_a_file_without_records_is_refused(tmp_path: Path) -> None:
    with pytest.raises(EvidenceError, match="SF:"):
        facts(tmp_path, "TN:\n")


_counts = st.one_of(st.integers(0, 9).map(str), st.sampled_from(["-", "-1", "2.5", "7,1234", "3,abc"]))
_entries = st.lists(st.tuples(st.integers(1, 12), _counts), max_size=8)


@given(st.lists(st.tuples(st.sampled_from(["a.py", "b.py"]), _entries), min_size=1, max_size=4))
def test_reading_in_blocks_gives_what_reading_line_by_line_gives(
    tmp_path_factory: pytest.TempPathFactory, records: list[tuple[str, list[tuple[int, str]]]]
) -> None:
    text = "".join(record(*(f"DA:{line},{count}" for line, count in lines), name=name) for name, lines in records)
    simple: dict[str, dict[int, int]] = {}
    for name, lines in records:
        seen = simple.setdefault(name, {})
        for line, count in lines:
            value = {"-": 0, "-1": 0, "2.5": 3, "7,1234": 7, "3,abc": 3}.get(count)
            seen[line] = max(seen.get(line, 0), int(count) if value is None else value)
    tracefile = Tracefile(ExportFile(written(tmp_path_factory.getbasetemp(), text)))
    assert {name: dict(tracefile.facts(name).counts) for name in tracefile.names} == simple
