"""Which files of the export the trusted tests themselves open, and which folders they list.

Runs in the *tested* interpreter (3.9 and later, standard library only), loaded as a plugin of pytest, and only where
the patch touches a file that owes nothing and that a check might read (``could_matter`` of the tool's ``influence``).
What code under test reads is the product's own data and not looked at; what a check reads decides what the check asks.

PYTEST_DONT_REWRITE
"""

from __future__ import annotations

import json
import os
from typing import Any

from .auditing import listen
from .recorder import Recorder

_LISTING = frozenset({"os.listdir", "os.scandir"})
# Told before anything is looked up, so that a folder which is not there any more is known too.
_SEARCHING = frozenset({"glob.glob", "pathlib.Path.glob", "pathlib.Path.rglob", "os.walk", "os.fwalk"})
EVENTS = _LISTING | _SEARCHING | {"open"}
_WILD = "*?["
_IMPORT_SYSTEM = "<frozen importlib"


class Reads:
    """What hears audited events, and what it has noticed: ``{path: "open", "list" or "search"}``."""

    def __init__(self, config: dict[str, Any]) -> None:
        self._export = config["export"]
        self._inside = config["export"] + os.sep
        self._people = frozenset(config["protected"]).union(config["test_files"])
        self.seen: dict[str, str] = {}

    def hear(self, event: str, arguments: tuple[Any, ...], frame: Any) -> None:
        """One audited event of :data:`EVENTS`, and the frame in which it happened."""
        if event == "open":
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
        name = path[len(self._inside) :].replace(os.sep, "/").rstrip("/")
        if self.seen.get(name) != event and self._by_people(frame):
            self.seen[name] = event

    def _by_people(self, frame: Any) -> bool:
        """Whether the innermost frame of the export belongs to a file that people own."""
        if frame.f_code.co_filename.startswith(_IMPORT_SYSTEM):
            return False  # what is imported is known from the modules
        while frame is not None:
            name = frame.f_code.co_filename
            if name.startswith(self._inside):
                path = name[len(self._inside) :].replace(os.sep, "/")
                return path in self._people or path.rpartition("/")[2] == "conftest.py"
            frame = frame.f_back
        return False


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


def pytest_configure(config: Any) -> None:
    """Start to look, in each process that runs tests."""
    recorder = Recorder.active
    if recorder is None or not recorder.owns_process or hasattr(config, "_linewitness_reads"):
        return
    reads = Reads(recorder.config)
    config._linewitness_reads = reads  # noqa: SLF001 - the session's own place for it
    listen(recorder, EVENTS, reads.hear)


def pytest_unconfigure(config: Any) -> None:
    """Leave what was seen beside the records."""
    reads = getattr(config, "_linewitness_reads", None)
    recorder = Recorder.active
    if reads is None or recorder is None or not recorder.owns_process:
        return
    name = os.path.join(os.path.dirname(recorder.folder), "reads", f"{os.getpid()}.json")
    rows = sorted([path, event] for path, event in reads.seen.items())
    with open(name, "w", encoding="utf-8") as stream:
        json.dump(rows, stream)
