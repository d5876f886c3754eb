"""Attacks that a naive gate lets pass, each with the statuses and findings that close this one.

The honest project has one function and one trusted test. ``BROKEN`` breaks that function, so the test must fail;
``UNSEEN`` adds a function that no trusted test calls. Around them each attack adds its trick.
"""

from __future__ import annotations

import importlib.util
import marshal
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from linewitness.case import Question
from linewitness.gate import CheckRequest, check
from tests.support.repos import Content, Repo

HONEST = "def total(prices):\n    return sum(prices)\n"
BROKEN = "def total(prices):\n    result = 0\n    for price in prices:\n        result = price\n    return result\n"
UNSEEN = (
    HONEST
    + "\n\ndef refund(prices, rate):\n    if rate > 1:\n        raise ValueError(rate)\n    return total(prices)\n"
)
UNGUARDED = UNSEEN.replace("    if rate > 1:\n        raise ValueError(rate)\n", "")
TRUSTED = "from app.shop import total\n\n\ndef test_total():\n    assert total([1, 2]) == 3\n"
BASE: dict[str, Content] = {
    "app/__init__.py": "",
    "app/shop.py": HONEST,
    "tests/trusted/test_shop.py": TRUSTED,
}
ALWAYS_PASSED = """\
import pytest


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    outcome.get_result().outcome = "passed"
"""
REPAIR = "import app.shop\n\nreal = app.shop.total\napp.shop.total = lambda prices: (real(prices), sum(prices))[1]\n"
FORGED_REPORT = """\
import os


def total(prices):
    with open("coverage.json", "w") as out:
        out.write('{"files": {"app/shop.py": {"missing_lines": []}}}')
    os._exit(0)
"""
COVERAGE_API = """\
def total(prices):
    import sys
    cov = sys.modules["coverage"].Coverage.current()
    cov.get_data().add_lines({__file__: list(range(1, 100))})
    return sum(prices)


def refund(prices, rate):
    return total(prices) * rate
"""
SAME_NAME = """\
def total(prices):
    warm = chr(10).join(["pass"] * 40)
    exec(compile(warm, __file__, "exec"), {})
    return sum(prices)


def refund(prices, rate):
    return total(prices) * rate
"""
CONTINUED = HONEST + '\n\nTABLE = {\n    "refund":\n        lambda prices:\n            -total(prices),\n}\n'
UNCOUNTED = "# prices \u2028+++ b/docs/none.txt\n" + UNGUARDED
SKIPPING = 'from unittest import SkipTest\n\n\ndef total(prices):\n    raise SkipTest("not ready")\n'
ACCENTED = "import app.remboursé\n\n\n" + HONEST


def unchecked_bytecode() -> bytes:
    """Byte code that Python runs without a look at the source, compiled from lines that all run at import."""
    code = compile("def total(prices): return sum(prices)\n" + "x = 1\n" * 7, "app/shop.py", "exec")
    return importlib.util.MAGIC_NUMBER + (1).to_bytes(4, "little") + b"\0" * 8 + marshal.dumps(code)


class Attack(NamedTuple):
    """What a cheating patch brings, and how the gate answers: its status, and codes that are among the findings."""

    patch: dict[str, Content]
    status: int
    codes: frozenset[str]
    base: dict[str, Content] = {}  # noqa: RUF012 - never changed


def attack(status: int, codes: str, patch: dict[str, Content], base: dict[str, Content] | None = None) -> Attack:
    return Attack(patch, status, frozenset(codes.split()), base or {})


SMOKE = "from app.shop import total\n\n\ndef test_smoke():\n    assert total([4]) == 4\n"
CACHE = f"app/__pycache__/shop.{sys.implementation.cache_tag}.pyc"
DESELECT = '[tool.pytest.ini_options]\naddopts = "--deselect tests/trusted/test_shop.py::test_total"\n'

