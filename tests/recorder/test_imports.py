"""Which file an import means during the trusted run, and what a run that used others says."""

from __future__ import annotations

from pathlib import Path

import pytest

from linewitness.evidence.interpreter import Interpreter
from linewitness.evidence.pytest_settings import owned_names
from linewitness.model import RepoPath
from linewitness.settings import Suite
from tests.recorder.runs import TESTS, trusted_run, write


def installed(folder: Path, files: dict[str, str]) -> Suite:
    """A suite whose interpreter finds ``files`` as if they were installed: an own path entry behind the library's."""
    write(folder / "installed", files)
    return Suite(env=(f"PYTHONPATH={folder / 'installed'}",))


def test_an_installed_old_copy_does_not_win(tmp_path: Path, python: Interpreter) -> None:
    suite = installed(tmp_path, {"pkg/__init__.py": "def f():\n    return 'old'\n"})
    files = {
        "src/pkg/__init__.py": "def f():\n    return 'new'\n",
        TESTS: "import pkg\ndef test_new():\n    assert pkg.f() == 'new'\n",
    }
    ran = trusted_run(tmp_path, python, files, suite)
    assert ran.messages == ""
    assert ran.saw("return 'new'") == {"test_new"}


def test_an_installed_old_copy_does_not_win_in_children_either(tmp_path: Path, python: Interpreter) -> None:
    suite = installed(tmp_path, {"pkg/__init__.py": "raise SystemExit('old')\n", "pkg/__main__.py": ""})
    files = {
        "src/pkg/__init__.py": "",
        "src/pkg/__main__.py": "print('new')\n",
        TESTS: (
            "import subprocess, sys\n"
            "def test_new():\n"
            "    run = subprocess.run([sys.executable, '-m', 'pkg'], check=True, stdout=subprocess.PIPE)\n"
            "    assert run.stdout.strip() == b'new'\n"
        ),
    }
    ran = trusted_run(tmp_path, python, files, suite)
    assert ran.messages == ""
    assert ran.saw("print('new')") == {"test_new"}


def test_a_module_that_only_the_old_copy_has_closes_the_gate(tmp_path: Path, python: Interpreter) -> None:
    suite = installed(tmp_path, {"pkg/__init__.py": "", "pkg/speedups.py": "def f():\n    return 'built once'\n"})
    files = {
        "src/pkg/__init__.py": f"__path__.append({str(tmp_path / 'installed/pkg')!r})\n",
        TESTS: "import pkg.speedups\ndef test_it():\n    assert pkg.speedups.f()\n",
    }
    ran = trusted_run(tmp_path, python, files, suite)
    assert ran.codes == ["LW506"]
    assert "pkg.speedups" in ran.messages


def test_an_installed_part_of_a_shared_namespace_is_no_stray(tmp_path: Path, python: Interpreter) -> None:
    suite = installed(tmp_path, {"shared/theirs/__init__.py": "WORD = 'theirs'\n"})
    files = {
        "src/shared/ours/__init__.py": "def f():\n    return 'ours'\n",
        TESTS: (
            "import shared.ours, shared.theirs\n"
            "def test_both():\n"
            "    assert (shared.ours.f(), shared.theirs.WORD) == ('ours', 'theirs')\n"
        ),
    }
    ran = trusted_run(tmp_path, python, files, suite)
    assert ran.messages == ""
    assert ran.saw("return 'ours'") == {"test_both"}


@pytest.mark.parametrize("name", ["colorsys", "pluggy"])
def test_a_file_of_the_patch_shadows_nothing(tmp_path: Path, python: Interpreter, name: str) -> None:
    files = {
        f"{name}.py": "raise SystemExit('shadowed')\n",
        "src/pkg.py": "def f():\n    return 1\n",
        "tests/__init__.py": "",
        "tests/trusted/__init__.py": "",
        TESTS: f"import {name}, pkg\ndef test_it():\n    assert pkg.f()\n",
    }
    ran = trusted_run(tmp_path, python, files, owned=frozenset({"pkg"}))
    assert ran.messages == ""
    assert ran.saw("return 1") == {"test_it"}
    assert f"{name}.py" not in ran.record.loaded


def test_helpers_beside_the_tests_are_found(tmp_path: Path, python: Interpreter) -> None:
    files = {
        "src/pkg.py": "def f():\n    return 1\n",
        "tests/trusted/helping.py": "import pkg\ndef help():\n    return pkg.f()\n",
        "tests/conftest.py": "import pytest\n@pytest.fixture\ndef one():\n    return 1\n",
        TESTS: "import helping\ndef test_it(one):\n    assert helping.help() == one\n",
    }
    ran = trusted_run(tmp_path, python, files)
    assert ran.messages == ""
    assert ran.saw("return 1") == {"test_it"}
    assert ran.record.loaded == {"src/pkg.py", "tests/trusted/helping.py", "tests/conftest.py", TESTS}


