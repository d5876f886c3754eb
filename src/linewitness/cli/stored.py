"""A map in a file, as commands read it."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from linewitness.errors import EvidenceError, PatchError, UsageError
from linewitness.obligation_map import SCHEMA, ObligationMap, decode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from linewitness.patch.repository import Repository


def default_map(folder: Path) -> str:
    """Where a map goes, and is looked for, when nobody names a file: inside the git directory, out of everyone's way.

    Empty when ``folder`` is in no repository.
    """
    from linewitness.patch.repository import Repository

    try:
        with Repository(folder) as repository:
            return map_of(repository)
    except PatchError:
        return ""


def map_of(repository: Repository) -> str:
    """The same for a repository that is known."""
    return os.fspath(repository.git_dir / "linewitness" / "map.json")


def chosen(name: str | None, folder: Path | None = None) -> str:
    """The map that a command reads: the one it was told, else the one that the last check stored.

    Nothing is looked for in the work tree by itself: a file there may be part of the patch. Errors: :class:`UsageError`
    when no name was given outside of a repository.
    """
    place = name or default_map(folder or Path())
    if not place:
        raise UsageError("name the map: this is not inside of a git repository, so no check has stored one here")
    return place


def read_bytes(name: str) -> bytes:
    """The bytes of a file, ``-`` for standard input. Errors: :class:`UsageError`."""
    try:
        if name == "-":
            return sys.stdin.buffer.read()
        with open(name, "rb") as file:
            return file.read()
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise UsageError(
            f"cannot be read: {reason}; `linewitness check` stores a map, and `--map FILE` puts it there", path=name
        ) from error


def parse_map(data: bytes, name: str) -> ObligationMap:
    """The map in ``data``. Errors: :class:`EvidenceError` when it is none, or one of another version."""
    import msgspec

    try:
        artifact = decode(data)
    except (msgspec.DecodeError, RecursionError, UnicodeError) as error:
        what = _what_else(data) or f"is not a map that this version can read: {error}"
        raise EvidenceError(what, path=name) from error
    if artifact.schema != SCHEMA:
        raise EvidenceError(_another_kind(artifact.schema, artifact.tool.version), path=name)
    return artifact


def _what_else(data: bytes) -> str:
    """What bytes that are no map of this version say of themselves; empty when that is nothing."""
    import json

    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return ""
    schema = value.get("schema") if isinstance(value, dict) else None
    if not isinstance(schema, str):
        return "is no map: it does not say which `schema` it follows"
    tool = value.get("tool")
    return "" if schema == SCHEMA else _another_kind(schema, tool.get("version") if isinstance(tool, dict) else None)


def _another_kind(schema: str, version: object) -> str:
    by = f", written by version {version}" if isinstance(version, str) else ""
    return f"is a map of another kind, {schema!r}{by}; this version reads {SCHEMA}"


def read_map(name: str) -> ObligationMap:
    """The map in a file. Errors: as :func:`read_bytes` and :func:`parse_map`."""
    return parse_map(read_bytes(name), name)
