"""What known plugins exchange in pytest for a time is told from what looks like it."""

from __future__ import annotations

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import pytest

from linewitness.evidence.places import Places
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


@pytest.fixture
def plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The plugin's module, as if it were installed."""
    file = tmp_path / "installed" / "plugin.py"
    file.parent.mkdir()
    file.write_text(PLUGIN)
    spec = spec_from_file_location("pytest_django.plugin", file)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setitem(sys.modules, "pytest_django.plugin", module)
    return module


def known(value: Any, export: Path, name: str = NAME) -> bool:
    return is_a_tools(name, value, Places({"export": str(export), "test_files": [], "protected": []}))


def test_the_very_code_of_the_plugin_is_known(plugin: ModuleType, tmp_path: Path) -> None:
    assert known(plugin.fixture(), tmp_path / "export")


def test_nothing_else_is(plugin: ModuleType, tmp_path: Path) -> None:
    export, space = tmp_path / "export", vars(plugin)
    forged: dict[str, Any] = {}
    text = "def non_debugging_runtest(self):\n    pass\n"
    exec(compile(text, str(plugin.__file__), "exec"), forged)
    assert not known(plugin.other, export)
    assert not known(FunctionType(forged["non_debugging_runtest"].__code__, space), export)
    assert not known(plugin.fixture(), export, "_pytest.python.Function.runtest")
    assert not known(hasattr, export)


def test_a_plugin_that_the_patch_could_have_written_is_not(plugin: ModuleType, tmp_path: Path) -> None:
    assert not known(plugin.fixture(), tmp_path / "installed")


def test_a_plugin_whose_file_is_gone_is_not(plugin: ModuleType, tmp_path: Path) -> None:
    assert plugin.__file__ is not None
    Path(plugin.__file__).unlink()
    assert not known(plugin.fixture(), tmp_path / "export")
