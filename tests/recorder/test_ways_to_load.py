"""However a check gets at the product, what it then calls is witnessed; the ways that are not are those of the docs."""

from __future__ import annotations

from pathlib import Path

import pytest

from linewitness.case import Question
from linewitness.evidence.interpreter import Interpreter, find_interpreter
from linewitness.gate import CheckRequest, check
from linewitness.settings import Suite
from tests.recorder.runs import TESTS, trusted_run
from tests.support.repos import Repo

BEFORE = "def f(n):\n    return n\n"
AFTER = """\
import pytest


@pytest.fixture
def two():
    return 1 + 1


def f(n):
    assert n is not None
    return n * 2
"""
PLAIN = "import product\n\n\ndef test(two):\n    assert product.f(two) == 4\n"
MODULE = "{how}\ntwo = m.two\n\n\ndef test(two):\n    assert m.f(two) == 4\n"
CHILD = """\
import product
from product import two


def test(two):
    {how}
"""
PYTESTER = """\
INNER = '''
import product

def test(two):
    assert product.f(two) == 4
'''


def test_outer(pytester):
    pytester.makepyfile(INNER)
    pytester.{how}("-p", "product").assert_outcomes(passed=1)
"""
IMPORTED = {
    "by name": "import product as m",
    "by path": """\
import importlib.util
spec = importlib.util.spec_from_file_location("m", "product.py")
m = importlib.util.module_from_spec(spec)
spec.loader.exec_module(m)""",
    "by a loader": """\
from importlib.machinery import SourceFileLoader
m = SourceFileLoader("m", "product.py").load_module()""",
    "by a loader of its own": """\
import importlib.machinery, importlib.util

class Loader(importlib.machinery.SourceFileLoader):
    def source_to_code(self, data, path, *, _optimize=-1):
        return super().source_to_code(data, path)

spec = importlib.util.spec_from_loader("m", Loader("m", "product.py"))
m = importlib.util.module_from_spec(spec)
spec.loader.exec_module(m)""",
    "lazily": """\
import importlib.util, sys
spec = importlib.util.find_spec("product")
spec.loader = importlib.util.LazyLoader(spec.loader)
m = importlib.util.module_from_spec(spec)
sys.modules["product"] = m
spec.loader.exec_module(m)""",
    "among others": """\
import pkgutil
[m] = [
    each.module_finder.find_spec(each.name).loader.load_module(each.name)
    for each in pkgutil.iter_modules(["."]) if each.name == "product"
]""",
    "again": "import importlib, product\nm = importlib.reload(product)",
    "anew": "import sys, product\ndel sys.modules['product']\nimport product as m",
    "with runpy, as a module": "import runpy, types\nm = types.SimpleNamespace(**runpy.run_module('product'))",
}
EXECUTED = {
    "with runpy, by path": "import runpy, types\nm = types.SimpleNamespace(**runpy.run_path('product.py'))",
    "with exec": """\
import pathlib, types
m = types.ModuleType("m")
exec(compile(pathlib.Path("product.py").read_text(), "product.py", "exec"), vars(m))""",
    "as byte code": """\
import marshal, types
import product as m
m.f = types.FunctionType(marshal.loads(marshal.dumps(m.f.__code__)), vars(m))""",
}
PLUGIN = {
    "a plugin of the root": ({"conftest.py": 'pytest_plugins = ["product"]\n'}, PLAIN),
    "a plugin of the checks": ({"tests/trusted/conftest.py": 'pytest_plugins = ["product"]\n'}, PLAIN),
    "a plugin in a worker": (
        {"conftest.py": 'pytest_plugins = ["product"]\n', "linewitness.toml": 'plugins = ["xdist"]\nargs = ["-n1"]\n'},
        PLAIN,
    ),
    "to be rewritten": (
        {"tests/trusted/conftest.py": 'import pytest\npytest.register_assert_rewrite("product")\n'},
        PLAIN.replace("\n", "\nfrom product import two\n", 1),
    ),
    "a plugin in a run inside": (
        {"conftest.py": 'pytest_plugins = ["pytester"]\n'},
        PYTESTER.format(how="runpytest_inprocess"),
    ),
    "a plugin in a run beside": (
        {"conftest.py": 'pytest_plugins = ["pytester"]\n'},
        PYTESTER.format(how="runpytest_subprocess"),
    ),
}
CHILDREN = {
    "in a program": """\
import subprocess, sys
    assert subprocess.run([sys.executable, "-c", "import product; assert product.f(2) == 4"]).returncode == 0""",
    "in a spawned process": """\
import multiprocessing
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.map(product.f, [two]) == [4]""",
    "in a fork": """\
import multiprocessing
    with multiprocessing.get_context("fork").Pool(1) as pool:
        assert pool.map(product.f, [two]) == [4]""",
}
Way = tuple[dict[str, str], str]
WAYS: dict[str, Way] = {
    **{name: ({}, MODULE.format(how=how)) for name, how in (IMPORTED | EXECUTED).items()},
    **{name: ({}, CHILD.format(how=how)) for name, how in CHILDREN.items()},
    **PLUGIN,
}


