"""The tree of what lies in the work tree now, without touching the user's index, files or object store.

The tree holds the raw bytes of every tracked file and of every untracked file that is not ignored, as they are on
disk. No filter runs and no end of line is converted, so nothing can be hidden behind ``.gitattributes``; the price is
that a checkout with converted line ends differs from its commit in bytes (its lines are the same lines all the same:
see :mod:`linewitness.patch.identity`), and that files of Git LFS show as changed. What git believes about a file
(its cached times, assume-unchanged, skip-worktree, intent-to-add) is not asked: every file is read.

Ignored means: by ``.gitignore`` files and by ``info/exclude`` of the repository. Settings of the user do not count.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from linewitness.errors import PatchError
from linewitness.model import Blob, Commit, ObjectId, RepoPath
from linewitness.patch.files import Folder
from linewitness.patch.objects import (
    SUBMODULE,
    SYMLINK,
    blob_id,
    is_submodule,
    path_bytes,
    repo_path,
    write_loose,
)
from linewitness.patch.repository import Repository
from linewitness.values import NamedTuple


class _Entry(NamedTuple):
    """One entry of the index. ``sparse`` is the skip-worktree bit: the file may be absent without being deleted."""

    blob: Blob
    sparse: bool


def working_tree(repository: Repository) -> Commit:
    """The tree that a commit of everything would have, as a :class:`Commit` without a commit.

    Its objects live until ``repository`` is closed. Submodules are taken at the commit that is checked out in them.
    Errors: :class:`PatchError` for a bare repository, unfinished merges, files that cannot be read, and special files.
    """
    if repository.bare:
        raise PatchError(f"{repository.root} has no work tree: name a commit with --head")
    snapshot = _Snapshot(repository)
    index = snapshot.index()
    entries: dict[RepoPath, Blob] = {}
    for path, entry in index.items():
        blob = snapshot.look_at(path, entry)
        if blob:
            entries[path] = blob
    for path in snapshot.untracked():
        blob = snapshot.look_at(path, None)
        if blob:
            entries[RepoPath(path.rstrip("/"))] = blob
    return Commit(None, snapshot.write_tree(entries))


class _Snapshot:
    def __init__(self, repository: Repository) -> None:
        self._repository = repository
        self._folder = Folder(repository.root)
        self._scratch = repository.scratch()
        asked = repository.run("config", "--type=bool", "--default=true", "--get", "core.fileMode")
        self._modes_count = asked.strip() == b"true"

    def index(self) -> dict[RepoPath, _Entry]:
        listed = self._repository.run("ls-files", "-z", "-v", "--stage", "--full-name", "--", ":/")
        entries = {}
        for record in listed.split(b"\0")[:-1]:
            facts, _, name = record.partition(b"\t")
            tag, mode, oid, stage = facts.split(b" ")
            path = repo_path(name)
            if stage != b"0":
                raise PatchError("has an unfinished merge: resolve it and `git add` the file", path=path)
            entries[path] = _Entry(Blob(int(mode, 8), ObjectId(oid.decode())), tag in b"Ss")
        return entries

    def untracked(self) -> Iterator[RepoPath]:
        listed = self._repository.run("ls-files", "-z", "--others", "--exclude-standard", "--full-name", "--", ":/")
        return map(repo_path, listed.split(b"\0")[:-1])

    def look_at(self, path: RepoPath, tracked: _Entry | None) -> Blob | None:
        """The entry for what lies at a path now; ``None`` when nothing does."""
        found = self._folder.stat(path)
        if found is None:
            return tracked.blob if tracked and tracked.sparse else None
        if stat.S_ISDIR(found.st_mode):
            return self._submodule(path, tracked) if _may_be_submodule(path, tracked) else None
        if stat.S_ISLNK(found.st_mode):
            return self._stored(SYMLINK, self._folder.link(path), tracked)
        if not stat.S_ISREG(found.st_mode):
            raise PatchError("is neither a file nor a link nor a folder", path=path)
        executable = bool(found.st_mode & stat.S_IXUSR)
        if not self._modes_count:
            executable = bool(tracked and tracked.blob.is_regular and tracked.blob.mode & stat.S_IXUSR)
        return self._stored(0o100755 if executable else 0o100644, self._folder.read(path), tracked)

    def _stored(self, mode: int, content: bytes, tracked: _Entry | None) -> Blob:
        oid = blob_id(content, self._repository.algorithm)
        if not (tracked and tracked.blob.oid == oid):
            oid = write_loose(self._scratch / "objects", content, self._repository.algorithm)
        return Blob(mode, oid)

    def _submodule(self, path: RepoPath, tracked: _Entry | None) -> Blob | None:
        where = self._folder.where(path)
        if not os.path.lexists(where + b"/.git"):
            # an empty folder stands for a submodule that is not checked out
            return tracked.blob if tracked else None
        with Repository(Path(os.fsdecode(where))) as inner:
            if not os.path.samefile(inner.root, where):
                raise PatchError("holds a .git that is not a repository", path=path)
            commit = inner.resolve("HEAD").commit
        return Blob(SUBMODULE, commit) if commit else None

    def write_tree(self, entries: dict[RepoPath, Blob]) -> ObjectId:
        env = {
            "GIT_INDEX_FILE": os.fspath(self._scratch / "index"),
            **self._repository.storing_in(self._scratch / "objects"),
        }
        records = [b"%o %s\t%s\0" % (blob.mode, blob.oid.encode(), path_bytes(path)) for path, blob in entries.items()]
        (self._scratch / "index").unlink(missing_ok=True)
        self._repository.run("update-index", "-z", "--index-info", stdin=b"".join(records), env=env)
        tree = ObjectId(self._repository.run("write-tree", "--missing-ok", env=env).decode().strip())
        if self._repository.ls_tree(tree) != entries:
            raise PatchError("the work tree holds names that git cannot keep side by side")
        return tree


def _may_be_submodule(path: RepoPath, tracked: _Entry | None) -> bool:
    # git lists a repository inside of this one, which nobody registered, with a slash at the end
    return is_submodule(tracked.blob) if tracked else path.endswith("/")
