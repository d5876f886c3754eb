"""Landlock: the kernel's own fence for a program that has no mount namespace. See landlock(7).

Its rules allow, for whole folders with everything below. So what leads to protected content cannot be allowed as a
whole: its other entries are, one by one, and no new entry can be made directly in it.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import struct
from collections.abc import Iterator, Sequence
from typing import Final

from linewitness.errors import UsageError

_CREATE, _ADD, _RESTRICT = 444, 445, 446
_NO_NEW_PRIVILEGES: Final = 38
_VERSION: Final = 1
# Everything that changes a file system, by the version that knows it: 1, then REFER in 2 and TRUNCATE in 3.
_WRITE: Final = 1 << 1
_FIRST: Final = _WRITE | sum(1 << bit for bit in range(4, 13))
_REFER: Final = 1 << 13
_TRUNCATE: Final = 1 << 14
_ON_FILES: Final = _WRITE | _TRUNCATE


def version() -> int:
    """The version that the kernel offers; 0 for none."""
    return max(0, _call(_CREATE, None, ctypes.c_size_t(0), _VERSION))


def restrict(protected: Sequence[str], writable: Sequence[str] = ()) -> None:
    """Take from this process and its children, for good, the right to change all protected but the writable paths.

    Errors: :class:`UsageError` when the kernel refuses.
    """
    found = version()
    rights = _FIRST | (_REFER if found >= 2 else 0) | (_TRUNCATE if found >= 3 else 0)
    attribute = ctypes.create_string_buffer(struct.pack("=Q", rights), 8)
    ruleset = _checked(_call(_CREATE, attribute, ctypes.c_size_t(8), 0))
    for path in (*_allowed(protected), *writable):
        with contextlib.suppress(OSError):
            _allow(ruleset, path, rights)
    libc = ctypes.CDLL(None, use_errno=True)
    _checked(libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0))
    _checked(_call(_RESTRICT, ctypes.c_int(ruleset), 0))
    os.close(ruleset)


def _allow(ruleset: int, path: str, rights: int) -> None:
    descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC | os.O_NOFOLLOW)
    try:
        granted = rights if os.path.isdir(path) else rights & _ON_FILES
        rule = ctypes.create_string_buffer(struct.pack("=Qi", granted, descriptor), 12)
        _checked(_call(_ADD, ctypes.c_int(ruleset), 1, rule, 0))
    finally:
        os.close(descriptor)


def _allowed(protected: Sequence[str]) -> Iterator[str]:
    """Everything beside the protected paths and the folders above them."""
    above: set[str] = set()
    for path in protected:
        folder = os.path.dirname(path)
        while folder not in above:
            above.add(folder)
            folder = os.path.dirname(folder)
    for folder in sorted(above):
        for name in sorted(os.listdir(folder)):
            whole = os.path.join(folder, name)
            if whole not in above and whole not in protected and not os.path.islink(whole):
                yield whole


def _call(number: int, *arguments: object) -> int:
    libc = ctypes.CDLL(None, use_errno=True)
    return int(libc.syscall(ctypes.c_long(number), *arguments))


def _checked(result: int) -> int:
    if result < 0:
        raise UsageError(f"Landlock refuses: {os.strerror(ctypes.get_errno())}")
    return result
