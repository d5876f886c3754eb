"""Which code is seen when it starts: all of it, or what is imported where no check can run a file otherwise."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from linewitness.case import Question
from linewitness.evidence.interpreter import Interpreter
from linewitness.gate import CheckRequest, check
from tests.recorder.runs import TESTS, trusted_run
from tests.support.repos import Repo

PRODUCT = """\
import functools


def decorated(function):
    @functools.wraps(function)
    def wrapper(*args):
        return function(*args)

    return wrapper


class Shop:
    rate = 2

    @decorated
    def total(self, prices):
        return sum(price * self.rate for price in prices)


def later():
    yield from map(lambda n: n + 1, [1, 2])
"""
IMPORTED = """\
import importlib

import product


def test_total():
    assert product.Shop().total([1, 2]) == 6


def test_later():
    again = importlib.reload(product)
    assert list(again.later()) == [2, 3]
"""
EXECUTED = """\
import runpy


def test_total():
    found = runpy.run_path("src/product.py")
    assert found["Shop"]().total([1, 2]) == 6
"""


@pytest.mark.parametrize("starts", ["all", "loaded"])
def test_what_is_imported_is_seen_either_way(tmp_path: Path, python: Interpreter, starts: str) -> None:
    files = {"src/product.py": PRODUCT, TESTS: IMPORTED}
    ran = trusted_run(tmp_path, python, files, watches_starts=starts == "all")
    assert ran.record.findings == ()
    for snippet in ("return function(*args)", "return sum(price"):
        assert ran.saw(snippet) == {"test_total"}
    assert ran.saw("yield from") == {"test_later"}
    assert (ran.entered("wrapper"), ran.entered("<lambda>")) == ({"test_total"}, {"test_later"})
    assert ran.record.loaded == {"src/product.py", TESTS}


def test_what_is_executed_otherwise_is_seen_where_all_starts_are(tmp_path: Path, python: Interpreter) -> None:
    files = {"src/product.py": PRODUCT, TESTS: EXECUTED}
    ran = trusted_run(tmp_path / "all", python, files, watches_starts=True)
    if python.version >= (3, 12):
        assert ran.saw("return sum(price") == {"test_total"}
    ran = trusted_run(tmp_path / "loaded", python, files, watches_starts=False)
    assert ran.record.hits == {}
    assert ran.codes == []


def test_the_gate_asks_the_checks_whether_a_file_may_run_without_an_import(tmp_path: Path, python: Interpreter) -> None:
    repo = Repo(tmp_path / "repo")
    settings = f'[[suite]]\nrunner = "pytest"\npython = "{python.path}"\n'
    test = EXECUTED.replace("src/product.py", "product.py")
    repo.commit("base", {"linewitness.toml": settings, TESTS: test, "product.py": "Shop = None\n"})
    repo.commit(
        "head", {"product.py": PRODUCT.replace("\n\n\ndef later():\n    yield from map(lambda n: n + 1, [1, 2])", "")}
    )
    artifact = check(CheckRequest(repo.root, Question("HEAD~1", "HEAD")), lambda _: None)
    assert (artifact.exit == 0) is (python.version >= (3, 12))  # docs/recorder.md says so


def test_an_import_hook_that_was_replaced_is_told(tmp_path: Path, python: Interpreter) -> None:
    product = (
        "from importlib.machinery import SourceFileLoader\n\n\ndef attack():\n"
        "    SourceFileLoader.get_code = lambda self, name: None\n    return 1\n"
    )
    test = "import product\n\n\ndef test_it():\n    assert product.attack()\n\n\ndef test_more():\n    assert 1\n"
    ran = trusted_run(tmp_path, python, {"src/product.py": product, TESTS: test}, watches_starts=False)
    assert "the import hook of the recorder was replaced (seen after " in ran.messages
    assert (ran.codes, ran.record.hits) == (["LW505"], {})


@pytest.mark.parametrize("starts", ["all", "loaded"])
def test_a_project_that_pytest_itself_imports_is_seen(tmp_path: Path, python: Interpreter, starts: str) -> None:
    program = "import iniconfig, os; print(os.path.dirname(iniconfig.__file__))"
    asked = subprocess.run([python.path, "-c", program], check=True, capture_output=True, text=True)
    package = {path.name: path.read_text(encoding="utf-8") for path in Path(asked.stdout.strip()).glob("*.py")}
    package["__init__.py"] += "\n\ndef half(n: int) -> int:\n    return n // 2\n"
    files = {f"src/iniconfig/{name}": text for name, text in package.items()}
    test = "import iniconfig\n\n\ndef test_half():\n    assert iniconfig.half(4) == 2\n"
    ran = trusted_run(tmp_path, python, {**files, TESTS: test}, watches_starts=starts == "all")
    assert (ran.codes, ran.saw("return n // 2", "src/iniconfig/__init__.py")) == ([], {"test_half"})
