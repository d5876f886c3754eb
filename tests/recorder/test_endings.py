"""Passing by absence is failing: every way to end a run early, or to look green, closes the gate."""

from __future__ import annotations

from pathlib import Path

import pytest

from linewitness.errors import EvidenceError
from linewitness.evidence.interpreter import Interpreter
from linewitness.settings import Suite
from tests.recorder.runs import TESTS, Ran, trusted_run

PRODUCT = """\
import atexit, os, sys, unittest

def value():
    return 1

def leave():
    os._exit(0)

def leave_politely():
    sys.exit(0)

def leave_at_exit():
    atexit.register(os._exit, 0)

def skip():
    raise unittest.SkipTest("not today")

def skip_by_pytest():
    import pytest
    pytest.skip("not today")

def fail_softly():
    import pytest
    pytest.xfail("not today")

def leave_by_pytest():
    import pytest
    pytest.exit("enough", returncode=0)
"""


def run(folder: Path, python: Interpreter, checks: str, suite: Suite | None = None, **more: str) -> Ran:
    files = {"src/product.py": PRODUCT, TESTS: "import unittest\nimport pytest\nimport product\n" + checks, **more}
    return trusted_run(folder, python, files, suite)


GOOD = "def test_good():\n    assert product.value()\n"
AFTER = "def test_after():\n    assert product.value()\n"


def test_a_green_run_has_no_findings(tmp_path: Path, python: Interpreter) -> None:
    ran = run(tmp_path, python, GOOD)
    assert (ran.codes, ran.saw("return 1")) == ([], {"test_good"})
    assert ran.record.source.tests is not None
    assert ran.record.source.tests.passed == 1


@pytest.mark.parametrize("how", ["leave", "leave_by_pytest"])
def test_leaving_in_the_middle_is_noticed_and_nothing_counts(tmp_path: Path, python: Interpreter, how: str) -> None:
    ran = run(tmp_path, python, GOOD + f"def test_leaves():\n    product.{how}()\n" + AFTER)
    assert ran.codes == ["LW503"]
    assert ran.record.hits == {}


def test_the_test_that_ended_the_run_is_named(tmp_path: Path, python: Interpreter) -> None:
    ran = run(tmp_path, python, GOOD + "def test_leaves():\n    product.leave()\n" + AFTER)
    assert f"during {TESTS}::test_leaves" in ran.messages


def test_a_polite_exit_is_a_failed_test(tmp_path: Path, python: Interpreter) -> None:
    ran = run(tmp_path, python, GOOD + "def test_leaves():\n    product.leave_politely()\n")
    assert ran.codes == ["LW501"]
    assert ran.saw("return 1") == {"test_good"}


def test_a_status_changed_on_the_way_out_is_noticed(tmp_path: Path, python: Interpreter) -> None:
    ran = run(tmp_path, python, "def test_bad():\n    product.leave_at_exit()\n    assert 0\n")
    assert ran.codes == ["LW501", "LW503"]


@pytest.mark.parametrize("how", ["skip", "skip_by_pytest", "fail_softly"])
def test_code_under_test_may_not_skip_a_check(tmp_path: Path, python: Interpreter, how: str) -> None:
    ran = run(tmp_path, python, GOOD + f"def test_skipped():\n    product.{how}()\n")
    assert ran.codes == ["LW501"]
    [finding] = ran.record.findings
    text = PRODUCT.splitlines()[finding.line - 1]
    assert finding.path == "src/product.py"
    assert "not today" in text


def test_code_under_test_may_not_skip_a_unittest_either(tmp_path: Path, python: Interpreter) -> None:
    checks = "class TestIt(unittest.TestCase):\n    def test_skipped(self):\n        product.skip()\n"
    ran = run(tmp_path, python, GOOD + checks)
    assert ran.codes == ["LW501"]
    assert ran.record.findings[0].path == "src/product.py"


def test_code_under_test_may_not_skip_a_whole_module(tmp_path: Path, python: Interpreter) -> None:
    other = {"tests/trusted/test_other.py": "import product\nproduct.skip()\n"}
    ran = run(tmp_path, python, GOOD, None, **other)
    assert ran.codes == ["LW501"]
    assert "tests/trusted/test_other.py was skipped from src/product.py" in ran.messages


SKIPS = """
@pytest.mark.skip(reason="by mark")
def test_marked(): ...

@pytest.mark.skipif(True, reason="by condition")
def test_condition(): ...

def test_imperative():
    pytest.skip("by call")

def test_missing():
    pytest.importorskip("no_such_module_anywhere")

def test_from_conftest(absent): ...

class TestIt(unittest.TestCase):
    @unittest.skip("by decorator")
    def test_decorated(self): ...

    def test_raised(self):
        raise unittest.SkipTest("by exception")

    def test_called(self):
        self.skipTest("by method")
"""


def test_protected_files_may_skip_as_they_like(tmp_path: Path, python: Interpreter) -> None:
    conftest = "import pytest\n@pytest.fixture\ndef absent():\n    pytest.skip('by fixture')\n"
    ran = run(tmp_path, python, GOOD + SKIPS, None, **{"tests/conftest.py": conftest})
    assert ran.messages == ""
    assert ran.record.source.tests is not None
    assert ran.record.source.tests.skipped == 8


def test_helpers_may_skip_when_they_are_protected(tmp_path: Path, python: Interpreter) -> None:
    files = {
        "src/product.py": PRODUCT,
        "tests/trusted/helping.py": "import pytest\ndef absent():\n    pytest.skip('by helper')\n",
        TESTS: "import helping, product\n" + GOOD + "def test_skipped():\n    helping.absent()\n",
    }
    closed = trusted_run(tmp_path / "closed", python, files)
    protected = frozenset({"tests/trusted/helping.py"})
    opened = trusted_run(tmp_path / "open", python, files, protected=protected)
    assert (closed.codes, opened.codes) == (["LW501"], [])


