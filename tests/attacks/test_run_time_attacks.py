"""Attacks by the code under test while the trusted run is going on.

The recorder's own tests hold what is done to the recorder, the sandbox's what is done to the machine. Here the whole
gate is asked. What no gate of lines can close is here too, in a test that says what remains to be seen.
"""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from tests.attacks.shop import (
    HONEST,
    REFUND,
    SEEN,
    SMOKE,
    UNSEEN,
    Attack,
    assert_closes,
    attack,
    errors,
    judge,
    name_of,
)
from tests.attacks.shop import open_lines as lines_open
from tests.support.repos import Content


def within(code: str, *, before: str = "", after: str = REFUND) -> str:
    """The shop, whose function first runs ``code``; ``refund`` is there and nothing calls it."""
    body = textwrap.indent(textwrap.dedent(code).strip("\n"), "    ")
    return f"{before}def total(prices):\n{body}\n    return sum(prices)\n{after}"


def product(threat: str, status: int, codes: str, source: str) -> Attack:
    return attack(threat, status, codes, {"app/shop.py": source})


def skipping(threat: str, code: str) -> Attack:
    return product(f"R1 {threat}", 3, "LW501", within(code, after=""))


def leaving(threat: str, code: str, codes: str = "LW503") -> Attack:
    return product(threat, 3, codes, within(code, after=""))


REACHING = """\
import sys


def total(prices):
    frame = sys._getframe()
    while "item" not in frame.f_locals:
        frame = frame.f_back
    item = frame.f_locals["item"]
    for later in item.session.items[1:]:
        if "total" in later.name:
            {}
    return 4
"""


def reaching(threat: str, code: str, codes: str = "LW505") -> Attack:
    """A first test lets the product reach the test that would fail."""
    first: dict[str, Content] = {"tests/trusted/test_0.py": SMOKE}
    return attack(threat, 3, codes, {"app/shop.py": REACHING.format(code)}, first)


CHOOSING = """\
import sys

frame, config = sys._getframe(), None
while config is None:
    frame = frame.f_back
    config = next((value.config for value in frame.f_locals.values() if hasattr(value, "config")), None)
{}


def total(prices):
    return 4
"""


def choosing(threat: str, code: str) -> Attack:
    """While tests are collected, the product tells pytest which ones to leave out."""
    return product(threat, 3, "LW505", CHOOSING.format(code))


