"""Whatever the bytes are, an export is read or refused with one kind of error, and never hangs or crashes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from linewitness.errors import EvidenceError, Exit
from linewitness.evidence import formats
from linewitness.evidence.formats.source import ExportFile
from tests.formats.files import written
from tests.formats.sample import EXPORTS, KNOWN, load, sight_sample
from tests.formats.samples import ROOT, exports_of, samples

SMALL = [each for each in EXPORTS if each.parent.name in {"py312", "py312-nobranch", "py311-coverage754"}]


def read_all(path: Path, name: str | None) -> int:
    """How many lines the export lists, or the exit status of its refusal; -1 when that does not name the file."""
    try:
        _format, reader = formats.open_export(ExportFile(path), name)
        list(reader.context_names())
        return sum(len(reader.facts(each).counts) for each in reader.names)
    except EvidenceError as error:
        return error.exit if str(path) in str(error) else -1


@pytest.mark.parametrize("name", [None, *formats.names()])
@given(st.binary(min_size=1, max_size=200))
def test_any_bytes_are_refused_or_read(tmp_path_factory: pytest.TempPathFactory, name: str | None, data: bytes) -> None:
    assert read_all(written(tmp_path_factory.getbasetemp(), data, "any"), name) >= 0


Mutation = Callable[[bytes], bytes]


def _cut(at: float) -> Mutation:
    return lambda data: data[: int(at * len(data))] or b" "


def _overwrite(at: float, what: bytes) -> Mutation:
    def change(data: bytes) -> bytes:
        start = int(at * len(data))
        return data[:start] + what + data[start + len(what) :]

    return change


def _insert(at: float, what: bytes) -> Mutation:
    return lambda data: data[: int(at * len(data))] + what + data[int(at * len(data)) :]


_places = st.floats(0, 1)
_pieces = st.one_of(
    st.binary(min_size=1, max_size=4),
    st.sampled_from(
        [b"-1", b"1e9", b"nan", b"99999999999999999999", b"\x00", b"<", b'"', b"{", b"DA:1,1\n", b"SF:x\n", b"\r"]
    ),
)
_mutations = st.one_of(
    st.builds(_cut, _places), st.builds(_overwrite, _places, _pieces), st.builds(_insert, _places, _pieces)
)


@pytest.mark.parametrize("export", SMALL, ids=lambda path: f"{path.parent.name}/{path.name}")
@settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(st.lists(_mutations, min_size=1, max_size=3))
def test_real_exports_with_faults_are_refused_or_read(
    tmp_path_factory: pytest.TempPathFactory, export: Path, mutations: list[Mutation]
) -> None:
    data = export.read_bytes()
    for mutation in mutations:
        data = mutation(data)
    path = written(tmp_path_factory.getbasetemp(), data, "mutated")
    assert read_all(path, None) >= 0
    assert _ask(path) in (Exit.OPEN, Exit.EVIDENCE)


def _ask(path: Path) -> Exit:
    """Ask for every line that owes, and say how that ended."""
    try:
        evidence = load(path)
        for name in KNOWN:
            if name.endswith(".py"):
                sight_sample(evidence, name)
    except EvidenceError as error:
        return error.exit
    return Exit.OPEN


def test_a_format_that_does_not_exist_is_refused_with_those_that_do(tmp_path: Path) -> None:
    with pytest.raises(EvidenceError, match="clover, cobertura, codecov, coverage-json, coverage-sqlite, coveralls"):
        formats.choose(ExportFile(written(tmp_path, "x")), "emma")


def test_bytes_of_no_format_are_refused_with_those_that_are_known(tmp_path: Path) -> None:
    with pytest.raises(EvidenceError, match=r"lcov.*--cov-format"):
        formats.choose(ExportFile(written(tmp_path, "modes: set\n")), None)


@pytest.mark.parametrize("export", SMALL, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_the_name_of_the_file_does_not_matter(tmp_path: Path, export: Path) -> None:
    expected = {".json": "coverage-json", ".sqlite": "coverage-sqlite", ".xml": "cobertura", ".lcov": "lcov"}
    renamed = written(tmp_path, export.read_bytes(), "report.txt")
    assert formats.choose(ExportFile(renamed), None).name == expected[export.suffix]


ALL = [export for sample in samples() for export in exports_of(sample)]
#: One export of each kind of writer, for the faults that are put into them.
VARIED = [
    export
    for export in ALL
    if export.relative_to(ROOT).as_posix()
    in {
        "c/exports/linked/gcovr-clover.xml",
        "c/exports/linked/gcovr-cobertura.xml",
        "c/exports/linked/gcovr-jacoco.xml",
        "c/exports/linked/gcovr.json",
        "c/exports/linked/gcovr.lcov",
        "c/exports/lcov2/lcov-checksum.info",
        "cpp/exports/lcov2/llvm2lcov-mcdc.info",
        "cpp/exports/gcov-json/run-run.gcov.json",
        "cpp/exports/llvm/llvm-cov.json",
        "go/exports/cover-count-coverpkg.out",
        "java/exports/jacoco.xml",
        "javascript/exports/nyc/coverage-final.json",
        "javascript/exports/c8-all/coverage-final.json",
        "javascript/exports/v8-raw/coverage-v8.json",
        "ruby/exports/resultset.json",
        "ruby/exports/coverage.json",
        "rust/exports/cargo-llvm-cov/codecov.json",
        "c/exports/gcovr5/coveralls.json",
        "c/exports/gcovr5/sonarqube.xml",
        "typescript/exports/vitest-v8/clover.xml",
    }
]


def _format_of(export: Path) -> str:
    """What the export is, as its folder and name tell."""
    name, folder = export.name, export.parent.name
    known = {
        "coverage-final.json": "istanbul",
        "coverage-v8.json": "v8",
        "jacoco.xml": "jacoco",
        "gcovr-jacoco.xml": "jacoco",
        "gcovr.json": "gcovr",
        "resultset.json": "simplecov",
        "resultset-nobranch-notrack.json": "simplecov",
        "coverage.json": "simplecov",
        "codecov.json": "codecov",
        "coveralls.json": "coveralls",
        "sonarqube.xml": "sonarqube",
    }
    by_suffix = {".info": "lcov", ".lcov": "lcov", ".out": "go"}
    if name.startswith("jacoco"):
        return "jacoco"
    if name in known or export.suffix in by_suffix:
        return known.get(name) or by_suffix[export.suffix]
    if export.suffix == ".json":
        return "gcov" if folder == "gcov-json" else "llvm-cov"
    return "clover" if "clover" in name else "cobertura"


@pytest.mark.parametrize("export", ALL, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_every_export_is_known_by_its_content(tmp_path: Path, export: Path) -> None:
    renamed = written(tmp_path, export.read_bytes(), "report.txt")
    assert formats.choose(ExportFile(renamed), None).name == _format_of(export)


@pytest.mark.parametrize("name", formats.names())
@pytest.mark.parametrize("export", VARIED, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_an_export_that_is_called_what_it_is_not_is_refused(export: Path, name: str) -> None:
    if {name, _format_of(export)} in ({"gcov", "gcovr"}, {name}):
        return
    with pytest.raises(EvidenceError) as refusal:
        formats.open_export(ExportFile(export), name)
    assert str(export) in str(refusal.value)


@pytest.mark.parametrize("export", VARIED, ids=lambda path: path.relative_to(ROOT).as_posix())
@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(st.lists(_mutations, min_size=1, max_size=3))
def test_exports_of_all_writers_with_faults_are_refused_or_read(
    tmp_path_factory: pytest.TempPathFactory, export: Path, mutations: list[Mutation]
) -> None:
    data = export.read_bytes()
    for mutation in mutations:
        data = mutation(data)
    path = written(tmp_path_factory.getbasetemp(), data, "mutated")
    assert read_all(path, None) >= 0
    assert read_all(path, _format_of(export)) >= 0


@pytest.mark.parametrize("export", VARIED, ids=lambda path: path.relative_to(ROOT).as_posix())
@pytest.mark.parametrize("share", [0.3, 0.6, 0.9, 0.99])
def test_an_export_that_was_cut_off_is_refused(tmp_path: Path, export: Path, share: float) -> None:
    data = export.read_bytes().rstrip()
    cut = data[: int(len(data) * share)]
    if export.suffix == ".out":
        cut = cut[: cut.rfind(b"\n") + 9]  # a profile has no end mark: only a line that is cut can be seen
    assert read_all(written(tmp_path, cut, "cut"), _format_of(export)) == Exit.EVIDENCE


@pytest.mark.parametrize("second", VARIED[:12:3], ids=lambda path: path.relative_to(ROOT).as_posix())
@pytest.mark.parametrize("first", VARIED, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_two_exports_of_different_formats_in_one_file_are_refused(tmp_path: Path, first: Path, second: Path) -> None:
    if _format_of(first) == _format_of(second):
        return
    mixed = written(tmp_path, first.read_bytes() + b"\n" + second.read_bytes(), "mixed")
    assert read_all(mixed, None) == Exit.EVIDENCE


def test_brackets_by_the_hundred_thousand_are_refused(tmp_path: Path) -> None:
    for name in formats.names():
        for data in (b'{"result":' + b"[" * 200_000, b'{"data":[{"files":' + b"[" * 200_000 + b"]" * 200_000 + b"}]}"):
            assert read_all(written(tmp_path, data, "deep"), name) == Exit.EVIDENCE
