"""Stands right before a command of the trusted run: takes away what the command shall not have, and becomes it.

Run as ``python -I -S -B sandbox_shim.py ORDERS COMMAND...`` by the tests' interpreter (3.9 and later) or by ours;
standard library only. ORDERS are a dictionary, marshalled and written in hexadecimal digits (see
:mod:`linewitness.evidence.sandbox`): reading JSON would take longer than all the rest. Limits that are set here, in the
process itself, hold for everything that it starts. Where the command needs no sandbox around it, a copy of our own
process obeys the same orders right before it becomes the command, and no program stands before it.
"""

from __future__ import annotations

import marshal
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_CANNOT_START = 126
# linux/prctl.h
_PR_SET_PDEATHSIG, _PR_SET_NO_NEW_PRIVS, _PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL = 1, 38, 47, 4
# linux/seccomp.h; without SPEC_ALLOW some kernels slow the whole program down
_PR_GET_SECCOMP, _SET_MODE_FILTER, _SPEC_ALLOW, _BYTES_OF_A_STEP = 21, 1, 4, 8
_SECCOMP = {"x86_64": 317, "aarch64": 277}
# linux/landlock.h; the numbers of the system calls are the same on every architecture
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_RULE_PATH_BENEATH = 1
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1, 2, 4, 8
_CHANGE_TREE = sum(1 << bit for bit in range(4, 13))  # remove and make entries of every kind
_REFER, _TRUNCATE, _IOCTL_DEV = 1 << 13, 1 << 14, 1 << 15
_BIND_TCP, _CONNECT_TCP = 1, 2
_ABSTRACT_SOCKET, _SIGNAL = 1, 2
_READ = _EXECUTE | _READ_FILE | _READ_DIR
_ON_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEV
# linux/sched.h
_CLONE_NEWNET = 0x40000000


def main(arguments: list[str]) -> None:
    """Carry the orders out and become the command. Ends the process with a message when one cannot be."""
    command = arguments[2:]
    obey(marshal.loads(bytes.fromhex(arguments[1])), command[0])  # noqa: S302 - our own words
    os.closerange(3, 256)
    try:
        os.execvp(command[0], command)  # noqa: S606 - this is what the shim is for
    except OSError as error:
        _give_up(command[0], error)


def obey(orders: dict[str, Any], program: str) -> None:
    """Carry the orders out, in a process that is to become ``program``, and ends here when it cannot."""
    try:
        if orders.get("leave_network"):
            _leave_network()
        if orders.get("alone"):
            _die_with_parent()
        _limit(orders.get("limits", {}), orders.get("count_own", False))
        if orders.get("user") is not None:
            _become(orders["user"])
        if orders.get("landlock"):
            _landlock(orders["landlock"])
        if orders.get("filter"):
            _filter(bytes.fromhex(orders["filter"]))
        os.umask(0o022)
    except OSError as error:
        _give_up(program, error)


def _give_up(program: str, error: OSError) -> None:
    """End at once, also where this is a copy of another process, whose handlers are not to be run."""
    os.write(2, f"{program} cannot be started in the sandbox: {error}\n".encode("utf-8", "backslashreplace"))
    os._exit(_CANNOT_START)


# ---------------------------------------------------------------- limits and privileges


def _limit(limits: dict[str, int], count_own: bool) -> None:
    import resource

    for name, wanted in limits.items():
        kind = getattr(resource, name, None)
        if kind is None:
            continue
        if name == "RLIMIT_NPROC" and not sys.platform.startswith("linux"):
            continue  # there it counts all that the user runs, and nothing tells how many that are
        others = _own_tasks() if count_own and name == "RLIMIT_NPROC" else 0
        hard = resource.getrlimit(kind)[1]
        value = wanted + others if hard == resource.RLIM_INFINITY else min(wanted + others, hard)
        try:
            resource.setrlimit(kind, (value, value))
        except (OSError, ValueError) as error:
            raise OSError(f"{name} cannot be set to {value}: {error}") from error


