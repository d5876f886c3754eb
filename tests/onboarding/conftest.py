"""A repository, and a shell in which suggested commands are run the way a person would run them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from linewitness.evidence.sandbox import Sandbox
from linewitness.onboarding import machine_checks
from tests.support.repos import Repo, environment

SOURCES = Path(__file__).parents[2] / "src"

Shell = Callable[[Path, str], "subprocess.CompletedProcess[str]"]


@pytest.fixture(autouse=True)
def with_a_sandbox(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether the machine has one is told by doctor too, and tested elsewhere."""
    monkeypatch.setattr(machine_checks, "find_sandbox", lambda _: Sandbox("bubblewrap"))


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    return Repo(tmp_path / "repo")


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    """Runs a command line in a folder; ``linewitness`` is on PATH."""
    programs = tmp_path / "programs"
    programs.mkdir()
    program = programs / "linewitness"
    start = "from linewitness.cli.__main__ import run; sys.exit(run())"
    program.write_text(f"#!/bin/sh\nexec {sys.executable} -c 'import sys; {start}' \"$@\"\n")
    program.chmod(0o755)
    found = environment()
    found["PATH"] = f"{programs}{os.pathsep}{found['PATH']}"
    found["PYTHONPATH"] = os.fspath(SOURCES)
    found["HOME"] = os.fspath(tmp_path)

    def run(folder: Path, command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["sh", "-c", command], check=False, cwd=folder, env=found, capture_output=True, text=True, timeout=120
        )

    return run
