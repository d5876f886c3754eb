"""pytest-xdist, reruns, plugins: other ways in which tests are run, and what may go wrong in them."""

from __future__ import annotations

from pathlib import Path

import pytest

from linewitness.errors import EvidenceError
from linewitness.evidence.interpreter import Interpreter, find_interpreter
from linewitness.settings import Suite
from tests.recorder.runs import TESTS, trusted_run

PRODUCT = """\
def first():
    return "first"


def second():
    return "second"


def third():
    return "third"
"""
XDIST = Suite(plugins=("xdist",), args=("-n", "2"))


def with_plugins(python: Interpreter, suite: Suite) -> Interpreter:
    return find_interpreter(_at(suite, python), None)


def _at(suite: Suite, python: Interpreter) -> Suite:
    return Suite(name=suite.name, plugins=suite.plugins, args=suite.args, python=str(python.path))


def test_workers_report_what_they_ran(tmp_path: Path, python: Interpreter) -> None:
    checks = "import os, subprocess, sys\nimport pkg\n" + "".join(
        f"def test_{name}():\n    assert os.environ['PYTEST_XDIST_WORKER']\n    assert pkg.{name}()\n"
        for name in ("first", "second")
    )
    checks += (
        "def test_third():\n"
        "    subprocess.run([sys.executable, '-c', 'import pkg; pkg.third()'], check=True)\n"
        "@__import__('pytest').mark.parametrize('n', range(20))\n"
        "def test_many(n): pass\n"
    )
    ran = trusted_run(tmp_path, with_plugins(python, XDIST), {"src/pkg.py": PRODUCT, TESTS: checks}, XDIST)
    assert ran.messages == ""
    assert {name: ran.saw(f'return "{name}"') for name in ("first", "second", "third")} == {
        "first": {"test_first"},
        "second": {"test_second"},
        "third": {"test_third"},
    }
    assert ran.record.source.tests is not None
    assert ran.record.source.tests.passed == 23


@pytest.mark.parametrize("end", ["os._exit(0)", "os.kill(os.getpid(), 9)"])
def test_a_lost_worker_closes_the_gate(tmp_path: Path, python: Interpreter, end: str) -> None:
    checks = f"import os, pkg\ndef test_first():\n    pkg.first()\ndef test_lost():\n    {end}\n"
    ran = trusted_run(tmp_path, with_plugins(python, XDIST), {"src/pkg.py": PRODUCT, TESTS: checks}, XDIST)
    assert "LW503" in ran.codes
    assert "worker gw" in ran.messages
    assert ran.record.hits == {}


def test_failures_in_workers_are_failures(tmp_path: Path, python: Interpreter) -> None:
    checks = "import pkg\ndef test_first():\n    assert pkg.first()\ndef test_second():\n    assert not pkg.second()\n"
    ran = trusted_run(tmp_path, with_plugins(python, XDIST), {"src/pkg.py": PRODUCT, TESTS: checks}, XDIST)
    assert ran.codes == ["LW501"]
    assert (ran.saw('return "first"'), ran.saw('return "second"')) == ({"test_first"}, set())


def test_a_skip_from_the_product_is_noticed_in_workers(tmp_path: Path, python: Interpreter) -> None:
    product = PRODUCT + "\n\ndef away():\n    import unittest\n    raise unittest.SkipTest('away')\n"
    checks = "import pkg\ndef test_first():\n    assert pkg.first()\ndef test_away():\n    pkg.away()\n"
    ran = trusted_run(tmp_path, with_plugins(python, XDIST), {"src/pkg.py": product, TESTS: checks}, XDIST)
    assert ran.codes == ["LW501"]
    assert "src/pkg.py" in ran.messages


