"""Notes which listed sites a process ran first, during which test, and keeps a journal of it.

Runs inside the *tested* interpreter (3.9 and later, standard library only) and imports nothing of the package but its
neighbours of the kit. :class:`Recorder` knows contexts and journals; :mod:`monitor` observes through ``sys.monitoring``
(3.12 and later), :mod:`probes` in older interpreters.

*Witness mode* is what makes this cheap: a location is switched off at its first hit, and switched on again only when
the test that hit it did not pass. The union of lines over passing tests is the same as if everything were recorded.

Whose hit is it? The running test's, from its start to its end: its fixtures are part of it, and a fixture of wider
scope is part of the test that set it up or after which it is torn down. No test's while nothing but import and
collection has happened. Nobody's when it comes from a thread that outlived the test that started it.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any, Protocol

from .journal import Journal, is_of_the_kit, place_of
from .seal import Seal
from .threads import Threads

TEST_VARIABLE = "LINEWITNESS_TEST"
_VARIABLE = TEST_VARIABLE.encode("ascii")
FORMAT = 3
# What ``finish`` is told about a test whose set-up, call and teardown passed: by far the most there are.
PASSED = [["setup", "passed", "", ""], ["call", "passed", "", ""], ["teardown", "passed", "", ""]]
_PASSED_TEXT = "0"
_ALIENS_KEPT = 20
_SIGNS_KEPT = 20

See = Callable[[Any, int], bool]


class Spot(Protocol):
    """What an observer can arm again: the sites of one code object, or of one file."""

    file: str


class Observer(Protocol):
    """A way to see sites run."""

    def wake(self) -> None:
        """From now on code of the project may run."""

    def rearm(self, hits: list[tuple[Any, int]]) -> None:
        """Make the locations of these (spot, ident) pairs report again."""

    def alive(self) -> str:
        """A quick self-test, after every test: what is wrong with the hooks, or nothing."""

    def faults(self) -> list[str]:
        """Signs that somebody removed or replaced the observer's hooks."""


def _clock() -> Callable[[], int]:
    """Nanoseconds of a clock that all processes of this machine share. Libraries that freeze time patch the others."""
    if hasattr(time, "clock_gettime_ns") and hasattr(time, "CLOCK_MONOTONIC"):
        return partial(time.clock_gettime_ns, time.CLOCK_MONOTONIC)
    return time.monotonic_ns


class _Single(type):
    """Hands the recorder of this process over to the kit; who else asks for it is put down.

    Interpreter hooks belong to the process, and pytest loads our plugins by name, so there is nobody to hand it over.
    """

    _held: Recorder | None = None

    @property
    def active(cls) -> Recorder | None:
        """The recorder that was started in this process."""
        frame = sys._getframe(1)  # noqa: SLF001 - who asks is what matters
        held = _Single._held
        if held is not None and not is_of_the_kit(frame):
            held.trespass(frame, "the recorder was asked for by")
            return None
        return held

    def start(cls, recorder: Recorder) -> None:
        """Make this the recorder of the process."""
        _Single._held = recorder


