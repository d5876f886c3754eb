"""A tree of the repository as files, byte for byte.

``git archive`` and ``git checkout`` obey attributes that a patch may carry (export-ignore, export-subst, eol, ident,
filters). Here blobs are written as they are, and then everything on disk is read back and compared with the tree.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from pathlib import Path

from linewitness.errors import PatchError
from linewitness.model import Blob, ObjectId, RepoPath
from linewitness.patch.names import refuse_unsafe
from linewitness.patch.objects import blob_id, is_submodule, is_symlink, path_bytes, repo_path, tree_id
from linewitness.patch.repository import Repository

_MOST_LINKS = 40
_MORE = 1 << 12


def export_tree(
    repository: Repository,
    tree: ObjectId,
    destination: Path,
    replace: Mapping[RepoPath, Blob | None] | None = None,
    listed: Mapping[RepoPath, Blob] | None = None,
) -> None:
    """Write a tree into ``destination``, a folder that does not exist yet or is empty.

    ``listed`` are the tree's entries when they are known; they are checked against its id all the same. ``replace``
    puts other blobs in the place of the tree's, or (``None``) leaves a path out. Files get the executable
    bit of their mode, submodules become empty folders. A symbolic link is written as it is when following it, through
    other links of the tree too, never leaves the export.

    Errors: :class:`PatchError` when a link leads outside, when a name could reach outside or into ``.git``, when two
    names are one on this file system, when an object is missing or damaged, and when what was written is not the tree.
    """
    entries = dict(repository.ls_tree(tree) if listed is None else listed)
    if tree_id(entries, repository.algorithm) != tree:
        raise PatchError(f"tree {tree} is damaged, or holds folders or modes that git does not write any more")
    if replace:
        for path, blob in replace.items():
            entries.pop(path, None)
            if blob is not None:
                entries[path] = blob
        tree_id(entries, repository.algorithm)  # a replacement may not turn a folder into a file
    for path in entries:
        refuse_unsafe(path)
    _refuse_links_outside(repository, entries)
    _write(repository, entries, destination)
    _compare(_read_back(destination, repository.algorithm, entries), entries)


def _refuse_links_outside(repository: Repository, entries: Mapping[RepoPath, Blob]) -> None:
    links = {path: blob.oid for path, blob in entries.items() if is_symlink(blob)}
    targets = dict(zip(map(path_bytes, links), repository.read_all(links.values()), strict=True))
    for link, target in targets.items():
        if not _stays_inside(link, targets):
            raise PatchError(
                f"is a symbolic link that leads out of the tree, to {target.decode('utf-8', 'replace')!r}: "
                "make it point to a file of the repository, or remove it",
                path=repo_path(link),
            )


def _stays_inside(link: bytes, targets: Mapping[bytes, bytes]) -> bool:
    """Whether following a link, step by step as an operating system does, never goes above the root."""
    here: list[bytes] = []
    ahead = link.split(b"/")[::-1]
    followed = 0
    while ahead:
        part = ahead.pop()
        if part == b"..":
            if not here:
                return False
            here.pop()
        elif part not in (b"", b"."):
            here.append(part)
        target = targets.get(b"/".join(here))
        if target is not None:
            followed += 1
            if followed > _MOST_LINKS:
                return True  # a circle: it leads nowhere
            if target.startswith(b"/") or b"\0" in target:
                return False
            here.pop()
            ahead += target.split(b"/")[::-1]
    return True


def _write(repository: Repository, entries: Mapping[RepoPath, Blob], destination: Path) -> None:
    try:
        destination.mkdir(parents=True, exist_ok=True)
        if any(destination.iterdir()):
            raise PatchError(f"{destination} is not empty")
        root = os.fsencode(destination)
        made = {root}
        contents = repository.read_all(blob.oid for blob in entries.values() if not is_submodule(blob))
        for path, blob in entries.items():
            where = root + b"/" + path_bytes(path)
            _make_folders(where if is_submodule(blob) else os.path.dirname(where), made)
            if not is_submodule(blob):
                _write_one(where, blob, next(contents))
    except FileExistsError as error:
        shown = os.fsdecode(error.filename) if error.filename else "a name"
        raise PatchError(f"{shown}: two names of the tree are one on this file system") from None
    except OSError as error:
        raise PatchError(f"the tree cannot be written to {destination}: {error}") from None


def _make_folders(folder: bytes, made: set[bytes]) -> None:
    if folder not in made:
        _make_folders(os.path.dirname(folder), made)
        os.mkdir(folder)
        made.add(folder)


def _write_one(where: bytes, blob: Blob, content: bytes) -> None:
    if is_symlink(blob):
        os.symlink(content, where)
        return
    # thousands of small files: a file object for each would cost more than its bytes do
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    handle = os.open(where, flags, 0o777 if blob.mode & stat.S_IXUSR else 0o666)
    try:
        left = content
        while left:
            left = left[os.write(handle, left) :]
    finally:
        os.close(handle)


def _read_back(destination: Path, algorithm: str, expected: Mapping[RepoPath, Blob]) -> dict[RepoPath, Blob]:
    found: dict[RepoPath, Blob] = {}
    root = os.fsencode(destination)
    pending = [root]
    while pending:
        folder = pending.pop()
        for entry in os.scandir(folder):
            path = repo_path(entry.path[len(root) + 1 :])
            if entry.is_symlink():
                found[path] = Blob(0o120000, blob_id(os.readlink(entry.path), algorithm))
            elif entry.is_dir():
                planned = expected.get(path)
                if planned and is_submodule(planned) and not os.listdir(entry.path):
                    found[path] = planned
                pending.append(entry.path)
            else:
                found[path] = _read_one(entry.path, algorithm)
    return found


def _read_one(where: bytes, algorithm: str) -> Blob:
    handle = os.open(where, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        facts = os.fstat(handle)
        content = os.read(handle, facts.st_size)
        while more := os.read(handle, _MORE):
            content += more
    finally:
        os.close(handle)
    return Blob(0o100755 if facts.st_mode & stat.S_IXUSR else 0o100644, blob_id(content, algorithm))


def _compare(found: Mapping[RepoPath, Blob], expected: Mapping[RepoPath, Blob]) -> None:
    for path in sorted(found.keys() | expected.keys()):
        if found.get(path) != expected.get(path):
            raise PatchError("was not written as the tree has it", path=path)
