"""Which sandbox this machine has, and how a command is put into it.

Bubblewrap gives a run name spaces of its own: what it does not see it cannot read, nothing that it starts can outlive
it, and the network is the run's own. Without it Landlock still restricts which files are read and written. Where
neither is there, limits are all that is left, and the map says so.
"""

from __future__ import annotations

import marshal
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal

from linewitness.errors import EvidenceError
from linewitness.evidence.limits import Limits
from linewitness.evidence.sandbox_mounts import SYSTEM, Place, mounts
from linewitness.evidence.sandbox_sockets import filter_program
from linewitness.model import Confinement
from linewitness.values import NamedTuple

Mode = Literal["auto", "on", "off"]
Network = Literal["none", "loopback", "all"]

MODES: Final[tuple[Mode, ...]] = ("auto", "on", "off")
_NOBODY: Final = 65534
_PROBE_SECONDS: Final = 60
_MARSHAL_VERSION: Final = 2  # which every Python 3 reads
_CREATE_RULESET: Final = 444
_OFF: Final = "it was turned off"
_NOT_LINUX: Final = "only Linux has one that is supported"
_ABSENT: Final = "bubblewrap is not installed"
_FORBIDDEN: Final = "bubblewrap is not allowed to make new namespaces here"
_BROKEN: Final = "bubblewrap does not work here"
_WHAT_TO_DO: Final = {
    _ABSENT: "Install it (Debian, Ubuntu: apt-get install bubblewrap; Fedora: dnf install bubblewrap)",
    _FORBIDDEN: (
        "Allow unprivileged user namespaces (kernel.unprivileged_userns_clone=1; on Ubuntu also an AppArmor profile for"
        " bwrap), or give the container the capability SYS_ADMIN and an open seccomp profile"
    ),
}


class Sandbox(NamedTuple):
    """What isolates the run on this machine.

    ``reason`` says why it is not bubblewrap, in words that hold no path; ``detail`` is what bubblewrap itself said.
    ``user`` is the unprivileged user that root becomes inside. Everybody else, and a root who cannot, gets a user
    namespace (``maps_user``); such a root looks like nobody in there (``poses``).
    """

    kind: Literal["bubblewrap", "landlock", "none"]
    reason: str = ""
    detail: str = ""
    program: str = ""
    user: int | None = None
    maps_user: bool = False
    poses: bool = False

    @property
    def isolates(self) -> bool:
        """Whether the run has namespaces of its own."""
        return self.kind == "bubblewrap"

    def __str__(self) -> str:
        if self.isolates:
            return "in a bubblewrap sandbox"
        fallback = "restricted by Landlock only" if self.kind == "landlock" else "unsandboxed"
        return f"{fallback}, because {self.reason}"


class Fence(NamedTuple):
    """A sandbox made ready for one suite: commands go in as they are and come out as what has to be started.

    ``python`` is the interpreter that the shim runs with; it has to be visible inside.
    """

    sandbox: Sandbox
    place: Place
    limits: Limits
    network: Network
    python: Path
    shim: Path

    def command(self, command: Sequence[str]) -> list[str]:
        """The command line that starts ``command`` inside."""
        orders = marshal.dumps(self.orders(), _MARSHAL_VERSION).hex()
        shimmed = [str(self.python), "-I", "-S", "-B", str(self.shim), orders, *command]
        if not self.sandbox.isolates:
            return shimmed
        layout = mounts(self.place, network=self.network == "all", hides_roots=self.sandbox.poses)
        return [*_namespaces(self.sandbox, self.network), *layout, "--", *shimmed]

    def orders(self) -> dict[str, Any]:
        """What the process of a command has to do to itself before it becomes the command; see the shim."""
        sandbox = self.sandbox
        orders: dict[str, Any] = {"limits": self.limits.orders(), "user": sandbox.user}
        sockets = filter_program() if self.network != "all" and sandbox.kind != "none" else None
        if sockets is not None:
            orders["filter"] = sockets.hex()
        if sandbox.isolates:
            return orders | {"leave_network": self.network == "none"}
        linux = sys.platform.startswith("linux")
        orders |= {"alone": linux, "count_own": linux}
        if sandbox.kind == "landlock":
            read, write = self.place.reachable()
            orders["landlock"] = {"read": read, "write": write, "tcp": self.network != "none"}
        return orders

    def in_force(self) -> Confinement:
        """What the map says about it. Landlock cannot tell one address from another, and knows TCP alone."""
        sandbox = self.sandbox
        counted = sys.platform.startswith("linux") and not (sandbox.user is None and os.geteuid() == 0)
        return Confinement(
            kind=sandbox.kind,
            limits=self.limits.in_force(processes=counted),
            network=self.network if sandbox.isolates else "all",
            reason=sandbox.reason,
            borrowed=tuple(sorted(str(borrowed.inside) for borrowed in self.place.borrowed)),
        )


