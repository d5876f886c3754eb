"""Reads the few things of a project's pytest settings that the trusted run has to know.

The file is found by a fixed order in the root only, and handed to pytest with ``-c``: no other settings file of the
tree, and none above it, takes part.
"""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatch
from pathlib import Path

from linewitness.errors import EvidenceError
from linewitness.model import RepoPath
from linewitness.values import NamedTuple

# The order in which pytest looks (its documentation, "Initialization: determining rootdir and configfile").
_CANDIDATES: tuple[tuple[str, str, int], ...] = (
    ("pytest.toml", "pytest", 9),
    (".pytest.toml", "pytest", 9),
    ("pytest.ini", "pytest", 1),
    (".pytest.ini", "pytest", 6),
    ("pyproject.toml", "tool.pytest", 6),
    ("tox.ini", "pytest", 1),
    ("setup.cfg", "tool:pytest", 1),
)
_ALWAYS = frozenset({"pytest.toml", ".pytest.toml", "pytest.ini", ".pytest.ini"})
_NEVER_MODULES = frozenset({"__init__.py", "conftest.py", "setup.py", "noxfile.py"})
_DEFAULT_NORECURSE = ("*.egg", ".*", "_darcs", "build", "CVS", "dist", "node_modules", "venv", "{arch}")
_DEFAULT_FILES = ("test_*.py", "*_test.py")


class PytestSettings(NamedTuple):
    """The settings file (``None``: the project has none) and what it says, paths relative to the root as written.

    ``ignored`` are the options of ``addopts`` that leave paths out.
    """

    file: RepoPath | None
    python_files: tuple[str, ...] = _DEFAULT_FILES
    pythonpath: tuple[str, ...] = ()
    import_mode: str | None = None
    norecursedirs: tuple[str, ...] = _DEFAULT_NORECURSE
    ignored: tuple[str, ...] = ()

    def collects(self, path: RepoPath) -> bool:
        """Whether pytest would take this file for a module of tests."""
        name = path.rpartition("/")[2]
        if not name.endswith(".py") or name in {"conftest.py", "__init__.py"}:
            return False
        if any(_matches(folder, glob) for folder in _folders(path) for glob in self.norecursedirs):
            return False
        return any(_matches(path, glob) for glob in self.python_files)


def _matches(path: str, glob: str) -> bool:
    """As pytest matches: a pattern with a slash looks at the path, any other at the name."""
    return fnmatch(f"/{path}", f"*/{glob}") if "/" in glob else fnmatch(path.rpartition("/")[2], glob)


def _folders(path: str) -> Iterator[str]:
    """The folders around a file, innermost first."""
    while path := path.rpartition("/")[0]:
        yield path


def read_pytest_settings(root: Path, pytest_version: str) -> PytestSettings:
    """The settings of the tree at ``root`` for this version of pytest. Errors: EvidenceError for an unreadable file."""
    major = int(pytest_version.split(".", 1)[0]) if pytest_version.split(".", 1)[0].isdigit() else 0
    for name, section, since in _CANDIDATES:
        path = root / name
        if major < since or not path.is_file():
            continue
        try:
            values = _toml(path, section, major) if name.endswith(".toml") else _ini(path, section)
            if values is None and name in _ALWAYS:
                values = {}
            if values is not None:
                return _settings(RepoPath(name), values)
        except (OSError, ValueError) as error:
            raise EvidenceError(f"the settings of pytest cannot be read: {error}", path=name) from error
    return PytestSettings(None)


def _toml(path: Path, section: str, major: int) -> Mapping[str, object] | None:
    import tomllib

    document: object = tomllib.loads(path.read_text(encoding="utf-8"))
    for key in section.split("."):
        document = document.get(key) if isinstance(document, dict) else None
    if not isinstance(document, dict):
        return None
    if section == "tool.pytest":
        nested = document.get("ini_options")
        if isinstance(nested, dict):
            return nested
        # The table itself means something to pytest 9 and later only.
        return document if major >= 9 else None
    return document


def _ini(path: Path, section: str) -> Mapping[str, object] | None:
    from configparser import Error, RawConfigParser

    parser = RawConfigParser(strict=False, inline_comment_prefixes=None)
    parser.optionxform = str  # type: ignore[assignment, method-assign]
    try:
        parser.read_string(path.read_text(encoding="utf-8"), source=path.name)
        return dict(parser.items(section)) if parser.has_section(section) else None
    except Error as error:
        raise ValueError(str(error)) from error


def _settings(file: RepoPath, values: Mapping[str, object]) -> PytestSettings:
    files, options = _words(values.get("python_files")), _words(values.get("addopts"))
    return PytestSettings(
        file,
        python_files=files or _DEFAULT_FILES,
        pythonpath=_words(values.get("pythonpath")),
        import_mode="".join(_values(options, "--import-mode")[-1:]) or None,
        norecursedirs=_words(values.get("norecursedirs")) or _DEFAULT_NORECURSE,
        ignored=tuple(
            f"{option}={value}" for option in ("--ignore", "--ignore-glob") for value in _values(options, option)
        ),
    )


def _words(value: object) -> tuple[str, ...]:
    if isinstance(value, str):
        return tuple(shlex.split(value))
    return tuple(str(item) for item in value) if isinstance(value, list) else ()


def _values(words: tuple[str, ...], option: str) -> list[str]:
    """What follows an option wherever it is given, after ``=`` or as the next word."""
    following = (*words[1:], "")
    return [
        after if word == option else word.partition("=")[2]
        for word, after in zip(words, following, strict=False)
        if word.partition("=")[0] == option
    ]


def owned_names(paths: Iterable[RepoPath], pythonpath: Iterable[str] = ()) -> frozenset[str]:
    """Top-level names that a tree with these files owns: what a run imports from the export, whatever is installed.

    Modules and packages right under the import roots (``src``, ``lib``, the root, ``pythonpath``); under the root
    itself only folders with an ``__init__.py``, because ``docs/conf.py`` makes no package. Names of the standard
    library are never owned. Meant for the files of *base*: a name that the patch brings may not take one that is
    installed.
    """
    paths = tuple(paths)
    roots = {"src", "lib", ""} | {os.path.normpath(entry).strip("/") for entry in pythonpath}
    roots = {"" if root == "." else root for root in roots}
    names: set[str] = set()
    packages = {path.rpartition("/")[0] for path in paths if path.endswith("/__init__.py")}
    for path in paths:
        if not path.endswith((".py", ".pyi", ".so", ".pyd")):
            continue
        for root in roots:
            if root and not path.startswith(root + "/"):
                continue
            top, slash, _ = path[len(root) + 1 if root else 0 :].partition("/")
            folder = f"{root}/{top}" if root else top
            if slash and (folder in packages or root):
                names.add(top)
            elif not slash and path.endswith(".py") and top not in _NEVER_MODULES:
                names.add(top[:-3])
    return frozenset(name for name in names if name.isidentifier() and name not in sys.stdlib_module_names)


def import_roots(root: Path, settings: PytestSettings) -> tuple[Path, ...]:
    """Folders of the tree from which its packages are imported: ``pythonpath``, ``src``, ``lib``, the root itself."""
    folders: list[Path] = []
    for entry in (*settings.pythonpath, "src", "lib", "."):
        folder = Path(os.path.normpath(root / entry))
        if folder.is_dir() and folder.is_relative_to(root) and folder not in folders:
            folders.append(folder)
    return tuple(folders)
