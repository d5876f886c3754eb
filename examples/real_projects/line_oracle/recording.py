"""Loads the changed files marked, and keeps apart what passing tests, other tests and imports have marked.

Child processes write what they marked into a folder, one file per process, together with the test that was running
when they started; the parent counts it if that test passed.
"""

from __future__ import annotations

import atexit
import importlib.abc
import importlib.machinery
import json
import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import CodeType
from typing import TYPE_CHECKING, Any, NamedTuple

from .rewrite import ADD, ITERATE, NumberedTree, instrument

if TYPE_CHECKING:
    import pytest

ROOM_PER_FILE = 1 << 24
PLAN_VARIABLE = "LINE_ORACLE_PLAN"


class Target(NamedTuple):
    """One file to mark: its absolute path, the number its nodes start from, and the lines of interest."""

    path: str
    first: int
    focus: tuple[int, ...]


class Plan(NamedTuple):
    """Everything a process of the run has to know; travels as JSON in a file."""

    root: str
    targets: tuple[Target, ...]
    children: str

    @classmethod
    def make(cls, root: Path, focus: Mapping[str, Sequence[int]], children: Path) -> Plan:
        """``focus`` maps paths relative to the root to the lines of interest."""
        targets = tuple(
            Target(os.path.realpath(root / path), index * ROOM_PER_FILE, tuple(focus[path]))
            for index, path in enumerate(sorted(focus))
        )
        return cls(str(root), targets, str(children))

    def dump(self) -> str:
        """As JSON text."""
        return json.dumps(self._asdict())

    @classmethod
    def load(cls, text: str) -> Plan:
        """From the text that :meth:`dump` made."""
        raw = json.loads(text)
        targets = tuple(Target(path, first, tuple(focus)) for path, first, focus in raw["targets"])
        return cls(raw["root"], targets, raw["children"])


class Tally:
    """The marks of one process. ``marks`` is the set that marked code adds to; it is emptied at each test's borders."""

    def __init__(self) -> None:
        self.marks: set[int] = set()
        self.passed: dict[int, str] = {}
        self.unattended: set[int] = set()
        self.not_passed: set[int] = set()
        self.loaded: set[str] = set()

    def take(self) -> set[int]:
        """All marks since the last border."""
        taken = set(self.marks)
        self.marks.clear()
        return taken

    def test_begins(self) -> None:
        """What was marked before belongs to no test."""
        self.unattended |= self.take()

    def test_ended(self, node_id: str, passed: bool) -> None:
        """What was marked since it began belongs to this test."""
        taken = self.take()
        if not passed:
            self.not_passed |= taken
            return
        for key in taken:
            self.passed.setdefault(key, node_id)


class _Told(Iterator[Any]):
    """The outermost iterator of a generator expression, telling when the expression's body starts."""

    def __init__(self, add: Callable[[int], None], key: int, iterable: Any) -> None:
        self.add, self.key, self.inner = add, key, iter(iterable)

    def __next__(self) -> Any:
        self.add(self.key)
        return next(self.inner)


def marking_names(tally: Tally) -> dict[str, Any]:
    """The names that marked code calls."""
    add = tally.marks.add
    return {ADD: add, ITERATE: lambda key, iterable: _Told(add, key, iterable)}


def install(plan: Plan, tally: Tally, namespace: dict[str, Any]) -> None:
    """Make every later import of a target load its marked form. ``namespace`` is that of the builtins."""
    namespace.update(marking_names(tally))
    targets = {target.path: target for target in plan.targets}
    plain = importlib.machinery.SourceFileLoader.get_code

    def get_code(self: importlib.machinery.SourceFileLoader, fullname: str) -> CodeType | None:
        path = self.get_filename(fullname)
        target = targets.get(os.path.realpath(path))
        if target is None:
            return plain(self, fullname)
        tally.loaded.add(target.path)
        numbered = NumberedTree(self.get_data(path), target.first)
        if numbered.size * 4 >= ROOM_PER_FILE:
            raise ImportError(f"{path} has more nodes than the marks of one file have room for")
        return instrument(numbered, path, target.focus or None)

    importlib.machinery.SourceFileLoader.get_code = get_code  # type: ignore[method-assign, assignment]
    _keep_from_pytest(targets, get_code)
    os.register_at_fork(after_in_child=lambda: _write_at_exit(plan, tally))


def _keep_from_pytest(targets: Collection[str], get_code: Callable[..., CodeType | None]) -> None:
    """Give targets a loader that pytest leaves alone: the modules of a plugin would be compiled by pytest, unmarked."""
    find = importlib.machinery.FileFinder.find_spec

    class Loader(importlib.abc.FileLoader, importlib.abc.SourceLoader):  # type: ignore[misc]
        pass

    Loader.get_code = get_code  # type: ignore[method-assign]

    def find_spec(self: importlib.machinery.FileFinder, fullname: str, target: Any = None) -> ModuleSpec | None:
        spec = find(self, fullname, target)
        if spec is not None and spec.origin and os.path.realpath(spec.origin) in targets:
            spec.loader = Loader(fullname, spec.origin)
        return spec

    importlib.machinery.FileFinder.find_spec = find_spec  # type: ignore[method-assign, assignment]


def install_in_child(plan: Plan, namespace: dict[str, Any]) -> None:
    """The same for an interpreter that a test has started."""
    tally = Tally()
    install(plan, tally, namespace)
    _write_at_exit(plan, tally)


def _write_at_exit(plan: Plan, tally: Tally) -> None:
    """Called in a new process: nothing it inherited counts, and all it marks is written down before it goes."""
    tally.marks.clear()
    node_id = os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" (")[0]
    leave = os._exit

    def write() -> None:
        out = Path(plan.children) / f"{os.getpid()}.json"
        out.write_text(json.dumps({"test": node_id, "marks": sorted(tally.marks), "loaded": sorted(tally.loaded)}))

    def write_and_leave(status: int) -> None:
        write()
        leave(status)

    atexit.register(write)
    os._exit = write_and_leave  # type: ignore[assignment]


class Plugin:
    """Tells the tally where tests begin and how they ended."""

    def __init__(self, tally: Tally) -> None:
        self.tally = tally
        self.reports: list[pytest.TestReport] = []
        self.outcomes: dict[str, bool] = {}

    def pytest_runtest_logstart(self) -> None:
        """A test begins."""
        self.reports = []
        self.tally.test_begins()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """One phase of a test has ended."""
        self.reports.append(report)

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        """A test is over; it passed when it was called and nothing about it was but a pass."""
        called = any(report.when == "call" for report in self.reports)
        clean = all(report.passed and not hasattr(report, "wasxfail") for report in self.reports)
        self.outcomes[nodeid] = called and clean and self.outcomes.get(nodeid, True)
        self.tally.test_ended(nodeid, self.outcomes[nodeid])


def join_children(tally: Tally, folder: Path, outcomes: Mapping[str, bool]) -> None:
    """Count what child processes marked for the tests that passed."""
    for file in sorted(folder.glob("*.json")):
        child = json.loads(file.read_text())
        tally.loaded.update(child["loaded"])
        for key in child["marks"]:
            if outcomes.get(child["test"]):
                tally.passed.setdefault(key, child["test"])
