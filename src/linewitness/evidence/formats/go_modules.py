"""The modules of a repository with Go code: which folder an import path means.

Only ``go.mod`` files that head itself holds are read, each below the root and none through a link: that an export
names a path is never a reason to open it.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Collection
from pathlib import Path
from typing import Final

from linewitness.model import RepoPath

_MAX_SIZE: Final = 1 << 20
_MODULE: Final = re.compile(r"""^\s*module\s*\(?\s*["`]?([^\s"`()]+)["`]?\s*\)?\s*(?://.*)?$""", re.MULTILINE)


def module_folders(root: Path, known: Collection[RepoPath]) -> tuple[tuple[str, str], ...]:
    """Pairs of import path and folder relative to the root, the longest import path first.

    A file of a module is its import path and the path inside the module's folder (go.dev/ref/mod#go-mod-file).
    A module that two folders claim is left out: its files are then matched like those of any other export.
    """
    folders: dict[str, list[str]] = {}
    for path in sorted(known):
        if path == "go.mod" or path.endswith("/go.mod"):
            name = _MODULE.search(_text(root, path))
            if name is not None:
                folders.setdefault(name[1], []).append(path.removesuffix("go.mod").rstrip("/") or ".")
    sole = ((name, places[0]) for name, places in folders.items() if len(places) == 1)
    return tuple(sorted(sole, key=lambda pair: -len(pair[0])))


def _text(root: Path, path: str) -> str:
    """The text of a file below the root, or nothing when it is not an ordinary small file there."""
    try:
        place = root / path
        if not place.resolve().is_relative_to(root.resolve()):
            return ""
        handle = os.open(place, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    except (OSError, ValueError):
        return ""
    try:
        ordinary = stat.S_ISREG(os.fstat(handle).st_mode)
        return os.read(handle, _MAX_SIZE).decode("utf-8", "replace") if ordinary else ""
    except OSError:
        return ""
    finally:
        os.close(handle)
