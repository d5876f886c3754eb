"""What is asked of the host, and what is not: whatever the project could have a hand in."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

from linewitness.evidence.host import ask_host, condition_of
from linewitness.evidence.interpreter import find_interpreter
from linewitness.settings import Suite


def condition(text: str) -> str:
    return condition_of(ast.parse(text, mode="eval").body)


@pytest.mark.parametrize(
    "text",
    [
        "sys.platform == 'win32'",
        "not sys.platform.startswith('linux')",
        "sys.version_info < (3, 10) or sys.version_info[:2] == (3, 14)",
        "sys.implementation.name != 'cpython'",
        "os.name == 'nt'",
        "platform.machine().lower() in {'arm64', 'aarch64'}",
        "True",
    ],
)
def test_facts_of_the_host_are_asked_of_it(text: str) -> None:
    assert condition(text) == text
    assert condition(repr(text)) == text


@pytest.mark.parametrize(
    "text",
    [
        "OFF",
        "shop.OFF",
        "'shop.OFF'",
        "os.environ.get('CI')",
        "os.path.exists('app/off')",
        "'numpy' in sys.modules",
        "shutil.which('git') is None",
        "sys.platform.startswith(OFF)",
        "sys.platform.__class__('a')",
        "platform.node() == 'here'",
        "hasattr(sys, 'gettotalrefcount')",
        "[x for x in sys.platform]",
        "sys._getframe().f_back",
        "'sys.platform =='",
        "(lambda: sys.platform)()",
    ],
)
def test_nothing_else_is(text: str) -> None:
    assert condition(text) == ""


def test_the_interpreter_of_the_tests_answers() -> None:
    python = find_interpreter(Suite(python=sys.executable), None)
    here = f"sys.platform == {sys.platform!r}"
    answer = ask_host(python, [here, "sys.platform == 'vax'", "sys.version_info < 'a'"], ["pytest", "no_such_library"])
    assert list(map(set, answer)) == [{here}, {"pytest"}]


def test_without_an_answer_no_condition_is_true_and_every_module_is_there() -> None:
    python = find_interpreter(Suite(python=sys.executable), None)._replace(path=Path("/nowhere/python"))
    assert list(map(set, ask_host(python, ["True"], ["no_such_library"]))) == [set(), {"no_such_library"}]
    assert not any(ask_host(python, [], []))
