"""Code under test that gets between pytest and the trusted tests: plugins, hooks, exchanged modules, short moments.

Each attack is a patch that the gate is asked about, in the interpreter that runs these tests. Those that need what only
newer interpreters tell are run by ``recorder/test_short_moments.py``. The honest twins do the same by permission, or
with something of their own.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.attacks.shop import SEEN, Attack, assert_closes, attack, errors, judge, name_of
from tests.support.repos import Content

FIND = """\
import sys


def find(name):
    frame = sys._getframe()
    while frame is not None:
        for value in list(frame.f_locals.values()):
            if hasattr(value, name):
                return value
        frame = frame.f_back


"""
WRONG = "\n\ndef total(prices):\n    return 4\n"
LEAVES_OUT = "items[:] = [each for each in items if 'total' not in each.name]"
PLUGIN = f"""
class Plugin:
    def pytest_collection_modifyitems(self, items):
        {LEAVES_OUT}
        manager.unregister(self)


manager = find("pluginmanager").pluginmanager
manager.register(Plugin())
"""
CALLER = f"""
hook = find("pluginmanager").pluginmanager.hook
before = hook.pytest_collection_modifyitems


class Fake:
    def call_extra(self, methods, arguments):
        return self(**arguments)

    def __call__(self, items, **more):
        hook.pytest_collection_modifyitems = before
        {LEAVES_OUT}
        return []

    def __getattr__(self, name):
        return getattr(before, name)


hook.pytest_collection_modifyitems = Fake()
"""
EXECUTION = """
manager = find("pluginmanager").pluginmanager
before = manager._inner_hookexec


def forged(name, impls, arguments, first):
    if name == "pytest_runtest_makereport":
        arguments["call"].excinfo = None
    return before(name, impls, arguments, first)


manager._inner_hookexec = forged
"""
PROXY = (
    FIND
    + """def total(prices):
    session = find("session").session
    real = session.config.hook

    class Proxy:
        def __getattr__(self, name):
            return getattr(real, name)

        def pytest_runtest_makereport(self, item, call):
            call.excinfo = None
            return real.pytest_runtest_makereport(item=item, call=call)

    session.gethookproxy = lambda path: Proxy()
    return 4
"""
)
OWN_REPORTS = PROXY.replace(
    "            call.excinfo = None\n            return real.pytest_runtest_makereport(item=item, call=call)\n",
    "            from _pytest.reports import TestReport\n\n            call.excinfo = None\n"
    "            return TestReport.from_item_and_call(item, call)\n",
)
OPTION = """
config = find("known_args_namespace")
config.option.keyword = "not total"
"""
ITEMS = (
    FIND
    + """def total(prices):
    for item in find("session").session.items:
        if "total" in item.name:
            item.__class__ = type("Fine", (type(item),), {"runtest": lambda self: None})
    return 4
"""
)
FAKE = (
    """\
import contextlib
import sys
import types

before = sys.modules["pytest"]
fake = types.ModuleType("pytest")
fake.__dict__.update(vars(before), raises=contextlib.suppress)
sys.modules["pytest"] = fake


def back():
    sys.modules["pytest"] = before
"""
    + WRONG
)
RAISES: dict[str, Content] = {
    "app/__init__.py": "",
    "tests/trusted/test_raises.py": "from app.shop import total\n\nimport pytest\n\n\ndef test_raises():\n"
    "    with pytest.raises(TypeError):\n        total(1)\n",
}
SHORTLY: dict[str, Content] = {
    "app/back.py": "",
    "tests/trusted/test_raises.py": "from app.shop import total\nfrom pytest import raises\n\nimport app.back\n\n\n"
    "def test_raises():\n    with raises(TypeError):\n        total(1)\n",
}
CONFTEST: dict[str, Content] = {"conftest.py": "import app.shop\n"}
HIDDEN = "from typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    from decimal import Decimal\n\n    total = sum\n"
SWITCH = """\
import typing


def switch(on):
    typing.TYPE_CHECKING = on


switch(False)
switch(True)
from app.hidden import total

