"""Which changed files no check is likely to load: on a big patch their code need not be listed before the run.

A guess from the words that files use, nothing more. A guess that a file stays idle is checked by the run itself, which
knows what it loaded: a run that was told too little does not count.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable

from linewitness.model import RepoPath

_WORDS = re.compile(rb"[A-Za-z_]\w*")
# How modules are found whose names are not written down, and programs that import some.
_ANY = frozenset(
    b"importlib __import__ import_module import_string pkgutil runpy exec eval compile subprocess Popen multiprocessing"
    b" system entry_points iter_entry_points listdir iterdir scandir glob rglob walk pytest_plugins pytester"
    b" testdir".split()
)
_SUFFIX = ".py"


def out_of_reach(
    changed: Collection[RepoPath],
    modules: Iterable[RepoPath],
    checks: Iterable[RepoPath],
    read: Callable[[RepoPath], bytes],
) -> frozenset[RepoPath]:
    """Those of the changed files whose names are in no file that the checks may load, themselves included.

    ``modules`` are all files of Python in the tree, the checks among them. Nothing is out of reach where one of the
    files finds modules in other ways than by their names.
    """
    modules = frozenset(modules)
    known, reached = _by_name(modules), set[RepoPath]()
    todo = list(checks)
    while todo:
        path = todo.pop()
        if path in reached:
            continue
        reached.add(path)
        words = set(_WORDS.findall(read(path)))
        if not words.isdisjoint(_ANY):
            return frozenset()
        for word in words & known.keys():
            todo += known.pop(word)
        todo += modules.intersection(_packages(path))
    return frozenset(changed) - reached


def _by_name(modules: Iterable[RepoPath]) -> dict[bytes, list[RepoPath]]:
    """Files by the words that import them."""
    known: dict[bytes, list[RepoPath]] = {}
    for path in modules:
        folder, _, name = path.rpartition("/")
        stem = name.removesuffix(_SUFFIX)
        if stem in ("__init__", "__main__"):
            stem = folder.rpartition("/")[2]
        known.setdefault(stem.encode("utf-8", "surrogateescape"), []).append(path)
    return known


def _packages(path: RepoPath) -> Iterable[RepoPath]:
    folder = path.rpartition("/")[0]
    while folder:
        yield RepoPath(f"{folder}/__init__.py")
        folder = folder.rpartition("/")[0]
