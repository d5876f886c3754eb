"""Whether the modules that people own, tests and their helpers, are what their files say, from collection to the end.

A check asks through its helpers, and code under test can reach them: put a module of its own under a helper's name
before the helper is imported, or exchange a function of one, or the code in it. What tests do to their own modules, and
take back, is their business; what stands there at the end and comes from the code under test is told.

Runs in the *tested* interpreter (3.9 and later, standard library only).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from types import CodeType, FunctionType, ModuleType
from typing import Any

from .parts import Codes, Whole, functions_in
from .places import Places

Origin = Callable[[Any], str]
"""Gives the unprotected file of the export that a value was written in, or an empty text."""


class Helpers:
    """The protected modules of one process. Each sign is the path of a file, and what was done to it."""

    def __init__(self, places: Places, config: dict[str, Any]) -> None:
        self._places = places
        self._config = config
        self._wholes: list[tuple[str, Whole]] = []
        self._codes = Codes(())

    def settle(self) -> Iterator[tuple[str, str]]:
        """Collection is over: remember what the modules consist of, and tell what stands under their names."""
        functions: list[FunctionType] = []
        for path, module in self._modules():
            parts: list[Any] = [module, *_classes_of(module)]
            self._wholes += ((path, Whole(part.__name__, vars(part))) for part in parts)
            for part in parts:
                functions += filter(self._is_written_here, functions_in(vars(part).values()))
        self._codes = Codes(functions)
        yield from self._imposters()

    def final(self, origin: Origin) -> Iterator[tuple[str, str]]:
        """Every test has run: tell what was exchanged and not put back."""
        for path, whole in self._wholes:
            for name, value in whole.changes():
                by = origin(value)
                if by:
                    yield path, f"{name} was replaced by code of {by}"
        for function, name, code in self._codes.changes():
            by = self._writer(code) if name == "__code__" else "something else"
            if by:
                path = self._places.inside(str(function.__globals__.get("__file__", "")))
                yield path, f"{name} of {function.__qualname__}() was replaced by {by}"

    def _modules(self) -> Iterator[tuple[str, ModuleType]]:
        for module in list(sys.modules.values()):
            file = getattr(module, "__file__", None)
            path = self._places.inside(file) if isinstance(module, ModuleType) and isinstance(file, str) else ""
            if path and self._places.is_protected(path):
                yield path, module

    def _is_written_here(self, function: FunctionType) -> bool:
        """Whether a function stands in a protected file; what a test imported from the product is the product's."""
        return self._places.is_protected(self._places.inside(function.__code__.co_filename))

    def _writer(self, code: CodeType) -> str:
        """Who wrote code that took another's place, when that was no test and no installed tool."""
        path = self._places.loose(code.co_filename)
        return f"code of {path}" if path else "code without a file" if code.co_filename.startswith("<") else ""

    def _imposters(self) -> Iterator[tuple[str, str]]:
        """Helpers under whose name something else than their file, or a protected one of the same name, stands."""
        for name, paths in self._importable().items():
            module = sys.modules.get(name)
            file = getattr(module, "__file__", None)
            if module is not None and self._places.inside(file if isinstance(file, str) else "") not in paths:
                yield min(paths), f"another module stands under its name, `{name}`"

    def _importable(self) -> dict[str, set[str]]:
        """The names under which protected files can be imported, from the folders that pytest made importable."""
        export = self._config["export"]
        roots = {place[len(export) + 1 :] for place in sys.path if place == export or place.startswith(export + os.sep)}
        taken = frozenset(self._config["owned"]).difference(self._config["natural"])
        found: dict[str, set[str]] = {}
        for path in {*self._config["protected"], *self._config["test_files"]}:
            parts = path.split("/")
            if not path.endswith(".py") or parts[-1] == "conftest.py":
                continue
            depth = len(parts) - 1
            while depth and os.path.isfile(os.path.join(export, *parts[:depth], "__init__.py")):
                depth -= 1
            names = [*parts[depth:-1], *([] if parts[-1] == "__init__.py" else [parts[-1][:-3]])]
            if names and "/".join(parts[:depth]) in roots and names[0] not in taken:
                found.setdefault(".".join(names), set()).add(path)
        return found


def _classes_of(module: ModuleType) -> Iterable[type]:
    return [each for each in vars(module).values() if isinstance(each, type) and each.__module__ == module.__name__]
