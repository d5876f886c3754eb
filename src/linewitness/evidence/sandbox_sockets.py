"""Which sockets a run may make whose network is its own: those that a network namespace really separates.

A namespace has its own interfaces, addresses and abstract names. Some kinds of sockets do not care: with ``AF_VSOCK`` a
guest talks to the machine that hosts it, from any namespace. So all kinds but the usual ones are refused, as by a
kernel that does not know them; and so is ``io_uring``, which makes sockets without the call that is looked at.
"""

from __future__ import annotations

import errno
from typing import Final

from linewitness import seccomp
from linewitness.seccomp import AARCH64, ARM, I386, X32, X86_64, Rule

_FAMILIES: Final = (1, 2, 10, 16, 38)  # AF_UNIX, AF_INET, AF_INET6, AF_NETLINK, AF_ALG: linux/socket.h
_URING_SETUP: Final = 425  # the same everywhere
_MAKES_A_SOCKET: Final = 1  # SYS_SOCKET, the first argument of the older socketcall(2): linux/net.h


def _rules(*sockets: int, more: tuple[int, ...] = ()) -> tuple[Rule, ...]:
    return (
        Rule(sockets, 0, errno.EAFNOSUPPORT, allowed=_FAMILIES),
        Rule((_URING_SETUP, *more), 0, errno.ENOSYS),
    )


def filter_program() -> bytes | None:
    """The filter for this machine, in the form that seccomp(2) takes, or ``None`` for other machines."""
    call = Rule((102,), 0, errno.ENOSYS, refused=(_MAKES_A_SOCKET,))
    return seccomp.program(
        {
            "x86_64": {X86_64: _rules(41, X32 + 41, more=(X32 + _URING_SETUP,)), I386: (*_rules(359), call)},
            "aarch64": {AARCH64: _rules(198), ARM: (*_rules(281), call)},
        }
    )
