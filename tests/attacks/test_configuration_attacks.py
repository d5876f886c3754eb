"""Attacks on what configures the trusted run, the environment or the gate, and honest changes that look like them.

Most of these close before anything of the patch runs. Where a file is left alone because it cannot steer the run,
the test that the attack means to silence has to fail.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.attacks.shop import (
    ALWAYS_PASSED,
    BROKEN,
    SEEN,
    UNSEEN,
    Attack,
    Patch,
    assert_closes,
    attack,
    errors,
    judge,
    name_of,
)
from tests.support.repos import Content, Executable

DROPS_ALL = "def pytest_collection_modifyitems(items):\n    items[:] = [i for i in items if 'total' not in i.name]\n"
DESELECT = "--deselect tests/trusted/test_shop.py::test_total"
INI = f"[pytest]\naddopts = {DESELECT}\n"
TOML = f'[pytest]\naddopts = ["{DESELECT.replace(" ", "=")}"]\n'
PLUGIN = {"app/tricks.py": ALWAYS_PASSED}
OMIT = "omit = app/*\n"


def broken(trick: Patch) -> Patch:
    return {"app/shop.py": BROKEN, **trick}


def protected(threat: str, trick: Patch, base: dict[str, Content] | None = None) -> Attack:
    return attack(threat, 5, "LW301", broken(trick), base)


REQUIRED = {
    "ci/all.txt": "pytest\n-r more.txt  # others\n",
    "ci/more.txt": "requests\n--constraint=limits.txt\n",
    "ci/limits.txt": "requests<3\n",
    "ci/Makefile": "deps:\n\ttrue\n",
    "ci/prepare.py": "x = 1\n",
}


def steering(threat: str, command: str, path: str) -> Attack:
    """A suite's set-up is steered by a file that the patch changes in what may look like a comment."""
    suite = f'[[suite]]\nname = "unit"\nrunner = "pytest"\nsetup = ["{command}"]\n'
    return protected(threat, {path: f"{REQUIRED[path]}# more\n"}, {**REQUIRED, "linewitness.toml": suite})


