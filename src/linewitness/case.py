"""One pair of trees under the settings of its base: what every later step of the gate needs to know."""

from __future__ import annotations

from typing import NamedTuple

from linewitness import settings
from linewitness.errors import UsageError
from linewitness.model import Blob, Commit, RepoPath
from linewitness.obligations import Jurisdiction
from linewitness.patch.repository import Repository
from linewitness.patch.worktree import working_tree
from linewitness.settings import LoadedSettings
from linewitness.trust.protected import Protection

Tree = dict[RepoPath, Blob]


class Question(NamedTuple):
    """Which trees to compare. ``base`` names the target branch or a commit; ``None`` is the remote's default branch."""

    base: str | None = None
    head: str = "HEAD"
    working_tree: bool = False


class Case(NamedTuple):
    """A patch to be judged: two trees, the settings that base holds, and what follows from them for each path."""

    repository: Repository
    base: Commit
    head: Commit
    base_tree: Tree
    head_tree: Tree
    loaded: LoadedSettings
    protection: Protection
    jurisdiction: Jurisdiction

    def read(self, blob: Blob) -> bytes:
        """The bytes of a blob of either tree."""
        return self.repository.read(blob.oid)

    def read_head(self, path: str) -> bytes | None:
        """The bytes of a regular file of head, or ``None``."""
        return _read(self.repository, self.head_tree, path)


def open_case(repository: Repository, question: Question) -> Case:
    """Resolve names, read base's settings, list both trees.

    Errors: :class:`linewitness.errors.PatchError` for anything that makes the patch untrustworthy,
    :class:`linewitness.errors.UsageError` for settings that cannot be read.
    """
    repository.check_trustworthy()
    base, head = _resolve(repository, question)
    base_tree = repository.ls_tree(base.tree)
    head_tree = repository.ls_tree(head.tree)
    loaded = settings.load(lambda path: _read(repository, base_tree, path))
    protection = Protection(loaded.settings, base_tree, head_tree)
    jurisdiction = Jurisdiction(loaded.settings, protection.is_protected, base_tree)
    return Case(repository, base, head, base_tree, head_tree, loaded, protection, jurisdiction)


def _resolve(repository: Repository, question: Question) -> tuple[Commit, Commit]:
    """Base and head: base is the merge base of head's commit and the target branch."""
    head = repository.resolve(question.head)
    target = repository.resolve(question.base or _target(repository))
    base = repository.merge_base(target, head)
    if not question.working_tree:
        return base, head
    if head != repository.resolve("HEAD"):
        raise UsageError("--working-tree judges what is checked out: it cannot be combined with another --head")
    return base, working_tree(repository)


def _target(repository: Repository) -> str:
    """The branch that patches are for. Its name may be set on the remote's default branch, never by the patch."""
    default = repository.default_base()
    tip = repository.ls_tree(repository.resolve(default).tree)
    named = settings.load(lambda path: _read(repository, tip, path)).settings.target_branch
    return repository.default_base(named) if named else default


def _read(repository: Repository, tree: Tree, path: str) -> bytes | None:
    blob = tree.get(RepoPath(path))
    return repository.read(blob.oid) if blob is not None and blob.is_regular else None
