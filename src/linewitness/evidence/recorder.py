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
from typing import Any, ClassVar, Protocol

from .threads import Threads

TEST_VARIABLE = "LINEWITNESS_TEST"
FORMAT = 1
# Above the numbers that programs use; code under test that closes "all" low descriptors leaves ours alone.
_HIGH_FD = 200
_ALIENS_KEPT = 20


class Spot(Protocol):
    """What an observer can arm again: the sites of one code object, or of one file."""

    file: str


class Observer(Protocol):
    """A way to see sites run."""

    def rearm(self, hits: list[tuple[Any, int]]) -> None:
        """Make the locations of these (spot, ident) pairs report again."""

    def faults(self) -> list[str]:
        """Signs that somebody removed or replaced the observer's hooks."""


def _clock() -> Callable[[], int]:
    """Nanoseconds of a clock that all processes of this machine share. Libraries that freeze time patch the others."""
    if hasattr(time, "clock_gettime_ns") and hasattr(time, "CLOCK_MONOTONIC"):
        return partial(time.clock_gettime_ns, time.CLOCK_MONOTONIC)
    return time.monotonic_ns


class Journal:
    """Rows of JSON, one file per process; every row is one write, so that a killed process loses none that it made."""

    def __init__(self, folder: str, role: str) -> None:
        self.path = os.path.join(folder, f"{role}-{os.getpid()}-{time.monotonic_ns():x}.jsonl")
        self._fd = -1
        self._inode = (0, 0)
        self._encode: Callable[[Any], str] | None = None

    def write(self, row: list[Any]) -> None:
        """Append one row. Errors: OSError when the disk is full or the folder gone."""
        if self._encode is None:
            from json import JSONEncoder  # A child process that hits nothing writes nothing.

            self._encode = JSONEncoder(separators=(",", ":")).encode
        self._append((self._encode(row) + "\n").encode("ascii"))

    def _append(self, data: bytes) -> None:
        if os.write(self._descriptor(), data) != len(data):
            raise OSError(f"short write to {self.path}")

    def _descriptor(self) -> int:
        # Code under test may have closed our descriptor and got its number for a file of its own.
        if self._fd >= 0:
            try:
                now = os.fstat(self._fd)
                if (now.st_dev, now.st_ino) == self._inode:
                    return self._fd
            except OSError:
                pass
        low = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_CLOEXEC", 0), 0o600)
        self._fd = _lift(low)
        now = os.fstat(self._fd)
        self._inode = (now.st_dev, now.st_ino)
        return self._fd


def _lift(fd: int) -> int:
    try:
        from fcntl import F_DUPFD_CLOEXEC, fcntl

        high = fcntl(fd, F_DUPFD_CLOEXEC, _HIGH_FD)
    except (ImportError, OSError):
        return fd  # A low limit on descriptors: the low one does.
    os.close(fd)
    return high


class Recorder:
    """The one recorder of this process.

    ``main`` and ``worker`` processes run tests and report per test; a ``child`` (forked, spawned, or any Python that
    inherited our environment) writes each first hit at once, with the test it inherited and the time.
    """

    # Interpreter hooks belong to the process, and pytest loads our plugin by name, so there is nobody to hand it over.
    active: ClassVar[Recorder | None] = None

    def __init__(self, folder: str, role: str, *, keep_all: bool = False) -> None:
        self.folder = folder
        self.role = role
        self.keep_all = keep_all
        self.pid = os.getpid()
        self.now = _clock()
        self.test: str | None = os.environ.get(TEST_VARIABLE) or None
        self.journal = Journal(folder, role)
        self.threads = Threads()
        self.fresh: list[tuple[Any, int]] = []
        self.loaded: set[str] = set()
        self.observer: Observer | None = None
        self._foreign: list[tuple[Any, int]] = []
        self._aliens: list[list[Any]] = []
        self.config: dict[str, Any] = {}
        self._since = self.now()
        self._named = False

    # ------------------------------------------------------------ hits

    def see(self, spot: Any, ident: int) -> bool:
        """A first hit. Whether the location may be switched off."""
        if self.role == "child":
            self._report(spot, ident)
        elif self.threads.foreign and self.threads.is_foreign():
            self._foreign.append((spot, ident))
            return False
        else:
            self.fresh.append((spot, ident))
        return True

    def see_alien(self, path: str, name: str, line: int) -> None:
        """Code that bears a changed file's name and is not the file's own compilation."""
        if len(self._aliens) < _ALIENS_KEPT:
            self._aliens.append(["alien", path, name, line])

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

    def become_worker(self, name: str) -> None:
        """This process, which started as a child, turns out to run tests for a controller."""
        self.role, self.test = "worker", None
        os.environ.pop(TEST_VARIABLE, None)
        self.journal = Journal(self.folder, "worker")
        self.announce(name)

    def collected(self, ids: list[str]) -> None:
        """Collection is over: what ran so far belongs to no test and has to be seen again in one."""
        self.outside()
        self.journal.write(["collected", ids])

    def begin(self, test: str) -> None:
        """A test starts, and with it everything that is set up for it."""
        if self.fresh:
            self.outside()
        self.test = test
        os.environ[TEST_VARIABLE] = test.replace("\0", "(null)")
        self._since = self.now()

    def finish(self, test: str, reports: list[list[str]], passed: bool) -> None:
        """A test and its teardown are over, all its reports are known."""
        self.threads.settle()
        hits, self.fresh = self.fresh, []
        # The name stays in the environment: a child that is started between tests is out of time anyway.
        self.test = None
        self.journal.write(["test", test, self._since, self.now(), reports, _by_file(hits)])
        if hits and self.observer is not None and (self.keep_all or not passed):
            self.observer.rearm(hits)

    def outside(self) -> None:
        """Put down what ran outside of tests: import, collection, hooks between tests."""
        self.threads.settle()
        hits, self.fresh = self.fresh, []
        if hits:
            self.journal.write(["import", _by_file(hits)])
            if self.observer is not None:
                self.observer.rearm(hits)

    def close(self, strays: list[list[str]], files: list[str]) -> None:
        """The last rows but one of a process that runs tests; ``end`` is for the very end."""
        self.outside()
        for row in self._aliens:
            self.journal.write(row)
        if self._foreign:
            self.journal.write(["foreign", _by_file(self._foreign)])
        for fault in self.observer.faults() if self.observer is not None else ["no observer was installed"]:
            self.journal.write(["fault", fault])
        self.journal.write(["modules", strays])
        self.journal.write(["files", sorted(self.loaded.union(files))])

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
        self.journal = Journal(self.folder, "child")
        self.threads = Threads()
        self.fresh, self._foreign, self._aliens, self._named = [], [], [], False


def _by_file(hits: list[tuple[Any, int]]) -> list[list[Any]]:
    files: dict[str, set[int]] = {}
    for spot, ident in hits:
        files.setdefault(spot.file, set()).add(ident)
    return [[path, sorted(idents)] for path, idents in sorted(files.items())]
