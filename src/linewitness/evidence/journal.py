"""Writes the record of one process, and lets nobody else.

Runs in the *tested* interpreter (3.9 and later, standard library only).
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from typing import Any

from .seal import Seal

# Above the numbers that programs use; code under test that closes "all" low descriptors leaves ours alone.
_HIGH_FD = 200


class Journal:
    """Sealed rows of JSON, one file per process.

    Every row is one write, so that a killed process loses none that it made; only the common seal of the tests' rows
    comes at the end. The functions of ``os`` are kept, because tests may replace them. Only modules of the kit write:
    ``trespass`` is told of any other caller, and nothing is written.
    """

    def __init__(
        self,
        folder: str,
        role: str,
        seal: Seal,
        trespass: Callable[[Any, str], None],
        encode: Callable[[Any], str] | None = None,
    ) -> None:
        self.path = os.path.join(folder, f"{role}-{os.getpid()}-{time.monotonic_ns():x}.jsonl")
        self._fd = -1
        self._inode = (0, 0)
        self._size = 0
        self.encoder = encode
        self._seal = seal
        self._trespass = trespass
        # The namespaces of the code that may write, by the code's id; and that code.
        self._callers: dict[int, Any] = {}
        self._held: list[Any] = []

    def write(self, row: list[Any], frame_at: Callable[[int], Any] = sys._getframe) -> None:  # noqa: SLF001
        """Append one row. Errors: OSError when the disk is full or the folder gone."""
        if self._is_let(frame_at(1)):
            self._append(self._seal.row(self.text(row)))

    def text(self, value: Any) -> str:
        """``value`` as JSON in ASCII."""
        if self.encoder is None:
            from json import JSONEncoder  # A child process that hits nothing writes nothing.

            self.encoder = JSONEncoder(separators=(",", ":")).encode
        return self.encoder(value)

    def write_test(self, text: str, frame_at: Callable[[int], Any] = sys._getframe) -> None:  # noqa: SLF001
        """Append the row of one test, as JSON. Errors: as ``write``."""
        if self._is_let(frame_at(1)):
            line = f"{text}\n".encode("ascii")
            self._seal.add_tests(line)
            self._append(line)

    def write_seal_of_tests(self) -> None:
        """Append what seals all rows of tests until now. Errors: as ``write``."""
        self.write(["sealed", self._seal.of_tests()])

    def _is_let(self, caller: Any) -> bool:
        if self._callers.get(id(caller.f_code)) is caller.f_globals or self._may_write(caller):
            return True
        self._trespass(caller, "the record was written to by")
        return False

    def _append(
        self,
        data: bytes,
        frame_at: Callable[[int], Any] = sys._getframe,  # noqa: SLF001
        write: Callable[[int, bytes], int] = os.write,
    ) -> None:
        caller = frame_at(1)
        if caller.f_globals is not _OWN:
            self._trespass(caller, "the record was written to by")
            return
        if write(self._fd if self._is_ours() else self._open(), data) != len(data):
            raise OSError(f"short write to {self.path}")
        self._size += len(data)

    def _may_write(self, caller: Any) -> bool:
        if not is_of_the_kit(caller):
            return False
        self._held.append(caller.f_code)  # No other code can get its id.
        self._callers[id(caller.f_code)] = caller.f_globals
        return True

    def _is_ours(
        self,
        seek: Callable[[int, int, int], int] = os.lseek,
        stat: Callable[[int], os.stat_result] = os.fstat,
    ) -> bool:
        """Code under test may have closed our descriptor and got its number for a file of its own."""
        try:
            # Another file would hardly be open at the very place; to ask what file it is takes ten times as long.
            if seek(self._fd, 0, os.SEEK_CUR) == self._size:
                return True
            now = stat(self._fd)
        except OSError:
            return False
        return (now.st_dev, now.st_ino) == self._inode

    def _open(self, opened: Callable[..., int] = os.open, stat: Callable[[int], os.stat_result] = os.fstat) -> int:
        low = opened(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_CLOEXEC", 0), 0o600)
        self._fd = _lift(low)
        now = stat(self._fd)
        self._inode = (now.st_dev, now.st_ino)
        self._size = now.st_size
        return self._fd


def is_of_the_kit(frame: Any) -> bool:
    """Whether a frame belongs to code of this package, as loaded: a name is easy to take, its namespace is not."""
    if frame.f_globals is _OWN:
        return True
    name = frame.f_globals.get("__name__", "")
    module = sys.modules.get(name) if name.startswith(_PACKAGE) else None
    return module is not None and vars(module) is frame.f_globals and module.__file__ == frame.f_code.co_filename


def _lift(fd: int, close: Callable[[int], None] = os.close) -> int:
    try:
        from fcntl import F_DUPFD_CLOEXEC, fcntl

        high = fcntl(fd, F_DUPFD_CLOEXEC, _HIGH_FD)
    except (ImportError, OSError):
        return fd  # A low limit on descriptors: the low one does.
    close(fd)
    return high


def place_of(frame: Any, export: str) -> tuple[str, int]:
    """File, relative to the export when it lies there, and line of a frame."""
    name = frame.f_code.co_filename
    inside = name.startswith(export + os.sep)
    return name[len(export) + 1 :].replace(os.sep, "/") if inside else name, frame.f_lineno or 0


_OWN = globals()
_PACKAGE = f"{__package__}."
