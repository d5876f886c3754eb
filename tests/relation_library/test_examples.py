"""The worked examples of the guide: each family holds, catches one bug, and cannot see another."""

from __future__ import annotations

from pathlib import Path

import pytest
from examples.relations.families import FAMILIES, HERE, Bug, Family, broken, copy, run_pytest
from examples.relations.real.projects import PROJECTS

from linewitness.trust.corpus import verify_folder
from tests.relation_library.projects import judge, told
from tests.support.repos import Content

IDS = [family.name for family in FAMILIES]


@pytest.mark.parametrize("family", FAMILIES, ids=IDS)
def test_every_relation_of_a_family_holds(tmp_path: Path, family: Family) -> None:
    ran = run_pytest(copy(family, tmp_path / "project"))
    assert ran.returncode == 0, ran.stdout


@pytest.mark.parametrize("family", FAMILIES, ids=IDS)
def test_a_family_catches_one_bug(tmp_path: Path, family: Family) -> None:
    ran = run_pytest(copy(family, tmp_path / "project", family.caught))
    assert ran.returncode == 1
    assert "RelationFailed" in ran.stdout


@pytest.mark.parametrize("family", FAMILIES, ids=IDS)
def test_a_family_cannot_see_another_bug(tmp_path: Path, family: Family) -> None:
    ran = run_pytest(copy(family, tmp_path / "project", family.missed))
    assert ran.returncode == 0, ran.stdout


def files_of(family: Family) -> dict[str, Content]:
    paths = [path for path in family.folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    return {path.relative_to(family.folder).as_posix(): path.read_bytes() for path in paths}


def with_bug(family: Family, bug: Bug) -> dict[str, Content]:
    text = (family.folder / family.module).read_text(encoding="utf-8")
    return {family.module: broken(text, bug)}


@pytest.mark.parametrize("family", FAMILIES, ids=IDS)
def test_the_gate_judges_a_patch_of_each_family_in_the_same_way(tmp_path: Path, family: Family) -> None:
    base = files_of(family)
    caught = judge(tmp_path / "caught", base, with_bug(family, family.caught))
    assert (caught.exit, "LW501" in told(caught)) == (3, True), told(caught)
    missed = judge(tmp_path / "missed", base, with_bug(family, family.missed))
    assert (missed.exit, missed.owed > 0, missed.unwitnessed) == (0, True, 0), told(missed)
    assert all("tests/relations/" in name for row in missed.rows for name in row.witnesses)


@pytest.mark.parametrize("folder", sorted(HERE.glob("**/corpus")), ids=lambda path: str(path.relative_to(HERE)))
def test_every_corpus_of_the_examples_is_frozen(folder: Path) -> None:
    assert verify_folder(folder, folder.name) == ()


def test_each_real_project_has_relations_and_a_bug() -> None:
    assert {project.kind for project in PROJECTS} == {"parser", "codec", "formatter"}
    for project in PROJECTS:
        assert list(project.relations.glob("test_*.py")), project.name
        assert project.bug[1] != project.bug[2]


def test_a_bug_that_does_not_fit_is_told() -> None:
    with pytest.raises(ValueError, match="is not there once"):
        broken("a a", Bug("", "a", "b"))
