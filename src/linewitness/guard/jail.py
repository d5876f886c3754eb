"""``guard exec``: a command for which protected paths are read-only, whatever it does.

The system keeps the rule here, not a reading of command lines. What does not exist yet cannot be mounted, so after the
command the protected content is compared with what it was before, and anything that is new is told.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import Final

from linewitness.errors import ProtectedError, UsageError
from linewitness.guard import landlock, mounts, terminal
from linewitness.guard.fence import Fence
from linewitness.guard.mounts import Mounts
from linewitness.values import NamedTuple

# What would lead around a mount: other namespaces, other processes' files, devices, file handles, kernel modules.
_DROPPED: Final = (
    *("CAP_SYS_ADMIN", "CAP_SYS_PTRACE", "CAP_SYS_CHROOT", "CAP_SYS_MODULE", "CAP_SYS_RAWIO", "CAP_SYS_BOOT"),
    *("CAP_MKNOD", "CAP_DAC_READ_SEARCH", "CAP_BPF", "CAP_PERFMON", "CAP_LINUX_IMMUTABLE"),
)
_SECONDS: Final = 20


class Means(NamedTuple):
    """How the rule is kept: ``name`` for people, ``bwrap`` the program or empty."""

    name: str
    bwrap: str = ""


def means(wanted: str = "auto") -> Means:
    """The best means that works here. Errors: :class:`UsageError` when there is none, or not the one that is wanted."""
    bwrap = shutil.which("bwrap") if wanted in {"auto", "bwrap"} else None
    why = "bubblewrap is not installed (Debian: apt-get install bubblewrap)"
    if bwrap:
        tried = _try(bwrap)
        if not tried:
            return Means("bubblewrap", bwrap)
        why = f"bubblewrap does not work here ({tried})"
    if wanted in {"auto", "landlock"} and sys.platform == "linux" and landlock.version() > 0:
        return Means("Landlock")
    if wanted == "landlock":
        why = "this kernel has no Landlock"
    raise UsageError(
        f"nothing here can keep protected paths read-only: {why}. Mount them read-only where the agent runs "
        "(`linewitness guard paths` lists them), or run it as a user who does not own them"
    )


def _try(bwrap: str) -> str:
    """Why bubblewrap cannot be used; empty when it can."""
    try:
        done = subprocess.run(
            [
                bwrap,
                "--bind",
                "/",
                "/",
                "--dev",
                "/dev",
                "--unshare-pid",
                "--proc",
                "/proc",
                "--",
                "/bin/sh",
                "-c",
                "exit 0",
            ],
            check=False,
            capture_output=True,
            timeout=_SECONDS,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    said = done.stderr.decode("utf-8", "replace").strip().splitlines()
    return "" if done.returncode == 0 else (said[-1] if said else f"status {done.returncode}")


def run(command: Sequence[str], folder: str, environ: Mapping[str, str], found: Means) -> int:
    """Run a command to its end; its exit status, or 128 and the number of the signal that ended it.

    Errors: :class:`UsageError` when it cannot be started; :class:`ProtectedError` when protected content differs
    afterwards.
    """
    planned = mounts.plan(folder, environ.get("HOME", ""))
    before = snapshot(planned.top)
    pid = os.fork()
    if pid == 0:
        _become(command, folder, planned, found)
    status = os.waitstatus_to_exitcode(_wait(pid))
    if changed := _differences(before, snapshot(planned.top)):
        raise ProtectedError(
            f"protected content is not what it was before the command: {', '.join(changed)}. The gate will not open "
            "for it; take it back, or have the owners land it"
        )
    return status if status >= 0 else 128 - status


def _wait(pid: int) -> int:
    """Wait for the child. It is in the foreground with us and gets the terminal's signals itself."""
    import signal

    kept = {each: signal.signal(each, signal.SIG_IGN) for each in (signal.SIGINT, signal.SIGQUIT)}

    def forward(number: int, _frame: object) -> None:
        os.kill(pid, number)

    kept |= {each: signal.signal(each, forward) for each in (signal.SIGTERM, signal.SIGHUP)}
    try:
        return os.waitpid(pid, 0)[1]
    finally:
        for each, handler in kept.items():
            signal.signal(each, handler)


