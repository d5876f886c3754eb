"""Every benchmark tells how it is used, and its stopwatch can stand before any command."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.benchmarks.conftest import BENCHMARKS

SCRIPTS = sorted(path.name for path in BENCHMARKS.glob("*.py") if '__name__ == "__main__"' in path.read_text())


def run(*words: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *map(str, words)], cwd=cwd, capture_output=True, text=True, check=False)


def test_there_are_scripts_to_look_at() -> None:
    assert {"check.py", "map.py", "recorder.py", "startup.py", "stopwatch.py"} <= set(SCRIPTS)


@pytest.mark.parametrize("name", SCRIPTS)
def test_every_script_answers_help_from_any_folder(name: str, tmp_path: Path) -> None:
    done = run(BENCHMARKS / name, "--help", cwd=tmp_path)

    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("usage: ")
    assert name in done.stdout


def test_the_stopwatch_passes_the_status_on_and_writes_what_it_started(tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    code = "import sys; print('heard'); sys.exit(4)"

    done = run(BENCHMARKS / "stopwatch.py", out, sys.executable, "-c", code, cwd=tmp_path)

    told = json.loads(out.read_text())
    assert done.returncode == told["status"] == 4
    assert done.stdout.strip() == "heard"
    assert told["command"] == [sys.executable, "-c", code]
    assert told["cwd"] == str(tmp_path)
    assert told["cpu"] > 0
    assert told["wall"] > 0


@pytest.mark.parametrize("words", [[], ["out"]])
def test_a_stopwatch_without_something_to_do_is_a_usage_error(words: list[str], tmp_path: Path) -> None:
    done = run(BENCHMARKS / "stopwatch.py", *words, cwd=tmp_path)

    assert done.returncode == 2
    assert done.stderr.startswith("usage: ")
    assert not (tmp_path / "out").exists()
