"""Ends what a command left running. The results of a run are read when every process of it is gone.

A process group is not enough: a program leaves it with ``setsid``. While a command runs, its orphans become children of
this process (``PR_SET_CHILD_SUBREAPER``), so that they can be found, ended and waited for. In a process namespace the
kernel ends them all, and its first process is the last to go.
"""

from __future__ import annotations

import json
import os
import select
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from linewitness.errors import EvidenceError

_SUBREAPER, _GET_SUBREAPER = 36, 37  # PR_SET_CHILD_SUBREAPER and PR_GET_CHILD_SUBREAPER, linux/prctl.h
_SECONDS_TO_DIE: Final = 30.0
_PAUSE: Final = 0.01
_LONGEST_STAT: Final = 4096
_FIELDS: Final = 4  # of which more is not needed


@contextmanager
def adopting_orphans() -> Iterator[set[int]]:
    """Adopt what the processes started inside leave behind. Gives the children that were there before."""
    if not sys.platform.startswith("linux"):
        yield set()
        return
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    before = ctypes.c_int(0)
    libc.prctl(_GET_SUBREAPER, ctypes.byref(before), 0, 0, 0)
    libc.prctl(_SUBREAPER, 1, 0, 0, 0)
    try:
        yield _children()
    finally:
        libc.prctl(_SUBREAPER, before.value, 0, 0, 0)


def end_orphans(known: set[int], group: int) -> tuple[str, ...]:
    """End every child that is not ``known``, and all that these started; the names of those that ran, sorted.

    What is left of ``group`` was ended by the caller and is not named.

    Errors: EvidenceError when some do not end: their results cannot be believed.
    """
    if not sys.platform.startswith("linux"):
        return ()
    names: list[str] = []
    deadline = time.monotonic() + _SECONDS_TO_DIE
    while left := _children() - known:
        for child in left:
            # stopped first, so that nothing starts a successor while the others are being ended
            _signal(child, signal.SIGSTOP)
        for child in left:
            name = _name(child, group)
            if name:
                names.append(name)
            _signal(child, signal.SIGKILL)
        for child in left:
            with suppress(ChildProcessError):
                os.waitpid(child, os.WNOHANG)
        if time.monotonic() > deadline:
            raise EvidenceError(f"processes of the trusted run cannot be ended: {', '.join(names[-5:])}", code="LW503")
        time.sleep(_PAUSE if len(names) > len(left) else 0)
    return tuple(sorted(set(names)))


def _signal(process: int, number: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.kill(process, number)


def _children() -> set[int]:
    """Processes whose parent is this one, in sessions of their own.

    A run begins in a new session and nobody can join one, so what another thread of this process starts is left alone.
    """
    own, session, found = os.getpid(), os.getsid(0), set()
    for name in _listed() or filter(str.isdigit, os.listdir("/proc")):
        fields = _stat(name)
        if fields and int(fields[1]) == own and int(fields[3]) != session:
            found.add(int(name))
    return found


def _listed() -> list[str]:
    """The kernel's own list of children, itself among them; empty where there is none that can be relied on.

    It may lack some while others are being waited for (proc_tid_children(5)), which only another thread could do.
    """
    if threading.active_count() > 1:
        return []
    try:
        tasks = os.listdir("/proc/self/task")
        lists = [Path("/proc/self/task", task, "children").read_text(encoding="ascii") for task in tasks]
    except (OSError, ValueError):
        return []
    return [str(os.getpid()), *" ".join(lists).split()]


def _stat(process: str) -> list[bytes]:
    """State, parent and what follows; the name before them may hold anything. Asked of every process of the machine."""
    try:
        handle = os.open(f"/proc/{process}/stat", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return []
    try:
        return os.read(handle, _LONGEST_STAT).rpartition(b") ")[2].split(None, _FIELDS)
    except OSError:
        return []
    finally:
        os.close(handle)


def _name(process: int, group: int) -> str:
    """The name of a process that runs, or nothing when it only waits to be collected, or belongs to the group."""
    fields = _stat(str(process))
    if not fields or fields[0] in b"ZX" or int(fields[2]) == group:
        return ""
    try:
        return Path("/proc", str(process), "comm").read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""


class FirstProcess:
    """The first process of a namespace. Bubblewrap tells who that is through a pipe, to whose end ``write`` leads."""

    def __init__(self) -> None:
        self._read, self.write = os.pipe()
        self._handle = -1

    def listen(self) -> None:
        """Learn who it is; to be called once, right after the start of bubblewrap."""
        os.close(self.write)
        self.write = -1
        told = b""
        with open(self._read, "rb", buffering=0) as pipe:
            while b"}" not in told:
                news = pipe.read(4096)
                if not news:
                    return  # it never started, and says why in its output
                told += news
        with suppress(ValueError, KeyError, OSError):
            self._handle = os.pidfd_open(int(json.loads(told)["child-pid"]))

    def wait(self) -> None:
        """Wait until the namespace is empty. Errors: EvidenceError when it does not end."""
        if self.write >= 0:
            os.close(self.write)
            os.close(self._read)
        if self._handle < 0:
            return
        try:
            if not select.select([self._handle], [], [], _SECONDS_TO_DIE)[0]:
                raise EvidenceError("processes of the trusted run do not end", code="LW503")
        finally:
            os.close(self._handle)
