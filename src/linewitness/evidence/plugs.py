"""Who takes part in pytest: which plugins it was given, and how it calls their hooks.

Code under test can give pytest a plugin that leaves tests out, and take it away again before anybody looks. Pytest
tells of every plugin that it is given, so that is noted, and judged when collection is over.

Runs in the *tested* interpreter (3.9 and later, standard library only).
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import CodeType, ModuleType
from typing import Any

from .places import Places
from .recorder import Recorder

# Hooks with which a plugin has a say in which tests there are, which of them run, and how.
_STEERING = ("pytest_collect", "pytest_pycollect", "pytest_ignore_", "pytest_item", "pytest_make_collect_report",
             "pytest_generate_tests", "pytest_runtest", "pytest_pyfunc", "pytest_cmdline_main", "pytest_fixture_setup",
             "pytest_sessionfinish", "pytest_unconfigure")  # fmt: skip
# Parts of the harness that call nothing of a project's but hooks.
_CALLING_HOOKS = frozenset({
    "_pytest.main", "_pytest.reports", "_pytest.runner", "pluggy._callers", "pluggy._caller", "pluggy._execution",
    "pluggy._hooks", "pluggy._manager",
})  # fmt: skip


class Plugs:
    """What is known of the plugins of one process. Errors: none; signs are put down."""

    def __init__(self, recorder: Recorder, places: Places) -> None:
        self._recorder = recorder
        self._places = places
        self._given: list[Any] = []
        self._config: Any = None
        self._manager: Any = None
        self._way: tuple[Any, ...] = ()
        self._hooks: dict[str, Any] = {}

    def watch(self, config: Any) -> None:
        """Remember how hooks are called. Nothing of the project was loaded yet."""
        self._config = config
        self._manager = config.pluginmanager
        self._hooks = dict(vars(self._manager.hook))
        self._way = self._now()

    def note(self, plugin: Any) -> None:
        """Pytest was given a plugin."""
        self._given.append(plugin)

    def _now(self) -> tuple[Any, ...]:
        return (
            self._config.hook,
            self._config.pluginmanager,
            self._manager.hook,
            getattr(self._manager, "_inner_hookexec", None),
            self._manager.__dict__.get("_hookexec"),
        )

    def is_bypassed(self) -> bool:
        """Whether hooks would be called in another way than at first."""
        return self._config is not None and self._now() != self._way

    def judge(self) -> None:
        """Collection is over: put down which plugins are the project's own code and nobody asked for."""
        if self._config is None:
            return
        if self.is_bypassed():
            self._recorder.sign("the way in which pytest calls hooks was changed while tests were collected")
        now = vars(self._manager.hook)
        for name, hook in self._hooks.items():
            if now.get(name) is not hook:
                self._recorder.sign(f"pytest's hook {name} was exchanged while tests were collected")
        for name, path in self._hooks_of_the_project():
            self._recorder.sign(f"code of {path} was made a hook of pytest ({name})", path)

    def called(self, frame: Any) -> None:
        """Code that is not protected starts while tests are collected. Anybody but pytest may call it."""
        caller = frame.f_back
        if caller is None or caller.f_globals.get("__name__") not in _CALLING_HOOKS or self._config is None:
            return
        if frame.f_globals.get("__name__") not in self._wanted():
            path = self._places.loose(frame.f_code.co_filename)
            text = f"{frame.f_code.co_name}() of {path} was called in a hook's place while tests were collected"
            self._recorder.sign(text, path, frame.f_lineno or 0)

    def _wanted(self) -> frozenset[str]:
        """Modules that the settings or conftest files name as plugins."""
        arguments = self._recorder.config["args"]
        names = {arguments[at + 1] for at, argument in enumerate(arguments[:-1]) if argument == "-p"}
        for module in list(sys.modules.values()):
            space: dict[str, Any] = vars(module) if isinstance(module, ModuleType) else {}
            said = space.get("pytest_plugins")
            path = self._places.inside(str(space.get("__file__"))) if said else ""
            if said and path and self._places.is_protected(path):
                names.update([said] if isinstance(said, str) else said)
        return frozenset(names)

    def _hooks_of_the_project(self) -> Iterator[tuple[str, str]]:
        """Names of steering hooks, and the files of what steers without having been asked for."""
        wanted = self._wanted()
        found = [
            (name, impl.function)
            for name, hook in vars(self._manager.hook).items()
            if name.startswith(_STEERING)
            for impl in hook.get_hookimpls()
        ]
        there = frozenset(map(id, self._manager.get_plugins()))
        for plugin in self._given:
            if id(plugin) not in there:  # Taken away again.
                names = (name for name in dir(plugin) if name.startswith(_STEERING))
                found += ((name, getattr(plugin, name, None)) for name in names)
        for name, function in found:
            path = self._origin(function)
            if path and getattr(function, "__module__", "") not in wanted:
                yield name, path

    def _origin(self, function: Any) -> str:
        code = getattr(getattr(function, "__func__", function), "__code__", None)
        return self._places.loose(code.co_filename) if isinstance(code, CodeType) else ""
