"""Exports written by tests."""

from __future__ import annotations

from pathlib import Path


def written(folder: Path, data: str | bytes, name: str = "export") -> Path:
    """A file with this content; text is written as it is, without any translation."""
    path = folder / name
    path.write_bytes(data if isinstance(data, bytes) else data.encode("utf-8", "surrogateescape"))
    return path
