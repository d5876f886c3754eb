"""Ordinary patches on the layouts that projects have: each opens the gate, and what is pointed out is no error."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.attacks.shop import apply, ask, errors
from tests.support.repos import Content, Repo

ADD = "def add(a, b):\n    return a + b\n"
ADDED = "def add(a, b):\n    total = a + b\n    return total\n"
CHECK = "from calc import add\n\n\ndef test_add():\n    assert add(1, 2) == 3\n"
ALL_TESTS = 'trusted = ["tests/**", "!tests/generated/**"]\n'
READS = (
    "import json\nimport pathlib\n\nimport pytest\n\n\n@pytest.fixture\ndef cases():\n"
    "    return json.loads((pathlib.Path(__file__).parent / 'data' / 'cases.json').read_text())\n"
)
MANY_SKIPS = """\
import sys

import pytest

import calc

json = pytest.importorskip("json")


def test_add():
    assert calc.add(1, 2) == 3


@pytest.mark.skipif(not calc.HAS_FAST, reason="no fast path here")
def test_fast():
    assert 0


@pytest.mark.skipif(sys.version_info < (3, 99), reason="a newer Python")
def test_newer():
    assert 0


@pytest.mark.xfail(reason="known to be wrong", strict=True)
def test_known():
    assert calc.add(1, 1) == 3
