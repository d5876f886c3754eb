"""What pytest, pluggy, unittest and the recorder consist of, at one moment, to be compared later.

Runs in the *tested* interpreter (3.9 and later, standard library only).
"""

from __future__ import annotations

import builtins
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from operator import attrgetter, is_, itemgetter
from types import BuiltinFunctionType, CodeType, FunctionType
from typing import Any

_PACKAGE = f"{__package__}."
# Of the builtins only those with which checks are written, and which nobody replaces for good.
_BUILTINS = (
    "AssertionError", "BaseException", "Exception", "__build_class__", "abs", "all", "any", "bool", "dict",
    "isinstance", "issubclass", "len", "list", "max", "min", "repr", "set", "sorted", "str", "sum", "tuple", "type",
)  # fmt: skip
# Where a test's outcome is made: compared after every test, so no more than decides.
_JUDGES: dict[str, tuple[str, ...]] = {
    "_pytest.runner": (
        "call_and_report", "call_runtest_hook", "check_interactive_exception", "pytest_runtest_call",
        "pytest_runtest_makereport", "runtestprotocol",
    ),
    "_pytest.runner:CallInfo": ("from_call",),
    "_pytest.reports:TestReport": ("__init__", "from_item_and_call"),
    "_pytest.skipping": ("pytest_runtest_makereport",),
    "_pytest.python": ("pytest_pyfunc_call",),
    "_pytest.python:Function": ("runtest",),
    "_pytest.python_api:RaisesContext": ("__exit__",),
    "_pytest.python_api:ApproxScalar": ("__eq__",),
    "_pytest.raises:RaisesExc": ("__exit__",),
    "pluggy._callers": ("_multicall",),
    "pluggy._manager:PluginManager": ("_hookexec",),
    "pytest": (
        "approx", "deprecated_call", "fail", "importorskip", "mark", "param", "raises", "skip", "warns", "xfail",
    ),
}  # fmt: skip
# The same for tests of unittest, where there are any; of a TestCase every assertion.
_UNITTEST_JUDGES: dict[str, tuple[str, ...]] = {
    "_pytest.unittest:TestCaseFunction": ("addError", "addFailure", "runtest"),
    "unittest.case:TestCase": ("fail", "run"),
    "unittest.case:_AssertRaisesContext": ("__exit__",),
    "unittest.case:_Outcome": ("testPartExecutor",),
}
# The rest of the harness: compared at the end of collection and at the very end.
HARNESS = (
    "_pytest.runner", "_pytest.reports", "_pytest.skipping", "_pytest.python", "_pytest.python_api", "_pytest.raises",
    "_pytest.unittest", "unittest.case", "pluggy._callers", "_pytest.outcomes", "pytest", "unittest",
    "_pytest.assertion", "_pytest.assertion.rewrite", "_pytest.assertion.util", "_pytest.fixtures",
    "_pytest.main", "_pytest.nodes", "_pytest.recwarn", "_pytest.subtests", "_pytest.terminal", "_pytest.mark",
    "_pytest.mark.structures", "pluggy._hooks", "pluggy._caller", "pluggy._execution", "pluggy._impl",
    "pluggy._manager", "pluggy._result",
)  # fmt: skip
_KEPT_PARTS = (FunctionType, BuiltinFunctionType, classmethod, staticmethod, property, type)


class Part:
    """What one module or class consists of, at one moment."""

    __slots__ = ("_name", "_names", "_space", "_values", "look")

    def __init__(self, name: str, space: Mapping[str, Any], names: Iterable[str]) -> None:
        self._name = name
        self._space = space
        self._names = tuple(names)
        self._values = tuple(space[each] for each in self._names)
        self.look = self._looker()
        """Gives ``values`` as long as nothing changed, and raises LookupError or NameError for what is gone."""

    def _looker(self) -> Callable[[], Any]:
        space = self._space
        if isinstance(space, dict) and all(map(str.isidentifier, self._names)):
            # The interpreter keeps where the globals of a function are: this takes a fifth of looking each up.
            made = compile(f"lambda: ({', '.join(self._names)},)", "<linewitness look>", "eval")
            return FunctionType(next(each for each in made.co_consts if isinstance(each, CodeType)), space)
        return partial(itemgetter(*self._names), space)

    @property
    def name(self) -> str:
        """Full name of the module or class."""
        return self._name

    def items(self) -> Iterator[tuple[str, Any]]:
        """Names of the parts, and what they stood for."""
        return zip(self._names, self._values)  # noqa: B905 - Python 3.9 knows no strict=

    @property
    def values(self) -> Any:
        """What there was: a tuple, or the value itself where a class has one name that counts."""
        return self._values if len(self._names) > 1 or isinstance(self._space, dict) else self._values[0]

    def functions(self) -> list[FunctionType]:
        """All functions that it consisted of."""
        return functions_in(self._values)

    def changes(self) -> Iterator[tuple[str, Any]]:
        """Full names of what stands for something else now, and for what."""
        for name, value in zip(self._names, self._values):  # noqa: B905 - Python 3.9 knows no strict=
            now = self._space.get(name)
            if now is not value:
                yield f"{self._name}.{name}", now


