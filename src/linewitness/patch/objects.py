"""How git names objects and paths, without git: for checking what was read and what was written.

Formats: gitformat-loose(5) and the tree format described in "Git Internals - Git Objects" of the Pro Git book.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import TypeAlias

from linewitness.digests import hexdigest
from linewitness.errors import PatchError
from linewitness.model import Blob, ObjectId, RepoPath
from linewitness.patch.names import DEEPEST_PATH

LARGEST_BLOB = 1 << 30
"""Bytes of the largest file that is read. git's own line diff ends a little below this."""

SUBMODULE = 0o160000
SYMLINK = 0o120000
_FORMAT = 0o170000


_Node: TypeAlias = "dict[bytes, _Node] | Blob"


def is_submodule(blob: Blob) -> bool:
    """Whether the entry is a commit of another repository."""
    return blob.mode & _FORMAT == SUBMODULE


def is_symlink(blob: Blob) -> bool:
    """Whether the entry is a symbolic link."""
    return blob.mode & _FORMAT == SYMLINK


def repo_path(raw: bytes) -> RepoPath:
    """The path for the bytes git holds."""
    return RepoPath(raw.decode("utf-8", "surrogateescape"))


def path_bytes(path: str) -> bytes:
    """The bytes git holds for a path."""
    return path.encode("utf-8", "surrogateescape")


def blob_id(content: bytes, algorithm: str = "sha1") -> ObjectId:
    """The id that git gives to a blob. ``algorithm`` is the repository's object format, ``sha1`` or ``sha256``."""
    return _object_id(b"blob", content, algorithm)


def tree_id(entries: Mapping[RepoPath, Blob], algorithm: str = "sha1") -> ObjectId:
    """The id of the tree that holds exactly these files. Errors: :class:`PatchError` when a file is also a folder."""
    root: dict[bytes, _Node] = {}
    for path, blob in entries.items():
        *folders, name = path_bytes(path).split(b"/")
        folder = root
        if len(folders) > DEEPEST_PATH:
            raise PatchError(f"lies more than {DEEPEST_PATH} folders deep", path=path[:100] + "...")
        for part in folders:
            child = folder.setdefault(part, {})
            if not isinstance(child, dict):
                raise PatchError("is a file and a folder at once", path=path)
            folder = child
        if name in folder:
            raise PatchError("is a file and a folder at once", path=path)
        folder[name] = blob
    return _folder_id(root, algorithm)


def write_loose(objects: Path, content: bytes, algorithm: str) -> ObjectId:
    """Store a blob, byte for byte, in an object directory that nobody else writes to; its id."""
    data = b"blob %d\0" % len(content) + content
    oid = hexdigest(algorithm, data)
    target = objects / oid[:2] / oid[2:]
    target.parent.mkdir(exist_ok=True)
    target.write_bytes(zlib.compress(data, 1))
    return ObjectId(oid)


def _folder_id(folder: dict[bytes, _Node], algorithm: str) -> ObjectId:
    # git sorts folders as if their names ended in a slash
    records = []
    for name, node in sorted(folder.items(), key=lambda item: item[0] + b"/" * isinstance(item[1], dict)):
        mode, oid = (0o40000, _folder_id(node, algorithm)) if isinstance(node, dict) else node
        records.append(b"%o %s\0" % (mode, name) + bytes.fromhex(oid))
    return _object_id(b"tree", b"".join(records), algorithm)


def _object_id(kind: bytes, content: bytes, algorithm: str) -> ObjectId:
    return ObjectId(hexdigest(algorithm, b"%s %d\0" % (kind, len(content)), content))
