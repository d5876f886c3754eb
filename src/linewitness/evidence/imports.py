"""Decides which file a top-level import means during the trusted run.

Runs in the *tested* interpreter (3.9 and later, standard library only), in every process of the run:

1. the project's own names come from the export, whatever is installed (an old wheel, an editable install elsewhere);
2. names of the collected tests, and ``conftest``, are looked up as pytest arranged it;
3. every other name is looked up without the export first, so that a file of the patch cannot shadow the standard
   library or an installed distribution, and only then inside the export.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from importlib.machinery import ModuleSpec, PathFinder
from types import FrameType
from typing import Any

from .places import Resolved


class ExportFinder:
    """First on ``sys.meta_path``, and the way ``PathFinder`` answers for top-level names.

    The first place alone would not do: pytest's assertion rewriting puts itself before it and asks ``PathFinder``.
    """

    def __init__(self, config: dict[str, Any], original: Callable[..., ModuleSpec | None]) -> None:
        self._export = config["export"]
        self._roots = list(config["roots"])
        self._owned = frozenset(config["owned"])
        self._natural = frozenset(config["natural"])
        self._tests = frozenset(config["test_folders"])
        self._changed = frozenset(os.path.join(self._export, path) for path in config["plan"])
        self._names = frozenset(map(os.path.basename, self._changed))
        self._original = original
        self._inside: dict[str, bool] = {}
        self._answer: Any = None

    @classmethod
    def install(cls, config: dict[str, Any]) -> ExportFinder:
        """Take over top-level look-ups in this process."""
        original = PathFinder.find_spec
        finder = cls(config, original)

        # A bound method, not a function: pytest keeps it as an attribute of a class of its own.
        finder._answer = finder.path_spec
        PathFinder.find_spec = finder._answer  # type: ignore[method-assign]
        sys.meta_path.insert(0, finder)
        return finder

    def is_installed(self) -> bool:
        """Whether look-ups still come here."""
        return self in sys.meta_path and PathFinder.find_spec is self._answer

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """Own names only. Some editable installs put a finder of their own first; ours is before it."""
        top = fullname.partition(".")[0]
        if top not in self._owned or top in self._natural:
            return None
        if path is None:
            return self._own(fullname, target)
        return self._original(fullname, path, target)

    def path_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """What ``PathFinder.find_spec`` answers from now on."""
        if path is None and "." not in fullname:
            spec = self.top_level(fullname, target)
        else:
            spec = self._original(fullname, path, target)
        if spec is None or not spec.origin or not self._is_changed(spec.origin):
            return spec
        # Who asks is told in no other way.
        return None if _asks_to_rewrite(sys._getframe(1)) else spec  # noqa: SLF001

    def _is_changed(self, origin: str) -> bool:
        return os.path.basename(origin) in self._names and os.path.realpath(origin) in self._changed

    def top_level(self, fullname: str, target: Any = None) -> ModuleSpec | None:
        """Where the top-level name ``fullname`` comes from, or ``None``."""
        if fullname in self._natural:
            return self._original(fullname, None, target)
        if fullname in self._owned:
            spec = self._own(fullname, target)
            if spec is not None:
                return spec
        outside = [entry for entry in sys.path if not self._is_guarded(entry)]
        spec = self._original(fullname, outside, target)
        if spec is None or spec.loader is None:
            spec = self._original(fullname, None, target) or self._original(fullname, self._roots, target)
        return spec

    def _own(self, fullname: str, target: Any) -> ModuleSpec | None:
        spec = self._original(fullname, self._roots, target)
        if spec is None or spec.submodule_search_locations is None or spec.origin is not None:
            return spec
        # A namespace package: its other parts may be installed.
        rest = self._original(fullname, [entry for entry in sys.path if not self._is_guarded(entry)], target)
        places = list(spec.submodule_search_locations)
        if rest is not None and rest.submodule_search_locations is not None:
            places += [place for place in rest.submodule_search_locations if place not in places]
        spec.submodule_search_locations = places
        return spec

    def _is_guarded(self, entry: object) -> bool:
        if not isinstance(entry, str):
            return False
        known = self._inside.get(entry) if entry else None
        if known is None:
            real = os.path.realpath(entry or os.getcwd())
            inside = real == self._export or real.startswith(self._export + os.sep)
            known = inside and real not in self._tests
            if entry:
                self._inside[entry] = known
        return known


def _asks_to_rewrite(frame: FrameType) -> bool:
    """Whether pytest asks, to rewrite assertions in a file that is a plugin or looks like a test.

    Rewritten, a changed file would be another one than was listed. What pytest does not find, the next finder does.
    """
    return frame.f_globals.get("__name__") == "_pytest.assertion.rewrite"


def survey(config: dict[str, Any]) -> tuple[list[list[str]], list[str]]:
    """What this process has imported: own modules from elsewhere as ``[name, file]``, and files of the export."""
    export = config["export"] + os.sep
    owned = frozenset(config["owned"]) - frozenset(config["natural"])
    real_path = Resolved()
    strays: list[list[str]] = []
    files: list[str] = []
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if not isinstance(file, str):
            continue
        # The export is known by its real path alone, so only own names are worth resolving.
        is_own = name.partition(".")[0] in owned
        real = real_path(file) if is_own else file
        if real.startswith(export):
            files.append(real[len(export) :])
        elif is_own and not _is_foreign_part(name, config):
            strays.append([name, real])
    return sorted(strays), sorted(set(files))


def _is_foreign_part(name: str, config: dict[str, Any]) -> bool:
    """Whether an own name stands for an installed part of a namespace package that the export shares with others."""
    parts = name.split(".")
    for root in config["roots"]:
        for depth in range(1, len(parts) + 1):
            place = os.path.join(root, *parts[:depth])
            if os.path.isfile(place + ".py") or os.path.isfile(os.path.join(place, "__init__.py")):
                return False
    return len(parts) > 1
