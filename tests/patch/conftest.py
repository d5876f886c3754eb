"""Fixtures of the patch tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from linewitness.model import FileText
from linewitness.patch.diff import GitPatch, Owes, never
from linewitness.patch.repository import Repository
from tests.support.repos import Repo

ReadPatch = Callable[..., dict[str, FileText]]
OpenRepository = Callable[[Path], Repository]


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    """An empty repository."""
    return Repo(tmp_path / "repo")


@pytest.fixture
def opened() -> Iterator[OpenRepository]:
    """Opens repositories and closes them after the test."""
    with ExitStack() as stack:
        yield lambda root: stack.enter_context(Repository(root))


@pytest.fixture
def read_patch(repo: Repo, opened: OpenRepository) -> ReadPatch:
    """Every change between two commits of ``repo``, by path, with its texts and hunks."""

    def read(base: str, head: str = "HEAD", owes: Owes = never) -> dict[str, FileText]:
        repository = opened(repo.root)
        before, after = repository.resolve(base), repository.resolve(head)
        patch = GitPatch(repository, before, after, owes)
        listed = (repository.ls_tree(before.tree), repository.ls_tree(after.tree))
        assert GitPatch(repository, before, after, owes, listed).patch == patch.patch
        return {change.path: patch.text(change) for change in patch.patch.changes}

    return read
