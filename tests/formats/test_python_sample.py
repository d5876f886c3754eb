"""Every export of the sample against the truth about each changed line."""

from __future__ import annotations

from pathlib import Path

import pytest

from linewitness.model import Answer, Phase, Precision
from tests.formats.sample import EXPORTS, ROOT, expected, load, sight_sample

# exprs.py:13 is a comparison in a comprehension's condition: Python 3.10 and 3.11 report that line even for an empty
# iterable, and no export tells which Python it comes from. exprs.py:19 is the first arm of a conditional expression,
# which every version reports when the other arm is taken. Statement data cannot tell either of them.
CANNOT_TELL = {("src/shop/exprs.py", 13), ("src/shop/exprs.py", 19)}


def _name(path: Path) -> str:
    return f"{path.parent.name}/{path.name}"


def test_the_sample_has_all_its_exports() -> None:
    assert len(EXPORTS) == 25
    assert len({path.parent.name for path in EXPORTS}) == 8


@pytest.mark.parametrize("export", EXPORTS, ids=_name)
def test_no_line_is_witnessed_that_did_not_run_and_none_is_missed_that_the_export_can_tell(export: Path) -> None:
    evidence = load(export)
    false, missed = set(), set()
    for line in expected():
        (sighting,) = sight_sample(evidence, line.path, line.line)
        witnessed = sighting.answer in (Answer.RUN, Answer.PARTIAL)
        if witnessed and not line.hit:
            false.add((line.path, line.line))
        if line.hit and not line.partial and not witnessed:
            missed.add((line.path, line.line))
            assert sighting.answer is Answer.NOT_PROVABLE
            assert "linewitness check" in sighting.note
    assert false == set()
    assert missed == CANNOT_TELL


@pytest.mark.parametrize("export", EXPORTS, ids=_name)
def test_every_export_fits_the_repository_without_a_path_map(export: Path) -> None:
    assert load(export).findings == ()


@pytest.mark.parametrize("export", EXPORTS, ids=_name)
def test_a_source_is_named_by_its_format_and_the_digest_of_its_bytes(export: Path) -> None:
    (source,) = load(export).sources
    formats = {".json": "coverage-json", ".sqlite": "coverage-sqlite", ".xml": "cobertura", ".lcov": "lcov"}
    assert (source.suite, source.kind, source.provenance) == ("imported", formats[export.suffix], "imported")
    assert source.tests is None
    assert len(source.digest) == 64


@pytest.mark.parametrize("name", ["py312/coverage.json", "py312/coverage.sqlite", "py311-coverage650/coverage.json"])
def test_contexts_name_the_tests_and_tell_a_call_from_an_import(name: str) -> None:
    evidence = load(ROOT / "exports" / name)
    called, imported = sight_sample(evidence, "src/shop/pricing.py", 40, 5)
    assert (called.answer, called.phase, called.witnesses) == (Answer.RUN, Phase.CALL, ("test_shop.test_gross",))
    assert (imported.answer, imported.phase, imported.witnesses) == (Answer.RUN, Phase.IMPORT, ())


@pytest.mark.parametrize("name", ["py312/coverage.xml", "py312/coverage.lcov", "py312-nobranch/coverage.json"])
def test_without_contexts_the_phase_is_unknown_and_the_unit_is_the_statement(name: str) -> None:
    evidence = load(ROOT / "exports" / name)
    called, imported = sight_sample(evidence, "src/shop/pricing.py", 40, 5)
    assert (called.phase, called.precision) == (Phase.UNKNOWN, Precision.STATEMENT)
    assert imported.phase is Phase.IMPORT


@pytest.mark.parametrize("export", EXPORTS, ids=_name)
def test_a_lambda_that_was_made_and_never_called_does_not_witness_its_line(export: Path) -> None:
    evidence = load(export)
    knows_entries = export.suffix == ".sqlite" and "nobranch" not in export.parent.name
    for sighting in sight_sample(evidence, "src/shop/exprs.py", 33, 40):
        assert sighting.answer is (Answer.NOT_RUN if knows_entries else Answer.NOT_PROVABLE)
        assert "lambda" in sighting.note


def test_a_definition_that_only_ran_at_import_is_not_entered() -> None:
    for name in ("py312/coverage.json", "py312/coverage.xml", "py312-nobranch/coverage.sqlite"):
        (sighting,) = sight_sample(load(ROOT / "exports" / name), "src/shop/pricing.py", 68)
        assert sighting.answer is Answer.NOT_RUN
        assert "never entered" in sighting.note


def test_an_arm_that_was_not_taken_is_named() -> None:
    for name in ("py312/coverage.json", "py312/coverage.xml", "py312/coverage.lcov"):
        (sighting,) = sight_sample(load(ROOT / "exports" / name), "src/shop/pricing.py", 58)
        assert sighting.answer is Answer.RUN
        assert ('return "g"', False) in [tuple(arm) for arm in sighting.arms]


def test_an_excluded_line_that_ran_nowhere_says_that_the_exclusion_is_no_excuse() -> None:
    (sighting,) = sight_sample(load(ROOT / "exports/py312/coverage.json"), "src/shop/jobs.py", 45)
    assert sighting.answer is Answer.NOT_RUN
    assert "exclude" in sighting.note


def test_a_file_that_no_export_names_did_not_run() -> None:
    (sighting,) = sight_sample(load(ROOT / "exports/py312-nosource/coverage.xml"), "src/shop/never.py", 4)
    assert sighting.answer is Answer.NOT_RUN
    assert "no export names this file" in sighting.note
