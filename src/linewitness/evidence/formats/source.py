"""An export on disk, read in windows: never whole in memory, and never mapped into it.

A mapping would be shorter to write, but a file that shrinks while it is mapped kills the process with a bus error,
and its pages count as memory of ours.
"""

from __future__ import annotations

import hashlib
import os
import stat
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from linewitness.errors import EvidenceError
from linewitness.values import NamedTuple

WINDOW: Final = 1 << 21
#: A single record longer than this is decoded by nobody; real ones are a few hundred KiB.
MAX_RECORD: Final = 1 << 28
#: What the parsers that need the whole text in memory are given at most.
MAX_WHOLE: Final = 1 << 28


class Window(NamedTuple):
    """Bytes of a file from ``start`` on."""

    start: int
    data: bytes


class ExportFile:
    """An opened export: ``path`` for messages, ``size`` in bytes. A file that changes while it is read is refused."""

    def __init__(self, path: Path) -> None:
        """Errors: :class:`EvidenceError` for anything but a readable, non-empty, ordinary file."""
        self.path = path
        try:
            status = path.stat()
            if not stat.S_ISREG(status.st_mode):
                raise EvidenceError("this is no file; name the coverage export that the tool wrote", path=str(path))
            if status.st_size == 0:
                raise EvidenceError("this coverage export is empty; run the tests again", path=str(path))
            self._handle = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0))
        except (OSError, ValueError) as error:
            raise _unreadable(path, error) from error
        weakref.finalize(self, os.close, self._handle)
        self._identity = _identity(status)
        self.size = status.st_size
        self.check_unchanged(path.stat())

    def check_unchanged(self, status: os.stat_result) -> None:
        """Errors: :class:`EvidenceError` when a look at the file shows another one than the first look did."""
        if _identity(status) != self._identity:
            message = "this coverage export changed while it was read; wait until it is written"
            raise EvidenceError(message, path=str(self.path))

    def read(self, start: int, end: int) -> bytes:
        """The bytes from ``start`` up to, not including, ``end``."""
        if end - start > MAX_RECORD:
            message = f"a record of {end - start} bytes at byte {start}; more than {MAX_RECORD} are refused"
            raise EvidenceError(f"this coverage export has {message}", path=str(self.path))
        try:
            self.check_unchanged(os.fstat(self._handle))
            os.lseek(self._handle, start, os.SEEK_SET)
            return _read_exactly(self._handle, end - start)
        except OSError as error:
            raise _unreadable(self.path, error) from error

    def whole(self) -> bytes:
        """All bytes, for files that only a real parser understands."""
        if self.size > MAX_WHOLE:
            raise EvidenceError(
                f"this coverage export has {self.size} bytes and not the shape its writer gives it; "
                f"files of that kind are read up to {MAX_WHOLE} bytes",
                path=str(self.path),
            )
        return self.read(0, self.size)

    def windows(self, overlap: int) -> Iterator[Window]:
        """The whole file in pieces, each beginning with the last ``overlap`` bytes of the one before."""
        offset, kept = 0, b""
        while offset < self.size:
            piece = self.read(offset, min(offset + WINDOW, self.size))
            yield Window(offset - len(kept), kept + piece)
            offset += len(piece)
            kept = (kept + piece)[-overlap:] if overlap else b""

    def whole_lines(self, longest: int) -> Iterator[Window]:
        """The whole file in windows that end with a line feed, or with the file.

        Errors: :class:`EvidenceError` for a line of more than ``longest`` bytes.
        """
        rest = b""
        for window in self.windows(0):
            data = rest + window.data
            start = window.start - len(rest)
            cut = len(data) if window.start + len(window.data) >= self.size else data.rfind(b"\n") + 1
            rest = data[cut:]
            if len(rest) > longest:
                message = f"this coverage export has a line of more than {longest} bytes at byte {start + cut}"
                raise EvidenceError(message, path=str(self.path))
            yield Window(start, data[:cut])

    def digest(self) -> str:
        """The SHA-256 of the file, in hexadecimal."""
        total = hashlib.sha256()
        for window in self.windows(0):
            total.update(window.data)
        return total.hexdigest()


def _identity(status: os.stat_result) -> tuple[int, int, int, int]:
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


def _read_exactly(handle: int, count: int) -> bytes:
    pieces = []
    while count > 0:
        piece = os.read(handle, count)
        if not piece:
            raise OSError("it ends earlier than it did")
        pieces.append(piece)
        count -= len(piece)
    return pieces[0] if len(pieces) == 1 else b"".join(pieces)


def _unreadable(path: Path, error: OSError | ValueError) -> EvidenceError:
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return EvidenceError(f"this coverage export cannot be read: {reason}", path=str(path))
