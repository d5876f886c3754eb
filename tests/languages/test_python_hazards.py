"""Lines that no run can vouch for, and lines that look like them and are ordinary code."""

from __future__ import annotations

import pytest

from linewitness.languages.python.hazards import CALLERS, IGNORES, TESTED, TEXTS, hazards


def found(source: str) -> dict[int, str]:
    """The hazards among all lines of a source."""
    return hazards(source.encode(), range(1, source.count("\n") + 2))


BLIND = {
    "always equal": ("def __eq__(self, other):\n    return True", [1, 2]),
    "never unequal": ("def __ne__(self, other):\n    return False", [1, 2]),
    "nothing is falsy": ("def __ne__(self, other):\n    pass", [1, 2]),
    "truthy": ("def __eq__(self, other: object) -> bool:\n    return not []", [1, 2]),
    "something of its own": ("def __le__(self, other=None):\n    self.asked += 1\n    return self.asked", [1, 2, 3]),
    "any number": ("def __eq__(self, *others):\n    return 1", [1, 2]),
    "a lambda": ("__eq__ = lambda self, other: True", [1]),
    "holds everything": ("def __contains__(self, item):\n    return True", [1, 2]),
    "is an instance of everything": ("def __instancecheck__(cls, it):\n    return True", [1, 2]),
    "differs from nothing": ("def __rsub__(self, other):\n    return 0", [1, 2]),
    "among others": ("x = 1\n\n\ndef f():\n    pass\n\n\ndef __eq__(self, other):\n    return True\n", [8, 9]),
}
HONEST = {
    "looks": "def __eq__(self, other):\n    return self.x == other.x",
    "looks in an inner function": "def __eq__(self, other):\n    return any(x == y for x, y in zip(self, other))",
    "typed": "def __lt__(self, other: Any) -> bool:\n    return isinstance(other, int) and self.x < other",
    "equals nothing": "def __eq__(self, other):\n    return False",
    "leaves it to the other": "def __eq__(self, other):\n    return NotImplemented",
    "refuses": "def __ne__(self, other):\n    raise TypeError",
    "always unequal": "def __ne__(self, other):\n    return True",
    "says its type": "def __eq__(self, other: object) -> bool: ...",
    "calls it": "same = left.__eq__(right)",
    "hands it on": "__eq__ = Base.__eq__",
    "says of it": '"""`__eq__` returns True."""',
    "the name of a tool": "TOOLS = ['pytest', 'unittest']",
    "modules of its own": "modules = load('plugins')",
    "a test helper": "import pytest",
    "something else in its suite": "if tool == 'pytest':\n    modules.append(1)\nwith open(x):\n    print(__file__)",
    "a signature": "inspect.signature(f)",
    "any of its own": "ANY = object()\nmock = Mock()\nreturn Query.ANY",
    "its folder": "HERE = os.path.dirname(__file__)",
    "a stack of its own": "self.stack()\nstack = []",
    "frames in words": "# f_back and f_locals\nprint('f_back')",
    "said in a docstring": "def f():\n    'PYTEST_CURRENT_TEST'",
    "a broken file": "def f(:\n",
    "nothing": "",
}
OTHERS = {
    "'pytest' in sys.modules": TESTED,
    "sys.modules.get('_pytest')": TESTED,
    "if any('unittest' in word for word in sys.argv): pass": TESTED,
    "os.environ.get('PYTEST_CURRENT_TEST')": TESTED,
    "os.getenv(key='PYTEST_VERSION')": TESTED,
    "sys._getframe(1).f_locals['expected']": CALLERS,
    "frame = frame.f_back": CALLERS,
    "names = f.__code__.co_consts": CALLERS,
    "return_value = mock.ANY": IGNORES,
    "from unittest.mock import Mock, ANY as SAME": IGNORES,
    "x = unittest.mock.ANY": IGNORES,
    "inspect.stack()": CALLERS,
    "from inspect import stack as s": CALLERS,
    "gc.get_referrers(x)": CALLERS,
    "inspect.getsource(test)": TEXTS,
    "from inspect import getsource": TEXTS,
    "open(__file__).read()": TEXTS,
    "Path(__file__).parent.joinpath('x.py').read_text()": TEXTS,
}


@pytest.mark.parametrize("name", BLIND)
def test_a_comparison_that_ignores_what_it_is_given_is_a_hazard(name: str) -> None:
    source, lines = BLIND[name]
    assert found(source) == dict.fromkeys(lines, IGNORES)


@pytest.mark.parametrize("source", OTHERS)
def test_code_that_looks_where_expected_values_stand_is_a_hazard(source: str) -> None:
    assert found(f"x = 1\n{source}\n") == {2: OTHERS[source]}


@pytest.mark.parametrize("name", HONEST)
def test_ordinary_code_is_none(name: str) -> None:
    assert found(HONEST[name]) == {}


def test_only_lines_that_are_asked_about_are_judged() -> None:
    source = b"a = f.f_back\nb = f.f_back\n"
    assert hazards(source, {2}) == {2: CALLERS}
