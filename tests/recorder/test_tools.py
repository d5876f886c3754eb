"""What known plugins exchange in pytest for a time is told from what looks like it."""

from __future__ import annotations

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import FunctionType, ModuleType

import pytest

from linewitness.evidence import tools
from linewitness.evidence.tools import is_a_tools

NAME = "_pytest.unittest.TestCaseFunction.runtest"
# As in pytest-django.
PLUGIN = """\
def fixture():
    def non_debugging_runtest(self):
        self._testcase(result=self)

    return non_debugging_runtest


def other(self):
    pass
"""


def imported(folder: Path, text: str, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """A plugin in a folder, imported under its usual name."""
    file = folder / "pytest_django" / "plugin.py"
    file.parent.mkdir(parents=True)
    file.write_text(text)
    spec = spec_from_file_location("pytest_django.plugin", file)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setitem(sys.modules, "pytest_django.plugin", module)
    return module


@pytest.fixture
def plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The plugin's module, installed beside pytest."""
    home = tmp_path / "installed"
    monkeypatch.setattr(tools, "_INSTALLED", str(home))
    return imported(home, PLUGIN, monkeypatch)


def test_the_very_code_of_the_plugin_is_known(plugin: ModuleType) -> None:
    assert is_a_tools(NAME, plugin.fixture())


def test_nothing_else_is(plugin: ModuleType) -> None:
    forged: dict[str, FunctionType] = {}
    text = "def non_debugging_runtest(self):\n    pass\n"
    exec(compile(text, str(plugin.__file__), "exec"), forged)
    assert not is_a_tools(NAME, plugin.other)
    assert not is_a_tools(NAME, FunctionType(forged["non_debugging_runtest"].__code__, vars(plugin)))
    assert not is_a_tools("_pytest.python.Function.runtest", plugin.fixture())
    assert not is_a_tools(NAME, hasattr)


def test_a_module_that_takes_the_plugins_name_is_not_it(
    plugin: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = PLUGIN.replace("self._testcase(result=self)", "return None")
    assert not is_a_tools(NAME, imported(tmp_path / "written", text, monkeypatch).fixture())
    assert is_a_tools(NAME, plugin.fixture())


def test_a_plugin_whose_file_is_gone_is_not(plugin: ModuleType) -> None:
    assert plugin.__file__ is not None
    Path(plugin.__file__).unlink()
    assert not is_a_tools(NAME, plugin.fixture())