class Recorder(metaclass=_Single):
    """The one recorder of this process.

    ``main`` and ``worker`` processes run tests and report per test; a ``child`` (forked, spawned, or any Python that
    inherited our environment) writes each first hit at once, with the test it inherited and the time.
    """

    def __init__(self, folder: str, role: str, *, keep_all: bool = False, key: bytes = b"") -> None:
        self.folder = folder
        self.role = role
        self.keep_all = keep_all
        self.pid = os.getpid()
        self.now = _clock()
        self.test: str | None = os.environ.get(TEST_VARIABLE) or None
        seal = Seal(key)
        self.journal = Journal(folder, role, seal, self.trespass)
        self.derive = seal.derive
        self.threads = Threads()
        self.loaded: set[str] = set()
        self.observer: Observer | None = None
        # The running test may pass and still witness nothing: what it hits has to be seen again.
        self.doubtful = False
        self.finder: Any = None
        self.take: Callable[[], list[tuple[Any, int]]] = list
        self.waiting: Callable[[], int] = int
        # Told, where starts of code are seen, of frames in which code of an unprotected file starts for the first time.
        self.look: Callable[[Any], None] | None = None
        self._foreign: set[tuple[Any, int]] = set()
        self._aliens: list[list[Any]] = []
        self._signs: set[str] = set()
        self.config: dict[str, Any] = {}
        self.listeners: dict[str, Callable[[str, tuple[Any, ...], Any], None]] = {}
        self._since = self.now()
        self._named = False
        self._numbers: dict[str, int] = {}
        self._listed = 0
        self._names: dict[str, str] = {}

    # ------------------------------------------------------------ hits

    def attach(self, observer: Callable[[See], Observer]) -> None:
        """Make the observer, which alone is told how a hit is reported."""
        fresh: list[tuple[Any, int]] = []
        unrun = {path: frozenset(listed["unrun"]) for path, listed in self.config["plan"].items() if listed["unrun"]}

        def see(spot: Any, ident: int) -> bool:
            if self.role == "child":
                if ident not in unrun.get(spot.file, ()):
                    self._report(spot, ident)
            elif self.threads.foreign and self.threads.is_foreign():
                self._foreign.add((spot, ident))
                return False
            else:
                fresh.append((spot, ident))
            return True

        def take() -> list[tuple[Any, int]]:
            hits = fresh[:]
            fresh.clear()
            for spot, ident in hits if unrun else ():
                if ident in unrun.get(spot.file, ()):
                    self.sign("lines that are for types alone were run: typing.TYPE_CHECKING was made true", spot.file)
            return hits

        self.take = take
        self.waiting = fresh.__len__
        self.observer = observer(see)

    def wake(self) -> None:
        """Code of the project may run from now on; until now nothing but the harness was loaded."""
        if self.observer is not None:
            self.observer.wake()

    def see_alien(self, path: str, name: str, line: int) -> None:
        """Code that bears a changed file's name and is not the file's own compilation."""
        if len(self._aliens) < _ALIENS_KEPT:
            self._aliens.append(["alien", path, name, line])

    def sign(self, text: str, path: str = "", line: int = 0, *, kind: str = "fault") -> None:
        """Put down at once that somebody meddled: later there may be nobody to tell. Each sign once, and not too many.

        ``kind`` is ``fault``, or ``notice`` for what only makes meddling possible.
        """
        if text in self._signs or len(self._signs) >= _SIGNS_KEPT:
            return
        self._signs.add(text)
        try:
            if not self._named:
                self.announce()
            self.journal.write([kind, text, path, line])
        except OSError:
            return  # As in _report; the record of a process that runs tests will lack more than this.

    def trespass(self, frame: Any, what: str) -> None:
        """``what`` was done by the code of ``frame``, which has no business there."""
        path, line = place_of(frame, self.config.get("export", ""))
        self.sign(f"{what} {frame.f_code.co_name}() of {path}", path, line)

    def _report(self, spot: Any, ident: int) -> None:
        try:
            if not self._named:
                self.announce()
            self.journal.write(["hit", self.test, self.now(), spot.file, ident])
        except OSError:
            # The hit is lost and its line stays open; raising here would change what the tested code does.
            return

    # ------------------------------------------------------------ contexts

    def announce(self, worker: str = "") -> None:
        """Write the first row."""
        self._named = True
        tag = sys.implementation.cache_tag or ""
        self.journal.write(["start", FORMAT, self.role, os.getpid(), worker, tag])

    def become_worker(self, name: str, key: bytes) -> None:
        """This process, which started as a child, turns out to run tests for a controller."""
        self.role, self.test = "worker", None
        os.environ.pop(TEST_VARIABLE, None)
        seal = Seal(key)
        self.journal, self.derive = Journal(self.folder, "worker", seal, self.trespass), seal.derive
        self.announce(name)

    def collected(self, ids: list[str]) -> None:
        """Collection is over: what ran so far belongs to no test and has to be seen again in one."""
        self.outside()
        self.journal.write(["collected", ids])
        self._numbers.update(zip(ids, range(self._listed, self._listed + len(ids))))  # noqa: B905 - 3.9 knows no strict=
        self._listed += len(ids)

    def begin(self, test: str) -> None:
        """A test starts, and with it everything that is set up for it."""
        if self.waiting():
            self.outside()
        self.test = test
        self._name_for_children(test.replace("\0", "(null)"))
        self._since = self.now()

    @staticmethod
    def _name_for_children(test: str) -> None:
        """Put a test's name into the environment; quickly, for it is done for every test and seldom read."""
        environment = os.environ
        try:
            # What ``os.environ[...] = ...`` does, less the encoding of the variable's name and two calls.
            value = test.encode("utf-8", "surrogateescape")
            os.putenv(_VARIABLE, value)
            environment._data[_VARIABLE] = value  # type: ignore[attr-defined]  # noqa: SLF001
        except (AttributeError, TypeError, UnicodeEncodeError):
            environment[TEST_VARIABLE] = test

    def finish(self, test: str, reports: list[list[str]], passed: bool) -> None:
        """A test and its teardown are over, all its reports are known."""
        self.threads.settle()
        hits = self.take() if self.waiting() else []
        # The name stays in the environment: a child that is started between tests is out of time anyway.
        self.test = None
        text = self.journal.text
        number = self._numbers.get(test)
        name = text(test) if number is None else number
        told = _PASSED_TEXT if reports is PASSED else text(reports)
        files = self._text_of(hits) if hits else "[]"
        self.journal.write_test(f'["test",{name},{self._since},{self.now()},{told},{files}]')
        observer = self.observer
        if observer is None:
            return
        wrong = observer.alive()
        if wrong:
            self.sign(f"{wrong} (seen after {test})")
        doubtful, self.doubtful = self.doubtful, False
        if hits and (self.keep_all or doubtful or not passed):
            observer.rearm(hits)

    def _text_of(self, hits: list[tuple[Any, int]]) -> str:
        """What ``_by_file`` gives, as JSON."""
        names = self._names
        parts = []
        for path, idents in _by_file(hits):
            if path not in names:
                names[path] = self.journal.text(path)
            parts.append(f"[{names[path]},{str(idents).replace(' ', '')}]")
        return f"[{','.join(parts)}]"

    def outside(self) -> None:
        """Put down what ran outside of tests: import, collection, hooks between tests."""
        self.threads.settle()
        hits = self.take()
        if hits:
            self.journal.write(["import", _by_file(hits)])
            if self.observer is not None:
                self.observer.rearm(hits)

    def close(self, strays: list[list[str]], files: list[str], guarded: int) -> None:
        """The last rows but one of a process that runs tests; ``end`` is for the very end.

        ``guarded`` is the number of tests after which the process was found in order.
        """
        self.outside()
        for row in self._aliens:
            self.journal.write(row)
        if self._foreign:
            # Copied first: such a thread may still run.
            self.journal.write(["foreign", _by_file(list(self._foreign))])
        for fault in self.observer.faults() if self.observer is not None else ["no observer was installed"]:
            self.sign(fault)
        self.journal.write(["modules", strays])
        self.journal.write(["files", sorted(self.loaded.union(files))])
        self.journal.write(["guarded", guarded])
        self.journal.write_seal_of_tests()

    def end(self, status: int) -> None:
        """The end marker. A process that was cut short has none."""
        self.journal.write(["end", status])

    def close_child(self, strays: list[list[str]], files: list[str]) -> None:
        """What a child can still tell when it ends in an orderly way, if there is anything worth a file."""
        if not (self._named or strays or self._aliens):
            return
        try:
            if not self._named:
                self.announce()
            for row in self._aliens:
                self.journal.write(row)
            self.journal.write(["modules", strays])
            self.journal.write(["files", sorted(self.loaded.union(files))])
        except OSError:
            return  # As in _report.

    # ------------------------------------------------------------ processes

    @property
    def owns_process(self) -> bool:
        """Whether this is still the process that was started, and not a fork of it."""
        return os.getpid() == self.pid

    def after_fork(self) -> None:
        """In a forked child: what the parent has in memory is the parent's to report."""
        if self.threads.foreign and self.threads.is_foreign():
            self.test = None
        self.role = "child"
        self.journal = Journal(self.folder, "child", Seal(), self.trespass, self.journal.encoder)
        self.threads = Threads()
        self.take()
        self._foreign, self._aliens, self._signs, self._named = set(), [], set(), False


def _by_file(hits: list[tuple[Any, int]]) -> list[list[Any]]:
    files: dict[str, set[int]] = {}
    for spot, ident in hits:
        files.setdefault(spot.file, set()).add(ident)
    return [[path, sorted(idents)] for path, idents in sorted(files.items())]
