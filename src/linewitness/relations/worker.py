"""The program of a subject's own interpreter: it answers calls with data and knows nothing of tests.

Standard library only, 3.9 and later. It is started by file, with the numbers of two pipes; its neighbours are out of
reach, because its folder is taken off the path first.
"""

from __future__ import annotations

import errno
import os
import struct
import sys
from collections.abc import Callable
from importlib import import_module
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import module_from_spec, spec_from_file_location
from typing import Any

_HERE = os.path.dirname(os.path.abspath(__file__))


def _load_values(folder: str) -> Any:
    """Our own module, under a name that no program uses and that is gone afterwards."""
    name = "_linewitness_values"
    spec = spec_from_file_location(name, os.path.join(folder, "values.py"))
    if spec is None or spec.loader is None:
        raise SystemExit("the subject's program is not complete")
    module = module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    del sys.modules[name]
    return module


class _Roots:
    """Finds the names of the project in the tree that is asked about, whatever is installed."""

    def __init__(self, roots: list[str], owned: list[str]) -> None:
        self._roots = roots
        self._owned = frozenset(owned)

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if path is None and "." not in fullname and (fullname in self._owned or not self._owned):
            return PathFinder.find_spec(fullname, self._roots, target)
        return None


def _closing(closed: frozenset[str]) -> Callable[[str, tuple[Any, ...]], None]:
    """A hook of the audit, which nobody can take away, that keeps some files from being opened."""

    def hear(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open" and isinstance(arguments[0], (str, bytes)):
            path = os.path.realpath(os.fsdecode(arguments[0]))
            if path in closed:
                raise PermissionError(errno.EACCES, "a subject does not see the relations and their inputs", path)

    return hear


def _take(stream: int, count: int) -> bytes:
    data = b""
    while len(data) < count:
        piece = os.read(stream, count - len(data))
        if not piece:
            sys.exit(0)  # The other end is gone; exit handlers may have something to tell.
        data += piece
    return data


def _request(stream: int) -> bytes:
    (length,) = struct.unpack(">Q", _take(stream, 8))
    return _take(stream, length)


def _put(stream: int, data: bytes) -> None:
    rest = struct.pack(">Q", len(data)) + data
    while rest:
        rest = rest[os.write(stream, rest) :]


class _MissingError(Exception):
    """The name that was asked for names nothing."""


def _resolve(name: str) -> Any:
    module, _, dotted = name.partition(":")
    try:
        found: Any = import_module(module)
    except ModuleNotFoundError as error:
        # Other classes, as that of a distribution that is not installed, name no module.
        if type(error) is ModuleNotFoundError and f"{module}.".startswith(f"{error.name}."):
            raise _MissingError(f"there is no module {error.name!r}") from error
        raise  # the module is there, and something that it imports is not
    for part in dotted.split("."):
        if not hasattr(found, part):
            raise _MissingError(f"{getattr(found, '__name__', module)!r} has no {part!r}")
        found = getattr(found, part)
    return found


def _answer(values: Any, request: Any) -> list[Any]:
    name, arguments, named = request
    try:
        result = values.settled(_resolve(name)(*arguments, **named))
    except _MissingError as error:
        return ["missing", str(error)]
    except values.UsedUpError as error:
        return ["no data", str(error)]
    except Exception as error:  # noqa: BLE001 - which exceptions are an answer is for the relation to say
        return ["raised", [kind.__name__ for kind in type(error).__mro__], str(error)[:4000]]
    try:
        values.encode(result)
    except TypeError as error:
        return ["no data", str(error)]
    return ["result", result]


def main() -> None:
    """Serve calls until the other end closes."""
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or ".") != _HERE]
    inward, outward = int(sys.argv[1]), int(sys.argv[2])
    values = _load_values(_HERE)
    sys.argv[:] = [""]
    roots, owned, closed = values.decode(_request(inward))
    if roots:
        sys.meta_path.insert(0, _Roots(roots, owned))
    if closed:
        sys.addaudithook(_closing(frozenset(closed)))
    while True:
        _put(outward, values.encode(_answer(values, values.decode(_request(inward)))))


if __name__ == "__main__":
    main()
