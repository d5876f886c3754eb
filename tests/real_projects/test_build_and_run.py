"""Building a repository from two releases, and the whole comparison on a project small enough to read."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest
from examples.real_projects.build import Built, git, make_repository, pytest_arguments, settings_text
from examples.real_projects.compare import Outcome, compare
from examples.real_projects.projects import Deselected, Dropped, Project, load_projects
from examples.real_projects.run import (
    Result,
    as_json,
    changed_files,
    exemption_table,
    rows_of,
    run_gate,
    run_oracle,
    table,
)

from linewitness.settings import Settings

DEMO = Project(
    name="demo",
    base="1",
    head="2",
    sources=("demo",),
    frozen=("demo/tests/**",),
    drop=(Dropped("tests/test_network.py", "needs a network"),),
    deselect=(Deselected("tests/test_demo.py::test_flaky", "flaky"),),
)

RELEASES = {
    "1": {
        "demo/__init__.py": "def old(x):\n    return x\n",
        "demo/tests/data.txt": "old\n",
        "demo/gone.py": "x = 1\n",
        "tests/test_demo.py": "old\n",
        "README.md": "old\n",
    },
    "2": {
        "demo/__init__.py": (
            "def old(x):\n    return x\n\n\n"
            "def new(c, f):\n    return (\n        f()\n        if c\n        else None\n    )\n\n\n"
            "def unused():\n    return lambda: 1\n"
        ),
        "demo/tests/data.txt": "new\n",
        "tests/test_demo.py": (
            "import demo\n\n\ndef test_new():\n    assert demo.new(1, lambda: 2) == 2\n\n\n"
            "def test_flaky():\n    assert demo.unused() is None\n"
        ),
        "tests/test_network.py": "raise OSError\n",
        "README.md": "new\n",
        "demo.egg-info/PKG-INFO": "",
    },
}


@pytest.fixture
def work(tmp_path: Path) -> Path:
    for version, files in RELEASES.items():
        for name, text in files.items():
            file = tmp_path / "sdists" / f"demo-{version}" / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
    return tmp_path


def test_the_two_commits_differ_in_product_code_only(work: Path) -> None:
    repository = make_repository(DEMO, work, Path(sys.executable))
    changed = git(repository, "diff", "--name-status", "--no-renames", "base", "head").split()
    assert changed == ["M", "demo/__init__.py", "D", "demo/gone.py"]
    files = git(repository, "ls-files").split()
    assert files == ["README.md", "demo/__init__.py", "demo/tests/data.txt", "linewitness.toml", "tests/test_demo.py"]
    assert git(repository, "show", "base:demo/tests/data.txt") == "new\n"


def test_the_settings_are_what_the_tool_reads() -> None:
    settings = msgspec.toml.decode(settings_text(DEMO, Path("/usr/bin/python3")), type=Settings)
    (suite,) = settings.suite
    assert settings.trusted == ("tests/**",)
    assert (suite.python, suite.paths) == ("/usr/bin/python3", ("tests",))
    assert suite.args == ("--deselect=tests/test_demo.py::test_flaky",)
    assert set(suite.args) < set(pytest_arguments(DEMO))


def test_every_listed_project_says_why_it_leaves_tests_out() -> None:
    projects = load_projects()
    assert len({project.name for project in projects}) == len(projects) >= 10
    reasons = [each.reason for project in projects for each in project.drop]
    reasons += [each.reason for project in projects for each in project.deselect]
    assert reasons
    assert all(reasons)


def test_added_lines_and_rows_beyond_them_are_asked_for(work: Path) -> None:
    files = changed_files(make_repository(DEMO, work, Path(sys.executable)))
    assert list(files["demo/__init__.py"].added) == list(range(3, 15))
    artifact: dict[str, Any] = {"rows": [{"path": "demo/__init__.py", "line": 1}, {"path": "other.py", "line": 5}]}
    assert rows_of(artifact, files) == {"demo/__init__.py": [1, *range(3, 15)]}


def test_gate_and_oracle_agree_on_a_small_project(work: Path) -> None:
    built = Built(DEMO, make_repository(DEMO, work, Path(sys.executable)), Path(sys.executable))
    artifact = run_gate(built, work)
    files = changed_files(built.repository)
    oracle = run_oracle(built, rows_of(artifact, files), work)
    compared = tuple(compare(artifact, oracle["files"], files))
    by_line = {each.line: each.outcome for each in compared}
    assert oracle["tests"] == {"passed": 1, "other": 0}
    assert {line for line, outcome in by_line.items() if outcome is Outcome.TRUE_WITNESS} == {5, 6, 7, 8}
    assert {line for line, outcome in by_line.items() if outcome is Outcome.TRUE_OPEN} == {9, 13, 14}
    assert by_line[10] is Outcome.EXEMPT_CODE
    result = Result(DEMO, oracle["tests"], (), compared)
    assert result.is_sound
    assert "| demo | 1 | 2 | 1 | 7 | 4 | 3 | 0 | 0 | 0 |" in table([as_json(result)])
    assert "| punctuation | 1 | 1 | 0 |" in exemption_table([as_json(result)])