RERUN = """\
from _pytest.runner import runtestprotocol

def pytest_runtest_protocol(item, nextitem):
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    for attempt in range(3):
        reports = runtestprotocol(item, nextitem=nextitem, log=False)
        failed = any(report.failed for report in reports)
        for report in reports:
            if failed and attempt < 2 and report.failed:
                report.outcome = "rerun"
            item.ihook.pytest_runtest_logreport(report=report)
        if not failed:
            break
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True
"""


# As pytest-rerunfailures 16 does it: each attempt is started and finished.
ANEW = RERUN.replace(
    "    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)\n    return True\n",
    "    return True\n",
).replace(
    "        if not failed:\n            break\n",
    "        item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)\n"
    "        if not failed:\n            break\n"
    "        item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)\n",
)


@pytest.mark.parametrize("conftest", [RERUN, ANEW], ids=["as one", "one by one"])
def test_a_test_that_passed_on_a_second_attempt_witnesses_nothing(
    tmp_path: Path, python: Interpreter, conftest: str
) -> None:
    checks = (
        "import pkg\n"
        "attempts = []\n"
        "def test_flaky():\n"
        "    attempts.append(1)\n"
        "    pkg.first()\n"
        "    assert len(attempts) == 2\n"
        "def test_steady():\n"
        "    pkg.second()\n"
    )
    files = {"src/pkg.py": PRODUCT, TESTS: checks, "tests/conftest.py": conftest}
    ran = trusted_run(tmp_path, python, files)
    assert ran.codes == []
    assert "passed only after a rerun" in ran.messages
    assert (ran.saw('return "first"'), ran.saw('return "second"')) == (set(), {"test_steady"})


def test_what_only_a_failed_attempt_ran_is_seen_again_later(tmp_path: Path, python: Interpreter) -> None:
    checks = (
        "import pkg, pytest\n"
        "@pytest.mark.xfail\n"
        "def test_expected():\n"
        "    pkg.first()\n"
        "    assert 0\n"
        "def test_later():\n"
        "    pkg.first()\n"
    )
    ran = trusted_run(tmp_path, python, {"src/pkg.py": PRODUCT, TESTS: checks})
    assert ran.messages == ""
    assert ran.saw('return "first"') == {"test_later"}


def test_plugins_are_off_unless_the_settings_name_them(tmp_path: Path, python: Interpreter) -> None:
    checks = "def test_it(request):\n    assert not request.config.pluginmanager.hasplugin('xdist')\n"
    assert trusted_run(tmp_path, python, {"src/pkg.py": PRODUCT, TESTS: checks}).messages == ""


def test_a_plugin_is_found_by_the_name_of_its_distribution(python: Interpreter) -> None:
    names = [find_interpreter(_at(Suite(plugins=(name,)), python), None).plugins for name in ("xdist", "pytest-xdist")]
    assert names == [("xdist",), ("xdist",)]


def test_a_plugin_that_is_not_there_is_told_with_the_command_that_mends_it(python: Interpreter) -> None:
    with pytest.raises(EvidenceError, match="-m pip install pytest-no-such-thing"):
        find_interpreter(_at(Suite(plugins=("pytest_no_such_thing",)), python), None)


def test_pytest_inside_pytest_does_not_confuse_the_recorder(tmp_path: Path, python: Interpreter) -> None:
    checks = (
        "import pkg\n"
        "pytest_plugins = ['pytester']\n"
        "def test_outer(pytester):\n"
        "    pytester.makepyfile('import pkg\\ndef test_inner():\\n    pkg.first()\\n')\n"
        "    assert pytester.inline_run('-p', 'no:cacheprovider').ret == 0\n"
        "    pkg.second()\n"
        "def test_after():\n"
        "    pkg.third()\n"
    )
    files = {"src/pkg.py": PRODUCT, TESTS: checks}
    ran = trusted_run(tmp_path, python, files)
    assert ran.messages == ""
    assert [ran.saw(f'return "{name}"') for name in ("first", "second", "third")] == [
        {"test_outer"},
        {"test_outer"},
        {"test_after"},
    ]
