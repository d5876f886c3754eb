"""Finds the interpreter that runs the trusted tests, and asks it once what it can do."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import msgspec

from linewitness.errors import EvidenceError
from linewitness.settings import Suite

OLDEST = (3, 9)
_QUESTION_TIMEOUT = 120
# Asked in isolation, because neither the user's site folder nor PYTHON* variables take part in the trusted run.
_QUESTION = r"""
import os, sys
names = sys.argv[1:]
pytest, points = "", []
# What importlib.metadata would tell, and in the words of JSON, without the time that importing them takes.
for folder in sys.path:
    try:
        entries = os.listdir(folder)
    except OSError:
        continue
    for entry in entries:
        stem, _, kind = entry.rpartition(".")
        parts = stem.split("-")
        if kind not in ("dist-info", "egg-info") or len(parts) < 2 or not (parts[0] and parts[1]):
            continue
        if parts[0].lower() == "pytest":
            pytest = pytest or parts[1]
        if not names:
            continue
        try:
            with open(os.path.join(folder, entry, "entry_points.txt"), encoding="utf-8") as stream:
                lines = stream.read().splitlines()
        except (OSError, ValueError):
            continue
        group = ""
        for line in lines:
            line = line.strip()
            if line.startswith("["):
                group = line
            elif group == "[pytest11]" and "=" in line and line[:1] not in "#;":
                point, _, value = line.partition("=")
                points.append([point.strip(), value.partition("[")[0].strip(), parts[0]])
if not pytest:
    from importlib.metadata import version, PackageNotFoundError
    try:
        pytest = version("pytest")
    except PackageNotFoundError:
        pass
def importable(name):
    from importlib.util import find_spec
    try:
        return find_spec(name) is not None
    except (ImportError, ValueError, AttributeError):
        return False
def letter(code):
    if code > 0xFFFF:
        return letter(0xD7C0 + (code >> 10)) + letter(0xDC00 + (code & 0x3FF))
    return chr(code) if 32 <= code < 127 and code not in (34, 92) else "\\u%04x" % code
def told(value):
    if isinstance(value, str):
        return '"' + "".join(map(letter, map(ord, value))) + '"'
    if isinstance(value, dict):
        return "{" + ",".join(told(key) + ":" + told(each) for key, each in value.items()) + "}"
    return "[" + ",".join(map(told, value)) + "]" if isinstance(value, list) else str(value)
