"""The same pure function over many items, on all cores: big patches are sorted into classes file by file.

Forks, because the items are already in memory and need not be sent; only results are. Nothing depends on it: where
forking cannot be had, and for whatever part a child did not deliver, the calling process does the work itself, so that
errors are raised where they always are.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import IO, Any, NamedTuple, TypeVar

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


class _Child(NamedTuple):
    pid: int
    results: IO[bytes]


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
    children = [_start(function, items[at::workers]) for at in range(1, workers)]
    try:
        parts = [[function(item) for item in items[::workers]]]
    finally:
        delivered: list[list[_Result] | None] = [_end(child) for child in children]
    for at, part in enumerate(delivered, 1):
        parts.append([function(item) for item in items[at::workers]] if part is None else part)
    return [parts[at % workers][at // workers] for at in range(len(items))]


def _start(function: Callable[[_Item], _Result], items: Sequence[_Item]) -> _Child:
    reading, writing = os.pipe()
    pid = os.fork()
    if pid:
        os.close(writing)
        return _Child(pid, os.fdopen(reading, "rb"))
    status = 1
    try:
        import pickle

        os.close(reading)
        with os.fdopen(writing, "wb") as stream:
            pickle.dump([function(item) for item in items], stream, pickle.HIGHEST_PROTOCOL)
        status = 0
    finally:
        # whatever happened, the parent does this part again and meets it there
        os._exit(status)


def _end(child: _Child) -> Any:
    """The list that a child made, ``None`` when it did not get to the end."""
    import pickle

    results = None
    with child.results, suppress(EOFError, pickle.UnpicklingError):
        results = pickle.load(child.results)  # noqa: S301 - our own child wrote it, nobody else holds the pipe
    _, status = os.waitpid(child.pid, 0)
    return results if status == 0 else None
