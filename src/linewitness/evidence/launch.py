"""Starts the processes of the trusted run, in an environment of its own, and makes sure that they end."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

from linewitness.errors import EvidenceError
from linewitness.evidence.sandbox import Fence
from linewitness.evidence.sandbox_processes import FirstProcess, adopting_orphans, end_orphans
from linewitness.evidence.sandbox_shim import obey
from linewitness.parallel import can_fork
from linewitness.values import NamedTuple

_POLL_SECONDS = 1.0
_TAIL_BYTES = 4000
# Without these, an interpreter or the programs it starts may not start at all.
_ALWAYS_PASSED = ("PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "LD_LIBRARY_PATH", "SYSTEMROOT")
# These would change which code runs or take the recorder's columns away.
_REFUSED = frozenset({
    "PYTHONHOME", "PYTHONNODEBUGRANGES", "PYTHONOPTIMIZE", "PYTHONPLATLIBDIR", "PYTHONPYCACHEPREFIX", "PYTHONSTARTUP",
    "PYTHONINSPECT", "PYTHONSAFEPATH", "PYTEST_ADDOPTS", "PYTEST_PLUGINS", "PYTEST_DISABLE_PLUGIN_AUTOLOAD",
})  # fmt: skip


class World(NamedTuple):
    """Where a process of the run lives. ``fence`` is its sandbox; ``wrapper`` is put before everything, to measure."""

    cwd: Path
    environment: Mapping[str, str]
    output: Path
    timeout: float
    wrapper: tuple[str, ...] = ()
    fence: Fence | None = None


class Ended(NamedTuple):
    """How a process ended: its exit status (negative: the signal), or that it was stopped for its time.

    ``outlived`` are the names of programs that it left running and that were ended; a namespace ends them unseen.
    """

    status: int
    timed_out: bool
    seconds: float
    tail: str
    outlived: tuple[str, ...] = ()

    def __str__(self) -> str:
        if self.timed_out:
            return f"stopped after {self.seconds:.0f} s"
        if self.status < 0:
            try:
                return f"killed by {signal.Signals(-self.status).name}"
            except ValueError:
                return f"killed by signal {-self.status}"
        return f"exit status {self.status}"


def launch(command: Sequence[str], world: World, tick: Callable[[], None] | None = None) -> Ended:
    """Run one command, and come back when every process that it started is gone.

    Standard output and error go to ``world.output``; nothing is ever parsed from them. ``tick`` is called about once a
    second. Errors: EvidenceError when the command cannot be started, or when something it started cannot be ended.
    """
    started = time.monotonic()
    run = _in_namespace if world.fence is not None and world.fence.sandbox.isolates else _adopted
    with world.output.open("ab") as output:
        status, timed_out, outlived = run(list(command), world, output.fileno(), tick)
    return Ended(_plain(status, world), timed_out, time.monotonic() - started, tail(world.output), outlived)


_Outcome = tuple[int, bool, tuple[str, ...]]


def _in_namespace(command: list[str], world: World, output: int, tick: Callable[[], None] | None) -> _Outcome:
    first = FirstProcess()
    program, *fenced = [*world.wrapper, *_fenced(command, world)]
    process = _start([program, "--info-fd", str(first.write), *fenced], world, output, (first.write,))
    try:
        first.listen()
        timed_out = not _wait(process, world.timeout, tick)
    finally:
        _end_group(process)
        first.wait()
    return process.returncode, timed_out, ()


def _adopted(command: list[str], world: World, output: int, tick: Callable[[], None] | None) -> _Outcome:
    with adopting_orphans() as known:
        if world.fence is not None and can_fork():
            orders = partial(obey, world.fence.orders(), command[0])
            process = _start([*world.wrapper, *command], world, output, orders=orders)
        else:
            process = _start([*world.wrapper, *_fenced(command, world)], world, output)
        outlived: tuple[str, ...] = ()
        try:
            timed_out = not _wait(process, world.timeout, tick)
        finally:
            _end_group(process)
            outlived = end_orphans(known, process.pid)
    return process.returncode, timed_out, outlived


def _fenced(command: list[str], world: World) -> list[str]:
    return command if world.fence is None else world.fence.command(command)


def _start(
    command: list[str],
    world: World,
    output: int,
    passed: tuple[int, ...] = (),
    orders: Callable[[], None] | None = None,
) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(
            command,
            cwd=world.cwd,
            env=dict(world.environment),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            pass_fds=passed,
            preexec_fn=orders,  # noqa: PLW1509 - only where this process has no other thread
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise EvidenceError(f"{command[0]} cannot be started: {error}", code="LW503") from error


def _plain(status: int, world: World) -> int:
    """Bubblewrap ends with 128 and the signal's number when the command was killed."""
    isolates = world.fence is not None and world.fence.sandbox.isolates
    return 128 - status if isolates and 128 < status < 128 + signal.NSIG else status