sys.stdout.write(told({
    "version": list(sys.version_info[:3]),
    "implementation": sys.implementation.name,
    "pytest": pytest,
    "points": points,
    "importable": [name for name in names if importable(name)],
    "prefixes": [sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix],
    "search_path": [entry for entry in sys.path if os.path.isabs(entry) and os.path.exists(entry)],
}))
"""


class Interpreter(NamedTuple):
    """The interpreter of the trusted run.

    ``plugins`` are the names that pytest's ``-p`` takes for the suite's plugins; ``source`` tells people how the
    interpreter was chosen. ``prefixes`` and ``search_path`` are the places from which it imports.
    """

    path: Path
    version: tuple[int, int, int]
    pytest: str
    plugins: tuple[str, ...]
    source: str
    prefixes: tuple[str, ...] = ()
    search_path: tuple[str, ...] = ()

    @property
    def has_safe_path(self) -> bool:
        """Whether ``-P`` exists."""
        return self.version >= (3, 11)

    def __str__(self) -> str:
        version = ".".join(map(str, self.version))
        return f"Python {version} with pytest {self.pytest} at {self.path} ({self.source})"


class _Answer(msgspec.Struct):
    version: tuple[int, int, int]
    implementation: str
    pytest: str
    points: list[tuple[str, str, str]]
    importable: list[str]
    prefixes: tuple[str, ...] = ()
    search_path: tuple[str, ...] = ()


def find_interpreter(suite: Suite, checkout: Path | None, environment: Mapping[str, str] | None = None) -> Interpreter:
    """The interpreter of ``suite``'s tests.

    The setting ``python``, the checkout's ``.venv`` or ``venv``, ``VIRTUAL_ENV``, then the one that runs this program.
    ``checkout`` is the user's own work tree, because the export has no environments. Errors: EvidenceError when the
    interpreter is not there, is too old or no CPython, has no pytest, or lacks a plugin that the settings name.
    """
    path, source = _choose(suite, checkout, os.environ if environment is None else environment)
    answer = _ask(path, source, suite.plugins)
    if answer.implementation != "cpython":
        raise EvidenceError(
            f"the tests' interpreter {path} ({source}) is {answer.implementation}; the recorder needs CPython."
            " Name another one as `python` in the suite's settings, or import a coverage export with --cov."
        )
    if answer.version < OLDEST:
        raise EvidenceError(
            f"the tests' interpreter {path} ({source}) is Python {'.'.join(map(str, answer.version))};"
            " the recorder needs 3.9 or later. Name another one as `python` in the suite's settings."
        )
    if not answer.pytest:
        raise EvidenceError(
            f"pytest is not installed for {path} ({source}). Install it there: {path} -m pip install pytest;"
            " or name the interpreter of the tests as `python` in the suite's settings."
        )
    plugins = tuple(_resolve(name, answer, path) for name in suite.plugins)
    return Interpreter(path, answer.version, answer.pytest, plugins, source, answer.prefixes, answer.search_path)


def _choose(suite: Suite, checkout: Path | None, environment: Mapping[str, str]) -> tuple[Path, str]:
    if suite.python:
        named = Path(suite.python)
        if not named.is_absolute():
            if checkout is None:
                raise EvidenceError(
                    f"the suite's `python` is {suite.python!r}: without a checkout it must be absolute."
                )
            named = checkout / named
        if not _is_program(named):
            raise EvidenceError(f"the suite's `python` is {suite.python!r}, but {named} is no program that can be run.")
        return Path(os.path.abspath(named)), "setting `python`"
    places = [(checkout / name, f"the checkout's {name}") for name in (".venv", "venv")] if checkout else []
    if environment.get("VIRTUAL_ENV"):
        places.append((Path(environment["VIRTUAL_ENV"]), "VIRTUAL_ENV"))
    for folder, source in places:
        for relative in ("bin/python", "Scripts/python.exe"):
            # Not resolved: a virtual environment is known by the path of the link.
            if _is_program(folder / relative):
                return Path(os.path.abspath(folder / relative)), source
    return Path(sys.executable), "the interpreter that runs linewitness"


def _is_program(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)


def _ask(path: Path, source: str, plugins: tuple[str, ...]) -> _Answer:
    command = [str(path), "-I", "-B", "-c", _QUESTION, *(name.replace("-", "_") for name in plugins)]
    try:
        run = subprocess.run(command, capture_output=True, timeout=_QUESTION_TIMEOUT, check=False, cwd=path.parent)
    except (OSError, ValueError, subprocess.TimeoutExpired) as error:
        raise EvidenceError(f"the tests' interpreter {path} ({source}) cannot be run: {error}") from error
    try:
        return msgspec.json.decode(run.stdout, type=_Answer)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        tail = run.stderr.decode("utf-8", "replace").strip().splitlines()[-1:]
        raise EvidenceError(
            f"the tests' interpreter {path} ({source}) ended with status {run.returncode} when asked for its version:"
            f" {''.join(tail) or 'no answer'}. Name another one as `python` in the suite's settings."
        ) from None


def _resolve(name: str, answer: _Answer, path: Path) -> str:
    """What ``-p`` needs: an entry point's name, else a module's. People write the name of the distribution too."""
    wanted = _folded(name)
    for point, _, _ in answer.points:
        if point == name:
            return name
    for point, value, distribution in answer.points:
        if wanted in {_folded(distribution), _folded(value.partition(":")[0].partition(".")[0])}:
            return point
    if name.replace("-", "_") in answer.importable:
        return name.replace("-", "_")
    raise EvidenceError(
        f"the settings name the pytest plugin {name!r}, which {path} does not have. Install it there:"
        f" {path} -m pip install {name.replace('_', '-')}; or take it out of `plugins`."
    )


def _folded(name: str) -> str:
    return name.lower().replace("-", "_").replace(".", "_")
