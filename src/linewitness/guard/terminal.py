"""A filter for system calls that keeps a program from typing into the terminal of whoever started it.

With TIOCSTI a program puts characters into its terminal's input, and the shell outside runs them after the program
has ended. A session of its own would prevent that, and take Ctrl-C and job control from the program; so two requests
are refused instead.
"""

from __future__ import annotations

import errno
from typing import Final

from linewitness import seccomp
from linewitness.seccomp import AARCH64, ARM, I386, X32, X86_64, Rule

_REQUESTS: Final = (0x5412, 0x541C)  # TIOCSTI, TIOCLINUX


def _ioctl(*numbers: int) -> tuple[Rule, ...]:
    return (Rule(numbers, 1, errno.EPERM, refused=_REQUESTS),)


def filter_program() -> bytes | None:
    """The filter for this machine, in the form that bubblewrap takes, or ``None`` for other machines."""
    return seccomp.program(
        {
            "x86_64": {X86_64: _ioctl(16, X32 + 514), I386: _ioctl(54)},
            "aarch64": {AARCH64: _ioctl(29), ARM: _ioctl(54)},
        }
    )