ATTACKS = (
    protected("C1 a root conftest that drops the failing test", {"conftest.py": DROPS_ALL}),
    protected("C1 a root conftest that loads a plugin", {"conftest.py": "pytest_plugins = ['app.tricks']\n", **PLUGIN}),
    protected("C1 a conftest inside of the trusted folder", {"tests/trusted/conftest.py": ALWAYS_PASSED}),
    protected("C1 a conftest of another case", {"Conftest.py": ALWAYS_PASSED}),
    protected("C2 a conftest above the trusted folder", {"tests/conftest.py": DROPS_ALL}),
    protected("C3 a package file above the trusted package", {"tests/__init__.py": "x = 1\n"}),
    protected("C3 a native package file there", {"tests/__init__.cpython-311-x86_64-linux-gnu.so": b"\x7fELF"}),
    protected("C4 addopts in setup.cfg", {"setup.cfg": f"[tool:pytest]\naddopts = {DESELECT}\n"}),
    protected("C4 addopts in tox.ini", {"tox.ini": INI}),
    protected("C4 a plugin of the product in addopts", {"pytest.ini": "[pytest]\naddopts = -p app.tricks\n", **PLUGIN}),
    protected("C4 only collected", {"pytest.ini": "[pytest]\naddopts = --co\n"}),
    protected("C5 pytest.ini", {"pytest.ini": INI}),
    protected("C5 a hidden pytest.ini", {".pytest.ini": INI}),
    protected("C5 pytest.toml", {"pytest.toml": TOML}),
    protected("C5 a hidden pytest.toml", {".pytest.toml": TOML}),
    protected("C5 a pytest.ini in a folder on the way", {"tests/pytest.ini": INI}),
    protected("C5 a table of pyproject", {"pyproject.toml": f'[tool.pytest]\naddopts = ["{DESELECT}"]\n'}),
    protected("C7 an installed distribution in the checkout", {"x-1.dist-info/entry_points.txt": "[pytest11]\na=b\n"}),
    protected("C8 a path file", {"app/tricks.pth": "import os\n"}),
    protected("C8 a committed environment", {".venv/pyvenv.cfg": "home = /usr/bin\n"}),
    protected(
        "C9 the requirements that a suite installs",
        {"requirements.txt": "pytest==0\n"},
        {
            "requirements.txt": "pytest\n",
            "linewitness.toml": '[[suite]]\nname = "unit"\nrunner = "pytest"\n'
            'setup = ["pip install -r requirements.txt"]\n',
        },
    ),
    steering("C9 requirements that others include", "pip install -r ci/all.txt", "ci/more.txt"),
    steering("C9 constraints that others include", "pip install -rci/all.txt", "ci/limits.txt"),
    steering(
        "C9 the requirements of a folder that the command goes to", "cd ci && pip install -r all.txt", "ci/all.txt"
    ),
    steering("C9 the task file of a folder that the command names", "make -C ci deps", "ci/Makefile"),
    steering("C9 a module that the command runs", "python -m ci.prepare", "ci/prepare.py"),
    protected("C10 a usercustomize", {"usercustomize.py": "x = 1\n"}),
    protected("C10 a sitecustomize that is a package", {"lib/sitecustomize/__init__.py": "x = 1\n"}),
    attack("C11 a module that shadows the standard library", 5, "LW303", broken({"json.py": "x = 1\n"})),
    attack("C11 a package that shadows coverage", 5, "LW303", broken({"coverage/__init__.py": "x = 1\n"})),
    attack("C11 a package that shadows pytest's inside", 5, "LW303", broken({"_pytest/__init__.py": "x = 1\n"})),
    attack("C11 a native module that hides a source", 5, "LW303", broken({"app/shop.abi3.so": b"\x7fELF"})),
    attack("C11 a module of the standard library in src", 5, "LW303", broken({"src/unittest.py": "x = 1\n"})),
    attack(
        "C12 a module of a trusted helper's name",
        5,
        "LW303",
        broken({"helpers.py": "def same(*_):\n    return True\n"}),
        {
            "tests/trusted/helpers.py": "def same(a, b):\n    return a == b\n",
            "tests/trusted/test_helped.py": "import helpers\nfrom app.shop import total\n\n\ndef test_helped():\n"
            "    assert helpers.same(total([1, 2]), 3)\n",
        },
    ),
    protected("C13 lines omitted in coveragerc", {".coveragerc": f"[run]\n{OMIT}"}),
    protected("C13 lines omitted in pyproject", {"pyproject.toml": '[tool.coverage.run]\nomit = ["app/*"]\n'}),
    protected("C13 lines omitted in setup.cfg", {"setup.cfg": f"[coverage:run]\n{OMIT}"}),
    protected("C13 a plugin of coverage in tox.ini", {"tox.ini": "[coverage:run]\nplugins = app.tricks\n"}),
    attack(
        "C14 a committed coverage file", 1, "LW101 LW104", {"app/shop.py": UNSEEN, ".coverage": b"SQLite format 3\0"}
    ),
    attack(
        "C15 a program called pytest",
        3,
        "LW501 LW101",
        broken({"bin/pytest": Executable("#!/usr/bin/env python\n1\n")}),
    ),
    attack("C15 a Makefile", 3, "LW501 LW104", broken({"Makefile": "test:\n\ttrue\n"})),
    protected(
        "C16 a fixture that shadows a trusted one",
        {"tests/conftest.py": "import pytest\n\n\n@pytest.fixture\ndef want():\n    return 2\n"},
        {"tests/trusted/test_want.py": "def test_want(want):\n    assert want == 3\n"},
    ),
    protected("C17 names of files that match nothing", {"pytest.ini": "[pytest]\npython_files = no_*.py\n"}),
    protected("C17 the trusted folder is ignored", {"conftest.py": "collect_ignore_glob = ['tests/*']\n"}),
    protected("C17 other test paths", {"setup.cfg": "[tool:pytest]\ntestpaths = docs\n"}),
    protected("P2 a job of the pipeline is switched off", {".github/workflows/gate.yml": "jobs: {}\n"}),
    protected("P2 another forge's pipeline", {".gitlab-ci.yml": "gate:\n  allow_failure: true\n"}),
    protected("P3 the gate's settings", {"linewitness.toml": 'trusted = ["nothing/**"]\n'}),
    protected("P3 the gate's settings in pyproject", {"pyproject.toml": '[tool.linewitness]\nsources = ["no/**"]\n'}),
    protected("P3 the list of approvers", {".linewitness/approvers": "eve@example.org ssh-ed25519 AAAA\n"}),
    protected("P3 the code owners", {".github/CODEOWNERS": "* @eve\n"}),
    protected("P11 the settings of an agent's hooks", {".claude/settings.json": '{"disableAllHooks": true}\n'}),
    protected("P11 the hooks of another agent", {"app/.cursor/hooks.json": "{}\n"}),
)


@pytest.mark.parametrize("case", ATTACKS, ids=name_of)
def test_the_attack_closes_the_gate(tmp_path: Path, case: Attack) -> None:
    assert_closes(tmp_path, case)


INERT: Patch = {
    "docs/pytest.ini": INI,
    "examples/setup.cfg": "[tool:pytest]\naddopts = -q\n",
    "tests/generated/conftest.py": DROPS_ALL,
    "pyproject.toml": '[project]\nname = "shop"\nversion = "2"\n[tool.ruff]\nline-length = 99\n',
    "setup.cfg": "[metadata]\nname = shop\n",
    "tox.ini": "[testenv]\ncommands = true\n",
    "requirements.txt": "requests==3\n",
    "app/json.py": "# a module of the package's own\n",
    "notes/linewitness.toml": "",
    "coverage.json": "{}\n",
}
"""Twins of the attacks above, in places or parts where they steer nothing."""


def test_the_honest_twins_of_these_open_it(tmp_path: Path) -> None:
    artifact = judge(tmp_path, {"app/shop.py": SEEN, **INERT})
    assert (artifact.exit, errors(artifact)) == (0, {})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PYTEST_ADDOPTS", DESELECT),
        ("PYTEST_PLUGINS", "app.tricks"),
        ("PYTHONPATH", "tricks"),
        ("COVERAGE_RCFILE", "tricks/rc"),
        ("PYTHONSTARTUP", "tricks/pytest.py"),
        ("LINEWITNESS_SKIP", "1"),
        ("LINEWITNESS_DISABLE", "true"),
        ("SKIP", "linewitness"),
    ],
)
def test_c6_p10_no_variable_of_the_environment_reaches_the_run_or_switches_the_gate_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)
    tricks: dict[str, Content] = {"app/tricks.py": ALWAYS_PASSED, "tricks/rc": "[run]\n", "tricks/pytest.py": "1\n"}
    artifact = judge(tmp_path, broken({}), tricks)
    assert artifact.exit == 3
    assert "LW501" in errors(artifact)
