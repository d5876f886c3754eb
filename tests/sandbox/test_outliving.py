"""Nothing outlives a run, and its results are read when every process of it is gone."""

from __future__ import annotations

import errno
import os
import subprocess
import time
from pathlib import Path

import pytest

from linewitness.evidence import sandbox_processes
from linewitness.evidence.sandbox import Sandbox
from linewitness.settings import Suite
from tests.sandbox.conftest import MakeLab
from tests.sandbox.rooms import Lab

LEAVE = """
import os, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.setsid()
        sys.stdout.flush()
        with open("pid", "w") as out:
            out.write(os.readlink("/proc/self"))
        os.rename("pid", "left-behind")
        while True:
            with open("alive", "a") as out:
                out.write("x")
            time.sleep(0.01)
    os._exit(0)
while not os.path.exists("left-behind"):
    time.sleep(0.01)
"""
HANG = LEAVE + "\ntime.sleep(600)\n"


def is_quiet(lab: Lab) -> bool:
    """Whether nobody writes into the tree any more."""
    alive = lab.export / "alive"
    before = alive.stat().st_size if alive.exists() else 0
    time.sleep(0.1)
    return (alive.stat().st_size if alive.exists() else 0) == before


@pytest.mark.parametrize("program", [LEAVE, HANG], ids=["ends", "hangs"])
def test_a_daemon_dies_with_the_run(kind: str, make_lab: MakeLab, program: str) -> None:
    lab = make_lab(kind, timeout=3)
    answer = lab.run(program)

    assert answer.ended.timed_out is (program is HANG)
    assert (lab.export / "left-behind").exists()
    assert is_quiet(lab)


@pytest.mark.parametrize("is_listed", [True, False])
def test_without_a_sandbox_daemons_are_found_ended_and_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, is_listed: bool
) -> None:
    if not is_listed:
        monkeypatch.setattr(sandbox_processes, "_listed", list)  # as where the kernel keeps no list of children
    lab = Lab(tmp_path / "lab", "landlock", Suite(timeout=30))
    assert lab.room.fence is not None
    lab.room = lab.room._replace(fence=lab.room.fence._replace(sandbox=Sandbox("none", "this is a test")))
    answer = lab.run(LEAVE)

    assert is_quiet(lab)
    assert len(answer.ended.outlived) == 1
    process = int((lab.export / "left-behind").read_text())
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)


def test_a_program_that_ends_its_own_children_is_not_accused(tmp_path: Path) -> None:
    lab = Lab(tmp_path / "lab", "landlock", Suite(timeout=30))
    answer = lab.run("import subprocess; subprocess.run(['true'])")

    assert (answer.ended.status, answer.ended.outlived) == (0, ())


def test_what_others_started_meanwhile_is_left_alone(tmp_path: Path) -> None:
    lab = Lab(tmp_path / "lab", "landlock", Suite(timeout=30))
    with subprocess.Popen(["sleep", "600"]) as before:
        done = lab.run("open('seen', 'w')")
        assert (done.ended.status, done.ended.outlived, before.poll()) == (0, (), None)
        before.kill()


def test_how_a_command_was_killed_is_the_same_inside(namespaced: str, make_lab: MakeLab) -> None:
    lab = make_lab(namespaced)
    answer = lab.run("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)")

    assert str(answer.ended) == "killed by SIGSEGV"
    assert lab.run("import sys; sys.exit(7)").ended.status == 7


def test_the_kernel_lists_the_children_that_are_found_by_looking_at_all_processes() -> None:
    child = subprocess.Popen(["sleep", "60"], start_new_session=True)
    try:
        listed = sandbox_processes._listed()
        assert not listed or str(child.pid) in listed
        assert child.pid in sandbox_processes._children()
    finally:
        child.kill()
        child.wait()


def test_a_system_without_handles_of_processes_waits_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: int) -> int:
        raise OSError(errno.ENOSYS, "Function not implemented")

    monkeypatch.setattr(os, "pidfd_open", refuse)
    lab = Lab(tmp_path / "lab", "landlock", Suite(timeout=30))
    assert lab.run("raise SystemExit(4)").ended.status == 4
