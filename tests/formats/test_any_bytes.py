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

SMALL = [ROOT for ROOT in EXPORTS if ROOT.parent.name in {"py312", "py312-nobranch", "py311-coverage754"}]


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
    with pytest.raises(EvidenceError, match="cobertura, coverage-json, coverage-sqlite, lcov"):
        formats.choose(ExportFile(written(tmp_path, "x")), "jacoco")


def test_bytes_of_no_format_are_refused_with_those_that_are_known(tmp_path: Path) -> None:
    with pytest.raises(EvidenceError, match=r"lcov.*--cov-format"):
        formats.choose(ExportFile(written(tmp_path, "mode: set\n")), None)


@pytest.mark.parametrize("export", SMALL, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_the_name_of_the_file_does_not_matter(tmp_path: Path, export: Path) -> None:
    expected = {".json": "coverage-json", ".sqlite": "coverage-sqlite", ".xml": "cobertura", ".lcov": "lcov"}
    renamed = written(tmp_path, export.read_bytes(), "report.txt")
    assert formats.choose(ExportFile(renamed), None).name == expected[export.suffix]


def test_clover_is_not_taken_for_cobertura(tmp_path: Path) -> None:
    text = '<?xml version="1.0"?>\n<coverage generated="1"><project timestamp="1"/></coverage>\n'
    with pytest.raises(EvidenceError, match="no coverage export of a known format"):
        formats.choose(ExportFile(written(tmp_path, text)), None)