class Whole:
    """All of one module or class, at one moment."""

    __slots__ = ("_kept", "_name", "_space", "_was")

    def __init__(self, name: str, space: Mapping[str, Any], kept: frozenset[str] = frozenset()) -> None:
        self._name = name
        self._space = space
        self._was = dict(space)
        # Names whose values matter whatever they are: ``pytest.mark`` is no function and no class.
        self._kept = kept

    def functions(self) -> list[FunctionType]:
        """All functions that it consisted of."""
        return functions_in(self._was.values())

    def parts(self) -> Iterator[tuple[str, Any]]:
        """Full names and values of all functions and classes."""
        return ((f"{self._name}.{name}", value) for name, value in self._was.items() if isinstance(value, _KEPT_PARTS))

    def _is_same(self) -> bool:
        return len(self._was) == len(self._space) and all(map(is_, self._was.values(), self._space.values()))

    def renewed(self) -> Whole:
        """The same as it is now; itself, when that is no different."""
        return self if self._is_same() else Whole(self._name, self._space, self._kept)

    def changes(self) -> Iterator[tuple[str, Any]]:
        """Full names of functions and classes that stand for something else now, and for what."""
        if self._is_same():
            return
        for name, value in self._was.items():
            now = self._space.get(name)
            if now is not value and (isinstance(value, _KEPT_PARTS) or name in self._kept):
                yield f"{self._name}.{name}", now

    def additions(self) -> Iterator[tuple[str, Any]]:
        """Full names of what was not there before, and may hide what is inherited."""
        if not self._is_same():
            for name, value in list(self._space.items()):
                if name not in self._was:
                    yield f"{self._name}.{name}", value


class Codes:
    """The code and the defaults of some functions, at one moment: assigning to these exchanges no name."""

    __slots__ = ("_functions", "_was")

    def __init__(self, functions: Iterable[FunctionType]) -> None:
        self._functions = tuple(functions)
        self._was = [tuple(map(get, self._functions)) for get in _MADE_OF.values()]

    def changes(self) -> Iterator[tuple[Any, str, Any]]:
        """Functions that consist of something else now, of what, and their code now."""
        for (attribute, get), was in zip(_MADE_OF.items(), self._was):  # noqa: B905 - Python 3.9 knows no strict=
            if tuple(map(get, self._functions)) == was:
                continue
            for function, old in zip(self._functions, was):  # noqa: B905
                if get(function) is not old:
                    yield function, attribute, function.__code__


_MADE_OF = {name: attrgetter(name) for name in ("__code__", "__defaults__", "__kwdefaults__")}


def functions_in(values: Iterable[Any]) -> list[FunctionType]:
    """The Python functions among some values, and those inside class methods, static methods and properties."""
    found = []
    for value in values:
        kind = type(value)
        if kind is FunctionType:
            found.append(value)
        elif kind in _HOLDERS:
            inner = value.fget if kind is property else value.__func__
            if type(inner) is FunctionType:
                found.append(inner)
    return found


_HOLDERS = frozenset((classmethod, staticmethod, property))


def whole_module(name: str) -> Iterator[Whole]:
    """A loaded module and the classes that it defines."""
    module = sys.modules.get(name)
    if module is None:
        return
    space = vars(module)
    yield Whole(name, space, frozenset(space.get("__all__", ())) if name == "pytest" else frozenset())
    for each in list(space.values()):
        if isinstance(each, type) and each.__module__ == name:
            yield Whole(f"{name}.{each.__qualname__}", vars(each))


def is_of_the_harness(function: Any) -> bool:
    """Whether a function is one of a module that is looked after."""
    space = getattr(function, "__globals__", None)
    name = str(space.get("__name__")) if isinstance(space, dict) else ""
    module = sys.modules.get(name) if name in HARNESS or name.startswith(_PACKAGE) else None
    return module is not None and vars(module) is space


def judging(*, with_unittest: bool) -> Iterator[Part]:
    """The parts that make a test's outcome; those of unittest only where they are asked for."""
    yield Part("builtins", vars(builtins), _BUILTINS)
    for place, wanted in {**_JUDGES, **(_UNITTEST_JUDGES if with_unittest else {})}.items():
        module, _, owner = place.partition(":")
        holder: Any = sys.modules.get(module)
        if owner:
            holder = getattr(holder, owner, None)
        if holder is None:
            continue
        space = vars(holder)
        names = [name for name in space if name in wanted or (owner == "TestCase" and name.startswith("assert"))]
        if names:
            yield Part(place.replace(":", "."), space, names)


def is_borrowed(value: Any) -> bool:
    """Whether a value was not written to stand where it stands.

    It has no code, or is a function of the standard library or of the harness.
    """
    value = plain(value)
    code = getattr(value, "__code__", None)
    if not isinstance(code, CodeType) or is_of_the_harness(value):
        return True
    # A name in angle brackets stands for a frozen module, or for text that somebody had compiled.
    return code.co_filename.startswith(("<", _STANDARD)) and not code.co_filename.startswith(_INSTALLED)


_STANDARD = os.path.dirname(os.__file__) + os.sep
_INSTALLED = tuple(os.path.join(_STANDARD, folder) for folder in ("site-packages", "dist-packages"))


def plain(function: Any) -> Any:
    """The function of a method, and anything else as it is."""
    return getattr(function, "__func__", function)
