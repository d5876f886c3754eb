"""Which files of the export are opened while a suite's command runs, whoever opens them.

The recorder asks Python. Any other program is watched from outside, with the kernel's own notices (inotify(7)), which
tell of every process that opens a file, in whatever namespace, and not of who it was. Only on Linux.
"""

from __future__ import annotations

import ctypes
import os
import struct
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from linewitness.model import RepoPath

_NONBLOCK, _CLOEXEC = 0o4000, 0o2000000
_OPEN, _ONCE, _DONT_FOLLOW = 0x20, 0x80000000, 0x02000000  # linux/inotify.h
_EVENT: Final = struct.Struct("iIII")
_MOST: Final = 1000
"""Files that are watched at most: a kernel grants some thousands to all programs of a user together."""


@contextmanager
def noticing(export: Path, paths: Iterable[RepoPath]) -> Iterator[set[RepoPath]]:
    """Files among ``paths`` that were opened meanwhile: the set is filled when the block ends.

    What cannot be watched (other systems, files that are not there, too many) is never in it.
    """
    opened: set[RepoPath] = set()
    wanted = sorted(paths)[:_MOST]
    if not wanted or not sys.platform.startswith("linux"):
        yield opened
        return
    libc = ctypes.CDLL(None, use_errno=True)
    handle = libc.inotify_init1(_NONBLOCK | _CLOEXEC)
    if handle < 0:
        yield opened
        return
    try:
        mask = ctypes.c_uint32(_OPEN | _ONCE | _DONT_FOLLOW)
        watches = {libc.inotify_add_watch(handle, os.fsencode(export / path), mask): path for path in wanted}
        yield opened
        opened.update(watches[number] for number in _numbers(handle) if number >= 0 and number in watches)
    finally:
        os.close(handle)


def _numbers(handle: int) -> Iterator[int]:
    """The watches of all notices that wait."""
    while True:
        try:
            data = os.read(handle, 1 << 16)
        except BlockingIOError:
            return
        at = 0
        while at < len(data):
            number, mask, _, length = _EVENT.unpack_from(data, at)
            at += _EVENT.size + length
            if mask & _OPEN:
                yield number
