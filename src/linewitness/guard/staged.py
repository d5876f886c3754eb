"""The pre-commit hook: protected content in the index that is neither the current commit's nor the target branch's."""

from __future__ import annotations

import os
from pathlib import Path

from linewitness import settings
from linewitness.errors import PatchError
from linewitness.model import Blob, ObjectId, RepoPath
from linewitness.patch.repository import Repository
from linewitness.settings import Settings
from linewitness.trust import protected

Tree = dict[RepoPath, Blob]


def findings(folder: Path) -> tuple[str, ...]:
    """One text for each protected path whose staged content is new; none before the first commit.

    What a merge brings from the target branch is not new. Errors: :class:`PatchError`, and
    :class:`linewitness.errors.UsageError` for settings that cannot be read.
    """
    with Repository(folder) as repository:
        try:
            current = repository.resolve("HEAD")
        except PatchError:
            return ()
        index, base = _index(repository), repository.ls_tree(current.tree)
        target = _target(repository)
        chosen = _settings(repository, target if target is not None else base)
        known = [base, *([target] if target is not None else [])]
        found = protected.freeze(base, index, chosen, lambda blob: repository.read(blob.oid), base_name="HEAD")
        return tuple(
            f"{each.path}: {each.message}"
            for each in found
            if not any(index.get(RepoPath(each.path)) == tree.get(RepoPath(each.path)) for tree in known)
        )


def _index(repository: Repository) -> Tree:
    # While git commits only some paths, the index that counts is a temporary one which it names to the hook.
    named = os.environ.get("GIT_INDEX_FILE", "")
    env = {"GIT_INDEX_FILE": os.path.join(repository.root, named)} if named else {}
    tree: Tree = {}
    for record in repository.run("ls-files", "-z", "--stage", "--full-name", "--", ":/", env=env).split(b"\0")[:-1]:
        facts, _, name = record.partition(b"\t")
        mode, oid, _ = facts.split(b" ")
        tree[RepoPath(name.decode("utf-8", "surrogateescape"))] = Blob(int(mode, 8), ObjectId(oid.decode()))
    return tree


def _target(repository: Repository) -> Tree | None:
    try:
        return repository.ls_tree(repository.resolve(repository.default_base()).tree)
    except PatchError:
        return None


def _settings(repository: Repository, tree: Tree) -> Settings:
    def read(path: str) -> bytes | None:
        blob = tree.get(RepoPath(path))
        return repository.read(blob.oid) if blob is not None and blob.is_regular else None

    return settings.load(read).settings
