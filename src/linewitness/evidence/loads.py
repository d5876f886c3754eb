"""Hands over the code of files of the export when it is imported, where nobody is told of every start of code.

Runs in the *tested* interpreter (3.12 and later, standard library only).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection
from types import CodeType
from typing import Any

from .places import elsewhere

_REPLACED = "the import hook of the recorder was replaced"


class Loads:
    """Stands in front of the source loaders' ``get_code``.

    ``tell`` is given the real path of a file and its code, which holds all code objects of it, before that runs. Files
    that lie elsewhere are left out, unless they have one of the base ``names``: something installed may be a link into
    the export.
    """

    def __init__(self, export: str, names: Collection[str], tell: Callable[[str, CodeType], None]) -> None:
        self._elsewhere = elsewhere(export)
        self._names = names
        self._tell = tell
        self._hook: Any = None
        self._loader: Any = None

    def start(self) -> None:
        """Take the place of ``get_code``."""
        from importlib.machinery import SourceFileLoader

        original = SourceFileLoader.get_code
        loads = self

        def get_code(loader: Any, fullname: str) -> Any:
            code = original(loader, fullname)
            path = loader.path
            if code is not None and not (
                path.startswith(loads._elsewhere) and path.rpartition(os.sep)[2] not in loads._names
            ):
                loads._tell(os.path.realpath(path), code)
            return code

        self._hook = get_code
        self._loader = SourceFileLoader
        self._loader.get_code = get_code

    def alive(self) -> str:
        """Whether the hook is in place. What is wrong, or nothing."""
        return "" if self._loader.get_code is self._hook else _REPLACED

    def faults(self) -> list[str]:
        """The same at the end of the run."""
        wrong = self.alive()
        return [f"{wrong} during the run"] if wrong else []
