"""The patches that the benchmarks make are what their descriptions say."""

from __future__ import annotations

from pathlib import Path

import check
import pytest
import startup
from measuring import execute

import trusted
from linewitness import gate
from linewitness.case import Question
from linewitness.errors import Exit

RENAMED = '''\
from __future__ import annotations
import os.path as p

class Greeter(object):
    """Says hello."""
    def greet(self, name, *, loud=False):
        match name:
            case str(): return f(name=name) if loud else [x for x in name]
'''


def test_renaming_leaves_lines_and_keywords_where_they_are() -> None:
    after = check.renamed(RENAMED)

    compile(after, "renamed", "exec")
    assert after.splitlines()[0] == "from __future__ import annotations"
    assert after.splitlines()[1] == "import os_.path_ as p_"
    assert after.splitlines()[4] == '    """Says hello."""'
    assert after.splitlines()[6:] == [
        "        match name_:",
        "            case str_(): return f_(name_=name_) if loud_ else [x_ for x_ in name_]",
    ]


def test_the_library_has_modules_that_compile_on_both_sides() -> None:
    path, before, after = next(check.library())

    assert path.startswith("pkg/")
    assert len(before.splitlines()) == len(after.splitlines())
    assert before != after


def test_too_many_modules_are_refused_with_the_number_there_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(check.MODULES, "open", lambda: iter([("pkg/a.py", "a = 1\n", "a_ = 1\n")]))

    with pytest.raises(SystemExit, match="--files 1"):
        check.repository(tmp_path / "repository", 2, "open")


@pytest.mark.parametrize(("shape", "verdict"), [("run", Exit.OPEN), ("open", Exit.CLOSED)])
def test_of_the_big_patch_all_lines_are_witnessed_or_none(shape: str, verdict: Exit, tmp_path: Path) -> None:
    home = tmp_path / "repository"
    check.repository(home, 2, shape)

    found = gate.check(gate.CheckRequest(home, Question("base", "head")), lambda _: None)

    assert found.exit == verdict
    assert found.owed > 50
    assert found.trusted_hit == (found.owed if shape == "run" else 0)


def test_the_small_patch_is_witnessed_by_its_export_and_by_its_tests(tmp_path: Path) -> None:
    home = tmp_path / "repository"
    startup.repository(home, 5)
    question = Question("base", "head")

    ran = gate.check(gate.CheckRequest(home, question), lambda _: None)
    imported = gate.check(gate.CheckRequest(home, question, gate.Exports((home / "lcov.info",))), lambda _: None)

    assert ran.exit == imported.exit == Exit.OPEN
    assert ran.owed == imported.owed == 3 * 17 * 2


def test_the_recorded_and_the_bare_run_are_started_alike(tmp_path: Path) -> None:
    home, folder = tmp_path / "repository", tmp_path / "run"
    startup.repository(home, 5)
    folder.mkdir()
    request = trusted.request_of(home, folder)

    bare = trusted.plain(request)
    command = bare.pytest("-v", LANG="C")

    assert trusted.record(request).cpu > 0
    assert command.words[: len(bare.python) + 3] == [*bare.python, "-m", "pytest", "-v"]
    assert command.words[0] == str(request.python.path)
    assert command.words[-1] == "tests/trusted/test_all.py"
    assert not any("linewitness" in word for word in command.words[len(bare.python) :] if "/" not in word)
    assert command.cwd == request.export
    assert command.environment is not None
    assert command.environment["LANG"] == "C"
    assert command.environment["PYTHONPATH"].split(":")[-1] == str(request.export)
    answer = execute(command)
    assert answer.status == 0
    assert "2 passed" in answer.said


def test_arguments_without_the_recorder_are_no_arguments_of_a_recorded_run() -> None:
    assert trusted.without_plugin(["-p", "_linewitness.plugin", "-p", "_linewitness.reads", "-q"]) == ("-q",)
    with pytest.raises(ValueError, match="no plugin of the recorder"):
        trusted.without_plugin(["-q"])
