"""Code under test that meddles with what judges it is seen, and honest programs that do odd things are left alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from linewitness.evidence.interpreter import Interpreter
from linewitness.settings import Suite
from tests.recorder.runs import TESTS, Ran, trusted_run

PRODUCT = """\
import builtins, glob, os, sys


def value():
    return 1


def never():
    return "never"


def kit():
    return os.environ["LINEWITNESS_KIT"]


def records():
    return os.path.join(os.path.dirname(kit()), "records")


def loaded(name):
    return sys.modules["_linewitness." + name]


def caller():
    return sys._getframe(2)


def session():
    frame = sys._getframe()
    while frame is not None:
        item = frame.f_locals.get("item") or frame.f_locals.get("pyfuncitem")
        if item is not None:
            return item
        frame = frame.f_back


def attack():
%s
"""

GOOD = "import product\n\n\ndef test_good():\n    assert product.value()\n\n\n"
WRONG = GOOD + "def test_wrong():\n    product.attack()\n    assert product.value() == 2\n"
QUIET = GOOD + "def test_quiet():\n    product.attack()\n\n\ndef test_after():\n    assert product.value()\n"
RAISES = (
    "import pytest\n" + GOOD + "def test_raises():\n    with pytest.raises(KeyError):\n        product.attack()\n\n\n"
    "def test_after():\n    assert product.value()\n"
)
UNITTEST = (
    "import unittest\n" + GOOD + "class TestIt(unittest.TestCase):\n    def test_wrong(self):\n"
    "        product.attack()\n        self.assertEqual(product.value(), 2)\n"
)


def attack(
    folder: Path, python: Interpreter, code: str, checks: str, suite: Suite | None = None, **options: object
) -> Ran:
    body = "".join(f"    {line}\n" for line in code.strip("\n").splitlines())
    return trusted_run(folder, python, {"src/product.py": PRODUCT % body, TESTS: checks}, suite, **options)


# What each attack does inside a test, which checks it is up against, and words of what has to be said about it.
ON_OUTCOMES = {
    "reports made green": (
        """
from _pytest import reports
made = reports.TestReport.from_item_and_call.__func__
def from_item_and_call(cls, item, call):
    report = made(cls, item, call)
    report.outcome, report.longrepr = "passed", None
    return report
reports.TestReport.from_item_and_call = classmethod(from_item_and_call)
""",
        WRONG,
        "_pytest.reports.TestReport.from_item_and_call was replaced by code of src/product.py",
    ),
    "calls made to succeed": (
        """
from _pytest import runner
made = runner.CallInfo.from_call.__func__
def from_call(cls, func, when, reraise=None):
    call = made(cls, func, when, reraise)
    call.excinfo, call._result = None, None
    return call
runner.CallInfo.from_call = classmethod(from_call)
""",
        QUIET + "\n\ndef test_wrong():\n    assert product.value() == 2\n",
        "_pytest.runner.CallInfo.from_call was replaced",
    ),
    "the function that makes reports exchanged from inside": (
        """
from _pytest import runner
def makereport(item, call):
    call.excinfo = None
    return TestReport.from_item_and_call(item, call)
runner.pytest_runtest_makereport.__code__ = makereport.__code__
""",
        WRONG,
        "__code__ of pytest_runtest_makereport() was replaced by code of src/product.py",
    ),
    "the defaults of a function of the harness exchanged": (
        """
from _pytest import runner
runner.call_and_report.__defaults__ = (False,)
""",
        QUIET,
        "__defaults__ of call_and_report() was replaced",
    ),
    "a name that judges taken out of its module": (
        """
import pytest
del pytest.importorskip
""",
        QUIET,
        "pytest.importorskip was replaced",
    ),
    "a method that judges taken out of its class": (
        """
from _pytest import reports
del reports.TestReport.__init__
""",
        QUIET,
        "_pytest.reports.TestReport.__init__ was replaced",
    ),
    "assertions of unittest emptied": (
        """
import unittest
unittest.TestCase.assertEqual = lambda *arguments: None
""",
        UNITTEST,
        "unittest.case.TestCase.assertEqual was replaced by code of src/product.py",
    ),
    "raises() pleased with anything": (
        """
try:
    from _pytest.raises import RaisesExc as raises
except ImportError:
    from _pytest.python_api import RaisesContext as raises
raises.__exit__ = lambda *arguments: True
""",
        RAISES,
        ".__exit__ was replaced by code of src/product.py",
    ),
    "AssertionError made a skip": (
        """
import unittest
builtins.AssertionError = unittest.SkipTest
""",
        WRONG,
        "builtins.AssertionError was replaced",
    ),
    "the test replaced in its module": (
        """