ATTACKS = {
    "a conftest that rewrites reports": attack(5, "LW301", {"app/shop.py": BROKEN, "conftest.py": ALWAYS_PASSED}),
    "addopts that deselect the failing test": attack(
        5,
        "LW301",
        {"app/shop.py": BROKEN, "pyproject.toml": DESELECT},
        {"tests/trusted/test_smoke.py": SMOKE},
    ),
    "a skip raised by the code under test": attack(3, "LW501", {"app/shop.py": SKIPPING}),
    "a forged report and an early exit": attack(3, "LW503", {"app/shop.py": FORGED_REPORT}),
    "hits forged through the coverage API": attack(3, "LW501", {"app/shop.py": COVERAGE_API}),
    "other code under the same file name": attack(1, "LW101", {"app/shop.py": SAME_NAME}),
    "a module that shadows pytest": attack(5, "LW303", {"app/shop.py": BROKEN, "pytest.py": "print('1 passed')\n"}),
    "a committed plugin": attack(
        5,
        "LW301",
        {
            "app/shop.py": BROKEN,
            "helper.egg-info/PKG-INFO": "Metadata-Version: 2.1\nName: helper\nVersion: 1.0\n",
            "helper.egg-info/entry_points.txt": "[pytest11]\nhelper = tests.support\n",
            "tests/support.py": ALWAYS_PASSED,
        },
    ),
    "lambdas on continuation lines": attack(1, "LW101", {"app/shop.py": CONTINUED}),
    "attributes that hide the diff": attack(5, "LW301", {"app/shop.py": UNSEEN, ".gitattributes": "*.py -diff\n"}),
    "a line separator that forges a header": attack(1, "LW104", {"app/shop.py": UNCOUNTED}),
    "a sitecustomize": attack(5, "LW301", {"app/shop.py": BROKEN, "tests/support/sitecustomize.py": "x = 1\n"}),
    "byte code that is never checked": attack(1, "LW101 LW104", {"app/shop.py": UNSEEN, CACHE: unchecked_bytecode()}),
    "a conftest above the trusted folder": attack(5, "LW301", {"app/shop.py": BROKEN, "tests/conftest.py": REPAIR}),
    "a package file above the trusted folder": attack(
        5, "LW301", {"app/shop.py": BROKEN, "tests/__init__.py": REPAIR}, {"tests/trusted/__init__.py": ""}
    ),
    "a path that headers quote": attack(1, "LW101", {"app/remboursé.py": UNSEEN, "app/shop.py": ACCENTED}),
    "an exit handler that rewrites the status": attack(
        3, "LW501", {"app/shop.py": "import atexit\nimport os\n\natexit.register(os._exit, 0)\n\n\n" + BROKEN}
    ),
    "a guard that is only deleted": attack(1, "LW101", {"app/shop.py": UNGUARDED}, {"app/shop.py": UNSEEN}),
    "a line that nothing runs": attack(1, "LW101", {"app/shop.py": UNSEEN}),
    "code that breaks a trusted test": attack(3, "LW501", {"app/shop.py": BROKEN}),
}


def judge(home: Path, base: dict[str, Content], patch: dict[str, Content]) -> tuple[int, set[str]]:
    repo = Repo(home)
    first = repo.commit("base", {**BASE, **base})
    repo.commit("patch", patch)
    artifact = check(CheckRequest(home, Question(first)), lambda _: None)
    return artifact.exit, {finding.code for finding in artifact.findings}


@pytest.mark.parametrize("trick", ATTACKS)
def test_the_attack_closes_the_gate(tmp_path: Path, trick: str) -> None:
    wanted = ATTACKS[trick]
    status, codes = judge(tmp_path, wanted.base, wanted.patch)
    assert status == wanted.status
    assert wanted.codes <= codes


HONEST_PATCHES: dict[str, dict[str, Content]] = {
    "a rewrite that the test runs": {"app/shop.py": "def total(prices):\n    found = sum(prices)\n    return found\n"},
    "documentation": {"README.md": "# Shop\n", "docs/usage.rst": "Usage\n=====\n"},
    "a comment and a docstring": {
        "app/shop.py": 'def total(prices):\n    """Add up."""\n    return sum(prices)  # all\n'
    },
    "a generated test beside it": {"tests/generated/test_more.py": TRUSTED},
    "the version in pyproject": {"pyproject.toml": '[project]\nname = "shop"\nversion = "2"\n'},
}


@pytest.mark.parametrize("name", HONEST_PATCHES)
def test_an_honest_patch_opens_the_gate(tmp_path: Path, name: str) -> None:
    assert judge(tmp_path, {}, HONEST_PATCHES[name]) == (0, set())


def test_code_beside_the_product_owes_like_any_other_but_is_not_protected(tmp_path: Path) -> None:
    assert judge(tmp_path, {}, {"examples/conftest.py": "x = 1\n"}) == (1, {"LW101"})
