"""What a work tree has already, and what becomes of the files that ``init`` would like to see in it."""

from __future__ import annotations

import os
import re
from enum import StrEnum
from pathlib import Path
from typing import Final

from linewitness import settings
from linewitness.errors import UsageError
from linewitness.model import RepoPath
from linewitness.onboarding import first_checks, survey
from linewitness.onboarding.first_checks import Candidate
from linewitness.onboarding.survey import ExistingTests
from linewitness.patch.repository import Repository
from linewitness.settings import Settings
from linewitness.values import NamedTuple

_PYTEST_SECTION: Final = re.compile(
    r"^\[(?:tool[.:])?pytest(?:\.ini_options)?\]([^\n]*\n.*?)(?=^\[|\Z)", re.MULTILINE | re.DOTALL
)


class State(StrEnum):
    """What becomes of a planned file."""

    CREATE = "create"
    COMPLETE = "complete"
    KEEP = "keep"


class Item(NamedTuple):
    """One file of the plan. ``purpose`` is a phrase; ``note`` says what is to be done by hand when the file exists."""

    path: RepoPath
    state: State
    content: bytes
    purpose: str
    note: str = ""


class Present(NamedTuple):
    """What the work tree at ``root`` has already.

    ``here`` is the branch that is checked out, ``chosen`` and ``origin`` the settings and their file (empty: none),
    ``ranked`` the tests that could be trusted, ``definitions`` those of CI, ``sensitive`` globs for the setting,
    ``extras`` those of the project for the languages that files are written in.
    """

    root: Path
    target: str
    here: str
    chosen: Settings
    origin: str
    existing: ExistingTests
    plugins: tuple[str, ...]
    ranked: tuple[Candidate, ...]
    definitions: tuple[RepoPath, ...]
    sensitive: tuple[str, ...]
    extras: tuple[str, ...]
    trusted: bool

    @classmethod
    def look(cls, repository: Repository) -> Present:
        """Look at the work tree of a repository. Errors: :class:`UsageError` for settings that cannot be read."""
        root = repository.root
        loaded = settings.load(lambda path: read(root / path))
        paths = survey.files_here(repository)
        existing = survey.existing_tests(paths, loaded.settings)
        below = tuple(f"{folder}/" for folder in existing.folders)
        tests = {path: text(root, path) for path in paths if path.endswith(".py") and path.startswith(below)}
        plugins = survey.plugins_needed(pytest_settings_text(root), (*tests.values(),)) if existing.folders else ()
        modules = {path: shown for path, shown in tests.items() if survey.is_test_file(path)}
        modules |= {path: text(root, path) for path in existing.loose}
        ranked = first_checks.rank(modules, survey.product_names(paths))
        return cls(
            root,
            survey.target_branch(repository),
            survey.current_branch(repository),
            loaded.settings,
            loaded.origin,
            existing,
            plugins,
            ranked,
            tuple(survey.ci_definitions(paths)),
            tuple(survey.sensitive_globs(paths)),
            survey.extras(paths, loaded.settings),
            survey.has_trusted_tests(paths, loaded.settings),
        )

    @property
    def adopts(self) -> bool:
        """Whether the suite that is there becomes the trusted one, so that no folder is needed for it."""
        return not self.origin and bool(self.existing.folders)

    def item(self, path: str, content: str, purpose: str, note: str = "") -> Item:
        """A file that is created unless something of its name is there; ``note`` is for whoever has it already."""
        state = State.KEEP if os.path.lexists(self.root / path) else State.CREATE
        return Item(RepoPath(path), state, content.encode(), purpose, note if state is State.KEEP else "")

    def folder(self, path: str, readme: str, purpose: str) -> Item:
        """A new folder gets a file that says what it is for, since git keeps no empty one."""
        if os.path.lexists(self.root / path):
            return Item(RepoPath(path), State.KEEP, b"", purpose)
        return self.item(f"{path}/README.md", readme, purpose)


def read(path: Path) -> bytes | None:
    """The bytes of an ordinary file of the work tree, or ``None``."""
    try:
        return path.read_bytes() if path.is_file() and not path.is_symlink() else None
    except OSError as error:
        raise UsageError(f"cannot be read: {error.strerror or error}", path=str(path)) from error


def text(root: Path, path: str) -> str:
    """The text of a file, decoded somehow: it is only searched for well-known words."""
    return (read(root / path) or b"").decode("utf-8", "replace")


def pytest_settings_text(root: Path) -> str:
    """The section in which pytest finds its settings, as text; empty when there is none.

    Errors: :class:`linewitness.errors.EvidenceError` when pytest could not read the file either.
    """
    from linewitness.evidence.pytest_settings import read_pytest_settings

    file = read_pytest_settings(root, "9").file
    section = _PYTEST_SECTION.search(text(root, file)) if file else None
    return section[1] if section else ""