ATTACKS = (
    skipping("the code skips the test", "import pytest\npytest.skip('later')"),
    skipping("the code expects to fail", "import pytest\npytest.xfail('later')"),
    skipping("a module that is missing", "import pytest\npytest.importorskip('nothing')"),
    skipping("a skip by its class", "import _pytest.outcomes as o\nraise o.Skipped('later')"),
    product(
        "R1 the module skips whoever imports it",
        3,
        "LW501",
        "import pytest\n\npytest.skip('later', allow_module_level=True)\n\n\n" + HONEST,
    ),
    product("R1 the module skips by unittest", 3, "LW501", "import unittest\n\nraise unittest.SkipTest\n\n\n" + HONEST),
    leaving("R2 an exit with success", "import pytest\npytest.exit('done', returncode=0)"),
    leaving("R3 a polite exit", "import sys\nsys.exit(0)", "LW501"),
    leaving("R3 a signal", "import os, signal\nos.kill(os.getpid(), signal.SIGTERM)"),
    leaving("R3 another program", "import os, sys\nos.execv(sys.executable, [sys.executable, '-c', ''])"),
    leaving("R3 an interrupt", "raise KeyboardInterrupt"),
    product(
        "R4 the status is changed at the end",
        3,
        "LW501",
        "import os\nimport threading\n\nthreading._register_atexit(lambda: os._exit(0))\n\n\n"
        "def total(prices):\n    return 0\n",
    ),
    attack(
        "R5 results of an earlier run are committed",
        1,
        "LW101",
        {
            "app/shop.py": UNSEEN,
            "coverage.json": '{"files": {"app/shop.py": {"executed_lines": [1, 2, 5, 6]}}}',
            "coverage.xml": "<coverage/>",
            "junit.xml": "<testsuite/>",
        },
    ),
    product(
        "R7 R20 the recorder is looked for in memory",
        1,
        "LW101",
        within(
            """
            import gc
            gc.unfreeze()
            for each in gc.get_objects():
                if type(each).__name__ == "CoverageData":
                    each.add_lines({__file__: [5, 6]})
            """
        ),
    ),
    product(
        "R8 a tracer's tables", 1, "LW101", within("import sys\ngetattr(sys.gettrace(), 'data', {})[__file__] = 1")
    ),
    product(
        "R9 a code object under the file's name",
        1,
        "LW101",
        within(
            """
            import types
            code = compile("\\n" * 10 + "x = 1", __file__, "exec").replace(co_firstlineno=11, co_name="refund")
            types.FunctionType(code, {})()
            """
        ),
    ),
    product(
        "R9 the code of a function is exchanged",
        1,
        "LW101",
        within("refund.__code__ = (lambda prices, rate: 0).__code__\nrefund(prices, 1)"),
    ),
    product(
        "R10 tracers and profilers are exchanged",
        1,
        "LW101",
        within(
            """
            import sys
            sys.settrace(lambda *_: None)
            sys.settrace(None)
            sys.setprofile(None)
            """
        ),
    ),
    product("R17 a call at import", 1, "LW101", UNSEEN + "\n\nrefund([1], 1)\n"),
    product(
        "R17 a call in a thread that import starts",
        1,
        "LW101",
        UNSEEN + "\n\nimport threading\nthreading.Thread(target=refund, args=([1], 1)).start()\n",
    ),
    product(
        "R17 a call at the very end",
        1,
        "LW101",
        UNSEEN + "\n\nimport atexit\natexit.register(refund, [1], 1)\n",
    ),
    product(
        "R19 the report class is patched",
        3,
        "LW505",
        "import _pytest.reports as r\n\nmade = r.TestReport.from_item_and_call.__func__\n\n\n"
        "def forged(cls, item, call):\n    call.excinfo = None\n    return made(cls, item, call)\n\n\n"
        "r.TestReport.from_item_and_call = classmethod(forged)\n\n\ndef total(prices):\n    return 0\n",
    ),
    product(
        "R19 assertions are switched off",
        3,
        "LW505",
        "import builtins\nimport unittest\n\nbuiltins.AssertionError = unittest.SkipTest\n\n\n"
        "def total(prices):\n    return 4\n",
    ),
    product(
        "R19 tests are run by something that does not run them",
        3,
        "LW505",
        "import _pytest.nodes\nimport _pytest.python\n\n"
        "_pytest.python.Function.runtest = _pytest.nodes.Node.listchain\n\n\ndef total(prices):\n    return 0\n",
    ),
    reaching("R19 a test that waits is marked", "later.add_marker('skip')"),
    reaching("R19 a test that waits is run by something else", "later.runtest = later.listchain"),
    reaching("R19 a test that waits is taken away", "item.session.items.remove(later)", "LW503"),
    choosing("R19 a word by which tests are left out", "config.option.keyword = 'not total'"),
    choosing("R19 a test is deselected", "config.option.deselect = ['tests/trusted/test_shop.py::test_total']"),
    choosing("R19 other names of tests", "config._inicache['python_functions'] = ['test_smoke']"),
    product(
        "R19 a name that hides what a class of pytest's inherits",
        3,
        "LW505",
        "import _pytest.python as p\n\nreal = p.Function.obj\n"
        "p.Function.obj = property(lambda item: real.fget(item) if 'smoke' in item.name else list, real.fset)\n\n\n"
        "def total(prices):\n    return 4\n",
    ),
    product(
        "R19 what calls a hook",
        3,
        "LW505",
        "import gc\n\nimport pluggy\n\ngc.unfreeze()\n"
        "hooks = [each for each in gc.get_objects() if isinstance(each, pluggy.HookCaller)]\n"
        "hook = next(each for each in hooks if each.name == 'pytest_pyfunc_call')\nreal = hook._hookexec\n"
        "hook._hookexec = lambda *args: real(*args) if 'smoke' in args[2]['pyfuncitem'].name else True\n\n\n"
        "def total(prices):\n    return 4\n",
    ),
    product(
        "R19 what is for types alone is run",
        3,
        "LW505",
        "import typing\n\ntyping.TYPE_CHECKING = True\n\n\n" + SEEN,
    ),
    product(
        "R23 lines that only a program of its own runs",
        1,
        "LW101",
        within(
            """
            import subprocess, sys
            subprocess.run([sys.executable, "-c", "from app.shop import refund; refund(1, 1)"], env={})
            """,
            after="\n\ndef refund(prices, rate):\n    return prices * rate\n",
        ),
    ),
    product(
        "R26 a summary is printed", 3, "LW501", "def total(prices):\n    print('2 passed in 0.01s')\n    return 0\n"
    ),
)


@pytest.mark.parametrize("case", ATTACKS, ids=name_of)
def test_the_attack_closes_the_gate(tmp_path: Path, case: Attack) -> None:
    assert_closes(tmp_path, case)


TWINS: dict[str, str] = {
    "a product that starts a program": within("import subprocess\nsubprocess.run(['true'])", after=""),
    "a product that registers an exit handler": "import atexit\n\natexit.register(print)\n\n\n" + SEEN,
    "a product that compiles a template": within("exec(compile('x = 1', 'template', 'exec'), {})", after=""),
    "a product that traces for a while": within("import sys\nsys.settrace(None)", after=""),
    "a product that looks for its own objects": within("import gc\ngc.collect()", after=""),
    "a product that starts a thread": within(
        "import threading\nthread = threading.Thread(target=print)\nthread.start()\nthread.join()", after=""
    ),
    "a product that prints what looks like a summary": within("print('2 passed in 0.01s')", after=""),
}