def test_all_skipped_is_no_evidence(tmp_path: Path, python: Interpreter) -> None:
    ran = run(tmp_path, python, "def test_skipped():\n    pytest.skip('all')\n")
    assert ran.codes == ["LW502"]


def test_no_test_in_the_files_is_no_evidence(tmp_path: Path, python: Interpreter) -> None:
    assert run(tmp_path, python, "def helper(): ...\n").codes == ["LW502"]


def test_no_test_file_at_all_is_no_evidence(tmp_path: Path, python: Interpreter) -> None:
    ran = trusted_run(tmp_path, python, {"src/product.py": PRODUCT, "tests/trusted/data.py": ""})
    assert ran.codes == ["LW502"]
    assert ran.record.hits == {}


def test_each_failing_test_is_named_with_its_reason(tmp_path: Path, python: Interpreter) -> None:
    checks = """
@pytest.fixture
def broken():
    raise RuntimeError("no database")

@pytest.fixture
def leaking():
    yield
    raise RuntimeError("still open")

def test_wrong():
    assert product.value() == 2, "one is not two"
def test_broken(broken): ...
def test_leaking(leaking):
    product.value()
"""
    ran = run(tmp_path, python, checks)
    assert ran.codes == ["LW501"]
    assert "::test_wrong failed: " in ran.messages
    assert "one is not two" in ran.messages
    assert "::test_broken failed in setup: " in ran.messages
    assert "::test_leaking failed in teardown: " in ran.messages
    assert "still open" in ran.messages
    assert ran.saw("return 1") == set()


def test_a_module_that_cannot_be_collected_is_named(tmp_path: Path, python: Interpreter) -> None:
    broken = {"tests/trusted/test_broken.py": "import product\nraise RuntimeError('cannot import this')\n"}
    ran = run(tmp_path, python, GOOD, None, **broken)
    assert ran.codes == ["LW501"]
    assert "tests/trusted/test_broken.py cannot be collected" in ran.messages
    assert "cannot import this" in ran.messages


def test_a_wrong_option_is_an_error_with_the_words_of_pytest(tmp_path: Path, python: Interpreter) -> None:
    ran = run(tmp_path, python, GOOD, Suite(args=("--no-such-option",)))
    assert ran.codes == ["LW503"]
    assert "--no-such-option" in ran.messages


def test_stopping_at_the_first_failure_leaves_tests_without_outcome(tmp_path: Path, python: Interpreter) -> None:
    ran = run(tmp_path, python, "def test_bad():\n    assert 0\n" + AFTER, Suite(args=("-x",)))
    assert ran.codes == ["LW501", "LW503"]
    assert "test_after" in ran.messages


def test_a_run_that_hangs_is_stopped(tmp_path: Path, python: Interpreter) -> None:
    ran = run(tmp_path, python, "def test_hangs():\n    while True: pass\n", Suite(timeout=2))
    assert ran.codes == ["LW503"]
    assert "stopped after" in ran.messages
    assert ran.record.hits == {}


def test_a_killed_run_names_the_signal(tmp_path: Path, python: Interpreter) -> None:
    ran = run(tmp_path, python, "import os\ndef test_killed():\n    os.kill(os.getpid(), 9)\n")
    assert ran.codes == ["LW503"]
    assert "SIGKILL" in ran.messages


def test_damaged_records_are_no_evidence(tmp_path: Path, python: Interpreter) -> None:
    checks = (
        GOOD
        + """
def test_writes_into_the_record():
    import glob, os
    [path] = glob.glob(os.path.dirname(os.environ["LINEWITNESS_KIT"]) + "/records/main-*")
    with open(path, "ab") as stream:
        stream.write(b"{]\\n")
"""
    )
    ran = run(tmp_path, python, checks)
    assert ran.codes == ["LW505"]
    assert ran.record.hits == {}


def test_forged_success_in_the_reports_is_noticed(tmp_path: Path, python: Interpreter) -> None:
    conftest = "def pytest_sessionfinish(session):\n    session.exitstatus = 0\n"
    ran = run(tmp_path, python, "def test_bad():\n    assert 0\n", None, **{"conftest.py": conftest})
    assert ran.codes == ["LW501", "LW503"]


def test_setup_commands_build_the_tree_first(tmp_path: Path, python: Interpreter) -> None:
    suite = Suite(setup=("python -c \"open('src/built.py', 'w').write('answer = 42')\"",))
    ran = run(tmp_path, python, "def test_built():\n    import built\n    assert built.answer == 42\n", suite)
    assert ran.codes == []


def test_a_setup_command_that_fails_stops_everything(tmp_path: Path, python: Interpreter) -> None:
    with pytest.raises(EvidenceError, match="no compiler here"):
        run(tmp_path, python, GOOD, Suite(setup=("echo no compiler here; exit 3",)))


def test_removed_hooks_are_tampering(tmp_path: Path, python: Interpreter) -> None:
    checks = (
        GOOD
        + """
def test_removes_the_hooks():
    import sys
    from importlib.machinery import SourceFileLoader
    monitoring = getattr(sys, "monitoring", None)
    if monitoring is None:
        original = SourceFileLoader.get_code
        SourceFileLoader.get_code = lambda *arguments: original(*arguments)
        return
    for tool in range(6):
        if (monitoring.get_tool(tool) or "").startswith("linewitness"):
            monitoring.free_tool_id(tool)
"""
    )
    ran = run(tmp_path, python, checks)
    assert ran.codes == ["LW505"]
    assert ran.record.hits == {}
