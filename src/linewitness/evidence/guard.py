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

import gc
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from operator import itemgetter
from types import CodeType
from typing import Any

from .helpers import Helpers
from .items import Items, choice
from .namespaces import meddled, types_are_run
from .parts import HARNESS, Codes, Part, Whole, is_borrowed, is_of_the_harness, judging, plain, whole_module
from .places import Places
from .plugs import Plugs
from .recorder import Recorder
from .tools import is_a_tools

_PACKAGE = f"{__package__}."

_HOOKS = (
    "pytest_pyfunc_call", "pytest_runtest_call", "pytest_runtest_logfinish", "pytest_runtest_logreport",
    "pytest_runtest_logstart", "pytest_runtest_makereport", "pytest_runtest_protocol", "pytest_runtest_setup",
    "pytest_runtest_teardown", "pytest_unconfigure",
)  # fmt: skip
_RELAYS = itemgetter(*_HOOKS)
# Parts of unittest whose functions are what their file says, each under its own name; none of these is wrapped by us.
_WRITTEN_OUT = frozenset({
    "unittest.case.TestCase", "unittest.case._AssertRaisesBaseContext", "unittest.case._AssertRaisesContext",
    "unittest.case._AssertWarnsContext",
})  # fmt: skip
# What the recorder itself puts into the harness before anything is collected, and by which of its modules.
_OURS = {"_pytest.assertion.rewrite.rewrite_asserts": f"{_PACKAGE}relation_watch"}
# Runners of tests that call the function themselves, in this process.
_CALLERS = ("_pytest.", "_linewitness.", "anyio.", "pytest_asyncio", "pytest_rerunfailures", "pytest_timeout", "xdist.")

# One collected test: where its function is found, under which name, the function, and its code.
_Subject = tuple[Any, str, Any, CodeType]
_PHASES = ["setup", "call", "teardown"]