def _own_tasks() -> int:
    """Processes and threads of this user: outside of a user namespace of its own the limit counts them all."""
    user, count = os.getuid(), 0
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                if os.stat(f"/proc/{name}").st_uid == user:
                    count += len(os.listdir(f"/proc/{name}/task"))
            except OSError:
                continue  # it ended meanwhile, or is another user's
    return count


def _become(user: int) -> None:
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)


def _libc() -> Any:
    import ctypes

    return ctypes.CDLL(None, use_errno=True)


def _checked(result: int, what: str) -> int:
    import ctypes

    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{what}: {os.strerror(code)}")
    return result


def _die_with_parent() -> None:
    parent = os.getppid()
    _checked(_libc().prctl(_PR_SET_PDEATHSIG, 9, 0, 0, 0), "prctl")
    if os.getppid() != parent:
        os._exit(_CANNOT_START)  # it is gone already


def _leave_network() -> None:
    """Go into a network namespace as it is when new: not even its loopback is up, so nothing is reached or listens."""
    libc = _libc()
    _checked(libc.unshare(_CLONE_NEWNET), "unshare")
    # the capability that was needed for it would survive the start of the command
    _checked(libc.prctl(_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0), "prctl")


def _filter(program: bytes) -> None:
    """Have system calls filtered by a program, from here on and in everything that is started. See seccomp(2)."""
    import ctypes

    class _Program(ctypes.Structure):
        _fields_ = (("length", ctypes.c_ushort), ("steps", ctypes.c_char_p))

    libc = _libc()
    if libc.prctl(_PR_GET_SECCOMP, 0, 0, 0, 0) < 0:
        return  # this kernel has no filters
    number = _SECCOMP.get(os.uname().machine)
    if number is None:
        return
    _checked(libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "prctl")
    order = _Program(len(program) // _BYTES_OF_A_STEP, program)
    _checked(libc.syscall(number, _SET_MODE_FILTER, _SPEC_ALLOW, ctypes.byref(order)), "seccomp")


# ---------------------------------------------------------------- landlock


def _landlock(orders: dict[str, Any]) -> None:
    """Allow reading and writing below the given places only, and TCP only when ``tcp`` says so."""
    import ctypes

    libc = _libc()
    abi = _checked(libc.syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), 1), "Landlock")
    rights = _READ | _WRITE_FILE | _CHANGE_TREE
    rights |= (_REFER if abi >= 2 else 0) | (_TRUNCATE if abi >= 3 else 0) | (_IOCTL_DEV if abi >= 5 else 0)
    ports = 0 if orders["tcp"] or abi < 4 else _BIND_TCP | _CONNECT_TCP
    scopes = _ABSTRACT_SOCKET | _SIGNAL if abi >= 6 else 0
    handled = (ctypes.c_uint64 * 3)(rights, ports, scopes)
    size = 8 if abi < 4 else 16 if abi < 6 else 24
    ruleset = _checked(libc.syscall(_CREATE_RULESET, ctypes.byref(handled), ctypes.c_size_t(size), 0), "Landlock")
    for place in orders["read"]:
        _allow(libc, ruleset, place, _READ)
    for place in orders["write"]:
        _allow(libc, ruleset, place, rights)
    _checked(libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "prctl")
    _checked(libc.syscall(_RESTRICT_SELF, ruleset, 0), "Landlock")
    os.close(ruleset)


def _allow(libc: Any, ruleset: int, place: str, rights: int) -> None:
    import ctypes
    import struct

    try:
        handle = os.open(place, os.O_PATH | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    try:
        below = rights if os.path.isdir(place) else rights & _ON_FILES
        rule = ctypes.create_string_buffer(struct.pack("=Qi", below, handle))
        _checked(libc.syscall(_ADD_RULE, ruleset, _RULE_PATH_BENEATH, rule, 0), f"Landlock, {place}")
    finally:
        os.close(handle)


if __name__ == "__main__":
    main(sys.argv)
