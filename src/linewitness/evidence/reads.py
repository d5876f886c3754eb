"""Which files of the export are opened during the trusted run, which folders are listed, and by whom.

Runs in the *tested* interpreter (3.9 and later, standard library only), loaded as a plugin of pytest, and only where
the patch gives a reason (``reasons`` of the tool). What a check reads decides what the check asks. What code under test
reads is the product's own data, unless a check told it to, or it executes it, or it is a check's: the tool judges that.

PYTEST_DONT_REWRITE
"""

from __future__ import annotations

import json
import os
from typing import Any

import pytest

from .auditing import listen
from .executions import EVENTS as EXECUTING
from .executions import IMPORT_SYSTEM, OWN_READING, Executions
from .lookups import Lookups, is_main_thread
from .recorder import Recorder

_LISTING = frozenset({"os.listdir", "os.scandir"})
# Told before anything is looked up, so that a folder which is not there any more is known too.
_SEARCHING = frozenset({"glob.glob", "pathlib.Path.glob", "pathlib.Path.rglob", "os.walk", "os.fwalk"})
EVENTS = _LISTING | _SEARCHING | {"open"}
_WILD = "*?["


class Reads:
    """What hears audited events, and what it has noticed.

    ``seen`` holds (path, ``open``, ``list`` or ``search``, ``check`` or ``product``), and of files of the checks that
    the product opened on its own account (path, ``alone``, ``product``).
    """

    def __init__(self, config: dict[str, Any]) -> None:
        self._export = config["export"]
        self._inside = config["export"] + os.sep
        self._people = frozenset(config["protected"]).union(config["test_files"])
        self._executions = Executions(config)
        self._lookups = Lookups(config)
        self._real: dict[str, str] = {}
        self.seen: set[tuple[str, str, str]] = set()

    def rows(self) -> list[tuple[str, str, str]]:
        """What was noticed: ``seen``, and (path, ``execute``, ``product``)."""
        return sorted(self.seen.union((path, "execute", "product") for path in self._executions.found))

    def hear_of_code(self, event: str, arguments: tuple[Any, ...], frame: Any) -> None:
        """One audited event of ``executions``."""
        self._executions.hear(event, arguments, frame, self._doer)

    def hear(self, event: str, arguments: tuple[Any, ...], frame: Any) -> None:
        """One audited event of :data:`EVENTS`, and the frame in which it happened."""
        if event == "open":
            if frame.f_code is not OWN_READING:
                self._note("open", arguments[0], frame)
        elif event in _LISTING:
            self._note("list", os.getcwd() if arguments[0] is None else arguments[0], frame)
        else:
            self._note("search", _top(event, arguments), frame)

    def _note(self, event: str, path: Any, frame: Any) -> None:
        if isinstance(path, bytes):
            path = os.fsdecode(path)
        if not isinstance(path, str):
            return
        if path[:1] != os.sep:
            path = os.path.join(os.getcwd(), path)
        if ".." in path or "//" in path or "/." in path:
            path = os.path.normpath(path)
        if path != self._export and not path.startswith(self._inside):
            return
        name = self._name(path)
        if event == "open":
            self._note_opened(name, path, frame)
        if (name, event, "check") in self.seen:
            return
        reader = self._reader(frame)
        if not reader or (name, event, reader) in self.seen:
            return
        self.seen.add((name, event, reader))
        # Behind a link of the tree there may be a file that nobody owns.
        real = self._name(os.path.realpath(path))
        if real != name:
            self.seen.add((real, event, reader))

    def _note_opened(self, name: str, path: str, frame: Any) -> None:
        """What matters however often a check has opened it before."""
        real = self._real.get(name)
        if real is None:
            real = self._real[name] = self._name(os.path.realpath(path))
        if self._executions.is_about(real) and self._actor(frame) != "check":
            self._executions.opened(real)
        alone = (real, "alone", "product")
        if alone not in self.seen and self._lookups.is_about(real) and self._lookups.is_alone(real, frame, self._side):
            self.seen.add(alone)

    def _name(self, path: str) -> str:
        return path[len(self._inside) :].replace(os.sep, "/").rstrip("/")

    def _reader(self, frame: Any) -> str:
        """Who reads. Nobody does, for what the import system reads: what is imported is known from the modules."""
        return "" if frame.f_code.co_filename.startswith(IMPORT_SYSTEM) else self._actor(frame)

    def _actor(self, frame: Any) -> str:
        """Who acts: the innermost frame of the export tells."""
        while frame is not None:
            side = self._side(frame.f_code.co_filename)
            if side:
                return side
            frame = frame.f_back
        return ""

    def _doer(self, frame: Any) -> str:
        """As :meth:`_actor`, but in a thread that runs nobody's code it is the product that had it run."""
        return self._actor(frame) or ("" if is_main_thread() else "product")

    def _side(self, name: str) -> str:
        """Whose code a file of the export holds."""
        if not name.startswith(self._inside):
            return ""
        path = name[len(self._inside) :].replace(os.sep, "/")
        return "check" if path in self._people or path.rpartition("/")[2] == "conftest.py" else "product"


def _top(event: str, arguments: tuple[Any, ...]) -> Any:
    """The folder below which somebody is about to look."""
    try:
        if event.startswith("os."):
            return os.fspath(arguments[0])
        if event.startswith("glob."):
            pattern = os.fsdecode(arguments[0])
        else:
            pattern = os.path.join(os.fspath(arguments[0]), str(arguments[1]))
    except TypeError:
        return ""
    fixed = []
    for part in pattern.split(os.sep):
        if any(letter in part for letter in _WILD):
            break
        fixed.append(part)
    return os.sep.join(fixed) or os.getcwd()


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: Any) -> None:
    """Start to look before conftest files are loaded, and with them what they import."""
    _start(early_config)


def pytest_configure(config: Any) -> None:
    """Start to look, in each process that runs tests."""
    _start(config)


def _start(config: Any) -> None:
    recorder = Recorder.active
    if recorder is None or not recorder.owns_process or hasattr(config, "_linewitness_reads"):
        return
    reads = Reads(recorder.config)
    config._linewitness_reads = reads  # noqa: SLF001 - the session's own place for it
    listen(recorder, EVENTS, reads.hear)
    if recorder.config["loose"]:
        listen(recorder, EXECUTING, reads.hear_of_code)


def pytest_unconfigure(config: Any) -> None:
    """Leave what was seen beside the records."""
    reads = getattr(config, "_linewitness_reads", None)
    recorder = Recorder.active
    if reads is None or recorder is None or not recorder.owns_process:
        return
    name = os.path.join(os.path.dirname(recorder.folder), "reads", f"{os.getpid()}.json")
    rows = reads.rows()
    with open(name, "w", encoding="utf-8") as stream:
        json.dump(rows, stream)
