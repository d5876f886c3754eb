"""Tests that replace, trace, fork and reload as tests do are no tampering: a gate that cries wolf is removed.

One project per interpreter and one run; each test is a habit of its own.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from linewitness.evidence.interpreter import Interpreter, find_interpreter
from linewitness.settings import Suite
from tests.recorder.runs import TESTS, trusted_run

PRODUCT = """\
import json, os, sys, time


def now():
    return time.time()


def read(path):
    with open(path) as stream:
        return stream.read()


def write(descriptor, data):
    return os.write(descriptor, data)


def dump(value):
    return json.dumps(value)


def render(text):
    names = {}
    exec(compile(text, __file__ + ".template", "exec"), names)
    return names["result"]


def recompile():
    names = {}
    with open(__file__) as stream:
        exec(compile(stream.read(), __file__, "exec"), names)
    return names["dump"]([1])


def old_name():
    return sys.version_info[0]


def child():
    return 7


def deep(number):
    return number if number == 0 else deep(number - 1)
"""

LATE = "def value():\n    return 3\n"

CHECKS = """\
import builtins, collections, importlib, io, json, os, pickle, subprocess, sys, time, types, unittest
from unittest import mock
import pytest
import product


@pytest.fixture
def quiet(monkeypatch):
    monkeypatch.setattr(unittest.TestCase, "assertEqual", lambda *arguments: None)


def test_clock_replaced():
    with mock.patch("time.time", return_value=5), mock.patch("time.monotonic_ns", return_value=5):
        assert product.now() == 5


def test_open_replaced():
    with mock.patch("builtins.open", mock.mock_open(read_data="text")):
        assert product.read("nowhere") == "text"


def test_open_replaced_for_an_import():
    with mock.patch("builtins.open", side_effect=FileNotFoundError), mock.patch("os.path.isfile", return_value=False):
        import late
    assert late.value() == 3


def test_function_pickled_by_value():
    code = product.child.__code__
    constants = pickle.loads(pickle.dumps(code.co_consts))
    assert types.FunctionType(code.replace(co_consts=constants), {})() == 7


def test_write_replaced():
    with mock.patch("os.write", side_effect=OSError), pytest.raises(OSError):
        product.write(1, b"")


def test_json_replaced(monkeypatch):
    monkeypatch.setattr(json, "dumps", lambda value: "dumped")
    monkeypatch.setattr(json, "JSONEncoder", None)
    assert product.dump([]) == "dumped"


def test_builtins_replaced(monkeypatch):
    monkeypatch.setattr(builtins, "sum", lambda values: 42)
    assert sum([]) == 42


def test_harness_replaced_by_a_fixture(quiet):
    unittest.TestCase().assertEqual(1, 2)


def test_descriptors_closed():
    os.closerange(60, 190)
    assert product.child()


def test_trace_set_and_removed():
    sys.settrace(lambda *arguments: None)
    assert product.deep(3) == 0
    sys.settrace(None)
    sys.setprofile(None)


def test_finders_put_aside():
    found, sys.meta_path[:] = sys.meta_path[:], []
    sys.meta_path[:] = found
    assert product.old_name() == 3


def test_modules_put_aside():
    with mock.patch.dict(sys.modules):
        for name in [each for each in sys.modules if each.startswith(("json", "_linewitness"))]:
            del sys.modules[name]
        assert product.old_name() == 3


def test_reloaded():
    assert importlib.reload(product) is product
    assert product.child() == 7


def test_template():
    assert product.render("result = 1 + 1") == 2


def test_source_executed_again():
    assert product.recompile() == "[1]"


def test_fork():
    child = os.fork()
    if not child:
        product.child()
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0


def test_subprocess():
    environment = dict(os.environ, PYTHONPATH=os.environ.get("PYTHONPATH", "") + os.pathsep + "src")
    code = "import product; raise SystemExit(product.child())"
    assert subprocess.run([sys.executable, "-c", code], env=environment).returncode == 7


def test_environment_cleared(monkeypatch):
    for name in list(os.environ):
        monkeypatch.delenv(name)
    assert product.child()


@pytest.mark.parametrize("number", [1, 2, 3])
def test_parameters(number):
    assert product.deep(number) == 0


def test_raises_inside():
    with pytest.raises(RecursionError):
        product.deep(-1)


@mock.patch("product.child", return_value=3)
def test_decorated(replaced):
    assert product.child() == 3


