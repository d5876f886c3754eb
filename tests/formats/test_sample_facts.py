"""What every export of the samples says of each changed line, before any rule of a language is asked.

The numbers are those that a reader of the exports finds by hand: how many lines have an entry that says "run" though
none of their code ran, and how many ran without an entry that says so.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from linewitness.evidence import formats
from linewitness.evidence.formats.facts import FileFacts, Reader
from linewitness.evidence.formats.paths import Checkout, Matches, match
from linewitness.evidence.formats.placing import placed
from linewitness.evidence.formats.regions import Regions
from linewitness.evidence.formats.source import ExportFile
from linewitness.model import Pos, RepoPath
from tests.formats.samples import Expected, code_of, exports_of, files_of, samples


def _opened(sample: Path, export: Path) -> tuple[Reader, Matches]:
    known = files_of(sample)
    _name, reader = formats.open_export(ExportFile(export))
    return reader, match(reader.names, reader.bases, Checkout(sample / "head", known, known), (), export.name)


def _facts(sample: Path, export: Path) -> dict[RepoPath, FileFacts]:
    reader, found = _opened(sample, export)
    facts = {}
    for path, names in found.found.items():
        (name,) = names
        facts[path] = placed(reader.facts(name), (sample / "head" / path).read_bytes())
    return facts


@pytest.mark.parametrize(("sample", "export"), [(s, e) for s in samples() for e in exports_of(s)], ids=str)
def test_every_path_of_a_changed_file_is_found_and_fits_the_text_of_head(sample: Path, export: Path) -> None:
    reader, found = _opened(sample, export)
    assert found.findings == ()
    assert found.found
    assert set(_facts(sample, export)) == set(found.found)
    assert len(reader.names) - sum(map(len, found.found.values())) <= 1, "gcovr's dummy, or one system header"


# what the exports of each folder say: lines called run that did not run, and lines that ran and are not called so
NAIVE = {
    "javascript/nyc": (0, 11),
    "javascript/nyc-all": (0, 11),
    "javascript/c8": (3, 0),
    "javascript/c8-all": (3, 0),
    "typescript/vitest-v8": (0, 2),
    "typescript/vitest-istanbul": (0, 2),
    "java/.": (0, 1),
    "c/linked": (2, 1),
    "c/compiled": (2, 1),
    "c/lcov2": (2, 1),
    "cpp/linked": (1, 1),
    "cpp/compiled": (1, 1),
    "ruby/.": (0, 5),
}
BY_LINE = [
    (s, e) for s in samples() for e in exports_of(s) if f"{s.name}/{e.parent.relative_to(s / 'exports')}" in NAIVE
]
UNCOUNTED = ("gcovr-jacoco.xml", "lcov-initial.info")


@pytest.mark.parametrize(("sample", "export"), [pair for pair in BY_LINE if pair[1].name not in UNCOUNTED], ids=str)
def test_the_counts_of_lines_are_those_that_a_reader_of_the_export_finds(sample: Path, export: Path) -> None:
    facts = _facts(sample, export)
    called_run = {line for line in code_of(sample) if _count(facts, line) > 0}
    false = sum(not line.hit for line in called_run)
    missed = sum(bool(line.hit) and line not in called_run for line in code_of(sample))
    assert (false, missed) == NAIVE[f"{sample.name}/{export.parent.relative_to(sample / 'exports')}"]


def _count(facts: dict[RepoPath, FileFacts], line: Expected) -> int:
    known = facts.get(RepoPath(line.path))
    return 0 if known is None else known.counts.get(line.line, 0)


@pytest.mark.parametrize("name", ["c", "cpp"])
def test_a_report_of_gcovr_in_the_format_of_jacoco_counts_only_lines_with_branches(name: str) -> None:
    (sample,) = (each for each in samples() if each.name == name)
    for export in sample.glob("exports/*/gcovr-jacoco.xml"):
        lcov = _facts(sample, export.with_name("lcov.info"))
        for path, facts in _facts(sample, export).items():
            assert facts.uncounted, "lines without any number have no count"
            for line, count in facts.counts.items():
                assert count == min(lcov[path].counts[line], 1)


BY_PLACE = {
    "v8-raw/coverage-v8.json": 0,
    "llvm/llvm-cov.json": 0,
    "llvm/llvm-cov-with-never.json": 0,
    "cover-set.out": 1,
}
BY_PLACE |= {f"cover-{kind}.out": 1 for kind in ("count", "atomic", "count-coverpkg")}


@pytest.mark.parametrize(
    ("sample", "export"),
    [(s, e) for s in samples() for e in exports_of(s) if e.relative_to(s / "exports").as_posix() in BY_PLACE],
    ids=str,
)
def test_regions_tell_of_every_line_with_a_counter_whether_it_ran_whole_in_part_or_not(
    sample: Path, export: Path
) -> None:
    facts = _facts(sample, export)
    wrong = []
    for line in code_of(sample):
        known = facts.get(RepoPath(line.path))
        hits = [] if known is None else list(_hits(known.regions, sample / "head" / line.path, line.line))
        if hits and (max(hits) > 0, line.partial) != (line.hit, max(hits) > 0 == min(hits)):
            wrong.append(line)
    # Go has no counter for the right side of a logical operator
    assert len(wrong) == BY_PLACE[export.relative_to(sample / "exports").as_posix()]


def _hits(regions: Regions | None, file: Path, number: int) -> Iterator[int]:
    """The counts of the characters of a line that are neither space nor punctuation."""
    assert regions is not None
    for column, byte in enumerate(file.read_bytes().split(b"\n")[number - 1]):
        piece = regions.at(Pos(number, column))
        if piece is not None and piece.hits is not None and byte not in b" \t{}()[];,:":
            yield piece.hits