switch(False)
"""


def shop(threat: str, source: str, base: dict[str, Content] | None = None, codes: str = "LW505") -> Attack:
    return attack(f"R19 {threat}", 3, codes, {"app/shop.py": source}, base)


ATTACKS = (
    shop("a plugin leaves tests out and takes itself away", FIND + PLUGIN + WRONG),
    shop("a plugin that a conftest file's import brings", FIND + PLUGIN + WRONG, CONFTEST),
    shop("an option that a conftest file's import changes", FIND + OPTION + WRONG, CONFTEST),
    shop("a hook stands in for another while tests are collected", FIND + CALLER + WRONG),
    shop("what calls all hooks is exchanged", FIND + EXECUTION + WRONG),
    shop("what calls all hooks is exchanged by a conftest file's import", FIND + EXECUTION + WRONG, CONFTEST),
    shop("the way to the hooks of a test is exchanged", PROXY),
    shop("reports are made by somebody else", OWN_REPORTS),
    shop("a test gets another class", ITEMS, {"tests/trusted/test_0.py": str(RAISES["tests/trusted/test_raises.py"])}),
    shop("pytest's marks are exchanged", "import pytest\n\npytest.mark = pytest.param(1)\n" + WRONG),
    shop("raises() becomes another context", "import contextlib\nimport pytest\n\npytest.raises = contextlib.suppress\n"
         + WRONG, RAISES),
    shop("a function of pytest becomes one of the standard library", "import os.path\nimport pytest\n\n"
         "pytest.importorskip = os.path.join\n" + WRONG),
    shop("a function of pytest becomes another of pytest's", "import pytest\n\npytest.fail = pytest.warns\n" + WRONG),
    shop("another module stands for pytest", FAKE, RAISES),
    attack(
        "R19 another module stands for pytest while a test imports it",
        3,
        "LW505",
        {"app/shop.py": FAKE, "app/back.py": "from app.shop import back\n\nback()\n"},
        SHORTLY,
    ),
    attack("R19 types are run for a moment", 3, "LW505", {"app/shop.py": SWITCH, "app/hidden.py": HIDDEN}),
    shop("the report's class answers", "import _pytest.reports as r\n\n"
         "r.BaseReport.outcome = property(lambda s: 'passed', lambda s, v: None)\n" + WRONG, codes="LW503"),
    attack("R3 a thread ends the process", 3, "LW503", {"app/shop.py":
        "import os\nimport threading\nimport time\n\n\ndef total(prices):\n"
        "    threading.Thread(target=os._exit, args=(0,)).start()\n    time.sleep(5)\n    return 4\n"}),
    shop("what writes the record is exchanged", "import json\nimport os\n\nreal = os.write\n"
         "os.write = lambda fd, data: real(fd, data.replace(b'failed', b'passed'))\n"
         "json.JSONEncoder.encode = lambda self, value: '0'\n" + WRONG, codes="LW501"),
)  # fmt: skip


@pytest.mark.parametrize("case", ATTACKS, ids=name_of)
def test_the_attack_closes_the_gate(tmp_path: Path, case: Attack) -> None:
    assert_closes(tmp_path, case)


PROTECTED_PLUGIN = """\
import pytest


class Plugin:
    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, items):
        items.sort(key=lambda each: each.name)


def pytest_configure(config):
    config.pluginmanager.register(Plugin())
    config.option.maxfail = 3
"""
TWINS: dict[str, dict[str, Content]] = {
    "a conftest file with a plugin and options of its own": {"conftest.py": PROTECTED_PLUGIN},
    "a conftest file that imports the product": {"conftest.py": "import app.shop\n"},
    "a test that hides pytest from the product": {
        "tests/trusted/test_hides.py": "import sys\n\nfrom app.shop import total\n\n\ndef test_hides(monkeypatch):\n"
        "    monkeypatch.setitem(sys.modules, 'pytest', None)\n    assert total([1]) == 1\n"
    },
    "a test that mocks what assertions are written with": {
        "tests/trusted/test_mocks.py": "from unittest import TestCase, mock\n\nfrom app.shop import total\n\n\n"
        "class TestIt(TestCase):\n    def test_mocked(self):\n        with mock.patch('builtins.len'), "
        "mock.patch.object(TestCase, 'fail'):\n            assert total([1]) == 1\n"
    },
    "names of pytest that a test gives to something else": {
        "tests/trusted/test_names.py": "from pytest import mark, skip, param as case\n\nfrom app.shop import total\n\n"
        "skip = total\n\n\n@mark.parametrize('n', [case(1)])\ndef test_names(n):\n    assert skip([n]) == n\n"
    },
}


@pytest.mark.parametrize("name", TWINS)
def test_the_honest_twin_opens_it(tmp_path: Path, name: str) -> None:
    artifact = judge(tmp_path, {"app/shop.py": SEEN}, TWINS[name])
    assert (artifact.exit, errors(artifact)) == (0, {})


def test_lines_for_types_may_be_changed_and_owe_nothing(tmp_path: Path) -> None:
    artifact = judge(tmp_path, {"app/shop.py": HIDDEN.replace("    total = sum\n", "") + SEEN}, None)
    assert (artifact.exit, errors(artifact)) == (0, {})
