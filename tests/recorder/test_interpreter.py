"""How the tests' interpreter is chosen, and what is said when it cannot do the work."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from linewitness.errors import EvidenceError
from linewitness.evidence import described as question
from linewitness.evidence.interpreter import find_interpreter
from linewitness.settings import Suite


def answering(folder: Path, answer: str) -> str:
    """A program that answers every question with ``answer``."""
    program = folder / "python"
    program.write_text(f"#!/bin/sh\ncat <<'END'\n{answer}\nEND\n", encoding="utf-8")
    program.chmod(0o755)
    return str(program)


def described(**changes: str) -> str:
    said = {
        "version": "[3, 12, 1]",
        "implementation": '"cpython"',
        "pytest": '"8.0"',
        "points": "[]",
        "importable": "[]",
    }
    return "{" + ", ".join(f'"{key}": {value}' for key, value in (said | changes).items()) + "}"


def test_without_any_environment_the_running_interpreter_is_taken(tmp_path: Path) -> None:
    found = find_interpreter(Suite(), tmp_path, {})
    assert (found.path, found.version) == (Path(sys.executable), tuple(sys.version_info[:3]))


def test_the_setting_wins_over_the_environments_of_the_checkout(tmp_path: Path) -> None:
    named = answering(tmp_path, described())
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    answering(tmp_path / ".venv" / "bin", described())
    assert find_interpreter(Suite(python=named), tmp_path, {}).path == Path(named)
    assert find_interpreter(Suite(python="python"), tmp_path, {}).path == Path(named)


@pytest.mark.parametrize("name", [".venv", "venv"])
def test_the_environment_of_the_checkout_wins_over_an_active_one(tmp_path: Path, name: str) -> None:
    program = tmp_path / name / "bin" / "python"
    program.parent.mkdir(parents=True)
    answering(program.parent, described())
    active = tmp_path / "active"
    (active / "bin").mkdir(parents=True)
    answering(active / "bin", described(version="[3, 13, 0]"))
    variables = {"VIRTUAL_ENV": str(active)}
    assert find_interpreter(Suite(), tmp_path, variables).path == program
    assert find_interpreter(Suite(), None, variables).path == active / "bin" / "python"


def test_a_link_of_a_virtual_environment_is_not_resolved(tmp_path: Path) -> None:
    named = answering(tmp_path, described())
    program = tmp_path / ".venv" / "bin" / "python"
    program.parent.mkdir(parents=True)
    program.symlink_to(named)
    assert find_interpreter(Suite(), tmp_path, {}).path == program


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"pytest": '""'}, "-m pip install pytest"),
        ({"version": "[3, 8, 18]"}, "3.9 or later"),
        ({"implementation": '"pypy"'}, "needs CPython"),
        ({"version": '"three"'}, "when asked for its version"),
    ],
)
def test_an_interpreter_that_cannot_do_it_is_refused_with_a_remedy(
    tmp_path: Path, changes: dict[str, str], words: str
) -> None:
    with pytest.raises(EvidenceError, match=words):
        find_interpreter(Suite(python=answering(tmp_path, described(**changes))), None)


def test_a_setting_that_names_no_program_is_refused(tmp_path: Path) -> None:
    with pytest.raises(EvidenceError, match="no program that can be run"):
        find_interpreter(Suite(python=str(tmp_path / "python")), None)
    with pytest.raises(EvidenceError, match="must be absolute"):
        find_interpreter(Suite(python="bin/python"), None)


def test_a_plugin_name_that_no_command_line_can_hold_is_refused() -> None:
    with pytest.raises(EvidenceError, match="cannot be run"):
        find_interpreter(Suite(python=sys.executable, plugins=("a\0b",)), None)


@pytest.mark.parametrize("name", ['a "b"', "c\\d", "tab\tand\nline", "caf\u00e9 \U0001f600", os.fsdecode(b"\xff")])
def test_folders_with_any_name_are_told_as_they_are(tmp_path: Path, name: str) -> None:
    folder = str(tmp_path / name)
    os.mkdir(folder)
    program = f"import runpy, sys; sys.path.append({folder!r})"
    program += f"; runpy.run_path({question.__file__!r}, run_name='__main__')"
    done = subprocess.run([sys.executable, "-I", "-B", "-c", program], check=True, capture_output=True)
    assert json.loads(done.stdout)["search_path"][-1] == folder


def test_the_running_interpreter_answers_for_itself_as_it_would_when_asked(tmp_path: Path) -> None:
    home = str(Path(question.__file__).parents[2])
    program = tmp_path / "ask.py"
    program.write_text(
        f"import sys; sys.path.append({home!r})\n"
        "from linewitness.evidence import described\n"
        "import json, subprocess\n"
        "with open(described.__file__, encoding='utf-8') as text:\n"
        "    asked = subprocess.check_output([sys.executable, '-I', '-B', '-c', text.read()])\n"
        "sys.path.pop()\n"
        "print(json.dumps([described.describe(described.isolated_path(), []), json.loads(asked)]))\n",
        encoding="utf-8",
    )
    bare = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run([sys.executable, str(program)], env=bare, check=True, capture_output=True, text=True)
    own, asked = json.loads(done.stdout)
    assert own == asked


@pytest.mark.parametrize("variable", ["PYTHONPATH", "PYTHONHOME", "PYTHONPLATLIBDIR"])
def test_an_interpreter_whose_search_path_was_changed_does_not_answer_for_itself(
    monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    for name in ("PYTHONPATH", "PYTHONHOME", "PYTHONPLATLIBDIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sys.modules["site"], "USER_SITE", "/nowhere")
    assert question.isolated_path() is not None
    monkeypatch.setenv(variable, "/somewhere")
    assert question.isolated_path() is None


def test_an_interpreter_of_another_build_does_not_compile_alike(tmp_path: Path) -> None:
    builds = (question.build(), question.build() + "d", "")
    alike = [
        find_interpreter(Suite(python=answering(tmp_path, described(build=json.dumps(build)))), None).compiles_alike
        for build in builds
    ]
    assert alike == [True, False, False]
