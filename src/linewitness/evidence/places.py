"""Tells whose code a file of the run is: a protected file's, the patch's to change, or none of the export's.

Runs in the *tested* interpreter (3.9 and later, standard library only).
"""

from __future__ import annotations

import os
import sys
from typing import Any


def elsewhere(export: str) -> tuple[str, ...]:
    """How names of the interpreter's own files and of what is installed in it begin: to resolve a path costs dear.

    A folder inside the export (which ends with a separator) is none of these, nor is one around it.
    """
    folders = {os.path.join(prefix, "lib") + os.sep for prefix in (sys.prefix, sys.base_prefix)}
    return ("<", *(each for each in sorted(folders) if not (each.startswith(export) or export.startswith(each))))


class Resolved:
    """Real paths of files, as ``os.path.realpath`` tells them; the folders, which repeat, are resolved once."""

    def __init__(self) -> None:
        self._folders: dict[str, str] = {}

    def __call__(self, name: str) -> str:
        """The real path of ``name``."""
        folder, _, last = name.rpartition(os.sep)
        if not folder or last in _NOT_PLAIN or os.path.islink(name):
            return os.path.realpath(name)
        real = self._folders.get(folder)
        if real is None:
            real = os.path.realpath(folder)
            if folder[0] == os.sep:
                self._folders[folder] = real
        return os.path.join(real, last)


_NOT_PLAIN = frozenset(("", ".", ".."))


class Places:
    """The files of the export, as the run's configuration names them."""

    def __init__(self, config: dict[str, Any]) -> None:
        self._export = config["export"] + os.sep
        self._protected = frozenset(config["test_files"]).union(config["protected"])
        self._known: dict[str, str] = {}
        # Code without a file ("<string>") would seem to lie in the current folder.
        self._elsewhere = elsewhere(self._export)
        self.real = Resolved()
        """Gives the real path of a file."""

    def inside(self, name: str) -> str:
        """The path of a file relative to the export, ``/`` between its parts, or an empty string."""
        known = self._known.get(name)
        if known is None:
            real = "" if name.startswith(self._elsewhere) else self.real(name)
            known = real[len(self._export) :].replace(os.sep, "/") if real.startswith(self._export) else ""
            self._known[name] = known
        return known

    def is_protected(self, path: str) -> bool:
        """Whether a path of the export may decide about checks."""
        return os.path.basename(path) == "conftest.py" or path in self._protected

    def loose(self, name: str) -> str:
        """The path of a file of the export that is not protected, or an empty string."""
        path = self.inside(name)
        return "" if path and self.is_protected(path) else path

    def innermost(self, frame: Any) -> tuple[str, int]:
        """Path and line of the innermost frame of the export from ``frame`` outwards, or an empty path."""
        while frame is not None:
            path = self.inside(frame.f_code.co_filename)
            if path:
                return path, frame.f_lineno or 0
            frame = frame.f_back
        return "", 0
