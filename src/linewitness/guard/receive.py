"""The pre-receive hook: pushes whose protected content is neither the target branch's nor approved by its owners."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from linewitness import settings
from linewitness.errors import LinewitnessError, PatchError
from linewitness.model import Blob, Commit, Finding, RepoPath
from linewitness.patch.repository import Repository
from linewitness.settings import LoadedSettings
from linewitness.trust import approvals
from linewitness.values import NamedTuple

Tree = dict[RepoPath, Blob]
_BRANCHES: Final = "refs/heads/"
# Refs under which a forge takes proposals of changes: their content is on its way to a branch.
_PROPOSALS: Final = ("refs/for/", "refs/merge-requests/", "refs/pull/", "refs/drafts/")


class Update(NamedTuple):
    """One line of what git tells a pre-receive hook. An id of zeros stands for no commit."""

    old: str
    new: str
    ref: str

    @classmethod
    def parse(cls, line: bytes) -> Update:
        """Read ``old new ref``. Errors: :class:`PatchError`."""
        words = line.decode("utf-8", "surrogateescape").split(" ", 2)
        if len(words) != 3 or not all(
            len(word) in {40, 64} and set(word) <= set("0123456789abcdef") for word in words[:2]
        ):
            raise PatchError("what came on standard input is not what git tells a pre-receive hook")
        return cls(*words)

    @property
    def deletes(self) -> bool:
        """Whether the ref goes away."""
        return not self.new.strip("0")


class _Pair(NamedTuple):
    """What :func:`linewitness.trust.approvals.freeze` compares."""

    repository: Repository
    base: Commit
    head: Commit
    base_tree: Tree
    head_tree: Tree
    loaded: LoadedSettings
    onto: Commit

    @property
    def tip(self) -> Commit:
        """The last commit of what is pushed."""
        return self.head

    def target(self) -> Commit:
        """The tip of the target branch, before the push."""
        return self.onto


def refusals(folder: Path, updates: Sequence[Update], target: str = "") -> tuple[str, ...]:
    """Why a push may not be taken, one text for each trouble; none when it may.

    ``target`` is the branch that patches are for; by default the one that the settings on the default branch name.
    Everything is compared with the target branch as it was before the push; without one, there is nothing to protect
    yet. Tags and notes are not judged: nothing is merged from them. Errors: :class:`LinewitnessError`.
    """
    with Repository(folder) as repository:
        repository.check_trustworthy()
        branch = _BRANCHES + (target or _target(repository))
        tip = _tip(repository, branch)
        found: list[str] = []
        for update in updates:
            found += _judge(repository, update, branch, tip)
        return tuple(found)


def _judge(repository: Repository, update: Update, branch: str, tip: Commit | None) -> list[str]:
    if update.ref.startswith("refs/replace/"):
        return [f"{update.ref}: replaced objects show every reader another history"]
    if tip is None or not update.ref.startswith((_BRANCHES, *_PROPOSALS)):
        return []
    if update.deletes:
        return (
            [f"{update.ref}: the branch that protected content is read from cannot be deleted"]
            if update.ref == branch
            else []
        )
    try:
        found = _frozen(repository, update, tip, onto_target=update.ref == branch)
    except LinewitnessError as error:
        return [f"{update.ref}: {error}"]
    return [f"{update.ref}: {each.path}: {each.message} [{each.code}]" for each in found]


def _frozen(repository: Repository, update: Update, tip: Commit, *, onto_target: bool) -> tuple[Finding, ...]:
    head = repository.resolve(update.new)
    base = tip if onto_target else _base(repository, tip, head)
    base_tree, head_tree = repository.ls_tree(base.tree), repository.ls_tree(head.tree)
    loaded = settings.load(lambda path: _read(repository, base_tree, path))
    pair = _Pair(repository, base, head, base_tree, head_tree, loaded, tip)
    return approvals.freeze(pair, dt.datetime.now(dt.UTC)).findings


def _base(repository: Repository, tip: Commit, head: Commit) -> Commit:
    """The merge base; for an unrelated history the target itself, so that everything in it has to be equal."""
    try:
        return repository.merge_base(tip, head)
    except PatchError:
        return tip


def _target(repository: Repository) -> str:
    default = repository.run("symbolic-ref", "--quiet", "HEAD", ok=(0, 1)).decode("utf-8", "surrogateescape").strip()
    tip = _tip(repository, default) if default else None
    if tip is None:
        return default.removeprefix(_BRANCHES) or "main"
    tree = repository.ls_tree(tip.tree)
    return settings.load(lambda path: _read(repository, tree, path)).settings.target_branch or default.removeprefix(
        _BRANCHES
    )


def _tip(repository: Repository, ref: str) -> Commit | None:
    """The commit that a ref names, ``None`` where there is no such ref."""
    listed = repository.run("for-each-ref", "--format=%(refname)", "--", ref).decode("utf-8", "surrogateescape")
    return repository.resolve(ref) if ref in listed.splitlines() else None


def _read(repository: Repository, tree: Tree, path: str) -> bytes | None:
    blob = tree.get(RepoPath(path))
    return repository.read(blob.oid) if blob is not None and blob.is_regular else None
