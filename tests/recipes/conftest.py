"""The one place of the tests that asks a registry: what the JavaScript recipes have in their lock files."""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.recipes.recipe import EXAMPLES, PATH, Project, Recipe, missing

Prepare = Callable[[Recipe], Project]
_SECONDS = 600


@pytest.fixture(scope="session")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path | None]:
    """Gives the ``node_modules`` of a recipe, installed once for all processes of a run; none where it has no need."""
    shared = tmp_path_factory.getbasetemp().parent

    def installed(project: str) -> Path | None:
        lock = EXAMPLES / project / "base" / "package-lock.json"
        if not lock.is_file():
            return None
        place = shared / f"recipes-{project}-{hashlib.sha256(lock.read_bytes()).hexdigest()[:16]}"
        place.mkdir(exist_ok=True)
        with (place / "lock").open("w") as handle:
            fcntl.flock(handle, fcntl.LOCK_EX)
            if not (place / "done").exists():
                _install(lock.parent, place)
                (place / "done").touch()
        return place / "node_modules"

    return installed


def _install(project: Path, place: Path) -> None:
    for name in ("package.json", "package-lock.json"):
        shutil.copy2(project / name, place / name)
    command = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier"]
    done = subprocess.run(command, check=False, cwd=place, capture_output=True, text=True, timeout=_SECONDS)
    if done.returncode:
        _absent(f"npm ci of {project.parent.name} failed: {done.stderr[-2000:]}")


def _absent(why: str) -> None:
    """In continuous integration everything has to be there."""
    if os.environ.get("CI") == "true":
        pytest.fail(why)
    pytest.skip(why)


@pytest.fixture
def prepare(tmp_path: Path, packages: Callable[[str], Path | None]) -> Prepare:
    """Makes a project out of a recipe, or skips the test where its tools are missing."""

    def prepared(recipe: Recipe) -> Project:
        absent = missing(recipe)
        if absent:
            _absent(f"not on this machine: {'; '.join(absent)} (PATH={PATH})")
        return Project(tmp_path, recipe, packages(recipe.project))

    return prepared
