"""Watches what the verdict on a test hangs on, in the process that code under test shares.

Runs in the *tested* interpreter (3.9 and later, standard library only), in each process that runs tests. Code under
test can change the functions that judge it. So it is remembered, before anything of the project is loaded, what
pytest, pluggy, unittest and this recorder consist of, and asked

* after every test whether the parts that judge are still what they were: a few comparisons of tuples, made in C;
* after every test whether the function that was collected is the one that ran, and to its end;
* at the end whether any part at all was exchanged, or the code in it;
* where the suite asks for it, all the time, by an audit hook, which nobody can take away again, whether somebody
  exchanged the code of a function, touched the records, or used what lets a program change anything in itself.

What it cannot see is said in ``docs/recorder.md``.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from operator import attrgetter, itemgetter
from types import CodeType
from typing import Any, NamedTuple

from .items import Items, choice
from .namespaces import meddled, types_are_run
from .parts import HARNESS, Codes, Part, Whole, is_of_the_harness, judging, plain, whole_module
from .places import Places
from .recorder import Recorder

_PACKAGE = f"{__package__}."

_HOOKS = (
    "pytest_pyfunc_call", "pytest_runtest_call", "pytest_runtest_logfinish", "pytest_runtest_logreport",
    "pytest_runtest_logstart", "pytest_runtest_makereport", "pytest_runtest_protocol", "pytest_runtest_setup",
    "pytest_runtest_teardown", "pytest_unconfigure",
)  # fmt: skip
_RELAYS = itemgetter(*_HOOKS)
# Parts of unittest whose functions are what their file says, each under its own name; none of these is wrapped by us.
_WRITTEN_OUT = frozenset({"unittest.case.TestCase", "unittest.case._AssertRaisesContext"})
# Runners of tests that call the function themselves, in this process.
_CALLERS = ("_pytest.", "_linewitness.", "anyio.", "pytest_asyncio", "pytest_rerunfailures", "pytest_timeout", "xdist.")

_FUNCTION = attrgetter("function")
_CODE = attrgetter("__code__")
_IMPLS = attrgetter("_hookimpls")  # The method that gives it makes a copy.


class _Subject(NamedTuple):
    """One collected test: where its function is found, and what it is."""

    owner: Any
    name: str
    function: Any
    code: CodeType


def _subject(item: Any) -> _Subject | None:
    """``None`` for a test that is no Python function."""
    owner = getattr(item, "cls", None) or getattr(item, "module", None)
    name = _name_of(item)
    function = plain(getattr(owner, name, None))
    code = getattr(function, "__code__", None)
    return _Subject(owner, name, function, code) if isinstance(code, CodeType) else None


def _name_of(item: Any) -> str:
    return str(getattr(item, "originalname", None) or getattr(item, "name", ""))


class Guard:
    """The guard of one process. Errors: none; it puts signs down."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self.places = Places(recorder.config)
        self._early = frozenset(name for name in HARNESS if name in sys.modules)
        self._whole = [part for name in self._early for part in whole_module(name)]
        self._codes = [Codes(function for part in self._whole for function in part.functions())]
        self._first = list(judging(with_unittest=True))
        self._judges: list[Part] = []
        self._looks: list[tuple[Any, Any]] = []
        self._seen: list[tuple[Any, ...]] = []
        self._deciding: list[Any] = []
        self._decided: list[CodeType] = []
        self._hooks: list[tuple[str, Any, list[Any]]] = []
        self._relays: tuple[Any, ...] = ()
        self._lists: list[list[Any]] = []
        self._impls: list[Any] = []
        self._functions: list[Any] = []
        self._subjects: dict[str, _Subject] = {}
        self._items = Items()
        self._config: Any = None
        self._choice: dict[str, str] = {}
        self._manager: Any = None
        self._told: set[str] = set()
        self._all_return = True
        self._count = 0
        self._settled = False
        if recorder.config["audit"]:
            from .auditing import watch

            watch(recorder, self.places, self._is_guarded)

    def wake(self) -> None:
        """Everything is remembered: code of the project may run."""
        self._recorder.wake()

    # ------------------------------------------------------------ before the tests

    def begin(self, config: Any) -> None:
        """Collection begins: what the command line, settings and conftest files chose is chosen."""
        self._config = config
        self._choice = choice(config)

    def settle(self, items: Iterable[Any], manager: Any) -> None:
        """Collection is over: what installed plugins changed by now is theirs to change; the project's code has no say.

        ``manager`` is pytest's plugin manager.
        """
        items = list(items)
        subjects = self._take_subjects(items)
        self._items = Items(items)
        self._ask_origins()
        self._ask_for_misplaced()
        for path, what in meddled(self.places):
            self._recorder.sign(f"{path}: {what} by somebody else", path)
        self._ask_for_types()
        self._ask_for_choice()
        self._whole = [part.renewed() for part in self._whole]
        late = [part for name in HARNESS if name not in self._early for part in whole_module(name)]
        for name, value in (each for part in late for each in part.parts()):
            self._ask_origin(name, value)
        late += [part for name in _own_modules() for part in whole_module(name)]
        self._whole += late
        self._codes.append(Codes(function for part in late for function in part.functions()))
        self._settle_judges(with_unittest=any(map(_is_a_unit, subjects)))
        self._settle_hooks(manager)
        self._watch_returns(subjects)
        self._settled = True

    def _settle_judges(self, *, with_unittest: bool) -> None:
        self._judges = list(judging(with_unittest=with_unittest))
        if with_unittest and "unittest.case" not in self._early:
            self._ask_for_foreign()
        self._looks = [part.to_compare() for part in self._judges]
        self._seen = [part.values for part in self._judges]
        self._deciding = [function for part in self._judges for function in part.functions()]
        self._decided = list(map(_CODE, self._deciding))

    def _ask_for_foreign(self) -> None:
        """What the project's own code imported first was never seen as it was: it has to be what its file defines."""
        home = sys.modules["unittest.case"].__file__
        for part in self._judges:
            for name, value in part.items() if part.name in _WRITTEN_OUT else ():
                code = getattr(plain(value), "__code__", None)
                names = {name, "deprecated_func"}
                if not (isinstance(code, CodeType) and code.co_filename == home and code.co_name in names):
                    self._recorder.sign(f"{part.name}.{name} was replaced by {value!r:.80} while tests were collected")

    def _settle_hooks(self, manager: Any) -> None:
        self._manager = manager
        self._hooks = [
            (name, getattr(manager.hook, name), getattr(manager.hook, name).get_hookimpls()) for name in _HOOKS
        ]
        self._relays = tuple(hook for _, hook, _ in self._hooks)
        self._lists = [impls for _, _, impls in self._hooks]
        self._impls = [impl for _, _, impls in self._hooks for impl in impls]
        self._functions = list(map(_FUNCTION, self._impls))
        for function in self._functions:
            path = self._origin(function)
            if path:
                self._recorder.sign(f"code of {path} was made a hook of pytest", path)

    def _ask_origins(self) -> None:
        for part in self._whole:
            for name, value in part.changes():
                self._ask_origin(name, value)

    def _ask_origin(self, name: str, value: Any) -> None:
        path = self._origin(value)
        if path:
            self._recorder.sign(f"{name} was replaced by code of {path}", path)

    def _ask_codes(self, *, loose_only: bool = False, after: str = "") -> None:
        for codes in self._codes:
            for function, name, code in codes.changes():
                path = self.places.loose(code.co_filename)
                by = f" by code of {path}" if path else ""
                if path or not loose_only:
                    self._recorder.sign(f"{name} of {function.__qualname__}() was replaced{by}{after}", path)

    def _ask_for_choice(self) -> None:
        now = choice(self._config) if self._config is not None else {}
        for name, value in now.items():
            if value != self._choice[name]:
                self._recorder.sign(f"pytest's {name} was changed to {value:.80} while tests were collected")

    def _ask_for_types(self) -> None:
        if types_are_run():
            self._recorder.sign("typing.TYPE_CHECKING was made true, and what stands under it owes nothing")

    def _ask_for_misplaced(self) -> None:
        """What judges may be a plugin's own code by now, but no builtin is, and no other part of the harness."""
        for part in self._first:
            for name, value in part.changes():
                if not self._origin(value) and (name.startswith("builtins.") or _is_borrowed(value)):
                    self._recorder.sign(f"{name} was replaced by {value!r:.80} while tests were collected")

    def _take_subjects(self, items: Iterable[Any]) -> list[_Subject]:
        known: dict[tuple[int, str], _Subject | None] = {}
        for item in items:
            # The cases of one function share its node; looking a class or a module up goes up the tree of nodes.
            key = (id(item.parent), _name_of(item))
            if key not in known:
                known[key] = self._checked(_subject(item), item.nodeid)
            subject = known[key]
            if subject is not None:
                self._subjects[item.nodeid] = subject
        return [subject for subject in known.values() if subject is not None]

    def _watch_returns(self, subjects: list[_Subject]) -> None:
        watch = getattr(self._recorder.observer, "watch_returns", None)
        self._all_return = watch is not None and all(map(self._calls_here, self._callers()))
        if self._all_return and watch is not None:
            watch({id(each.code): each.code for each in subjects}.values())

    def _checked(self, subject: _Subject | None, nodeid: str) -> _Subject | None:
        path = self.places.loose(subject.code.co_filename) if subject is not None else ""
        if subject is not None and path in self._recorder.config["plan"]:
            text = f"the function of {nodeid} is not that of its file but one of {path}"
            self._recorder.sign(text, path, subject.code.co_firstlineno)
        return subject

    def _callers(self) -> Iterator[Any]:
        for name, _, impls in self._hooks:
            if name in {"pytest_pyfunc_call", "pytest_runtest_protocol", "pytest_runtest_call"}:
                yield from (i for i in impls if not (i.hookwrapper or getattr(i, "wrapper", False)))

    @staticmethod
    def _calls_here(impl: Any) -> bool:
        """Whether a hook that runs tests is known to call their functions in this process."""
        return (getattr(impl.function, "__module__", None) or "").startswith(_CALLERS)

    def _origin(self, value: Any) -> str:
        """The unprotected file of the export that ``value`` was written in, as far as it tells."""
        value = getattr(value, "__func__", getattr(value, "fget", value))
        while hasattr(value, "__wrapped__"):
            code = getattr(value, "__code__", None)
            if code is not None and self.places.loose(code.co_filename):
                break
            value = value.__wrapped__
        code = getattr(value, "__code__", None) or getattr(vars(type(value)).get("__call__"), "__code__", None)
        return self.places.loose(code.co_filename) if isinstance(code, CodeType) else ""

    def _is_protected(self, value: Any) -> bool:
        code = getattr(plain(value), "__code__", None)
        path = self.places.inside(code.co_filename) if isinstance(code, CodeType) else ""
        return bool(path) and self.places.is_protected(path)

    # ------------------------------------------------------------ during the tests

    def started(self, nodeid: str) -> None:
        """A test's turn has come."""
        what = self._items.started(nodeid)
        if what:
            self._recorder.sign(f"{nodeid} {what}")

    def called(self, item: Any) -> None:
        """A test was called and is about to be judged."""
        if not self._settled:
            return
        # Equal tuples: identical elements are not asked whether they are equal, and ``final`` asks for identity.
        if [get(space) for get, space in self._looks] != self._seen:
            for part in self._judges:
                self._tell(part, item.nodeid)
        if list(map(_CODE, self._deciding)) != self._decided:
            self._ask_codes(after=f" (seen after {item.nodeid})")
        if list(map(_FUNCTION, self._impls)) != self._functions:
            self._recorder.sign(f"a hook of pytest was replaced (seen after {item.nodeid})")
        self._look_at(item)

    def _tell(self, part: Part | Whole, nodeid: str, *, strict: bool = False) -> None:
        """What a test's own fixtures replaced with something of a protected file is restored before the end."""
        for name, value in part.changes():
            if name in self._told or (not strict and self._is_protected(value)):
                continue
            self._told.add(name)
            path = self._origin(value)
            by = f" by code of {path}" if path else ""
            self._recorder.sign(f"{name} was replaced{by} (seen after {nodeid})", path)

    def _look_at(self, item: Any) -> None:
        subject = self._subjects.get(item.nodeid)
        if subject is None:
            return
        function = subject.function
        if function.__code__ is not subject.code:
            path = self.places.loose(function.__code__.co_filename)
            by = f" by code of {path}" if path else ""
            self._recorder.sign(f"__code__ of {function.__qualname__}() was replaced{by}", path)
        for now in (getattr(subject.owner, subject.name, None), getattr(item, "_obj", None)):
            if now is not function and plain(now) is not function and now is not None:
                path = self._origin(plain(now))
                if path:
                    self._recorder.sign(f"the function of {item.nodeid} was replaced by code of {path}", path)

    def judged(self, nodeid: str, passed: bool, raised: str) -> None:
        """A test and its teardown are over. ``raised`` is the phase in which an exception ended it, if one did."""
        self._count += 1
        subject = self._subjects.get(nodeid)
        if passed and raised:
            self._recorder.sign(f"{nodeid} was reported as passed, though its {raised} raised an exception")
        if self._all_return and subject is not None:
            returned = self._recorder.observer.take_returned()  # type: ignore[union-attr]
            if passed and id(subject.code) not in returned:
                self._recorder.sign(f"{nodeid} was reported as passed, though its function did not run to its end")
        if list(map(_IMPLS, self._relays)) != self._lists or not self._has_its_relays():
            for name, hook, impls in self._hooks:
                if hook.get_hookimpls() != impls or vars(self._manager.hook).get(name) is not hook:
                    self._look_at_hook(name, hook, impls)

    def _has_its_relays(self) -> bool:
        try:
            return bool(_RELAYS(vars(self._manager.hook)) == self._relays)
        except KeyError:
            return False

    def _look_at_hook(self, name: str, hook: Any, impls: list[Any]) -> None:
        now = hook.get_hookimpls()
        ours = [impl for impl in impls if (impl.function.__module__ or "").startswith(_PACKAGE)]
        if any(impl not in now for impl in ours) or getattr(self._manager.hook, name, None) is not hook:
            self._recorder.sign(f"the recorder's part in pytest's hook {name} was taken away")
        for impl in now:
            path = "" if impl in impls else self._origin(impl.function)
            if path:
                self._recorder.sign(f"code of {path} was made a hook of pytest ({name})", path)

    # ------------------------------------------------------------ after the tests

    def final(self) -> int:
        """Look at everything once more. How many tests were looked after."""
        if not self._settled:
            # The controller of xdist's workers, or nothing was collected.
            self._ask_origins()
        for part in self._whole if self._settled else ():
            self._tell(part, "the last test", strict=True)
        self._ask_codes(loose_only=not self._settled)
        for impl, function in zip(self._impls, self._functions):  # noqa: B905 - Python 3.9 knows no strict=
            if impl.function is not function:
                self._recorder.sign(f"the hook {function.__qualname__} of {function.__module__} was replaced")
        self._ask_for_types()
        if sys.flags.optimize:
            self._recorder.sign("Python ran without assertions (-O)")
        finder = self._recorder.finder
        if finder is not None and not finder.is_installed():
            self._recorder.sign("the recorder's place in the import system was taken away")
        return self._count

    def _is_guarded(self, function: Any) -> bool:
        return is_of_the_harness(function) or any(function is each.function for each in self._subjects.values())


def _is_borrowed(value: Any) -> bool:
    """Whether a value was not written to stand where it stands: it has no code, or is a function of the harness."""
    value = plain(value)
    return not isinstance(getattr(value, "__code__", None), CodeType) or is_of_the_harness(value)


def _is_a_unit(subject: _Subject) -> bool:
    case = getattr(sys.modules.get("unittest.case"), "TestCase", None)
    return case is not None and isinstance(subject.owner, type) and issubclass(subject.owner, case)


def _own_modules() -> list[str]:
    return [name for name in sys.modules if name.startswith(_PACKAGE)]
