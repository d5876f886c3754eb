"""What well-typed settings may still not say: globs that can match nothing, suites that contradict themselves."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from typing import Any, Final

from linewitness.settings import Settings, Suite
from linewitness.toml_lines import KeyPath
from linewitness.values import NamedTuple


class Complaint(NamedTuple):
    """What is wrong with the setting at ``path``."""

    path: KeyPath
    text: str


_GLOB_LISTS: Final = ("sources", "generated", "trusted", "relations", "protected", "inert", "sensitive")
_SUITE_GLOB_LISTS: Final = ("paths", "sources")
_ONLY_RUNNER: Final = ("paths", "plugins", "args", "python")
_ONLY_RUN: Final = ("export", "format", "path-map")

_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_MODULE: Final = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*")
# https://git-scm.com/docs/git-check-ref-format, and no leading dash, which git would take for an option.
_BAD_BRANCH: Final = re.compile(r"^[-/.]|[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//|(/|\.|\.lock)$|^@$")


def complaints(settings: Settings, raw: dict[str, Any]) -> Iterator[Complaint]:
    """Everything that is wrong, in the order of the settings. ``raw`` tells which keys were written down."""
    if _BAD_BRANCH.search(settings.target_branch):
        yield Complaint(("target-branch",), f"{settings.target_branch!r} is not the name of a branch")
    for name in _GLOB_LISTS:
        yield from _globs((name,), getattr(settings, name))
    if not settings.sources:
        yield Complaint(("sources",), "is empty, so that no line would ever owe: name what owes, or leave the key out")
    for name, path in (("waivers", settings.waivers), ("approvers", settings.approvers)):
        yield from _file((name,), path)
    for index, owner in enumerate(settings.owners):
        if not owner.strip() or not owner.isprintable():
            yield Complaint(("owners", index), f"{owner!r} is not a name")
    yield from _suites(settings.suite, raw)


def _suites(suites: tuple[Suite, ...], raw: dict[str, Any]) -> Iterator[Complaint]:
    first: dict[str, int] = {}
    for index, suite in enumerate(suites):
        path: KeyPath = ("suite", index)
        if not suite.name.strip() or not suite.name.isprintable():
            yield Complaint((*path, "name"), f"{suite.name!r} is not a name")
        if first.setdefault(suite.name, index) != index:
            yield Complaint((*path, "name"), f"{suite.name!r} is the name of suite[{first[suite.name]}] already")
        yield from _runner(path, suite, raw["suite"][index])
        yield from _suite_values(path, suite)


def _runner(path: KeyPath, suite: Suite, raw: dict[str, Any]) -> Iterator[Complaint]:
    """``runner`` or ``run``, and only the keys that the chosen one reads: a key that nothing reads misleads."""
    if (suite.runner is None) == (not suite.run.strip()):
        have = "both are given" if suite.runner else "neither is given"
        yield Complaint(path, f'give either `runner = "pytest"` or a command in `run`; {have}')
        return
    other, used = (_ONLY_RUN, "runner") if suite.runner else (_ONLY_RUNNER, "run")
    for key in other:
        if key in raw:
            yield Complaint((*path, key), f"has no meaning in a suite that has `{used}`")
    if suite.run and not suite.export:
        yield Complaint(path, "`run` needs `export`, the file that the command writes")


def _suite_values(path: KeyPath, suite: Suite) -> Iterator[Complaint]:
    for name in _SUITE_GLOB_LISTS:
        yield from _globs((*path, name), getattr(suite, name))
    if suite.export:
        yield from _file((*path, "export"), suite.export)
    for index, variable in enumerate(suite.env):
        if not _VARIABLE.fullmatch(variable):
            yield Complaint((*path, "env", index), f"{variable!r} is not the name of an environment variable")
    for index, module in enumerate(suite.plugins):
        if not _MODULE.fullmatch(module):
            yield Complaint((*path, "plugins", index), f"{module!r} is not the name of a module")
    yield from _suite_places(path, suite)
    words = {"args": suite.args, "setup": suite.setup, "run": (suite.run,), "python": (suite.python,)}
    for key, values in words.items():
        if any("\0" in value for value in values):
            yield Complaint((*path, key), "holds a NUL character, which no command can take")


def _suite_places(path: KeyPath, suite: Suite) -> Iterator[Complaint]:
    for index, place in enumerate(suite.readable):
        if not place.startswith(("/", "~/")) or ".." in place.split("/") or not place.strip("/~"):
            yield Complaint((*path, "readable", index), f"{place!r} is neither absolute nor below `~/`")
    for index, folder in enumerate(suite.borrow):
        trouble = _path_trouble(folder)
        if trouble:
            yield Complaint((*path, "borrow", index), f"{folder!r} {trouble}")


def _globs(path: KeyPath, globs: tuple[str, ...]) -> Iterator[Complaint]:
    for index, glob in enumerate(globs):
        trouble = _glob_trouble(glob)
        if trouble:
            yield Complaint((*path, index), f"{glob!r} {trouble}")
    if globs and all(glob.startswith("!") for glob in globs):
        yield Complaint(path, "has only negations, so that it matches nothing: name first what to take from")


def _glob_trouble(glob: str) -> str:
    """Why a git-style glob can match no path of a tree, or nothing when it can."""
    return _path_trouble(glob.removeprefix("!")) or _pattern_trouble(glob)


def _pattern_trouble(glob: str) -> str:
    if glob.startswith("#"):
        return "is a comment to git; write `[#]` for a name that starts with #"
    if "[" not in glob:
        return ""
    # Brackets have rules of their own; the library that will match the glob is asked, as late as it can be.
    from pathspec import GitIgnoreSpec

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            patterns = list(GitIgnoreSpec.from_lines([glob]).patterns)
    except (ValueError, re.error, FutureWarning):
        return "has a set in brackets that is not valid"
    return "" if any(pattern.include is not None for pattern in patterns) else "has a bracket that is never closed"


def _file(path: KeyPath, name: str) -> Iterator[Complaint]:
    trouble = _path_trouble(name)
    if not trouble and name.endswith("/"):
        trouble = "is a folder; a file is wanted"
    if trouble:
        yield Complaint(path, f"{name!r} {trouble}")


def _path_trouble(path: str) -> str:
    """Why a path or glob can stand for no file of the repository, or nothing when it can."""
    segments = path.removesuffix("/").split("/")
    troubles = (
        (not path.strip(), "is empty"),
        (path != path.strip() or not path.isprintable(), "has white space around it, or an invisible character"),
        ("\\" in path, "has a backslash; paths are written with forward slashes"),
        (path.startswith("/"), "is absolute; paths start at the repository's root, without a leading slash"),
        (".." in segments, "leads out of the repository with `..`"),
        ("." in segments or "" in segments, "has an empty or `.` segment, which no path in a tree has"),
    )
    return next((text for trouble, text in troubles if trouble), "")
