"""New modules that Python would import in place of others (``LW303``).

A test says ``import json`` and means the standard library's. Whoever puts a ``json.py`` at a root of imports decides
what it gets. Only top-level names are looked up along ``sys.path``, so a module inside of the project's own package
shadows nothing, and neither does a folder without an ``__init__``: the import system prefers any regular module to it,
wherever on the path that lies (https://docs.python.org/3/reference/import.html#namespace-packages), unless what is
installed under that name is such a folder too.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import Final

from linewitness.errors import EvidenceError
from linewitness.globs import fold
from linewitness.model import Finding, RepoPath
from linewitness.trust.pair import Pair, Tree
from linewitness.trust.protected import Protection
from linewitness.values import NamedTuple

Installed = Callable[[Collection[str]], Mapping[str, str] | None]
"""Given dotted names, those that the tests' interpreter finds outside of the repository, with what each is in words.

``None`` when there is nobody to ask."""

_EVER: Final = frozenset(
    {
        *("_android_support", "_bootlocale", "_bootsubprocess", "_colorize", "_crypt", "_interpchannels"),
        *("_interpqueues", "_interpreters", "_ios_support", "_msi", "_opcode_metadata", "_peg_parser"),
        *("_pydatetime", "_pylong", "_pyrepl", "_sha2", "_sha256", "_sha512", "_suggestions"),
        *("_sysconfig", "_tokenize", "_typing", "_wmi", "_zstd", "aifc", "annotationlib", "asynchat"),
        *("asyncore", "audioop", "binhex", "cgi", "cgitb", "chunk", "compression", "crypt", "distutils"),
        *("formatter", "imghdr", "imp", "lib2to3", "mailcap", "msilib", "nis", "nntplib", "ossaudiodev"),
        *("parser", "pipes", "smtpd", "sndhdr", "spwd", "sunau", "symbol", "telnetlib", "tomllib", "uu"),
        "xdrlib",
    }
)
"""Top-level modules that some of Python 3.9 to 3.14 have and others lack."""

_ALWAYS: Final = sys.stdlib_module_names - _EVER
_RUNNER: Final = frozenset({"pytest", "_pytest", "py", "pluggy", "iniconfig", "coverage", "xdist", "execnet"})
_NATIVE: Final = (".so", ".pyd")
_SUFFIXES: Final = (".py", ".pyc", *_NATIVE)
_PLAIN_FOLDERS: Final = frozenset({"src", "lib", "test", "tests", "testing"})
_NOT_MODULES: Final = frozenset({"__init__", "__main__", "conftest"})
_SETTINGS_FILES: Final = (
    *("pytest.toml", ".pytest.toml", "pytest.ini", ".pytest.ini", "pyproject.toml", "tox.ini", "setup.cfg"),
)
# The version of pytest only decides which of these files it knows; the newest knows all of them.
_NEWEST_PYTEST: Final = "9"


class Newcomer(NamedTuple):
    """A file that head has and base has not, as a module.

    ``root`` is the folder that imports start from, ``helper`` the protected module of the same name, if there is one,
    and ``source`` what a native module hides beside it. A ``portion`` is part of a folder without an ``__init__``, and
    ``name`` is then its whole dotted name.
    """

    path: RepoPath
    root: str
    name: str
    portion: bool = False
    helper: str = ""
    source: str = ""


def nothing_known(names: Collection[str]) -> Mapping[str, str]:  # noqa: ARG001 - the shape of Installed
    """For places where it does not matter what is installed."""
    return {}


# ---------------------------------------------------------------- who is new


def newcomers(pair: Pair) -> list[Newcomer]:
    """The new modules of head at the roots of imports, sorted by path. Protected files are judged as such."""
    protection = Protection(pair.loaded.settings, pair.base_tree, pair.head_tree)
    new = [path for path in sorted(pair.head_tree) if path not in pair.base_tree and _may_be_module(pair, path)]
    new = [path for path in new if not protection.is_protected(path)]
    if not new:
        return []
    roots = import_roots(pair, protection)
    helpers = _helpers(pair.head_tree, protection, roots)
    found = [known for path in new for root in roots if (known := _newcomer(pair, path, root))]
    named = [new._replace(helper=_helper(new, helpers)) for new in found]
    return [*named, *_natives(pair, new)]


def _may_be_module(pair: Pair, path: RepoPath) -> bool:
    return path.endswith(_SUFFIXES) or not pair.head_tree[path].is_regular


def _newcomer(pair: Pair, path: RepoPath, root: str) -> Newcomer | None:
    if root and not path.startswith(root + "/"):
        return None
    top, slash, rest = path[len(root) + 1 if root else 0 :].partition("/")
    stem = module_name(rest if slash else top)
    if not slash:
        name = stem if pair.head_tree[path].is_regular else stem or top
        return _as_new(pair, Newcomer(path, root, name)) if name not in _NOT_MODULES else None
    if stem == "__init__":
        return _as_new(pair, Newcomer(path, root, top))
    if _is_regular(pair.head_tree, _join(root, top)) or fold(top) in _PLAIN_FOLDERS:
        return None  # inside of a package, or of a folder that nobody means as one
    parts = [top, *rest.split("/")[:-1], module_name(path.rpartition("/")[2])]
    return Newcomer(path, root, ".".join(part for part in parts if part != "__init__"), portion=True)


def _as_new(pair: Pair, new: Newcomer) -> Newcomer | None:
    """Nobody is replaced by a module whose name base has at the same root already."""
    return None if not new.name or _is_regular(pair.base_tree, _join(new.root, new.name)) else new


def _is_regular(tree: Tree, place: str) -> bool:
    """Whether a tree holds a module or a package with an ``__init__`` at this place, whatever its suffix."""
    return any(RepoPath(f"{place}{suffix}") in tree for suffix in (*_SUFFIXES, "/__init__.py", "/__init__.pyc"))


def _natives(pair: Pair, new: list[RepoPath]) -> Iterator[Newcomer]:
    """Native modules that are found before the source of the same name in the same folder."""
    for path in new:
        folder, _, name = path.rpartition("/")
        source = _join(folder, f"{module_name(name)}.py")
        if name.endswith(_NATIVE) and source in pair.head_tree:
            yield Newcomer(path, folder, module_name(name), source=source)


def module_name(name: str) -> str:
    """The module that a file of this name holds, empty when none: ``json.cpython-313-x86_64-linux-gnu.so`` is json."""
    suffix = next((suffix for suffix in _SUFFIXES if name.endswith(suffix)), None)
    stem = name.partition(".")[0] if suffix in _NATIVE else name.removesuffix(suffix or name)
    return stem if stem.isidentifier() else ""


# ---------------------------------------------------------------- where imports start


def import_roots(pair: Pair, protection: Protection) -> list[str]:
    """The folders from which top-level names may be imported during the run, the root first (as the empty text).

    ``src``, ``lib`` and the root, what ``pythonpath`` says on either side, and the folder that pytest puts on the path
    for each conftest and trusted test: the nearest one above it without an ``__init__.py``
    (https://docs.pytest.org/en/stable/explanation/pythonpath.html).
    """
    roots = {"", "src", "lib", *_pythonpath(pair, pair.base_tree), *_pythonpath(pair, pair.head_tree)}
    for path in pair.head_tree:
        if path.endswith(".py") and protection.is_protected(path):
            roots.add(_base_folder(pair.head_tree, path.rpartition("/")[0]))
    return sorted(roots)


def _base_folder(tree: Tree, folder: str) -> str:
    while folder and RepoPath(f"{folder}/__init__.py") in tree:
        folder = folder.rpartition("/")[0]
    return folder


def _pythonpath(pair: Pair, tree: Tree) -> Iterator[str]:
    """What pytest's settings add to ``sys.path``. Settings that cannot be read stop the run, so they add nothing."""
    from linewitness.evidence.pytest_settings import import_roots as folders_of
    from linewitness.evidence.pytest_settings import read_pytest_settings

    with tempfile.TemporaryDirectory(prefix="linewitness-") as name:
        root = Path(name)
        for file in _SETTINGS_FILES:
            blob = tree.get(RepoPath(file))
            if blob and blob.is_regular:
                (root / file).write_bytes(pair.repository.read(blob.oid))
        try:
            settings = read_pytest_settings(root, _NEWEST_PYTEST)
        except EvidenceError:
            return
        for entry in settings.pythonpath:
            folder = Path(root, entry)
            if ".." not in folder.parts and folder.is_relative_to(root):
                folder.mkdir(parents=True, exist_ok=True)
        yield from (folder.relative_to(root).as_posix().removeprefix(".") for folder in folders_of(root, settings))


def _helpers(tree: Tree, protection: Protection, roots: list[str]) -> dict[tuple[str, str], str]:
    """The protected modules that tests may import by a top-level name: (name, root) and the path."""
    found: dict[tuple[str, str], str] = {}
    for path in tree:
        if not path.endswith(".py") or not protection.is_protected(path):
            continue
        for root in roots:
            if root and not path.startswith(root + "/"):
                continue
            top, slash, _ = path[len(root) + 1 if root else 0 :].partition("/")
            name = top if slash else module_name(top)
            if (
                name
                and name not in _NOT_MODULES
                and not _is_test(name)
                and (not slash or _is_regular(tree, _join(root, top)))
            ):
                found.setdefault((name, root), path)
    return found


def _is_test(name: str) -> bool:
    return name.startswith("test_") or name.endswith("_test")


def _helper(new: Newcomer, helpers: Mapping[tuple[str, str], str]) -> str:
    """The helper that another root has under the newcomer's name."""
    return next((path for (name, root), path in helpers.items() if name == new.name and root != new.root), "")


# ---------------------------------------------------------------- whom they hide


def shadows(new: Collection[Newcomer], installed: Installed) -> tuple[Finding, ...]:
    """One ``LW303`` per path that would be imported in place of something else, sorted by path."""
    certain = {one.path: (one, what) for one in new if (what := _certainly(one))}
    open_ = [one for one in new if one.path not in certain]
    known = installed({one.name for one in open_ if one.name}) if open_ else {}
    for one in open_:
        what = _perhaps(one, known)
        if what:
            certain.setdefault(one.path, (one, what))
    return tuple(Finding("LW303", path, 0, _message(*certain[path])) for path in sorted(certain))


def _certainly(new: Newcomer) -> str:
    if new.source:
        return f"the source {new.source} beside it"
    if new.portion:
        return ""
    if new.name in _ALWAYS:
        return f"the standard library's `{new.name}`"
    if new.name in _RUNNER:
        return f"`{new.name}`, a part of the test runner"
    return f"the protected {new.helper}" if new.helper else ""


def _perhaps(new: Newcomer, known: Mapping[str, str] | None) -> str:
    if known is not None:
        return known.get(new.name, "")
    return f"`{new.name}`, which some versions of Python have" if new.name in _EVER and not new.portion else ""


def _message(new: Newcomer, what: str) -> str:
    where = f"the folder {new.root}" if new.root else "the root of the repository"
    text = f"as `{new.name}` in {where} this new file may be imported in place of {what}"
    return f"{text}. Give it another name, or move it into the project's own package."


def _join(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name
