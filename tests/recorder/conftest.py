"""Runs small projects under the real recorder, in every interpreter that is at hand."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from linewitness.evidence.interpreter import Interpreter, find_interpreter
from linewitness.settings import Suite

_VERSIONS = ("3.9", "3.10", "3.11", "3.12", "3.13", "3.14")


def _has_pytest(path: str) -> bool:
    run = subprocess.run([path, "-I", "-c", "import pytest"], capture_output=True, check=False)
    return run.returncode == 0


def _interpreters() -> list[str]:
    named = os.environ.get("LINEWITNESS_TEST_PYTHONS")
    if named:
        return [path for path in named.split(os.pathsep) if path]
    running = f"{sys.version_info.major}.{sys.version_info.minor}"
    others = [shutil.which(f"python{version}") for version in _VERSIONS if version != running]
    return [sys.executable, *(path for path in others if path and _has_pytest(path))]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Whoever asks for ``python_path`` runs once per interpreter; the session's fixtures are shared between tests."""
    if "python_path" in metafunc.fixturenames:
        metafunc.parametrize("python_path", _interpreters(), ids=_label, scope="session")


def _label(path: str) -> str:
    return Path(path).parent.parent.name + "-" + Path(path).name


@pytest.fixture(scope="session")
def python(python_path: str) -> Interpreter:
    """An interpreter that the trusted run may use."""
    return find_interpreter(Suite(python=python_path), None)
