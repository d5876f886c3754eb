"""Leaves out what conftest files and options leave out of collection, and puts down what that was.

Files that are named on the command line, as the trusted ones are, pytest collects whatever ``collect_ignore``,
``pytest_ignore_collect`` and ``--ignore`` say. So they are asked here, for the file and for each folder around it, as
pytest would on its way down from the root. Tests that were found and taken out of the list again are put down too: a
conftest file that asks the product may leave out other ones for every version of it.

Runs in the *tested* interpreter (3.9 and later), loaded as a plugin of pytest.

PYTEST_DONT_REWRITE
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from fnmatch import fnmatch
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from .recorder import Recorder

OPTIONS = "options"
"""Who left a file out when a person did so on pytest's command line."""
_NAMES = ("collect_ignore", "collect_ignore_glob", "pytest_ignore_collect")
# Parts of pytest that leave tests out because an option says so, and ours.
_CHOOSING = ("_pytest.", f"{__package__}.")


class LeftOut(pytest.File):
    """A file that is not looked into. Without any node pytest would complain that the file is not there."""

    def collect(self) -> list[Any]:
        """Nothing."""
        return []


class _Watch:
    """What was left out so far in this process."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._export = Path(recorder.config["export"])
        self._files = {str(self._export / path): path for path in recorder.config["test_files"]}
        self._asked: dict[str, bool] = {}
        self._found: list[Any] = []
        self._chosen: set[int] = set()

    def leaves_out(self, place: Path, session: Any) -> bool:
        """Whether this is a trusted file, and pytest would not come to it by itself."""
        path = self._files.get(str(place))
        if path is None:
            return False
        # The file, and the folders between it and the root.
        ways = [place, *islice(place.parents, path.count("/"))]
        culprit = next((each for each in reversed(ways) if self._is_ignored(each, session)), None)
        if culprit is None:
            return False
        self._recorder.journal.write(["left-out", path, self._by(culprit, session.config)])
        return True

    def _is_ignored(self, place: Path, session: Any) -> bool:
        known = self._asked.get(str(place))
        if known is None:
            hooks = session.gethookproxy(place.parent)
            known = bool(hooks.pytest_ignore_collect(collection_path=place, config=session.config))
            self._asked[str(place)] = known
        return known

    def _by(self, place: Path, config: Any) -> str:
        """Who may have said so: conftest files on the way, or nobody that can be named."""
        options = config.option
        if any(Path(each).absolute() == place for each in options.ignore or ()):
            return OPTIONS
        if any(fnmatch(str(place), str(Path(each).absolute())) for each in options.ignore_glob or ()):
            return OPTIONS
        manager, folders = config.pluginmanager, [place.parent]
        while folders[-1] != self._export:
            folders.append(folders[-1].parent)
        names = [folder / "conftest.py" for folder in folders]
        told = (name for name in names if any(hasattr(manager.get_plugin(str(name)), each) for each in _NAMES))
        return ", ".join(name.relative_to(self._export).as_posix() for name in told)

    def found(self, nodes: list[Any]) -> None:
        """These were collected."""
        self._found += [node for node in nodes if isinstance(node, pytest.Item)]

    def chosen(self, items: list[Any]) -> None:
        """These are taken out, for somebody who says so."""
        caller: Any = sys._getframe(1)  # noqa: SLF001 - the hook does not tell who calls it
        while caller is not None and _module_of(caller).startswith(("pluggy.", __name__)):
            caller = caller.f_back
        if caller is not None and _module_of(caller).startswith(_CHOOSING):
            self._chosen.update(map(id, items))

    def finish(self, items: list[Any]) -> None:
        """Collection is over, and ``items`` are to run."""
        unchosen = {item.nodeid.partition("[")[0] for item in self._found if id(item) in self._chosen}
        if unchosen:
            self._recorder.journal.write(["unchosen", sorted(unchosen)])
        left = self._chosen.union(map(id, items))
        names = {item.nodeid for item in self._found if id(item) not in left}
        if names:
            names.difference_update(item.nodeid for item in items)
        if names:
            self._recorder.journal.write(["taken-out", sorted(names)])


def _module_of(frame: Any) -> str:
    """The module that a frame belongs to; a name alone is easy to take."""
    name = frame.f_globals.get("__name__", "")
    module = sys.modules.get(name)
    is_it = module is not None and vars(module) is frame.f_globals and module.__file__ == frame.f_code.co_filename
    return str(name) if is_it else ""


_WATCHES = [_Watch(recorder) for recorder in (Recorder.active,) if recorder is not None]


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_collect_file(file_path: Path, parent: Any) -> Iterator[None]:
    """Put an empty node in the place of a file that is left out."""
    outcome: Any = yield
    for watch in _WATCHES:
        if watch.leaves_out(file_path, parent.session):
            outcome.force_result([LeftOut.from_parent(parent, path=file_path)])


def pytest_collectreport(report: Any) -> None:
    """Note what was found."""
    for watch in _WATCHES:
        watch.found(report.result or [])


def pytest_deselected(items: Any) -> None:
    """Note what options take out."""
    for watch in _WATCHES:
        watch.chosen(items)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_finish(session: Any) -> None:
    """Note what is gone."""
    for watch in _WATCHES:
        watch.finish(session.items)