def wrapped(function):
    def inner():
        return function()
    return inner


@wrapped
def test_wrapped_without_a_trace():
    assert product.child() == 7


class TestMethods:
    @staticmethod
    def test_static():
        assert product.child()

    @classmethod
    def test_class(cls):
        assert product.child()

    def test_plain(self):
        assert product.child()


class TestUnits(unittest.TestCase):
    def test_subtests(self):
        for number in range(3):
            with self.subTest(number=number):
                self.assertEqual(product.deep(number), 0)

    @unittest.expectedFailure
    def test_expected(self):
        self.assertEqual(product.child(), 8)

    @unittest.skip("not here")
    def test_skipped(self): ...


def test_code_replaced():
    code = product.child.__code__
    product.child.__code__ = code.replace(co_name="other")
    product.child.__code__ = code
    assert product.child() == 7


def test_function_of_the_tests_own_exchanged():
    helper.__code__ = (lambda: 2).__code__
    assert helper() == 2


def helper():
    return 1


def test_registers_a_plugin(request):
    class Quiet:
        def pytest_runtest_logreport(self, report): ...

    request.config.pluginmanager.register(Quiet())


@pytest.mark.xfail
def test_expected_to_fail():
    assert product.child() == 8


def test_skips_late():
    product.child()
    pytest.skip("late")


def test_last():
    assert product.child()
"""

CONFTEST = """\
import pytest


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    outcome.get_result().sections.append(("by", "conftest"))


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem):
    return None
"""


def test_no_honest_habit_is_taken_for_tampering(tmp_path: Path, python: Interpreter) -> None:
    files = {"src/product.py": PRODUCT, "src/late.py": LATE, TESTS: CHECKS, "tests/conftest.py": CONFTEST}
    ran = trusted_run(tmp_path, python, files)
    assert ran.messages == ""
    assert ran.record.source.tests is not None
    assert (ran.record.source.tests.passed, ran.record.source.tests.xfailed) == (32, 2)
    assert ran.saw("return 3") == {"test_open_replaced_for_an_import"}
    assert "test_descriptors_closed" in ran.saw("return 7")


def test_code_that_looks_into_memory_is_pointed_out_and_goes_on(tmp_path: Path, python: Interpreter) -> None:
    product = "import gc\n\n\ndef value():\n    return len(gc.get_objects())\n"
    checks = "import gc, product\n\n\ndef test_value():\n    assert product.value() and gc.get_objects()\n"
    ran = trusted_run(tmp_path, python, {"src/product.py": product, TESTS: checks}, Suite(audit="always"))
    [finding] = ran.record.findings
    assert (finding.code, finding.severity, finding.path, finding.line) == ("LW505", "warning", "src/product.py", 5)
    assert ran.saw("return len") == {"test_value"}


# By the plugin that the suite has to name, if any: a test that needs it.
PLUGINS = {
    "hypothesispytest": (
        "from hypothesis import given, strategies\n\n\n@given(strategies.integers(0, 5))\n"
        "def test_plugin(number):\n    assert product.deep(number) == 0\n"
    ),
    "asyncio": "@pytest.mark.asyncio\nasync def test_plugin():\n    assert product.child() == 7\n",
    "pytester": (
        "def test_plugin(pytester):\n    pytester.makepyfile('def test_inner():\\n    import unittest\\n')\n"
        "    pytester.inline_run().assertoutcome(passed=1)\n    assert product.child() == 7\n"
    ),
    "": (
        "def test_plugin():\n    import coverage\n    measured = coverage.Coverage(data_file=None)\n"
        "    measured.start()\n    assert product.child() == 7\n    measured.stop()\n"
    ),
}


@pytest.mark.parametrize("name", PLUGINS)
def test_plugins_and_measuring_tools_are_no_tampering(tmp_path: Path, name: str) -> None:
    arguments = ("-p", name) if name == "pytester" else ()
    suite = Suite(python=sys.executable, plugins=(name,) if name and not arguments else (), args=arguments)
    python = find_interpreter(suite, None)
    checks = "import product, pytest\n\n\n" + PLUGINS[name]
    ran = trusted_run(tmp_path, python, {"src/product.py": PRODUCT, TESTS: checks}, suite)
    assert ran.messages == ""
    assert ran.record.source.tests is not None
    assert ran.record.source.tests.passed == 1