def _become(command: Sequence[str], folder: str, planned: Mounts, found: Means) -> None:
    """Turn this process into the command. Never returns."""
    try:
        if found.bwrap:
            words, descriptors = bubblewrap(found.bwrap, planned, folder)
            for descriptor in descriptors:
                os.set_inheritable(descriptor, True)
            os.execv(found.bwrap, [*words, "--", *command])  # noqa: S606 - no shell is wanted
        landlock.restrict(planned.read_only, planned.writable)
        os.execvp(command[0], list(command))  # noqa: S606 - no shell is wanted
    except UsageError as error:
        sys.stderr.write(f"linewitness: {error}\n")
    except OSError as error:
        sys.stderr.write(f"linewitness: {command[0]} cannot be started: {error.strerror}\n")
    finally:
        sys.stderr.flush()
        os._exit(127)


def bubblewrap(program: str, planned: Mounts, folder: str) -> tuple[list[str], list[int]]:
    """The words that start bubblewrap up to the command, and the descriptors that it has to inherit."""
    # Through /proc/PID/root a program sees the mounts of any process that it may look into, so it sees its own only.
    alone = ("--unshare-pid", "--proc", "/proc", "--die-with-parent")
    words = [program, "--bind", "/", "/", "--dev", "/dev", *alone, "--chdir", folder]
    # A mount point cannot be renamed or removed, so each folder that leads to protected content becomes one.
    for each in planned.fixed:
        words += ["--bind", each, each]
    for each in (*planned.read_only, *planned.git):
        words += ["--ro-bind", each, each]
    for each in planned.writable:
        words += ["--bind", each, each]
    if os.geteuid() == 0:
        words += [part for capability in _DROPPED for part in ("--cap-drop", capability)]
    program_text = terminal.filter_program()
    if program_text is None:
        return [*words, "--new-session"], []
    reading, writing = os.pipe()
    os.write(writing, program_text)
    os.close(writing)
    return [*words, "--seccomp", str(reading)], [reading]


# ---------------------------------------------------------------- before and after


def snapshot(top: str) -> dict[str, str]:
    """The digest of each protected file of a work tree, untracked ones too. Errors: those of git and the settings."""
    from linewitness.guard.trees import untracked

    fence = Fence([top])
    place = fence.places[0]
    names = {*fence.tracked(place), *(name for name in untracked(place.top) if fence.is_protected(place, name))}
    found = (os.path.relpath(each, place.top) for name in names for each in _files(f"{place.top}/{name}"))
    # A folder that is protected whole may have an exception in it.
    return {name: _digest(f"{place.top}/{name}") for name in found if fence.is_protected(place, name)}


def _files(path: str) -> list[str]:
    if not os.path.isdir(path) or os.path.islink(path):
        return [path] if os.path.lexists(path) else []
    return [
        os.path.join(folder, name)
        for folder, folders, names in os.walk(path)
        for name in (*names, *(each for each in folders if os.path.islink(os.path.join(folder, each))))
        if "__pycache__" not in folder
    ]


def _digest(path: str) -> str:
    if os.path.islink(path):
        return f"link {os.readlink(path)}"
    try:
        with open(path, "rb") as stream:
            content = hashlib.file_digest(stream, "sha256").hexdigest()
        return f"{os.lstat(path).st_mode:o} {content}"
    except OSError as error:
        return f"unreadable: {error.strerror}"


def _differences(before: Mapping[str, str], after: Mapping[str, str]) -> list[str]:
    names = (name for name in sorted(before.keys() | after.keys()) if before.get(name) != after.get(name))
    words = [
        f"{name} ({'new' if name not in before else 'gone' if name not in after else 'changed'})" for name in names
    ]
    return words[:20]
