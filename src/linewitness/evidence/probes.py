"""Observation without tracing, for tested interpreters from 3.9 to 3.11: changed files run with probes in them.

Runs in the *tested* interpreter (standard library only). :class:`Probes` serves the compilation that :mod:`weaving`
made of each changed file before the run.

A probe is ``MARKS[number]`` where ``MARKS`` is a constant of the code object, put in place of a placeholder string
after compilation: no name is looked up, so no namespace (module, class body with a mapping of its own, ``builtins``)
can see or disturb it. ``MARKS`` is a dictionary whose ``__missing__`` reports the first hit and stores ``False``, so
every later pass is one dictionary look-up, and forgetting a key arms the probe again.
"""

from __future__ import annotations

import marshal
import os
import sys
from base64 import b64decode
from collections.abc import Callable
from opcode import opmap
from types import CodeType
from typing import Any

from . import codekey
from .places import elsewhere

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .recorder import See

# Out of the placeholder's range as a subscript, or the compiler would fold ``"text"[number]`` into a constant.
BASE = 1 << 20
FORGED = "a hit was reported not by a probe but by"
_LOAD_CONST, _BINARY_SUBSCR, _EXTENDED_ARG = (opmap.get(n, -1) for n in ("LOAD_CONST", "BINARY_SUBSCR", "EXTENDED_ARG"))


def placeholder(source: bytes) -> str:
    """The constant that stands for a file's marks until it is loaded: no source contains what follows from itself."""
    return f"\0linewitness-{codekey.digest_of_bytes(source)[:32]}\0"


def probes_of(code: CodeType, marks: object) -> dict[int, int]:
    """Offsets of the subscriptions ``marks[number]`` of one code object, with their numbers less ``BASE``.

    ``marks`` and the number are constants. Whatever else subscribes the marks is no probe.
    """
    found: dict[int, int] = {}
    constants = code.co_consts
    if marks not in constants:
        return found
    operations, arguments = code.co_code[::2], code.co_code[1::2]
    at = operations.find(_BINARY_SUBSCR)
    while at >= 0:
        before, number = _loaded(operations, arguments, at - 1)
        _, holder = _loaded(operations, arguments, before)
        if number >= 0 and holder >= 0 and type(constants[number]) is int and _is(constants[holder], marks):
            found[2 * at] = constants[number] - BASE
        at = operations.find(_BINARY_SUBSCR, at + 1)
    return found


def _loaded(operations: bytes, arguments: bytes, at: int) -> tuple[int, int]:
    """The place of the instruction before the one at ``at``, and which constant that one loads, -1 for none."""
    if at < 0 or operations[at] != _LOAD_CONST:
        return at, -1
    argument, shift = arguments[at], 8
    while at and operations[at - 1] == _EXTENDED_ARG:
        at -= 1
        argument |= arguments[at] << shift
        shift += 8
    return at - 1, argument


def _is(constant: object, marks: object) -> bool:
    return constant is marks or (type(constant) is str and constant == marks)


class Marks(dict):  # type: ignore[type-arg]
    """The probes of one file that have been passed since they were armed."""

    __slots__ = ("file", "missed")

    def __init__(self, file: str, missed: Callable[[Any, int], bool]) -> None:
        super().__init__()
        self.file = file
        self.missed = missed

    def __missing__(self, number: int) -> bool:
        if self.missed(self, number - BASE):
            self[number] = False
        return False

    # Code objects are hashed and compared with their constants.
    def __hash__(self) -> int:  # type: ignore[override]
        return id(self)

    def __eq__(self, other: object) -> bool:
        return self is other

    def __ne__(self, other: object) -> bool:
        return self is not other

    def __reduce__(self) -> Any:
        # Pickling a function by value takes its constants along; elsewhere a probe has nobody to report to.
        from collections import defaultdict

        return (defaultdict, (bool,))


