"""Every recipe, with its real tools: what an agent's tests run stays open, what a trusted test runs is witnessed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.recipes.recipe import Project, Recipe, files_of
from tests.recipes.table import RECIPES

Prepare = Callable[[Recipe], Project]

every_recipe = pytest.mark.parametrize("recipe", RECIPES, ids=[recipe.name for recipe in RECIPES])
MARKED = [recipe for recipe in RECIPES if recipe.marker is not None]
ONE_PER_PROJECT = list({recipe.project: recipe for recipe in RECIPES}.values())
COLLECTING = [recipe for recipe in RECIPES if recipe.leftovers]


@every_recipe
def test_only_a_trusted_test_opens_the_gate(prepare: Prepare, recipe: Recipe) -> None:
    project = prepare(recipe)

    closed = project.check()

    assert (closed.status, closed.open) == (1, recipe.open), closed.shown
    assert closed.map["owed"] == recipe.owed
    (evidence,) = closed.map["evidence"]
    assert (evidence["kind"], evidence["provenance"]) == (recipe.kind, "run")
    assert evidence["sandbox"]["kind"] == "bubblewrap"

    project.land("witness", files_of(recipe.project, "witness"))
    opened = project.check()

    assert (opened.status, opened.open, opened.map["trusted_hit"]) == (0, {}, recipe.owed), opened.shown


@pytest.mark.parametrize("recipe", MARKED, ids=[recipe.name for recipe in MARKED])
def test_an_exclusion_marker_excuses_nothing(prepare: Prepare, recipe: Recipe) -> None:
    project = prepare(recipe)
    marker = recipe.marker
    assert marker is not None
    text = project.repo.path(marker.path).read_text(encoding="utf-8")
    assert text.count(marker.text) == 1
    project.commit("hide", {marker.path: text.replace(marker.text, marker.marked).encode()})

    verdict = project.check()

    assert (verdict.status, verdict.open) == (1, marker.open), verdict.shown
    assert "LW604" in verdict.codes


@pytest.mark.parametrize("recipe", ONE_PER_PROJECT, ids=[recipe.project for recipe in ONE_PER_PROJECT])
def test_the_tests_of_the_patch_pass_and_run_the_lines_that_stay_open(prepare: Prepare, recipe: Recipe) -> None:
    project = prepare(recipe)

    project.shell(recipe.generated)

    first, *_ = recipe.open.items()
    project.disturb(first[0], first[1][-1])
    with pytest.raises(AssertionError):
        project.shell(recipe.generated)


@pytest.mark.parametrize("recipe", COLLECTING, ids=[recipe.name for recipe in COLLECTING])
def test_counts_of_an_earlier_run_are_not_believed(prepare: Prepare, recipe: Recipe) -> None:
    """Somebody has committed what the generated tests counted, where the recipe's tools would add to it."""
    project = prepare(recipe)
    project.shell(recipe.generated)
    root = project.repo.root
    found = {
        path.relative_to(root).as_posix(): path.read_bytes() for glob in recipe.leftovers for path in root.glob(glob)
    }
    assert found
    project.repo.remove(*found)
    project.land("counts", found, force=True)

    verdict = project.check()

    assert (verdict.status, verdict.open) == (1, recipe.open), verdict.shown


# What each tool looks for by itself, and what such a file could do.
STEERING = {
    ("vitest", "v8"): ("vitest.config.ts", "vite.config.mjs", "package.json", ".npmrc"),
    ("node", "c8"): (".c8rc.json", ".nycrc", "package.json", "package-lock.json"),
    ("node", "nyc"): (".nycrc.json", "nyc.config.js", "package.json"),
    ("node", "node"): ("package.json",),
    ("java", "jacoco"): ("build.xml", "trusted.xml"),
    ("go", "go"): ("go.work", "go.mod", "go.sum"),
    ("c-cpp", "gcovr"): ("Makefile", "GNUmakefile", "gcovr.cfg"),
    ("rust", "llvm-cov"): ("build.rs", "Cargo.toml", ".cargo/config.toml", "rust-toolchain"),
    ("ruby", "simplecov"): (".simplecov", "tests/trusted/helper.rb"),
    ("php", "pcov"): ("tests/trusted/bootstrap.php",),
}


@pytest.mark.parametrize("key", STEERING, ids="-".join)
def test_a_patch_does_not_steer_the_tools(tmp_path: Path, key: tuple[str, str]) -> None:
    (recipe,) = [recipe for recipe in RECIPES if (recipe.project, recipe.settings) == key]
    project = Project(tmp_path, recipe)
    project.commit("steer", dict.fromkeys(STEERING[key], b"# steered\n"), force=True)

    verdict = project.check()

    assert verdict.status == 5, verdict.shown
    frozen = {finding["path"] for finding in verdict.map["findings"] if finding["severity"] == "error"}
    assert frozen >= set(STEERING[key])
    assert verdict.map["evidence"] == []