def find_sandbox(mode: Mode, environment: Mapping[str, str] | None = None) -> Sandbox:
    """The best sandbox of this machine. Errors: EvidenceError when ``on`` is wanted and bubblewrap cannot be had."""
    if mode == "off":
        return Sandbox("none", _OFF)
    found = _look(os.environ if environment is None else environment)
    if mode == "on" and not found.isolates:
        todo = _WHAT_TO_DO.get(found.reason, "Run on Linux with bubblewrap")
        said = f" ({found.detail})" if found.detail else ""
        message = (
            f"--sandbox on, but {found.reason}{said}. {todo}; or use --sandbox auto, and the map says what was missing."
        )
        raise EvidenceError(message)
    return found


def what_to_do(sandbox: Sandbox) -> str:
    """How this machine gets a sandbox; empty when nothing can be advised."""
    return _WHAT_TO_DO.get(sandbox.reason, "")


def _look(environment: Mapping[str, str]) -> Sandbox:
    if not sys.platform.startswith("linux"):
        return Sandbox("none", _NOT_LINUX)
    program = _on_path("bwrap", environment)
    if not program:
        return _fallback(_ABSENT, "")
    said = ""
    for candidate in _candidates(program):
        said = _probe(candidate)
        if not said:
            return candidate
    forbidden = any(word in said for word in ("namespace", "not permitted", "setting up uid map", "loopback"))
    return _fallback(_FORBIDDEN if forbidden else _BROKEN, said)


def _candidates(program: str) -> list[Sandbox]:
    mapped = Sandbox("bubblewrap", program=program, maps_user=True, poses=os.geteuid() == 0)
    if os.geteuid():
        return [mapped]
    return [Sandbox("bubblewrap", program=program, user=_NOBODY), mapped] if _exists(_NOBODY) else [mapped]


def _exists(user: int) -> bool:
    """Whether this user is one of those that the container we may be in can become."""
    try:
        ranges = [line.split() for line in Path("/proc/self/uid_map").read_text(encoding="ascii").splitlines()]
    except (OSError, ValueError):
        return False
    return any(int(first) <= user < int(first) + int(count) for first, _, count in ranges)


def _probe(sandbox: Sandbox) -> str:
    """What bubblewrap complains about when it is asked for an empty sandbox, or nothing."""
    system = [part for place in SYSTEM if os.path.isdir(place) for part in ("--ro-bind", place, place)]
    command = [*_namespaces(sandbox, "loopback"), *system, "--proc", "/proc", "--dev", "/dev", "--", "/bin/true"]
    try:
        done = subprocess.run(
            command, check=False, capture_output=True, stdin=subprocess.DEVNULL, timeout=_PROBE_SECONDS, env={}
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    said = done.stderr.decode("utf-8", "replace").strip().splitlines()[-1:]
    return "".join(said) or f"bwrap ended with status {done.returncode}" if done.returncode else ""


def _namespaces(sandbox: Sandbox, network: Network) -> list[str]:
    arguments = [sandbox.program, "--die-with-parent", "--new-session"]
    arguments += ["--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try", "--cap-drop", "ALL"]
    if sandbox.maps_user:
        arguments.append("--unshare-user")
        if sandbox.poses:
            arguments += ["--uid", str(_NOBODY), "--gid", str(_NOBODY)]
    if network != "all":
        arguments.append("--unshare-net")
    for capability in _for_the_shim(sandbox, network):
        arguments += ["--cap-add", capability]
    return arguments


def _for_the_shim(sandbox: Sandbox, network: Network) -> list[str]:
    """What the shim needs before it becomes the command, which has no capability."""
    wanted = ["CAP_SETUID", "CAP_SETGID"] if sandbox.user is not None else []
    return [*wanted, "CAP_SYS_ADMIN"] if network == "none" else wanted


def _fallback(reason: str, said: str) -> Sandbox:
    return Sandbox("landlock" if _has_landlock() else "none", reason, said)


def _has_landlock() -> bool:
    import ctypes

    try:
        libc = ctypes.CDLL(None, use_errno=True)
        version: int = libc.syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), 1)
    except (OSError, AttributeError):
        return False
    return version >= 1


def _on_path(name: str, environment: Mapping[str, str]) -> str:
    """A program by its absolute path; relative entries of PATH would find one in the tree under judgement."""
    for folder in environment.get("PATH", os.defpath).split(os.pathsep):
        candidate = os.path.join(folder, name)
        if os.path.isabs(folder) and os.path.isfile(candidate) and os.access(candidate, os.X_OK):
            return candidate
    return ""