@pytest.mark.parametrize("way", ["-m product", "product.py", "folder"])
def test_a_program_that_a_check_starts(tmp_path: Path, python: Interpreter, way: str) -> None:
    test = f"""\
import subprocess, sys

def test_it():
    assert subprocess.check_output([sys.executable, *{way.split()}], cwd="src") == b"4\\n"
"""
    product = "def double(n):\n    return n * 2\n\n\nif __name__ == '__main__':\n    print(double(2))\n"
    ran = trusted_run(tmp_path, python, {"src/product.py": product, "src/folder/__main__.py": product, TESTS: test})
    path = "src/folder/__main__.py" if way == "folder" else "src/product.py"
    is_seen = way != "product.py" or python.version >= (3, 12)  # docs/limits.md says so
    assert (ran.messages, ran.saw("return n * 2", path)) == ("", {"test_it"} if is_seen else set())


@pytest.mark.parametrize("file", ["pyproject.toml", "setup.cfg", "setup.py", ""])
@pytest.mark.parametrize("args", [(), ("-n1",)])
def test_a_run_that_a_check_of_a_plugin_starts_loads_what_is_installed(
    tmp_path: Path, python: Interpreter, args: tuple[str, ...], file: str
) -> None:
    test = """\
import os, subprocess, sys, product

def test_plugins(request):
    assert product.f(1)
    inner = subprocess.run([sys.executable, "-m", "pytest", "--help"], capture_output=True, text=True).stdout
    assert ("--asyncio-mode" in inner) is IS_PLUGIN
    assert not request.config.pluginmanager.hasplugin("asyncio")
"""
    suite = Suite(args=args, plugins=("xdist",) if args else ())
    files = {"src/product.py": "def f(n):\n    return n\n", TESTS: test.replace("IS_PLUGIN", str(file != ""))}
    if file:
        files[file] = "# pytest11\n"
    ran = trusted_run(
        tmp_path, find_interpreter(Suite(python=str(python.path), plugins=suite.plugins), None), files, suite
    )
    assert (ran.messages, ran.saw("return n")) == ("", {"test_plugins"})


@pytest.mark.parametrize("name", WAYS)
def test_every_line_is_witnessed(tmp_path: Path, python: Interpreter, name: str) -> None:
    files, test = WAYS[name]
    settings = f'[[suite]]\nrunner = "pytest"\npython = "{python.path}"\n' + files.get("linewitness.toml", "")
    repo = Repo(tmp_path / "repo")
    repo.commit("base", {**files, "linewitness.toml": settings, TESTS: test, "product.py": BEFORE})
    repo.commit("head", {"product.py": AFTER})
    artifact = check(CheckRequest(repo.root, Question("HEAD~1", "HEAD")), lambda _: None)
    is_seen = name not in EXECUTED or python.version >= (3, 12)  # docs/limits.md says so
    assert (artifact.owed, artifact.exit == 0) == (6, is_seen), artifact.findings
