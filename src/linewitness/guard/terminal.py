"""A filter for system calls that keeps a program from typing into the terminal of whoever started it.

With TIOCSTI a program puts characters into its terminal's input, and the shell outside runs them after the program
has ended. A session of its own would prevent that, and take Ctrl-C and job control from the program; so two requests
are refused instead. See seccomp(2), "struct seccomp_data", and linux/bpf_common.h for the numbers.
"""

from __future__ import annotations

import platform
import struct
from typing import Final

_LOAD, _EQUAL, _RETURN = 0x20, 0x15, 0x06
_ALLOW, _REFUSE = 0x7FFF0000, 0x00050001  # SECCOMP_RET_ALLOW; SECCOMP_RET_ERRNO with EPERM
_REQUESTS: Final = (0x5412, 0x541C)  # TIOCSTI, TIOCLINUX
# For each machine its architectures in the audit numbering, each with the numbers of ioctl.
_IOCTLS: Final[dict[str, dict[int, tuple[int, ...]]]] = {
    "x86_64": {0xC000003E: (16, 0x40000202), 0x40000003: (54,)},
    "aarch64": {0xC00000B7: (29,), 0x40000028: (54,)},
}


def filter_program() -> bytes | None:
    """The filter for this machine, in the form that bubblewrap and prctl(2) take, or ``None`` for other machines."""
    machine = _IOCTLS.get(platform.machine())
    if machine is None:
        return None
    steps: list[tuple[int, int, int, int]] = []
    for architecture, numbers in machine.items():
        block = _block(numbers)
        steps += [(_LOAD, 0, 0, 4), (_EQUAL, 0, len(block), architecture), *block]
    steps.append((_RETURN, 0, 0, _ALLOW))
    return b"".join(struct.pack("<HBBI", *step) for step in steps)


def _block(numbers: tuple[int, ...]) -> list[tuple[int, int, int, int]]:
    """Refuse the requests when the call is one of these numbers; else allow."""
    check = [(_LOAD, 0, 0, 24)]
    for at, request in enumerate(_REQUESTS):
        check.append((_EQUAL, len(_REQUESTS) - at, 0, request))
    check += [(_RETURN, 0, 0, _ALLOW), (_RETURN, 0, 0, _REFUSE)]
    head: list[tuple[int, int, int, int]] = [(_LOAD, 0, 0, 0)]
    for at, number in enumerate(numbers):
        head.append((_EQUAL, len(numbers) - at, 0, number))
    return [*head, (_RETURN, 0, 0, _ALLOW), *check]
