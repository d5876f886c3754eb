from __future__ import annotations

from pathlib import Path

import pytest

from linewitness.errors import EvidenceError
from linewitness.evidence.formats import source
from linewitness.evidence.formats.facts import FileFacts
from linewitness.evidence.formats.go_profile import Profile
from linewitness.evidence.formats.regions import Scope
from linewitness.evidence.formats.source import ExportFile
from linewitness.model import Pos, Span
from tests.formats.files import written


def profile(folder: Path, *lines: str, mode: str = "mode: set") -> Profile:
    return Profile(ExportFile(written(folder, "\n".join([mode, *lines, ""]))))


def blocks(facts: FileFacts) -> list[tuple[tuple[int, int], tuple[int, int], int | None]]:
    assert facts.regions is not None
    assert facts.regions.scope is Scope.BLOCKS
    return [(tuple(piece.start), tuple(piece.end), piece.hits) for piece in facts.regions.pieces]  # type: ignore[misc]


def test_columns_become_offsets_from_zero_and_the_end_stays_exclusive(tmp_path: Path) -> None:
    facts = profile(tmp_path, "x.org/a/a.go:3.10,5.2 2 7").facts("x.org/a/a.go")
    assert blocks(facts) == [((3, 9), (5, 1), 7)]
    assert facts.counts == {}, "lines say nothing where blocks share them"


@pytest.mark.parametrize("mode", ["set", "count", "atomic"])
def test_repeated_blocks_and_concatenated_profiles_keep_the_larger_count(tmp_path: Path, mode: str) -> None:
    again = ["a/a.go:1.1,2.2 1 0", "a/b.go:1.1,2.2 1 0", f"mode: {mode}", "a/a.go:1.1,2.2 1 3", "a/a.go:1.1,2.2 1 1"]
    reader = profile(tmp_path, *again, mode=f"mode: {mode}")
    assert list(reader.names) == ["a/a.go", "a/b.go"]
    assert blocks(reader.facts("a/a.go")) == [((1, 0), (2, 1), 3)]


def test_a_closure_in_a_block_counts_for_itself(tmp_path: Path) -> None:
    reader = profile(tmp_path, "a.go:1.1,9.9 1 1", "a.go:2.1,3.1 1 0")
    facts = reader.facts("a.go")
    assert facts.regions is not None
    piece = facts.regions.at(Pos(2, 5))
    assert piece is not None
    assert (piece.hits, piece.region) == (0, Span(Pos(2, 0), Pos(3, 0)))


def test_windows_line_ends_blank_lines_and_colons_in_names_change_nothing(tmp_path: Path) -> None:
    text = "mode: set\r\n\r\nC:/src/a b.go:1.1,2.2 1 1\r\n"
    reader = Profile(ExportFile(written(tmp_path, text)))
    assert list(reader.names) == ["C:/src/a b.go"]
    assert blocks(reader.facts("C:/src/a b.go")) == [((1, 0), (2, 1), 1)]


@pytest.mark.parametrize("size", [16, 50, 1 << 12])
def test_lines_across_the_edges_of_windows_are_read_whole(
    tmp_path: Path, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = [f"p/{number % 7}.go:{number + 1}.1,{number + 1}.9 1 {number % 3}" for number in range(60)]
    monkeypatch.setattr(source, "WINDOW", size)
    reader = profile(tmp_path, *lines)
    found = [block for name in reader.names for block in blocks(reader.facts(name))]
    assert sorted(found) == [((n + 1, 0), (n + 1, 8), n % 3) for n in range(60)]


@pytest.mark.parametrize(
    "line",
    [
        "a.go:1.1,2.2 1",
        "a.go:1.1,2.2 1 -1",
        "a.go:1.1,2.2 1 1.5",
        "a.go:1.1,2.2 1 NaN",
        "a.go:0x1.1,2.2 1 1",
        "a.go 1.1,2.2 1 1",
        ":1.1,2.2 1 1",
        "TN:",
    ],
)
@pytest.mark.parametrize("before", [[], ["a.go:1.1,2.2 1 1"]])
def test_a_line_that_is_no_block_is_refused(tmp_path: Path, line: str, before: list[str]) -> None:
    with pytest.raises(EvidenceError, match="is no block of a profile"):
        profile(tmp_path, *before, line).facts("a.go")


@pytest.mark.parametrize("block", ["0.1,2.2", "2.1,1.1", "1.5,1.2", "1.0,2.2", "1.1,99999999.1"])
def test_a_block_that_is_no_range_is_refused(tmp_path: Path, block: str) -> None:
    with pytest.raises(EvidenceError, match="no range"):
        profile(tmp_path, f"a.go:{block} 1 1").facts("a.go")


def test_a_count_beyond_all_bounds_is_a_hit(tmp_path: Path) -> None:
    facts = profile(tmp_path, f"a.go:1.1,2.2 1 {2**64}").facts("a.go")
    assert blocks(facts)[0][2] == (1 << 63) - 1


@pytest.mark.parametrize("mode", ["mode: sets", "mode:", "mode: set count"])
def test_an_unknown_mode_is_refused(tmp_path: Path, mode: str) -> None:
    with pytest.raises(EvidenceError, match="no mode"):
        profile(tmp_path, mode=mode)


def test_a_profile_without_blocks_names_no_file(tmp_path: Path) -> None:
    assert list(profile(tmp_path).names) == []


def test_blocks_without_a_mode_are_refused(tmp_path: Path) -> None:
    with pytest.raises(EvidenceError, match="no block"):
        Profile(ExportFile(written(tmp_path, "a.go:1.1,2.2 1 1\n")))