sys.modules["test_it"].test_after = lambda: None
""",
        QUIET,
        "the function of tests/trusted/test_it.py::test_after was replaced by code of src/product.py",
    ),
    "the test replaced in its item": (
        """
for item in session().session.items:
    if item.name == "test_after":
        item.obj = lambda: None
""",
        QUIET,
        "the function of tests/trusted/test_it.py::test_after was replaced by code of src/product.py",
    ),
    "the test's code replaced": (
        """
def nothing(): pass
sys.modules["test_it"].test_after.__code__ = nothing.__code__
""",
        QUIET,
        "__code__ of test_after() was replaced by code of src/product.py",
    ),
    "a hook of pytest put beside": (
        """
class Plugin:
    def pytest_runtest_logreport(self, report):
        report.outcome = "passed"
session().config.pluginmanager.register(Plugin())
""",
        QUIET,
        "code of src/product.py was made a hook of pytest (pytest_runtest_logreport)",
    ),
    "the recorder's plugin unregistered": (
        """
manager = session().config.pluginmanager
manager.unregister(name="linewitness-session")
""",
        QUIET,
        "",
    ),
    "the recorder's hook function exchanged": (
        """
manager = session().config.pluginmanager
for impl in manager.hook.pytest_runtest_logreport.get_hookimpls():
    if "linewitness" in impl.function.__module__:
        impl.function = lambda *arguments: None
""",
        QUIET,
        "a hook of pytest was replaced",
    ),
    "the recorder's judgement exchanged": (
        """
loaded("plugin").Session._row = lambda self, report: [report.when, "passed", "", ""]
""",
        WRONG,
        "_linewitness.plugin.Session._row was replaced by code of src/product.py",
    ),
}

ON_RECORDS = {
    "asks for the recorder": (
        """
loaded("recorder").Recorder.active
""",
        "the recorder was asked for by attack() of src/product.py",
    ),
    "writes a row through the journal": (
        """
held = session().config.pluginmanager.get_plugin("linewitness-session")._recorder
held.journal.write(["import", [["src/product.py", list(range(90))]]])
""",
        "the record was written to by attack() of src/product.py",
    ),
    "has the journal append a line that it did not ask for": (
        """
held = session().config.pluginmanager.get_plugin("linewitness-session")._recorder
held.journal._append(b'["import",[["src/product.py",[0,1,2]]]]\\n')
""",
        "the record was written to by attack() of src/product.py",
    ),
    "appends to the record": (
        """
[path] = glob.glob(records() + "/main-*")
with open(path, "a") as stream:
    stream.write('["import",[["src/product.py",[0,1,2,3,4,5,6,7,8,9]]]]\\n')
""",
        "is not as the recorder left it",
    ),
    "appends to the record behind the recorder's back": (
        """
import subprocess
subprocess.run(["/bin/sh", "-c", "echo '[\\"import\\",[[\\"src/product.py\\",[0,1,2]]]]' >> main-*"], cwd=records())
""",
        "is not as the recorder left it",
    ),
    "doubles a row": (
        """
[path] = glob.glob(records() + "/main-*")
import subprocess
subprocess.run(["/bin/sh", "-c", f"tail -n 1 {path} >> {path}"])
""",
        "is not as the recorder left it",
    ),
    "leaves a record of a process that never was": (
        """
with open(records() + "/child-99999-1.jsonl", "w") as stream:
    stream.write('["start",2,"child",99999,"","x"]\\n')
""",
        "is not as the recorder left it",
    ),
    "leaves something else among the records": (
        """
os.mkdir(records() + "/more")
""",
        "no recorder makes such a file",
    ),
    "shortens the record": (
        """
[path] = glob.glob(records() + "/main-*")
os.truncate(path, 10)
""",
        "is not as the recorder left it",
    ),
}

# What leaves no trace but the event of an audit hook.
ON_AUDIT = {
    "code exchanged and put back within a test": (
        """
from _pytest import runner
held = runner.pytest_runtest_makereport
was, held.__code__ = held.__code__, value.__code__
held.__code__ = was
""",
        "__code__ of pytest_runtest_makereport() was replaced by attack() of src/product.py",
    ),
    "reads the record": (
        """
[path] = glob.glob(records() + "/main-*")
open(path).read()
""",
        "the records were touched by attack() of src/product.py",
    ),
}

ON_MONITORING = {
    "releases the tools and lets another have them": (
        """
for tool in range(6):
    if (monitoring.get_tool(tool) or "").startswith("linewitness"):
        monitoring.free_tool_id(tool)
        monitoring.use_tool_id(tool, "other")
""",
        "a monitoring tool of the recorder was released (seen after tests/trusted/test_it.py::test_quiet)",
    ),
    "switches the events off": (
        """
