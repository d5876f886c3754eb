"""Starts the processes of the trusted run, in an environment of its own, and makes sure that they end."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from linewitness.errors import EvidenceError

_POLL_SECONDS = 0.2
_TAIL_BYTES = 4000
# Without these, an interpreter or the programs it starts may not start at all.
_ALWAYS_PASSED = ("PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "LD_LIBRARY_PATH", "SYSTEMROOT")
# These would change which code runs or take the recorder's columns away.
_REFUSED = frozenset({
    "PYTHONHOME", "PYTHONNODEBUGRANGES", "PYTHONOPTIMIZE", "PYTHONPLATLIBDIR", "PYTHONPYCACHEPREFIX", "PYTHONSTARTUP",
    "PYTHONINSPECT", "PYTHONSAFEPATH", "PYTEST_ADDOPTS", "PYTEST_PLUGINS", "PYTEST_DISABLE_PLUGIN_AUTOLOAD",
})  # fmt: skip


class World(NamedTuple):
    """Where a process of the run lives. ``wrapper`` is put before its command: the place for a sandbox."""

    cwd: Path
    environment: Mapping[str, str]
    output: Path
    timeout: float
    wrapper: tuple[str, ...] = ()


class Ended(NamedTuple):
    """How a process ended: its exit status (negative: the signal), or that it was stopped for its time."""

    status: int
    timed_out: bool
    seconds: float
    tail: str

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
    """Run one command in its own process group and end the whole group with it.

    Standard output and error go to ``world.output``; nothing is ever parsed from them. ``tick`` is called a few times a
    second. Errors: EvidenceError when the command cannot be started.
    """
    started = time.monotonic()
    with world.output.open("ab") as output:
        try:
            process = subprocess.Popen(
                [*world.wrapper, *command],
                cwd=world.cwd,
                env=dict(world.environment),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        except OSError as error:
            raise EvidenceError(f"{command[0]} cannot be started: {error}", code="LW503") from error
        try:
            timed_out = not _wait(process, started + world.timeout, tick)
        finally:
            _end_group(process)
    return Ended(process.returncode, timed_out, time.monotonic() - started, tail(world.output))


def _wait(process: subprocess.Popen[bytes], deadline: float, tick: Callable[[], None] | None) -> bool:
    while True:
        try:
            process.wait(max(0.0, min(_POLL_SECONDS, deadline - time.monotonic())))
        except subprocess.TimeoutExpired:
            if time.monotonic() >= deadline:
                return False
        else:
            return True
        if tick is not None:
            tick()


def _end_group(process: subprocess.Popen[bytes]) -> None:
    # The leader may be gone and its children not: results are read when every process of the group is gone.
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


def run_environment(python: Path, passed: Sequence[str], folders: Folders, host: Mapping[str, str]) -> dict[str, str]:
    """The whole environment of the run: an allow-list of the host's variables, fresh folders, a fixed hash seed.

    ``passed`` are names that the settings let through, or ``NAME=value``. The hash seed is fixed so that the same tree
    gives the same record. Errors: EvidenceError when the settings pass a variable that would change what is judged.
    """
    environment = {name: host[name] for name in _ALWAYS_PASSED if name in host}
    environment.setdefault("LANG", "C.UTF-8")
    # The tests' own interpreter is what `python` and console scripts mean in the tests.
    environment["PATH"] = os.pathsep.join(filter(None, [str(python.parent), environment.get("PATH", os.defpath)]))
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
