"""What the pages show is what the tests run, and what a user copies works on another machine."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from linewitness.settings import load
from tests.docs.snippets import ROOT, blocks
from tests.recipes.recipe import EXAMPLES
from tests.recipes.table import RECIPES

PAGES = sorted((ROOT / "docs" / "languages").glob("recipe-*.md"))
SETTINGS = sorted(EXAMPLES.glob("*/settings/*.toml"))
_LOCKS = sorted(EXAMPLES.glob("*/base/package-lock.json"))


def test_every_page_shows_settings_that_are_run_and_no_others() -> None:
    shown = [block.text for page in PAGES for block in blocks(page) if block.language == "toml"]

    assert sorted(shown) == sorted(path.read_text(encoding="utf-8") for path in SETTINGS)


def test_every_recipe_is_run() -> None:
    assert {recipe.settings_file for recipe in RECIPES} == set(SETTINGS)


def test_the_overview_names_every_page() -> None:
    overview = (ROOT / "docs" / "languages" / "recipes.md").read_text(encoding="utf-8")

    assert {f"{name}.md" for name in re.findall(r"^recipe-[\w-]+$", overview, re.MULTILINE)} == {p.name for p in PAGES}


@pytest.mark.parametrize("path", SETTINGS, ids=[f"{path.parts[-3]}-{path.stem}" for path in SETTINGS])
def test_a_recipe_begins_with_an_empty_folder_and_keeps_tests_apart(path: Path) -> None:
    settings = load(lambda name: path.read_bytes() if name == "linewitness.toml" else None).settings
    (suite,) = settings.suite
    folder = suite.export.rpartition("/")[0]

    assert (settings.trusted, settings.generated) == (("tests/trusted/**",), ("tests/generated/**",))
    assert "generated" not in suite.run
    assert not folder or re.search(rf"\brm -rf {folder}\b", suite.run)


@pytest.mark.parametrize("path", _LOCKS, ids=[path.parts[-3] for path in _LOCKS])
def test_a_lock_file_names_no_registry(path: Path) -> None:
    packages = json.loads(path.read_bytes())["packages"]

    assert len(packages) > 1
    assert all("integrity" in each and "resolved" not in each for name, each in packages.items() if name)