def _subject(item: Any) -> _Subject | None:
    """``None`` for a test that is no Python function."""
    owner = getattr(item, "cls", None) or getattr(item, "module", None)
    name = _name_of(item)
    function = plain(getattr(owner, name, None))
    code = getattr(function, "__code__", None)
    return (owner, name, function, code) if isinstance(code, CodeType) else None


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
        self._modules = {name: sys.modules[name] for name in sorted(self._early)}
        self._judges: list[Part] = []
        self._looks: list[Callable[[], Any]] = []
        self._seen: list[Any] = []
        self._deciding: list[Any] = []
        self._decided: list[CodeType] = []
        self._hooks: list[tuple[str, Any, list[Any]]] = []
        self._relays: tuple[Any, ...] = ()
        self._lists: list[list[Any]] = []
        self._impls: list[Any] = []
        self._functions: list[Any] = []
        self._subjects: dict[str, _Subject] = {}
        self._items = Items()
        self._helpers = Helpers(self.places, recorder.config)
        self._config: Any = None
        self._choice: dict[str, str] = {}
        self._manager: Any = None
        self._callers: list[Any] = []
        self._plugs = Plugs(recorder, self.places)
        self.phases: list[str] = []
        """The phases of the running test on which a report was asked for."""
        # Ids of the items that are to run, when they are known; nothing else may change them.
        self._chosen: frozenset[int] | None = frozenset()
        self._told: set[str] = set()
        self._unread: set[str] = set()
        self._all_return = True
        self._knows_runners = True
        self._count = 0
        self._settled = False
        if recorder.config["audit"]:
            from .auditing import watch

            watch(recorder, self.places, self._is_guarded)

    def wake(self) -> None:
        """Everything is remembered: code of the project may run."""
        self._recorder.wake()

    # ------------------------------------------------------------ before the tests

    def registered(self, plugin: Any) -> None:
        """Pytest was given a plugin, possibly for a short time."""
        self._plugs.note(plugin)

    def configuring(self, config: Any) -> None:
        """Conftest files are about to be loaded, and with them what they import."""
        gc.freeze()  # As when the plugin was loaded: since then pytest has read its options.
        self._plugs.watch(config)
        self._config, self._choice = config, choice(config)
        self._recorder.look = self._look_while_running

    def loaded(self) -> None:
        """The first conftest files are loaded. Their hooks may change options later; loading them does not."""
        self._ask_for_choice("conftest files were loaded")

    def begin(self, config: Any) -> None:
        """Collection begins: what the command line, settings and conftest files chose is chosen."""
        self._config, self._choice = config, choice(config)

    def not_collected(self, name: str) -> None:
        """The import of a test file came to no end, or skipped itself: what its text defines may not be there."""
        self._unread.add(self.places.inside(name))

    def judge_plugins(self) -> None:
        """The tests are found, and plugins may leave some of them out."""
        self._plugs.judge()

    def choose(self, items: Iterable[Any], plugin: Any) -> None:
        """These tests were left by all plugins, unless one has the last word after ``plugin``."""
        last = self._config.pluginmanager.hook.pytest_collection_modifyitems.get_hookimpls()[-1]
        self._chosen = frozenset(map(id, items)) if last.plugin is plugin else None

    def look_back(self, items: Iterable[Any]) -> None:
        """Collection is over: what installed plugins changed by now is theirs to change; the project's code has no say.

        The recorder's own changes come after this.
        """
        if self._chosen is not None and self._chosen != frozenset(map(id, items)):
            self._recorder.sign("tests were left out when all plugins had made their choice")
        self._ask_origins()
        self._ask_for_misplaced()
        self._ask_for_modules("tests were collected")
        for path, what in meddled(self.places, self._origin, self._unread):
            self._recorder.sign(f"{path}: {what} by somebody else", path)
        for path, what in self._helpers.settle():
            self._recorder.sign(f"{path}: {what}", path)
        self._ask_for_types()
        self._ask_for_choice("tests were collected")
        self._plugs.judge()

    def settle(self, items: Iterable[Any], manager: Any) -> None:
        """Remember how the tests are to find everything. ``manager`` is pytest's plugin manager."""
        items = list(items)
        subjects = self._take_subjects(items)
        self._items = Items(items)
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
        self._looks = [part.look for part in self._judges]
        self._seen = [part.values for part in self._judges]
        # Of what tests are written with only the names are compared each time; the code is compared at the end.
        self._deciding = [f for part in self._judges if part.name != "pytest" for f in part.functions()]
        self._decided = [function.__code__ for function in self._deciding]

    def _ask_for_foreign(self) -> None:
        """What the project's own code imported first was never seen as it was: it has to be what its file defines."""
        home = sys.modules["unittest.case"].__file__
        for full, value in (each for part in whole_module("unittest.case") for each in part.parts()):
            owner, _, name = full.rpartition(".")
            function = getattr(value, "fget", plain(value))
            function = getattr(function, "__wrapped__", function) if name == "subTest" else function
            code, names = getattr(function, "__code__", None), {name, "deprecated_func"}
            is_written = isinstance(code, CodeType) and code.co_filename == home and code.co_name in names
            if owner in _WRITTEN_OUT and not is_written and not isinstance(function, type):
                self._recorder.sign(f"{full} was replaced by {value!r:.80} while tests were collected")

    def _settle_hooks(self, manager: Any) -> None:
        self._manager = manager
        self._hooks = [
            (name, getattr(manager.hook, name), getattr(manager.hook, name).get_hookimpls()) for name in _HOOKS
        ]
        self._relays = tuple(hook for _, hook, _ in self._hooks)
        self._callers = [hook._hookexec for hook in self._relays]  # noqa: SLF001 - nothing public tells
        self._lists = [impls for _, _, impls in self._hooks]
        self._impls = [impl for _, _, impls in self._hooks for impl in impls]
        self._functions = [impl.function for impl in self._impls]
        for function in self._functions:
            path = self._origin(function)
            if path:
                self._recorder.sign(f"code of {path} was made a hook of pytest", path)
        self._ask_for_callers()

    def _ask_origins(self) -> None:
        for part in self._whole:
            for name, value in (*part.changes(), *part.additions()):
                self._ask_origin(name, value)

    def _ask_origin(self, name: str, value: Any) -> None:
        path = self._origin(value)
        if path:
            self._recorder.sign(f"{name} was replaced by code of {path}", path)

    def _ask_for_callers(self) -> None:
        """What calls the hooks is kept in each relay and in the plugin manager, beside their classes."""
        for holder in (*self._relays, self._manager):
            for name in ("_hookexec", "_inner_hookexec"):
                self._ask_origin(f"{name} of {type(holder).__name__}", getattr(holder, name, None))

    def _ask_codes(self, *, loose_only: bool = False, after: str = "") -> None:
        for codes in self._codes:
            for function, name, code in codes.changes():
                path = self.places.loose(code.co_filename)
                by = f" by code of {path}" if path else ""
                if path or not loose_only:
                    self._recorder.sign(f"{name} of {function.__qualname__}() was replaced{by}{after}", path)

    def _ask_for_choice(self, when: str) -> None:
        for name, value in choice(self._config).items():
            if value != self._choice[name]:
                self._recorder.sign(f"pytest's {name} was changed to {value:.80} while {when}")

    def _ask_for_modules(self, when: str) -> None:
        """Whether the parts of the harness are imported from where they were. A test may hide one, and put it back."""
        for name, module in self._modules.items():
            now = sys.modules.get(name)
            if now is not module and now is not None:
                self._recorder.sign(f"another module was put in the place of {name} while {when}")

    def _ask_for_types(self) -> None:
        if types_are_run():
            self._recorder.sign("typing.TYPE_CHECKING was made true, and what stands under it owes nothing")

    def _ask_for_misplaced(self) -> None:
        """A part of the harness may be a plugin's own code by now, but no builtin, no other part, no code of a text."""
        parts: list[Part | Whole] = [*self._first, *self._whole]
        for part in parts:
            for name, value in part.changes():
                if getattr(value, "__module__", "") == _OURS.get(name) and is_of_the_harness(value):
                    continue
                if not self._origin(value) and (name.startswith("builtins.") or is_borrowed(value)):
                    self._recorder.sign(f"{name} was replaced by {value!r:.80} while tests were collected")

    def _take_subjects(self, items: Iterable[Any]) -> list[_Subject]:
        known: dict[tuple[int, str], _Subject | None] = {}
        taken = self._subjects
        last: tuple[Any, str] = (None, "")
        subject: _Subject | None = None
        for item in items:
            # The cases of one function share its node; looking a class or a module up goes up the tree of nodes.
            parent, name = item.parent, getattr(item, "originalname", None) or item.name
            if parent is not last[0] or name != last[1]:
                last, key = (parent, name), (id(parent), name)
                if key not in known:
                    known[key] = self._checked(_subject(item), item.nodeid)
                subject = known[key]
            if subject is not None:
                taken[item.nodeid] = subject
        return [subject for subject in known.values() if subject is not None]

    def _watch_returns(self, subjects: list[_Subject]) -> None:
        watch = getattr(self._recorder.observer, "watch_returns", None)
        self._knows_runners = all(map(self._calls_here, self._runners()))
        self._all_return = watch is not None and self._knows_runners
        if self._all_return and watch is not None:
            watch({id(code): code for _, _, _, code in subjects}.values())

    def _checked(self, subject: _Subject | None, nodeid: str) -> _Subject | None:
        if subject is not None:
            path = self.places.loose(subject[3].co_filename)
            if path in self._recorder.config["plan"]:
                text = f"the function of {nodeid} is not that of its file but one of {path}"
                self._recorder.sign(text, path, subject[3].co_firstlineno)
        return subject

    def _runners(self) -> Iterator[Any]:
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
        value = getattr(value, "func", value) if type(value) is partial else value
        while hasattr(value, "__wrapped__"):
            code = getattr(value, "__code__", None)
            if code is not None and self.places.loose(code.co_filename):
                break
            value = value.__wrapped__
        if isinstance(value, type):
            file = getattr(sys.modules.get(value.__module__), "__file__", None)
            return self.places.loose(file) if isinstance(file, str) else ""
        code = getattr(value, "__code__", None) or getattr(vars(type(value)).get("__call__"), "__code__", None)
        return self.places.loose(code.co_filename) if isinstance(code, CodeType) else ""

    def _is_protected(self, value: Any) -> bool:
        code = getattr(plain(value), "__code__", None)
        path = self.places.inside(code.co_filename) if isinstance(code, CodeType) else ""
        return bool(path) and self.places.is_protected(path)

    # ------------------------------------------------------------ during the tests

    def started(self, nodeid: str) -> None:
        """A test's turn has come."""
        self.phases = []
        what = self._items.started(nodeid)
        if what:
            self._recorder.sign(f"{nodeid} {what}")

    def called(self, item: Any) -> None:
        """A test was called and is about to be judged."""
        if not self._settled:
            return
        if not self._is_in_order():
            for part in self._judges:
                self._tell(part, item.nodeid)
        if sys.modules.get("pytest") is not self._modules["pytest"]:
            self._ask_for_modules(f"{item.nodeid} ran")
        if "gethookproxy" in item.session.__dict__:
            self._recorder.sign(f"the way in which pytest calls hooks was changed (seen after {item.nodeid})")
        if [function.__code__ for function in self._deciding] != self._decided:
            self._ask_codes(after=f" (seen after {item.nodeid})")
        if [impl.function for impl in self._impls] != self._functions:
            self._recorder.sign(f"a hook of pytest was replaced (seen after {item.nodeid})")
        self._look_at(item)

    def _is_in_order(self) -> bool:
        """Whether everything that judges is what it was.

        Equal tuples: identical elements are not asked whether they are equal, and ``final`` asks for identity.
        """
        try:
            return [look() for look in self._looks] == self._seen
        except (LookupError, NameError):
            return False

    def _look_while_running(self, frame: Any) -> None:
        """Code of a file that is not protected runs for the first time: what it is about to undo is not undone yet."""
        self._ask_for_types()
        if not self._settled:
            self._plugs.called(frame)
        elif not self._is_in_order():
            for name, value in (each for part in self._judges for each in part.changes()):
                path = self._origin(value)
                if path:
                    text = f"{name} was replaced by code of {path} (seen when {frame.f_code.co_name}() ran)"
                    self._recorder.sign(text, path)

    def _tell(self, part: Part | Whole, nodeid: str, *, strict: bool = False) -> None:
        """What a test's own fixtures replaced with something of a protected file is restored before the end."""
        for name, value in part.changes():
            if name in self._told or (not strict and self._is_protected(value)) or is_a_tools(name, value):
                continue
            self._told.add(name)
            path = self._origin(value)
            by = f" by code of {path}" if path else ""
            self._recorder.sign(f"{name} was replaced{by} (seen after {nodeid})", path)

    def _look_at(self, item: Any) -> None:
        subject = self._subjects.get(item.nodeid)
        if subject is None:
            return
        owner, name, function, code = subject
        if function.__code__ is not code:
            path = self.places.loose(function.__code__.co_filename)
            by = f" by code of {path}" if path else ""
            self._recorder.sign(f"__code__ of {function.__qualname__}() was replaced{by}", path)
        for now in (getattr(owner, name, None), getattr(item, "_obj", None)):
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
            returned = self._recorder.observer.has_returned(subject[3])  # type: ignore[union-attr]
            if passed and not returned:
                self._recorder.sign(f"{nodeid} was reported as passed, though its function did not run to its end")
        if passed and self._knows_runners and self.phases != _PHASES and not frozenset(_PHASES).issubset(self.phases):
            self._recorder.sign(f"{nodeid} was reported as passed, and pytest was not asked to make its reports")
        # Not by the method that gives the lists: it makes copies.
        if [hook._hookimpls for hook in self._relays] != self._lists or not self._has_its_relays():  # noqa: SLF001
            for name, hook, impls in self._hooks:
                if hook.get_hookimpls() != impls or vars(self._manager.hook).get(name) is not hook:
                    self._look_at_hook(name, hook, impls)
        if [hook._hookexec for hook in self._relays] != self._callers or self._plugs.is_bypassed():  # noqa: SLF001
            self._recorder.sign(f"the way in which pytest calls hooks was changed (seen after {nodeid})")

    def _has_its_relays(self) -> bool:
        try:
            return bool(_RELAYS(self._manager.hook.__dict__) == self._relays)
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
            self._plugs.judge()
        for part in self._whole if self._settled else ():
            self._tell(part, "the last test", strict=True)
            for name, value in part.additions():
                self._ask_origin(name, value)
        if self._settled:
            self._ask_for_callers()
        self._ask_for_modules("tests ran")
        self._ask_codes(loose_only=not self._settled)
        for impl, function in zip(self._impls, self._functions):  # noqa: B905 - Python 3.9 knows no strict=
            if impl.function is not function:
                self._recorder.sign(f"the hook {function.__qualname__} of {function.__module__} was replaced")
        for path, what in self._helpers.final(self._origin):
            self._recorder.sign(f"{path}: {what}", path)
        self._ask_for_types()
        if sys.flags.optimize:
            self._recorder.sign("Python ran without assertions (-O)")
        finder = self._recorder.finder
        if finder is not None and not finder.is_installed():
            self._recorder.sign("the recorder's place in the import system was taken away")
        return self._count

    def _is_guarded(self, function: Any) -> bool:
        return is_of_the_harness(function) or any(function is each[2] for each in self._subjects.values())


def _is_a_unit(subject: _Subject) -> bool:
    case = getattr(sys.modules.get("unittest.case"), "TestCase", None)
    return case is not None and isinstance(subject[0], type) and issubclass(subject[0], case)


def _own_modules() -> list[str]:
    return [name for name in sys.modules if name.startswith(_PACKAGE)]
