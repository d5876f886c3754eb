"""The oracle as a program: a tiny project, its tests, and what is written about it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import examples.real_projects.line_oracle as oracle_package
import pytest

ORACLE_HOME = str(Path(oracle_package.__file__).parent.parent)

PRODUCT = """\
import sys

TABLE = {
    "a": 1,
}

def passed(x):
    return x

def failed(x):
    return x

def skipped():
    return 1

def expected_to_fail():
    return 1

def in_setup():
    return 1

def in_teardown():
    return 1

def at_collection():
    return 1

def in_thread():
    return 1

def forked():
    return 1

def spawned():
    return 1

def shared():
    return 1
"""

TESTS = """\
import os, subprocess, sys, threading
import pytest
import product

product.at_collection()

@pytest.fixture
def around():
    product.in_setup()
    yield
    product.in_teardown()

@pytest.fixture(scope="session")
def once():
    return product.shared()

def test_passes(around):
    assert product.passed(1)

def test_fails():
    assert not product.failed(1)

def test_skips():
    product.skipped()
    pytest.skip("late")

@pytest.mark.xfail
def test_is_expected_to_fail():
    assert not product.expected_to_fail()

def test_threads():
    thread = threading.Thread(target=product.in_thread)
    thread.start()
    thread.join()

def test_forks():
    child = os.fork()
    if not child:
        product.forked()
        os._exit(0)
    os.waitpid(child, 0)

def test_spawns():
    subprocess.run([sys.executable, "-c", "import product; product.spawned()"], check=True)

def test_fixture_of_the_session(once):
    assert once
"""


def run_oracle(root: Path, focus: dict[str, list[int]], *arguments: str) -> tuple[int, dict[str, Any]]:
    """The exit status and the answer of the program in a project's folder."""
    (root / "plan.json").write_text(json.dumps(focus))
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(root), ORACLE_HOME]), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    command = [sys.executable, "-P", "-m", "line_oracle", "plan.json", "out.json", "--", "-q", *arguments]
    done = subprocess.run(command, cwd=root, env=env, capture_output=True, text=True, check=False, timeout=120)
    out = root / "out.json"
    assert out.is_file(), done.stdout + done.stderr
    return done.returncode, json.loads(out.read_text())


@pytest.fixture(scope="module")
def answer(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    root = tmp_path_factory.mktemp("project")
    (root / "product.py").write_text(PRODUCT)
    (root / "test_product.py").write_text(TESTS)
    status, found = run_oracle(root, {"product.py": []}, "-p", "no:cacheprovider")
    assert status == found["status"] == 1
    return found


def body_of(answer: dict[str, Any], function: str) -> dict[str, Any]:
    """What is said about the first line of a function's body."""
    line = PRODUCT.split("\n").index(next(text for text in PRODUCT.split("\n") if f"def {function}(" in text)) + 2
    verdict: dict[str, Any] = answer["files"]["product.py"][str(line)]
    return verdict


@pytest.mark.parametrize("function", ["passed", "in_setup", "in_teardown", "in_thread", "forked", "spawned", "shared"])
def test_what_a_passing_test_ran_is_seen(answer: dict[str, Any], function: str) -> None:
    assert body_of(answer, function)["seen"] is True


@pytest.mark.parametrize("function", ["failed", "skipped", "expected_to_fail", "at_collection"])
def test_what_no_passing_test_ran_is_not_seen(answer: dict[str, Any], function: str) -> None:
    assert body_of(answer, function)["seen"] is False
    assert body_of(answer, function)["import_only"] is (function == "at_collection")


def test_a_line_names_a_test_that_ran_it(answer: dict[str, Any]) -> None:
    assert body_of(answer, "passed")["test"] == "test_product.py::test_passes"
    assert body_of(answer, "spawned")["test"] == "test_product.py::test_spawns"
    assert answer["tests"] == {"passed": 5, "other": 3}


def test_module_level_lines_are_seen_by_the_import(answer: dict[str, Any]) -> None:
    lines = answer["files"]["product.py"]
    assert [lines[str(line)]["seen"] for line in (1, 3, 4, 5)] == [True] * 4


def test_a_file_that_nothing_imports_is_named(tmp_path: Path) -> None:
    (tmp_path / "alone.py").write_text("x = 1\n")
    (tmp_path / "test_nothing.py").write_text("def test_nothing():\n    assert True\n")
    status, found = run_oracle(tmp_path, {"alone.py": [1]})
    assert status == 0
    assert found["never_loaded"] == ["alone.py"]
    assert found["files"]["alone.py"]["1"]["seen"] is False


def test_the_oracle_shares_no_code_with_the_tool() -> None:
    sources = sorted(Path(oracle_package.__file__).parent.glob("*.py"))
    assert len(sources) > 4
    assert [source.name for source in sources if "linewitness" in source.read_text()] == []