def _wait(process: subprocess.Popen[bytes], seconds: float, tick: Callable[[], None] | None) -> bool:
    """Whether the process ended in time."""
    deadline = time.monotonic() + seconds
    handle = _handle(process.pid)
    try:
        while True:
            left = deadline - time.monotonic()
            pause = max(0.0, left if tick is None else min(_POLL_SECONDS, left))
            if _ended(process, handle, pause):
                return True
            if time.monotonic() >= deadline:
                return False
            if tick is not None:
                tick()
    finally:
        if handle >= 0:
            os.close(handle)


def _handle(pid: int) -> int:
    """A descriptor that becomes readable when the process ends; -1 where the system has none."""
    try:
        return os.pidfd_open(pid)
    except (AttributeError, OSError):
        return -1


def _ended(process: subprocess.Popen[bytes], handle: int, pause: float) -> bool:
    """Whether the process ends within the pause. The handle wakes at once where ``wait`` would look again and again."""
    if handle >= 0 and not select.select([handle], [], [], pause)[0]:
        return False
    try:
        process.wait(0 if handle >= 0 else pause)
    except subprocess.TimeoutExpired:
        return False
    return True


def _end_group(process: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def tail(path: Path) -> str:
    """The last lines of a captured output, for messages."""
    try:
        with path.open("rb") as stream:
            stream.seek(0, os.SEEK_END)
            stream.seek(max(0, stream.tell() - _TAIL_BYTES))
            return stream.read().decode("utf-8", "replace").strip()
    except OSError:
        return ""


class Folders(NamedTuple):
    """Fresh folders of a run. ``temporary`` has a short path: the name of a socket in it may have 107 bytes at most."""

    home: Path
    temporary: Path


def run_environment(
    programs: Path | None, passed: Sequence[str], folders: Folders, host: Mapping[str, str]
) -> dict[str, str]:
    """The whole environment of the run: an allow-list of the host's variables, fresh folders, a fixed hash seed.

    ``programs`` is a folder that comes first on PATH. ``passed`` are names that the settings let through, or
    ``NAME=value``. The hash seed is fixed so that the same tree gives the same record.

    Errors: EvidenceError when the settings pass a variable that would change what is judged.
    """
    environment = {name: host[name] for name in _ALWAYS_PASSED if name in host}
    environment.setdefault("LANG", "C.UTF-8")
    first = str(programs) if programs is not None else ""
    environment["PATH"] = os.pathsep.join(filter(None, [first, environment.get("PATH", os.defpath)]))
    environment |= {"HOME": str(folders.home)} | dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(folders.temporary))
    environment |= {
        "PYTHONHASHSEED": "0",
        "PYTHONNOUSERSITE": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
    }
    for item in passed:
        name, equals, value = item.partition("=")
        if name in _REFUSED or name.startswith("LINEWITNESS_"):
            raise EvidenceError(f"the suite's `env` may not pass {name}: it would change what is judged.")
        if equals:
            environment[name] = value
        elif name in host:
            environment[name] = host[name]
    return environment