@pytest.mark.parametrize("layout", ["", "src/", "lib/", "python/"])
@pytest.mark.parametrize("mode", ["prepend", "importlib"])
def test_every_layout_and_import_mode_is_observed(tmp_path: Path, python: Interpreter, layout: str, mode: str) -> None:
    ini = f"[pytest]\naddopts = --import-mode={mode} -k nothing\npythonpath = python\n"
    files = {
        "pytest.ini": ini,
        f"{layout}pkg/__init__.py": "",
        f"{layout}pkg/inner.py": "def f():\n    return 1\n",
        TESTS: "from pkg.inner import f\ndef test_it():\n    assert f()\n",
    }
    if layout == "python/":
        files["python/.keep"] = ""
    ran = trusted_run(tmp_path, python, files)
    assert ran.messages == ""
    assert ran.saw("return 1") == {"test_it"}


def test_a_product_file_that_looks_like_a_test_keeps_its_own_code(tmp_path: Path, python: Interpreter) -> None:
    files = {
        "src/pkg/__init__.py": "",
        "src/pkg/test_tools.py": "def check(value):\n    assert value\n    return 'checked'\n",
        TESTS: "from pkg.test_tools import check\ndef test_it():\n    assert check(1)\n",
    }
    ran = trusted_run(tmp_path, python, files)
    assert ran.messages == ""
    assert ran.saw("return 'checked'") == {"test_it"}


def test_a_twin_under_the_same_file_name_counts_for_nothing(tmp_path: Path, python: Interpreter) -> None:
    product = """\
def forge():
    text = "\\n" * 6 + "def refund():\\n    return 1\\nrefund()\\n"
    exec(compile(text, __file__, "exec"), {})
    return True


def refund(
):
    return 2
"""
    ran = trusted_run(
        tmp_path, python, {"src/pkg.py": product, TESTS: "import pkg\ndef test_it():\n    assert pkg.forge()\n"}
    )
    assert ran.codes == []
    assert ran.saw("return True") == {"test_it"}
    assert ran.saw("return 2") == set()
    assert ran.entered("refund") == set()


def test_settings_above_and_beside_the_root_take_no_part(tmp_path: Path, python: Interpreter) -> None:
    write(
        tmp_path, {"pytest.ini": "[pytest]\naddopts = --no-such-option\n", "conftest.py": "raise SystemExit('outer')\n"}
    )
    files = {
        "src/pkg.py": "def f():\n    return 1\n",
        "tests/pytest.ini": "[pytest]\naddopts = --no-such-option\n",
        TESTS: "import pkg\ndef test_it():\n    assert pkg.f()\n",
    }
    assert trusted_run(tmp_path, python, files).messages == ""


def test_variables_reach_the_tests_only_when_they_are_let_through(tmp_path: Path, python: Interpreter) -> None:
    checks = "import os\ndef test_it():\n    assert (os.environ.get('A'), os.environ.get('B'), os.environ.get('C')) == "
    host = {"A": "1", "B": "2", "PATH": "/usr/bin:/bin"}
    files = {"src/pkg.py": "", TESTS: checks + "('1', None, '3')\n"}
    ran = trusted_run(tmp_path, python, files, Suite(env=("A", "C=3")), host=host)
    assert ran.messages == ""


def test_the_environments_own_sitecustomize_still_runs_in_children(tmp_path: Path, python: Interpreter) -> None:
    suite = installed(tmp_path, {"sitecustomize.py": "import sys\nsys.from_the_environment = True\n"})
    files = {
        "src/pkg.py": "",
        TESTS: (
            "import subprocess, sys\n"
            "def test_it():\n"
            "    code = 'import sys; assert sys.from_the_environment'\n"
            "    subprocess.run([sys.executable, '-c', code], check=True)\n"
        ),
    }
    assert trusted_run(tmp_path, python, files, suite).messages == ""


def test_a_file_that_does_not_compile_there_is_told_and_stays_open(tmp_path: Path, python: Interpreter) -> None:
    files = {
        "src/pkg.py": "def f():\n    return 1\n",
        "src/newer.py": "x = 1\ndef f(:\n    pass\n",
        TESTS: "import pkg\ndef test_it():\n    assert pkg.f()\n",
    }
    ran = trusted_run(tmp_path, python, files)
    assert ran.codes == []
    [finding] = ran.record.findings
    assert (finding.path, finding.severity) == ("src/newer.py", "warning")
    assert "does not compile on Python" in finding.message
    assert "(line 2)" in finding.message
    assert RepoPath("src/newer.py") not in ran.record.sites


def test_owned_names_come_from_the_usual_roots() -> None:
    paths = [
        "flat/__init__.py",
        "flat/inner/__init__.py",
        "single.py",
        "setup.py",
        "conftest.py",
        "docs/conf.py",
        "src/inside/__init__.py",
        "src/namespace/part/__init__.py",
        "src/alone.py",
        "python/other/__init__.py",
        "json.py",
        "tests/test_it.py",
        "not-a-name/__init__.py",
        "README.md",
    ]
    names = owned_names(map(RepoPath, paths), ["python"])
    assert names == {"flat", "single", "inside", "namespace", "alone", "other"}
