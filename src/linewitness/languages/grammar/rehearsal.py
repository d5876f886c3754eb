"""Grammars are C code: a text is read in a child process first, so that one which crashes or stalls says so.

A child of this process has the same libraries at the same places, and does what this process would do. Where it comes
to its end, the text can be read here. Where a process cannot fork (macOS, Windows, a process with threads) there is no
rehearsal, and a crash of a grammar ends the gate with the status of the signal, which is never that of an open gate.
"""

from __future__ import annotations

import faulthandler
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

from linewitness.errors import PatchError
from linewitness.parallel import can_fork

_SECONDS: Final = 5
_BYTES_PER_SECOND: Final = 100_000
"""Grammars read megabytes a second. One that takes longer than this is in a loop, or in time that grows as a square."""
_MEMORY: Final = 2 << 30
_OUT_OF_TIME: Final = (signal.SIGXCPU, signal.SIGPROF) if sys.platform != "win32" else ()


class GrammarError(PatchError):
    """A grammar cannot read a text, which is no fault of the lines in it: the change is opaque."""


def rehearse(read: Callable[[], object], size: int) -> str:
    """Why ``read``, about a text of so many bytes, must not be called, as half a sentence; empty when it may be."""
    if not can_fork():
        return ""
    child = os.fork()
    if not child:
        _act(read, _SECONDS + size // _BYTES_PER_SECOND)
    _, status = os.waitpid(child, 0)
    if status == 0:
        return ""
    if not os.WIFSIGNALED(status):
        return "could not read this text: it ran out of memory, or failed"
    killer = os.WTERMSIG(status)
    if killer in _OUT_OF_TIME:
        return f"took more than {_SECONDS + size // _BYTES_PER_SECOND} seconds for this text, and was stopped"
    return f"crashed on this text ({signal.Signals(killer).name})"


def _act(read: Callable[[], object], seconds: int) -> None:
    """What the child does. It never returns, writes nothing, and leaves by way of no handler of its parent's."""
    status = 1
    try:
        faulthandler.disable()
        _limit(seconds)
        read()
        status = 0
    finally:
        os._exit(status)


def _limit(seconds: int) -> None:
    import resource

    silence = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(silence, stream)
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    used = Path("/proc/self/statm")
    if used.is_file():
        most = int(used.read_bytes().split()[0]) * resource.getpagesize() + _MEMORY
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        if hard == resource.RLIM_INFINITY or most < hard:
            resource.setrlimit(resource.RLIMIT_AS, (most, hard))
