"""The pair of trees whose protected content is in question, as the rooms above hand it down."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from linewitness.model import Blob, Commit, RepoPath
from linewitness.patch.repository import Repository
from linewitness.settings import LoadedSettings

Tree = Mapping[RepoPath, Blob]


class Pair(Protocol):
    """Base and head of one repository, under the settings that base holds."""

    @property
    def repository(self) -> Repository:
        """Where both trees are."""
        ...

    @property
    def base(self) -> Commit:
        """The merge base."""
        ...

    @property
    def head(self) -> Commit:
        """The patch; without a commit when it is what lies in the work tree."""
        ...

    @property
    def tip(self) -> Commit:
        """The last commit of the patch's own history."""
        ...

    def target(self) -> Commit:
        """The tip of the target branch."""
        ...

    @property
    def base_tree(self) -> Tree:
        """The files of base."""
        ...

    @property
    def head_tree(self) -> Tree:
        """The files of head."""
        ...

    @property
    def loaded(self) -> LoadedSettings:
        """Base's settings."""
        ...
