"""Seals the rows of a record, so that rows which the recorder did not write are told from those that it did.

Runs on both sides (standard library only): the tool leaves a fresh key in the records' folder, the run takes it away
before anything of the project runs, and the reader checks the seals with the key that only the tool still has.

A row is one JSON array. Its seal are two more elements: the number of the row in its process, from 0, and 32 hex
digits of a keyed BLAKE2b over both. Rows of tests, of which there are many, are sealed together, by one hash that runs
along with them and is written at the end. What holds the key in the run is a hash state in C memory, from which no
Python code reads it back; code that gets hold of the state itself (``gc``, ``ctypes``) can still ask it for seals.
"""

from __future__ import annotations

import os

# Not hashlib: it would load OpenSSL's bindings into every child process.
from _blake2 import blake2b
from itertools import count
from typing import Any

KEY_FILE = "key"
KEY_BYTES = 32
_DIGEST_BYTES = 16
_TAIL = len(',""]') + 2 * _DIGEST_BYTES


def leave_key(folder: str) -> bytes:
    """Leave a fresh key in ``folder``, for the run that is about to start. Errors: OSError."""
    key = os.urandom(KEY_BYTES)
    fd = os.open(os.path.join(folder, KEY_FILE), os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        os.write(fd, key)
    finally:
        os.close(fd)
    return key


def take_key(folder: str) -> bytes:
    """Read the key and take it away. Errors: OSError when there is none or it cannot be taken away."""
    path = os.path.join(folder, KEY_FILE)
    with open(path, "rb") as stream:
        key = stream.read()
    os.unlink(path)
    return key


def worker_key(key: bytes, name: str) -> bytes:
    """The key of one worker of pytest-xdist, made of its controller's."""
    return Seal(key).derive(name)


class Seal:
    """Numbers and signs rows. Without a key (a child process has none) it still shows damage."""

    __slots__ = ("_numbers", "_state", "_tests", "add_tests")

    def __init__(self, key: bytes = b"") -> None:
        self._state: Any = blake2b(digest_size=_DIGEST_BYTES, key=key)
        self._numbers = count()
        self._tests: Any = self._state.copy()
        self.add_tests = self._tests.update
        """Take the line of a test, or some of them in their order, into the common seal."""
        self.add_tests(b"tests:")

    def of_tests(self) -> str:
        """The common seal of the tests' lines until now."""
        return str(self._tests.hexdigest())

    def derive(self, name: str) -> bytes:
        """A key for another process."""
        state = self._state.copy()
        state.update(b"worker:" + name.encode("utf-8", "backslashreplace"))
        return bytes(state.digest())

    def row(self, text: str) -> bytes:
        """The line of a record for one row, given as the text of a JSON array."""
        head = f"{text[:-1]},{next(self._numbers)}".encode("ascii")
        state = self._state.copy()
        state.update(head)
        return b'%b,"%b"]\n' % (head, state.hexdigest().encode("ascii"))

    def open(self, line: bytes) -> tuple[bytes, int]:
        """Row and number of one line (without its end). Errors: ValueError when this is not its seal."""
        head, tag = line[:-_TAIL], line[-_TAIL:]
        state = self._state.copy()
        state.update(head)
        if tag != b',"%b"]' % state.hexdigest().encode("ascii"):
            raise ValueError("its seal is not the recorder's")
        row, _, number = head.rpartition(b",")
        return row + b"]", int(number)
