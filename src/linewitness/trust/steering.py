"""The files that steer a suite because its commands name them, or because the programs in them look for these files.

``setup`` and ``run`` are shell commands, ``args`` go to pytest, ``python`` is a path; all of them run in the tree of
the patch, so a requirements file or a script that they name decides what the checks run with.
"""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import pairwise
from typing import Final

from linewitness.model import Blob, RepoPath
from linewitness.patterns import late
from linewitness.settings import Settings
from linewitness.trust.builtin import IMPLICIT

_TEST_FOLDERS: Final = frozenset({"test", "tests", "testing"})
# What is followed by the folder in which the rest of a command works.
_GOES_TO: Final = frozenset(
    {"cd", "pushd", "-C", "--directory", "--cwd", "--prefix", "--project", "--project-directory"}
)
_INCLUDES: Final = late(rb"^[ \t]*(?:-r|--requirement|-c|--constraint)[ \t=]*([^\s#]+)", re.MULTILINE)
_REQUIREMENTS: Final = (".txt", ".in", ".pip")


def named_files(settings: Settings) -> frozenset[str]:
    """Paths of the files that the commands and arguments of suites name, and of those that their programs look for.

    Words that name no file are among the result: it is meant for comparing with paths of a tree.
    """
    found: set[str] = set()
    for suite in settings.suite:
        for command in (*suite.setup, suite.run):
            found.update(_steering(_words(command)))
        for text in (*suite.args, suite.python):
            found.update(path for word in _words(text) for path in _paths_in(word))
        found.update(path for name in suite.plugins for path in _plugin_files(name))
    return frozenset(found)


def included_files(
    named: Iterable[str], base: Mapping[RepoPath, Blob], read: Callable[[Blob], bytes]
) -> frozenset[RepoPath]:
    """The files that requirements files among the ``named`` ones include, as they are at base. Errors: of ``read``."""
    waiting = [RepoPath(path) for path in named if path.endswith(_REQUIREMENTS)]
    found: set[RepoPath] = set()
    while waiting:
        path = waiting.pop()
        blob = base.get(path)
        if path in found or blob is None or not blob.is_regular:
            continue
        found.add(path)
        names = (name.decode("utf-8", "surrogateescape") for name in _INCLUDES.findall(read(blob)))
        waiting += (RepoPath(posixpath.normpath(posixpath.join(posixpath.dirname(path), name))) for name in names)
    return frozenset(found)


def may_be_included(path: str) -> bool:
    """Whether a file of this name is one that requirements files include."""
    return path.endswith(_REQUIREMENTS)


def _steering(words: list[str]) -> Iterator[str]:
    """What the words of one command lead to, from the root and from each folder that it goes to."""
    plain = {path for word in words for path in _paths_in(word)}
    plain.update(*(IMPLICIT.get(word.rpartition("/")[2], ()) for word in words))
    for word, module in pairwise(words):
        if word == "-m" and re.fullmatch(r"[\w.]+", module):
            place = module.replace(".", "/")
            plain.update((f"{place}.py", f"{place}/__init__.py", f"{place}/__main__.py"))
    yield from plain
    for word, folder in pairwise(words):
        option, equals, value = word.partition("=")
        name = value if equals else folder
        if option in _GOES_TO and not name.startswith(("/", "-")):
            yield from (posixpath.normpath(posixpath.join(name, path)) for path in plain)


def _words(command: str) -> list[str]:
    try:
        lexer = shlex.shlex(command, posix=True, punctuation_chars=True)
        lexer.whitespace_split = True
        return list(lexer)
    except ValueError:
        return command.split()


def _paths_in(word: str) -> Iterator[str]:
    """What in a word may be a path: all of it, what follows an equals sign, what is glued to a one-letter option."""
    for text in {word, word.rpartition("=")[2], word[2:] if word.startswith("-") else word}:
        path = posixpath.normpath(text.partition("[")[0].partition("::")[0] or ".")
        if path != "." and not path.startswith(("/", "..", "-")):
            yield path


def _plugin_files(name: str) -> Iterator[str]:
    """The files of a plugin that lies among the tests. Elsewhere a plugin is code under test, and owes as such."""
    parts = name.split(".")
    if _TEST_FOLDERS & set(parts[:-1]):
        yield from (f"{'/'.join(parts)}.py", f"{'/'.join(parts)}/__init__.py")