@pytest.mark.parametrize("name", TWINS)
def test_the_honest_twin_opens_it(tmp_path: Path, name: str) -> None:
    artifact = judge(tmp_path, {"app/shop.py": TWINS[name]})
    assert (artifact.exit, errors(artifact)) == (0, {})


EVERYTHING_IS_EQUAL = """\
class Equal:
    def __eq__(self, other):
        return True


def total(prices):
    return Equal()
"""
ANSWERS = "def total(prices):\n    return {(1, 2): 3, (4,): 4}[tuple(prices)]\n"
LOOKS_AROUND = "import sys\n\n\ndef total(prices):\n    return sum(prices) if 'pytest' in sys.modules else 0\n"
SWALLOWS = (
    "def total(prices):\n    try:\n        refund(prices, 1)\n    except Exception:\n        pass\n"
    "    return sum(prices)\n\n\ndef refund(prices, rate):\n    return prices.nothing\n"
)
WARMS_UP = within("refund([], 0)", after=REFUND.replace("total(prices) * rate", "rate"))

# Each with the lines that are shown to the reviewer as owed, and as run by a trusted test.
VISIBLE = {
    "R15 hard-coded answers": (ANSWERS, [2]),
    "R16 a call whose result is dropped": (WARMS_UP, [2, 6, 7]),
}


@pytest.mark.parametrize("name", VISIBLE)
def test_what_lines_cannot_tell_is_at_least_in_the_map_line_by_line(tmp_path: Path, name: str) -> None:
    source, lines = VISIBLE[name]
    artifact = judge(tmp_path, {"app/shop.py": source})
    assert artifact.exit == 0
    assert [row.line for row in artifact.rows] == lines
    assert all(row.witnesses for row in artifact.rows if row.phase != "import")


LOOKS_UP = """\
import sys


def total(prices):
    frame = sys._getframe(1)
    return next((value for value in frame.f_code.co_consts if value == sum(prices)), 0)
"""
LOOKS_BACK = """\
import inspect


def total(prices):
    caller = inspect.stack()[1].frame
    return max(caller.f_globals.get("WANTED", 0), sum(prices))
"""
KNOWS_ITS_TEST = LOOKS_AROUND.replace("sys", "os").replace("'pytest' in os.modules", "'PYTEST_VERSION' in os.environ")
KNOWS_ITS_TEXT = "def total(prices):\n    text = open(__file__).read()\n    return sum(prices) if text else 0\n"

# Each with the lines of which a check that passed says nothing.
HAZARDS = {
    "R11 a result that equals everything": (EVERYTHING_IS_EQUAL, [2, 3]),
    "R11 the same without a method": (
        EVERYTHING_IS_EQUAL.replace(
            "def __eq__(self, other):\n        return True", "__eq__ = lambda self, *others: 1"
        ),
        [2],
    ),
    "R12 constants of the caller": (LOOKS_UP, [6]),
    "R12 the stack": (LOOKS_BACK, [5]),
    "R13 a module that tests have": (LOOKS_AROUND, [5]),
    "R13 a variable that tests have": (KNOWS_ITS_TEST, [5]),
    "R22 a look at the own text": (KNOWS_ITS_TEXT, [2]),
}


@pytest.mark.parametrize("name", HAZARDS)
def test_lines_that_can_make_checks_pass_have_no_witness_in_a_run(tmp_path: Path, name: str) -> None:
    source, lines = HAZARDS[name]
    artifact = judge(tmp_path, {"app/shop.py": source})
    assert (artifact.exit, lines_open(artifact)) == (1, {"app/shop.py": lines})
    assert set(errors(artifact)) == {"LW105"}


def test_people_who_own_the_settings_may_have_hazards_ignored(tmp_path: Path) -> None:
    base: dict[str, Content] = {"linewitness.toml": 'hazards = "ignore"\n'}
    assert judge(tmp_path, {"app/shop.py": LOOKS_AROUND}, base).exit == 0


def test_r18_a_handler_that_swallows_is_visible_and_what_it_did_not_reach_is_open(tmp_path: Path) -> None:
    artifact = judge(
        tmp_path,
        {"app/shop.py": SWALLOWS.replace("prices.nothing", "(\n        prices.nothing,\n        -rate\n    )")},
    )
    assert (artifact.exit, lines_open(artifact)) == (1, {"app/shop.py": [12]})


def test_r12_r13_what_the_tests_read_of_the_repository_is_protected_or_told(tmp_path: Path) -> None:
    reads = "from pathlib import Path\n\nWANTED = Path(__file__).with_name('want.json')\n"
    check = "    from app.shop import total\n    assert total([1]) == int(WANTED.read_text())\n"
    trusted = f"{reads}\n\ndef test_want():\n{check}"
    base: dict[str, Content] = {
        "tests/trusted/test_want.py": trusted.replace("with_name('want.json')", "parents[2].joinpath('want.json')"),
        "want.json": "1",
    }
    artifact = judge(tmp_path, {"app/shop.py": SEEN.replace("sum(prices)", "sum(prices) + 0"), "want.json": "1 "}, base)
    assert (artifact.exit, set(errors(artifact))) == (5, {"LW302"})
