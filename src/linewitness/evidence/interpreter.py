"""Finds the interpreter that runs the trusted tests, and asks it once what it can do."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import msgspec

from linewitness.errors import EvidenceError
from linewitness.evidence import described
from linewitness.settings import Suite
from linewitness.values import NamedTuple

OLDEST = (3, 9)
_QUESTION_TIMEOUT = 120


class Interpreter(NamedTuple):
    """The interpreter of the trusted run.

    ``plugins`` are the names that pytest's ``-p`` takes for the suite's plugins; ``source`` tells people how the
    interpreter was chosen. ``prefixes`` and ``search_path`` are the places from which it imports;
    ``compiles_alike`` says whether it makes the same code of a text as the interpreter that runs this program.
    """

    path: Path
    version: tuple[int, int, int]
    pytest: str
    plugins: tuple[str, ...]
    source: str
    prefixes: tuple[str, ...] = ()
    search_path: tuple[str, ...] = ()
    compiles_alike: bool = False

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
    build: str = ""


def find_interpreter(suite: Suite, checkout: Path | None, environment: Mapping[str, str] | None = None) -> Interpreter:
    """The interpreter of ``suite``'s tests.

    The setting ``python``, the checkout's ``.venv`` or ``venv``, ``VIRTUAL_ENV``, then the one that runs this program.
    ``checkout`` is the user's own work tree, because the export has no environments. Errors: EvidenceError when the
    interpreter is not there, is too old or no CPython, has no pytest, or lacks a plugin that the settings name.
    """
    path, source = _choose(suite, checkout, os.environ if environment is None else environment)
    answer = _own_answer(path, suite.plugins) or _ask(path, source, suite.plugins)
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
    places = (answer.prefixes, answer.search_path)
    return Interpreter(path, answer.version, answer.pytest, plugins, source, *places, _compiles_alike(answer.build))


def _compiles_alike(build: str) -> bool:
    """Whether an interpreter of this build, started without options, makes the same code of a text as this process."""
    columns = not os.environ.get("PYTHONNODEBUGRANGES") and "no_debug_ranges" not in sys._xoptions  # noqa: SLF001
    digits = sys.flags.int_max_str_digits in {-1, sys.int_info.default_max_str_digits}
    return build == described.build() and columns and digits and not sys.flags.optimize


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


def _own_answer(path: Path, plugins: tuple[str, ...]) -> _Answer | None:
    """What the interpreter would answer that runs this program: for that, no other has to be started."""
    if plugins or str(path) != sys.executable:
        return None
    search_path = described.isolated_path()
    return None if search_path is None else msgspec.convert(described.describe(search_path, []), _Answer)


def _ask(path: Path, source: str, plugins: tuple[str, ...]) -> _Answer:
    # as text: to start with a file, an interpreter imports half as much again
    program = Path(described.__file__).read_text(encoding="utf-8")
    command = [str(path), "-I", "-B", "-c", program, *(name.replace("-", "_") for name in plugins)]
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
