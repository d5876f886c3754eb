"""Lends the tested interpreter the gate's own ``linewitness.relations``.

Runs in the *tested* interpreter (3.9 and later, standard library only). The judge of a relation comes with the gate: a
copy in the patch, or one that happens to be installed beside the project, does not answer to the name. The one
exception is linewitness itself as the project under judgement: there its own package is what is being tested, and
nothing that it counts is believed (see :mod:`relation_watch`).
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

PACKAGE = "linewitness"
LENT = "linewitness.relations"


class LentFinder:
    """First on ``sys.meta_path``: ``linewitness.relations`` is ours, and so is ``linewitness`` where nobody has one."""

    def __init__(self, export: str) -> None:
        self._export = export

    @classmethod
    def install(cls, config: dict[str, Any]) -> None:
        """Lend, unless the name is the project's own."""
        if PACKAGE not in config["owned"]:
            sys.meta_path.insert(0, cls(config["export"]))

    def find_spec(self, fullname: str, _path: Any = None, _target: Any = None) -> ModuleSpec | None:
        """Ours, or ``None`` for everything else."""
        if fullname == LENT or fullname.startswith(LENT + "."):
            ours = "_linewitness" + fullname[len(PACKAGE) :]
            return ModuleSpec(fullname, _Same(ours), is_package=fullname == LENT)  # type: ignore[arg-type]
        if fullname == PACKAGE and self._is_missing():
            spec = ModuleSpec(PACKAGE, None, is_package=True)
            spec.submodule_search_locations = []
            return spec
        return None

    def _is_missing(self) -> bool:
        """Whether no linewitness is installed; one in the export, which only a patch can have put there, is none."""
        outside = [entry for entry in sys.path if not os.path.realpath(entry or ".").startswith(self._export)]
        spec = PathFinder.find_spec(PACKAGE, outside)
        origin = os.path.realpath(spec.origin) if spec is not None and spec.origin else ""
        return not origin or origin.startswith(self._export + os.sep)


class _Same:
    """Gives the module of the kit under its public name: one module, whoever asks for it."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._spec: ModuleSpec | None = None

    def create_module(self, spec: ModuleSpec) -> ModuleType:  # noqa: ARG002 - the import system's own signature
        """The kit's module, loaded."""
        module = import_module(self._name)
        self._spec = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """It ran already; it keeps knowing itself by its own name."""
        module.__spec__ = self._spec
