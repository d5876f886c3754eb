"""The same pure function over many items, on all cores: big patches are sorted into classes file by file.

Forks, because the items are already in memory and need not be sent; only results are. Nothing depends on it: where
forking cannot be had, and for whatever part a child did not deliver, the calling process does the work itself, so that
errors are raised where they always are.
"""

from __future__ import annotations

import gc
import os
import select
import signal
import sys
import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeVar

_BYTES_AT_ONCE = 1 << 20
_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


class Fork:
    """A copy of this process in which a function makes some bytes, and of which nothing else is ever seen.

    To be called only where :func:`can_fork` says so.
    """

    def __init__(self, work: Callable[[], bytes]) -> None:
        self._reading, writing = os.pipe()
        self._pid = os.fork()
        if self._pid:
            os.close(writing)
            return
        status = 1
        try:
            os.close(self._reading)
            with os.fdopen(writing, "wb") as stream:
                stream.write(work())
            status = 0
        finally:
            # whatever happened, the parent is told no more than that
            os._exit(status)

    def result(self, seconds: float | None = None) -> bytes | None:
        """The bytes; ``None`` when there are none, because the copy failed, or was not done in time and is ended."""
        try:
            made = self._read(None if seconds is None else time.monotonic() + seconds)
        finally:
            ended = self.end()
        return made or None if ended else None

    def _read(self, deadline: float | None) -> bytes | None:
        made: list[bytes] = []
        while True:
            if deadline is not None:
                left = max(0.0, deadline - time.monotonic())
                if not select.select([self._reading], [], [], left)[0]:
                    os.kill(self._pid, signal.SIGKILL)
                    return None
            news = os.read(self._reading, _BYTES_AT_ONCE)
            if not news:
                return b"".join(made)
            made.append(news)

    def end(self, *, kill: bool = False) -> bool:
        """Wait for the copy, or kill it; whether it ended well. Again is no harm."""
        if not self._pid:
            return False
        if kill:
            os.kill(self._pid, signal.SIGKILL)
        pid, self._pid = self._pid, 0
        os.close(self._reading)
        return os.waitpid(pid, 0)[1] == 0


def can_fork() -> bool:
    """Whether this process can fork, and may: a child of one with threads could wait for a lock that nobody holds."""
    return sys.platform != "darwin" and hasattr(os, "fork") and threading.active_count() == 1


def cores() -> int:
    """How many cores this process may use; 1 where it cannot or must not fork."""
    if not can_fork():
        return 1
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1


def spread(function: Callable[[_Item], _Result], items: Sequence[_Item], workers: int) -> list[_Result]:
    """``[function(item) for item in items]`` by several processes. Results must be picklable.

    Items are dealt out in turn, so that neighbours, which are often alike, go to different processes.
    """
    workers = min(workers, len(items))
    if workers < 2:
        return [function(item) for item in items]
    import pickle

    def made(part: Sequence[_Item]) -> bytes:
        return pickle.dumps([function(item) for item in part], pickle.HIGHEST_PROTOCOL)

    # Objects by the hundred thousand, and next to none of them in cycles: looking for these would be a tenth of it all.
    collects = gc.isenabled()
    gc.disable()
    children = [Fork(partial(made, items[at::workers])) for at in range(1, workers)]
    try:
        parts = [[function(item) for item in items[::workers]]]
    finally:
        delivered = [child.result() for child in children]
        if collects:
            gc.enable()
    for at, part in enumerate(delivered, 1):
        # our own child wrote it, and nobody else holds the pipe
        parts.append([function(item) for item in items[at::workers]] if part is None else pickle.loads(part))  # noqa: S301
    return [parts[at % workers][at // workers] for at in range(len(items))]