class Probes:
    """Serves the probed compilation of changed files to every loader that reads sources."""

    def __init__(self, recorder: Any, see: See, export: str, plan: dict[str, dict[str, Any]]) -> None:
        self._recorder = recorder
        self._missed = self._watch(see)
        self._export = export + os.sep
        self._elsewhere = elsewhere(self._export)
        self._plan = {os.path.join(export, path): (path, listed) for path, listed in plan.items()}
        self._stale: list[str] = []
        self._hook: Any = None
        self._loader: Any = None

    def _watch(self, see: See) -> See:
        known: dict[int, tuple[CodeType, dict[int, int]]] = {}
        forged, frame_at = self._recorder.trespass, sys._getframe  # noqa: SLF001 - who asks is what matters

        def missed(marks: Marks, ident: int) -> bool:
            frame = frame_at(2)
            code = frame.f_code
            held = known.get(id(code))
            if held is None:
                held = known[id(code)] = (code, probes_of(code, marks))
            if held[1].get(frame.f_lasti) == ident:
                return see(marks, ident)
            forged(frame, FORGED)
            return False

        return missed

    def start(self) -> None:
        """Put our ``get_code`` in front of the source loaders'."""
        from importlib.machinery import SourceFileLoader

        original = SourceFileLoader.get_code
        probes = self

        def get_code(loader: Any, fullname: str) -> Any:
            if loader.path.startswith(probes._elsewhere):
                return original(loader, fullname)
            real = os.path.realpath(loader.path)
            # The plain compilation comes first: it raises and warns as it would without us, unless it is known to do
            # neither. A loader of another kind may make something else of the file.
            is_silent = type(loader) is SourceFileLoader and probes.is_silent(real)
            plain = None if is_silent else original(loader, fullname)
            code = probes.code_of(real, loader.path, plain)
            return original(loader, fullname) if code is None else code

        self._hook = get_code
        self._loader = SourceFileLoader
        self._loader.get_code = get_code

    def is_silent(self, real: str) -> bool:
        """Whether the file ``real`` is there, and compiling it was seen to raise and warn of nothing."""
        known = self._plan.get(real)
        return known is not None and known[1]["silent"] and os.path.isfile(real)

    def code_of(self, real: str, name: str, plain: Any) -> Any:
        """The compilation to run for the file ``real``, imported as ``name``; ``plain`` where that is not ours."""
        if real.startswith(self._export):
            self._recorder.loaded.add(real[len(self._export) :])
        known = self._plan.get(real)
        if known is None or not known[1]["code"]:
            return plain
        path, listed = known
        if not self._is_current(real, listed["digest"]):
            self._stale.append(path)
            return plain
        code = marshal.loads(b64decode(listed["code"]))  # noqa: S302 - this interpreter compiled it before the run
        return _bind(code, Marks(path, self._missed), listed["placeholder"], name)

    @staticmethod
    def _is_current(real: str, digest: str, opened: Callable[..., Any] = open) -> bool:
        # Kept, because tests may replace ``open``.
        with opened(real, "rb") as stream:
            return codekey.digest_of_bytes(stream.read()) == digest

    def wake(self) -> None:
        """Nothing to do: probes cost nothing until a changed file is loaded."""

    def rearm(self, hits: list[tuple[Any, int]]) -> None:
        """Forget these marks, so that the probes report again."""
        for marks, ident in hits:
            marks.pop(BASE + ident, None)

    def alive(self) -> str:
        """Whether the import hook is in place. What is wrong, or nothing."""
        return "" if self._loader.get_code is self._hook else "the import hook of the recorder was replaced"

    def faults(self) -> list[str]:
        """Signs that the import hook was taken away, or that a changed file was rewritten during the run."""
        found = [f"{path} was changed while the run went on" for path in self._stale]
        if self._loader.get_code is not self._hook:
            found.append("the import hook of the recorder was replaced during the run")
        return found


def _bind(code: CodeType, marks: Marks, stands: str, name: str) -> CodeType:
    """``code`` under the file name ``name`` and with ``stands``, the placeholder, replaced by the marks."""
    constants = tuple(
        _bind(c, marks, stands, name) if isinstance(c, CodeType) else marks if type(c) is str and c == stands else c
        for c in code.co_consts
    )
    return code.replace(co_consts=constants, co_filename=sys.intern(name))
