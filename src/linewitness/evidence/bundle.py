"""The recorder's package, as it lies in the kit: its modules are files beside this one, or the parts of a bundle.

Runs in the *tested* interpreter (3.9 and later, standard library only). A bundle is one file with the byte code of all
modules, for an interpreter of the gate's own version: to make, find and read a hundred small files takes longer than
to run what is in them.
"""

from __future__ import annotations

import marshal
import os
import sys
from _imp import _fix_co_filename  # type: ignore[attr-defined]
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

BUNDLE = "code.bin"
_FOLDER = os.path.dirname(__file__)


class Bundle:
    """Finds the modules of a bundle: their byte code by name, with the file that each would be without one."""

    def __init__(self, modules: dict[str, tuple[str, bytes]]) -> None:
        self._modules = modules

    def find_spec(self, fullname: str, _path: Any = None, _target: Any = None) -> ModuleSpec | None:
        """Ours, or ``None`` for everything else."""
        if fullname not in self._modules:
            return None
        file = os.path.join(_FOLDER, *self._modules[fullname][0].split("/"))
        spec = ModuleSpec(fullname, self, origin=file, is_package=file.endswith("__init__.py"))  # type: ignore[arg-type]
        spec.has_location = True
        return spec

    def create_module(self, _spec: ModuleSpec) -> None:
        """Python's own kind of module."""

    def exec_module(self, module: ModuleType) -> None:
        """Run a module."""
        code = marshal.loads(self._modules[module.__name__][1])  # noqa: S302 - the gate's own
        _fix_co_filename(code, module.__file__)
        exec(code, vars(module))  # noqa: S102 - as the import system does


def install(path: str = os.path.join(_FOLDER, BUNDLE)) -> None:
    """Have the modules of the bundle found, where there is one."""
    try:
        with open(path, "rb") as stream:
            modules: dict[str, tuple[str, bytes]] = marshal.load(stream)  # noqa: S302 - as above
    except FileNotFoundError:
        return
    # What lies beside this file is no module: the folder of what is started by file would be taken for a package.
    sys.modules[__name__].__path__ = []
    sys.meta_path.append(Bundle(modules))


if __name__ == "_linewitness":
    install()