for tool in range(6):
    if monitoring.get_tool(tool) == "linewitness-start":
        monitoring.set_events(tool, 0)
""",
        "the events of the recorder were switched off",
    ),
    "takes a callback away": (
        """
for tool in range(6):
    if monitoring.get_tool(tool) == "linewitness":
        monitoring.register_callback(tool, monitoring.events.INSTRUCTION, None)
""",
        "the events of the recorder were switched off",
    ),
    "switches the events of one function off": (
        """
for tool in range(6):
    if monitoring.get_tool(tool) == "linewitness":
        monitoring.set_local_events(tool, value.__code__, 0)
""",
        "the events of value in src/product.py were switched off",
    ),
    "calls the callback": (
        """
event = monitoring.events.INSTRUCTION
for tool in range(6):
    if monitoring.get_tool(tool) == "linewitness-start":
        start = monitoring.register_callback(tool, monitoring.events.PY_START, None)
        monitoring.register_callback(tool, monitoring.events.PY_START, start)
        start(never.__code__, 0)
    if monitoring.get_tool(tool) == "linewitness":
        callback = monitoring.register_callback(tool, event, None)
        monitoring.register_callback(tool, event, callback)
for offset in range(0, len(never.__code__.co_code), 2):
    callback(never.__code__, offset)
""",
        "a hit was reported not by the interpreter but by attack() of src/product.py",
    ),
}

ON_PROBES = {
    "passes the probes itself": (
        """
marks = next(c for c in never.__code__.co_consts if isinstance(c, dict))
for number in range(60):
    marks[(1 << 20) + number]
""",
        "a hit was reported not by a probe but by attack() of src/product.py",
    ),
    "asks the marks through their method": (
        """
marks = next(c for c in never.__code__.co_consts if isinstance(c, dict))
for number in range(60):
    marks.__missing__((1 << 20) + number)
""",
        "a hit was reported not by a probe but by",
    ),
}


@pytest.mark.parametrize("name", ON_OUTCOMES)
def test_meddling_with_outcomes_is_seen(tmp_path: Path, python: Interpreter, name: str) -> None:
    code, checks, said = ON_OUTCOMES[name]
    ran = attack(tmp_path, python, code, checks)
    assert said in ran.messages
    assert {"LW505", "LW503"} & set(ran.codes), ran.messages
    assert ran.record.hits == {}


@pytest.mark.parametrize("name", ON_RECORDS)
def test_meddling_with_the_records_is_seen(tmp_path: Path, python: Interpreter, name: str) -> None:
    code, said = ON_RECORDS[name]
    ran = attack(tmp_path, python, code, QUIET)
    assert said in ran.messages
    assert "LW505" in ran.codes
    assert ran.record.hits == {}


@pytest.mark.parametrize("starts", ["all", "loaded"])
@pytest.mark.parametrize("name", ON_MONITORING)
def test_meddling_with_the_events_is_seen(tmp_path: Path, python: Interpreter, name: str, starts: str) -> None:
    if python.version < (3, 12) or (name, starts) == ("switches the events off", "loaded"):
        return  # Of what is loaded, no event is on that could be switched off for all.
    code, said = ON_MONITORING[name]
    code = "monitoring = sys.monitoring\n" + code
    ran = attack(tmp_path, python, code, QUIET, watches_starts=starts == "all")
    assert said in ran.messages
    assert ran.codes == ["LW505"]
    assert ran.record.hits == {}


@pytest.mark.parametrize("name", ON_PROBES)
def test_meddling_with_the_probes_is_seen(tmp_path: Path, python: Interpreter, name: str) -> None:
    if python.version >= (3, 12):
        return
    code, said = ON_PROBES[name]
    ran = attack(tmp_path, python, code, QUIET)
    assert said in ran.messages
    assert ran.codes == ["LW505"]
    assert ran.record.hits == {}


@pytest.mark.parametrize("name", ON_AUDIT)
def test_what_only_an_audit_hook_sees_is_seen_where_the_suite_asks_for_it(
    tmp_path: Path, python: Interpreter, name: str
) -> None:
    code, said = ON_AUDIT[name]
    ran = attack(tmp_path, python, code, QUIET, Suite(audit="always"))
    assert said in ran.messages
    assert ran.codes == ["LW505"]
    assert ran.record.hits == {}


def test_without_a_reason_no_audit_hook_is_there(tmp_path: Path, python: Interpreter) -> None:
    probe = "_linewitness.auditing"
    checks = f"import product, sys\n\n\ndef test_it():\n    assert product.value() and {probe!r} not in sys.modules\n"
    ran = trusted_run(tmp_path, python, {"src/product.py": PRODUCT % "    pass", TESTS: checks}, notes_reads=False)
    assert ran.messages == ""
    assert ran.saw("return 1") == {"test_it"}
