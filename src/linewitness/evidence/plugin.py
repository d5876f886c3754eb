"""The pytest side of the recorder: which test is running, and how each test ended.

PYTEST_DONT_REWRITE: it is loaded before pytest could, and says nothing with ``assert``.

Runs in the *tested* interpreter (3.9 and later). Loaded by name with ``-p``, because that is what pytest-xdist repeats
in its workers. Only facts are written down; who witnessed what is judged by the tool, when every process is gone.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from .guard import Guard
from .imports import survey
from .recorder import PASSED, Recorder

_REASON = 400
_KEY = "linewitness_key"
# Loaded before any conftest file: nothing of the project has run, and everything that judges is still what it was.
_GUARDS = [Guard(recorder) for recorder in (Recorder.active,) if recorder is not None]
for _guard in _GUARDS:
    # The harness and what is remembered of it stay until the end: there is nothing to collect among them.
    gc.freeze()
    _guard.wake()


def pytest_plugin_registered(plugin: Any) -> None:
    """Pytest was given a plugin, which need not keep it."""
    for guard in _GUARDS:
        guard.registered(plugin)


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_load_initial_conftests(early_config: Any) -> Iterator[None]:
    """Nothing of the project was loaded before this."""
    for guard in _GUARDS:
        guard.configuring(early_config)
    yield
    for guard in _GUARDS:
        guard.loaded()


def pytest_configure(config: Any) -> None:
    """Attach to the recorder that this process started with."""
    recorder = Recorder.active
    if recorder is None or not recorder.owns_process or config.pluginmanager.hasplugin("linewitness-session"):
        return
    worker = getattr(config, "workerinput", None)
    if worker is not None:
        recorder.become_worker(worker["workerid"], bytes.fromhex(worker.pop(_KEY)))
    config.pluginmanager.register(Session(recorder, _GUARDS[0], config), "linewitness-session")


class Session:
    """The hooks of one pytest session: of the only process, of a worker, or of the controller of workers."""

    def __init__(self, recorder: Recorder, guard: Guard, config: Any) -> None:
        self._recorder = recorder
        self._guard = guard
        self._config = config
        self._raised = ""
        # Known when the session has started, which is after every plugin was configured.
        self._elsewhere: bool | None = None
        self._reports: list[Any] = []
        self._places: dict[str, str] = {}
        self._running = ""
        # Whether tests run in this process; known when they are collected.
        self._tests_here = False
        self._closed = False

    def _watch_unittest(self) -> None:
        """Notice a skip where unittest catches it: pytest is told when the exception is gone."""
        case: Any = sys.modules.get("unittest.case")
        outcome = getattr(case, "_Outcome", None)  # No public place sees it.
        if outcome is None:
            return
        original = outcome.testPartExecutor

        @contextmanager
        def executor(part: Any, *args: Any, **kwargs: Any) -> Iterator[None]:
            with original(part, *args, **kwargs):
                try:
                    yield
                except case.SkipTest as error:
                    self._keep_place(self._running, error)
                    raise

        outcome.testPartExecutor = executor

    @property
    def _mine(self) -> bool:
        return self._recorder.role != "child"

    @property
    def _controls(self) -> bool:
        """Whether the tests run in other processes."""
        if self._elsewhere is None:
            self._elsewhere = self._recorder.role == "main" and self._config.pluginmanager.hasplugin("dsession")
        return self._elsewhere

    # ------------------------------------------------------------ collection

    @pytest.hookimpl(hookwrapper=True)
    def pytest_make_collect_report(self, collector: Any) -> Iterator[None]:
        """Note modules that could not be collected, or that skipped themselves, and from where."""
        outcome = yield
        report = outcome.get_result()  # type: ignore[attr-defined]
        if report.outcome == "passed" or not self._mine:
            return
        call = getattr(report, "call", None)
        error = getattr(getattr(call, "excinfo", None), "value", None)
        place = self._blame(error) if report.outcome == "skipped" else ""
        self._recorder.journal.write(["collect", report.nodeid, report.outcome, _reason(report), place])
        self._guard.not_collected(str(getattr(collector, "path", "")))

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self, session: Any) -> None:
        """Nothing of the tests has been imported, unless a conftest file did."""
        self._guard.begin(session.config)

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[Any]) -> Iterator[None]:
        """Whoever takes tests away now is still there; afterwards nobody may."""
        self._guard.judge_plugins()
        yield
        self._guard.choose(items, self)

    @pytest.hookimpl(trylast=True)
    def pytest_collection_finish(self, session: Any) -> None:
        """What ran so far was import and collection."""
        self._tests_here = self._mine and not self._controls
        if self._tests_here:
            self._guard.look_back(session.items)
            self._watch_unittest()
            self._recorder.threads.ignore_present()
            self._recorder.collected([item.nodeid for item in session.items])
            self._guard.settle(session.items, self._config.pluginmanager)
            if self._recorder.config["is_plugin"]:
                # A run of pytest that a check starts has to load it, as elsewhere.
                os.environ.pop("PYTEST_DISABLE_PLUGIN_AUTOLOAD", None)

    # ------------------------------------------------------------ tests

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """From here on hits belong to ``nodeid``."""
        if self._tests_here and self._recorder.role != "child":
            self._reports = []
            self._raised = ""
            self._running = nodeid
            self._guard.started(nodeid)
            self._recorder.begin(nodeid)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_makereport(self, item: Any, call: Any) -> None:
        """Keep the place from which a test was skipped: only here is the traceback still known.

        No wrapper, and first of all: it is called three times a test, and others replace the exception.
        """
        if call.excinfo is not None:
            self._raised = self._raised or call.when
            if _is_a_skip(call.excinfo.value):
                self._keep_place(item.nodeid, call.excinfo.value)
        if self._running:
            self._guard.phases.append(call.when)
            if call.when == "call":
                self._guard.called(item)

    def _keep_place(self, nodeid: str, error: BaseException) -> None:
        place = self._blame(error)
        if place:
            self._places[nodeid] = place

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logreport(self, report: Any) -> None:
        """Keep one phase of a test, or one of its subtests, until the test is over."""
        if report.nodeid == self._running:
            self._reports.append(report)

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        """The test is over; its reports tell whether what it hit may stay switched off."""
        if nodeid == self._running and self._mine:
            self._running = ""
            rows = PASSED if _simply_passed(self._reports) else [self._row(report) for report in self._reports]
            passed = rows is PASSED or all(row[1] == "passed" for row in rows)
            self._guard.judged(nodeid, passed, self._raised)
            self._recorder.finish(nodeid, rows, passed)

    def _row(self, report: Any) -> list[str]:
        said = vars(report)
        when = "subtest" if "context" in said and report.when == "call" else report.when or ""
        outcome = report.outcome
        if "wasxfail" in said:
            outcome = "xfailed" if outcome == "skipped" else "xpassed"
        if outcome == "passed":
            return [when, outcome, "", ""]
        return [when, outcome, _reason(report), self._places.get(report.nodeid, "") if outcome in _SOFT else ""]

    # ------------------------------------------------------------ processes

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """A worker of pytest-xdist is about to be told what it is: give it the key of its record."""
        node.workerinput[_KEY] = self._recorder.derive(node.gateway.id).hex()

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodeready(self, node: Any) -> None:
        """A worker of pytest-xdist is there."""
        self._recorder.journal.write(["worker", node.gateway.id, "up", ""])

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any, error: Any) -> None:
        """A worker of pytest-xdist ended, with an error when it was lost."""
        self._recorder.journal.write(["worker", node.gateway.id, "down", str(error or "")[:_REASON]])

    @pytest.hookimpl(trylast=True)
    def pytest_unconfigure(self) -> None:
        """Everything of this session has run."""
        if not self._mine or self._closed:
            return
        self._closed = True
        self._recorder.close(*survey(self._recorder.config), self._guard.final())
        if self._recorder.role == "worker":
            self._recorder.end(0)

    # ------------------------------------------------------------ places

    def _blame(self, error: BaseException | None) -> str:
        """``path:line`` of the innermost frame of the export that raised a skip, when that is no protected file."""
        place = self._innermost(error.__traceback__) if error is not None else None
        if place is None or self._guard.places.is_protected(place[0]):
            return ""
        return f"{place[0]}:{place[1]}"

    def _innermost(self, traceback: Any) -> tuple[str, int] | None:
        found = None
        while traceback is not None:
            path = self._guard.places.inside(traceback.tb_frame.f_code.co_filename)
            if path:
                found = (path, traceback.tb_lineno)
            traceback = traceback.tb_next
        return found


def _simply_passed(reports: list[Any]) -> bool:
    """Whether these are the three reports of a test that passed, and nothing else: by far the most there are."""
    if len(reports) != len(PASSED):
        return False
    when = []
    for report in reports:
        # Not by its attributes: a class can answer those.
        said = report.__dict__
        if said["outcome"] != "passed" or "wasxfail" in said or "context" in said:
            return False
        when.append(said["when"])
    return when == _IN_ORDER


_IN_ORDER = [when for when, _, _, _ in PASSED]
_SOFT = frozenset({"skipped", "xfailed"})
_SKIPS = (pytest.skip.Exception, pytest.xfail.Exception)


def _is_a_skip(error: BaseException) -> bool:
    # unittest is not imported for its exception's sake: who raises it has imported it.
    return isinstance(error, (*_SKIPS, getattr(sys.modules.get("unittest.case"), "SkipTest", _SKIPS[0])))


def _reason(report: Any) -> str:
    longrepr = report.longrepr
    if isinstance(longrepr, tuple) and len(longrepr) == 3:
        text = str(longrepr[2])
    else:
        crash = getattr(longrepr, "reprcrash", None)
        text = str(getattr(crash, "message", None) or longrepr or "")
    if getattr(report, "wasxfail", ""):
        text = str(report.wasxfail)
    # The last lines of a collection error name the exception.
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return " ".join(lines[-2:] if text.count("\n") > 8 else lines[:2])[:_REASON]