"""


class Layout(NamedTuple):
    """What the target branch has, and what an honest patch makes of it."""

    base: Mapping[str, Content]
    patch: Mapping[str, Content]


def project(version: str) -> str:
    pytest_table = '[tool.pytest.ini_options]\ntestpaths = ["tests"]\n'
    return f'[project]\nname = "calc"\nversion = "{version}"\n{pytest_table}[tool.linewitness]\n{ALL_TESTS}'


def suite(line: str) -> str:
    return f'{ALL_TESTS}[[suite]]\nname = "unit"\nrunner = "pytest"\n{line}\n'


LAYOUTS: dict[str, Layout] = {
    "a src layout whose conftest reads cases from a file": Layout(
        {
            "pyproject.toml": project("1"),
            "src/calc/__init__.py": "from calc.core import add\n",
            "src/calc/core.py": ADD,
            "tests/conftest.py": READS,
            "tests/data/cases.json": "[[1, 2, 3]]",
            "tests/test_core.py": "from calc import add\n\n\ndef test_add(cases):\n"
            "    for a, b, c in cases:\n        assert add(a, b) == c\n",
        },
        {"src/calc/core.py": ADDED, "pyproject.toml": project("2"), "README.md": "# Calc\n"},
    ),
    "a flat layout with data in the package": Layout(
        {
            "linewitness.toml": ALL_TESTS,
            "calc/__init__.py": "",
            "calc/rates.json": '{"a": 1}',
            "calc/core.py": "import json\nfrom importlib.resources import files\n\n\ndef rate(name):\n"
            "    return json.loads(files('calc').joinpath('rates.json').read_text())[name]\n",
            "tests/test_core.py": "from calc.core import rate\n\n\ndef test_rate():\n    assert rate('a') == 1\n",
        },
        {
            "calc/rates.json": '{"a": 1, "b": 2}',
            "calc/core.py": "import json\nfrom importlib.resources import files\n\n\ndef rate(name):\n"
            "    found = json.loads(files('calc').joinpath('rates.json').read_text())\n    return found[name]\n",
        },
    ),
    "two packages in one repository": Layout(
        {
            "linewitness.toml": 'trusted = ["packages/*/tests/**"]\n',
            "pytest.ini": "[pytest]\npythonpath = packages/a/src packages/b/src\naddopts = --import-mode=importlib\n",
            "packages/a/src/calc/__init__.py": ADD,
            "packages/a/tests/test_it.py": CHECK,
            "packages/b/src/more/__init__.py": "from calc import add\n\n\ndef next_of(x):\n    return add(x, 1)\n",
            "packages/b/tests/test_it.py": "from more import next_of\n\n\n"
            "def test_next():\n    assert next_of(1) == 2\n",
        },
        {
            "packages/a/src/calc/__init__.py": ADDED,
            "packages/b/src/more/__init__.py": "from calc import add\n\n\ndef next_of(x):\n    one = 1\n"
            "    return add(x, one)\n",
        },
    ),
    "tests beside the code": Layout(
        {
            "linewitness.toml": 'trusted = ["calc/**/test_*.py"]\n',
            "calc/__init__.py": ADD,
            "calc/test_it.py": CHECK,
            "calc/more.py": "Y = 1\n",
            "calc/inner/__init__.py": "X = 1\n",
            "calc/inner/more.py": "Y = 1\n",
            "calc/inner/test_it.py": "from calc.inner import X\n\n\ndef test_x():\n    assert X\n",
        },
        {"calc/__init__.py": ADDED, "calc/inner/__init__.py": "X = 1\nY = 2\n"},
    ),
    "a tox.ini of which other parts change": Layout(
        {
            "linewitness.toml": ALL_TESTS,
            "tox.ini": "[tox]\nenvlist = py311\n\n[pytest]\naddopts = -ra\n",
            "calc.py": ADD,
            "tests/test_it.py": CHECK,
        },
        {"calc.py": ADDED, "tox.ini": "[tox]\nenvlist = py311,py312\n\n[pytest]\naddopts = -ra\n"},
    ),
    "checks that do not apply, for many reasons": Layout(
        {
            "linewitness.toml": ALL_TESTS,
            "calc.py": f"HAS_FAST = False\n\n\n{ADD}",
            "tests/test_it.py": MANY_SKIPS,
            "tests/test_optional.py": "import pytest\n\nlibrary = pytest.importorskip('no_such_library')\n",
        },
        {"calc.py": f"HAS_FAST = False\n\n\n{ADDED}"},
    ),
    "a registry from which something goes": Layout(
        {
            "linewitness.toml": ALL_TESTS,
            "calc.py": "def a(x):\n    return x\n\n\ndef b(x):\n    return x\n\n\nALL = {'a': a, 'b': b}\n",
            "tests/test_it.py": "import pytest\nfrom calc import ALL\n\n\n"
            "@pytest.mark.parametrize('name', sorted(ALL))\ndef test_each(name):\n    assert ALL[name](1) == 1\n",
        },
        {"calc.py": "def a(x):\n    return x\n\n\nALL = {'a': a}\n"},
    ),
    "fixtures that the package gives away": Layout(
        {
            "linewitness.toml": ALL_TESTS,
            "calc/__init__.py": ADD,
            "calc/testing.py": "import pytest\nfrom calc import add\n\n\n"
            "@pytest.fixture\ndef adder():\n    return add\n",
            "tests/conftest.py": "from calc.testing import adder  # noqa: F401\n",
            "tests/test_it.py": "def test_add(adder):\n    assert adder(1, 2) == 3\n",
        },
        {
            "calc/__init__.py": ADDED,
            "calc/testing.py": "import pytest\nfrom calc import add\n\n\n@pytest.fixture\ndef adder():\n"
            "    given = add\n    return given\n",
        },
    ),
    "a property over drawn values": Layout(
        {
            "linewitness.toml": ALL_TESTS,
            "calc.py": ADD,
            "tests/test_it.py": "from hypothesis import given, strategies\nfrom calc import add\n\n\n"
            "@given(strategies.integers(), strategies.integers())\n"
            "def test_add(a, b):\n    assert add(a, b) == add(b, a)\n",
        },
        {"calc.py": ADDED},
    ),
    "tests in two processes, with a helper": Layout(
        {
            "linewitness.toml": suite('plugins = ["xdist"]\nargs = ["-n", "2"]'),
            "calc.py": ADD,
            "tests/helping.py": "def same(a, b):\n    return a == b\n",
            "tests/test_it.py": "from calc import add\nfrom helping import same\n\n\ndef test_add():\n"
            "    assert same(add(1, 2), 3)\n\n\ndef test_more():\n    assert add(1, 1) == 2\n",
        },
        {"calc.py": ADDED},
    ),
    "examples in docstrings of trusted tests": Layout(
        {
            "linewitness.toml": suite('args = ["--doctest-modules"]'),
            "calc.py": ADD,
            "tests/test_it.py": CHECK.replace("    assert", '    """\n    >>> add(1, 2)\n    3\n    """\n    assert'),
        },
        {"calc.py": ADDED},
    ),
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_an_ordinary_patch_opens_the_gate(tmp_path: Path, name: str) -> None:
    layout = LAYOUTS[name]
    repo = Repo(tmp_path)
    base = repo.commit("base", layout.base)
    apply(repo, layout.patch)
    artifact = ask(tmp_path, base)

    assert (artifact.exit, errors(artifact)) == (0, {})
    assert artifact.owed
