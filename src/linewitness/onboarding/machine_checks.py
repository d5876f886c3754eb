"""Checks of the machine: whether the trusted checks can be run here, and whether they would test this checkout."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import msgspec

from linewitness.errors import EvidenceError
from linewitness.evidence.interpreter import Interpreter, find_interpreter
from linewitness.evidence.pytest_settings import owned_names
from linewitness.evidence.sandbox import find_sandbox, what_to_do
from linewitness.onboarding import survey
from linewitness.onboarding.present import pytest_settings_text, text
from linewitness.onboarding.trouble import Patient, Trouble
from linewitness.settings import SETTINGS_FILE, Suite
from linewitness.trust.undo import shell_quote
from linewitness.trusted_run import candidates

_SECONDS: Final = 120
_INSTALL: Final = re.compile(r"(\S+) -m pip install ([\w.-]+)")

# Asked in isolation, as the trusted run is started. `find_spec` of a top-level name imports nothing.
_QUESTION: Final = """
import importlib.util, json, sys
from importlib.metadata import distributions
names = json.loads(sys.argv[1])
places, owners = {}, {}
for name in names:
    try:
        found = importlib.util.find_spec(name)
    except (ImportError, ValueError, AttributeError):
        found = None
    if found is not None:
        where = found.origin or next(iter(found.submodule_search_locations or ()), "")
        places[name] = where or ""
for found in distributions():
    tops = (found.read_text("top_level.txt") or "").split()
    files = found.files or ()
    tops += [file.parts[0].removesuffix(".py") if hasattr(str, "removesuffix") else file.parts[0] for file in files]
    direct = json.loads(found.read_text("direct_url.json") or "{}")
    for name in names:
        if name in tops or (direct and found.metadata["Name"].lower().replace("-", "_") == name.lower()):
            owners.setdefault(name, found.metadata["Name"])
json.dump({"places": places, "owners": owners}, sys.stdout)
"""


class _Answer(msgspec.Struct):
    places: dict[str, str]
    owners: dict[str, str]


def interpreter(patient: Patient) -> Iterator[Trouble]:
    """No interpreter, no pytest, one that is too old, a plugin that is missing; or another copy of the project."""
    repository = patient.case.repository
    for suite in _suites(patient):
        try:
            python = find_interpreter(suite, None if repository.bare else repository.root)
        except EvidenceError as error:
            wanted = _INSTALL.search(error.message)
            command = f"{shell_quote(wanted[1])} -m pip install {wanted[2].rstrip('.')}" if wanted else ""
            yield Trouble("interpreter-not-ready", True, error.message, command)
        else:
            yield from _installed_elsewhere(patient, python)


def _installed_elsewhere(patient: Patient, python: Interpreter) -> Iterator[Trouble]:
    """The trusted run imports the export, whatever is installed; every other run of the tests may not."""
    case = patient.case
    answer = _ask(python, owned_names(case.base_tree))
    for name, place in sorted(answer.places.items()):
        if place and not _is_inside(place, case.repository.root):
            owner = answer.owners.get(name, "")
            message = (
                f"`{name}` is installed for {python.path} from {place}, which is another copy than this checkout's"
            )
            command = f"{shell_quote(str(python.path))} -m pip uninstall -y {shell_quote(owner)}" if owner else ""
            yield Trouble("installed-elsewhere", False, message, command)


def plugins_not_listed(patient: Patient) -> Iterator[Trouble]:
    """The trusted run loads no plugin but those that the settings list."""
    case = patient.case
    root = case.repository.root
    tests = [path for path in candidates(case) if path.endswith(".py")]
    for suite in _suites(patient):
        missing = survey.plugins_needed(pytest_settings_text(root), [text(root, path) for path in tests], suite.plugins)
        if missing:
            listed = json.dumps([*suite.plugins, *missing])
            where = case.loaded.origin or SETTINGS_FILE
            needs = f"the suite seems to need the pytest plugins {', '.join(missing)}"
            message = f"{needs}, and the trusted run loads only listed ones"
            table = "" if case.loaded.settings.suite else '[[suite]] with runner = "pytest" and '
            yield Trouble(
                "plugins-not-listed", True, f"{message}: write {table}plugins = {listed} into {where}", "", where
            )


def no_sandbox(_: Patient) -> Iterator[Trouble]:
    """What would isolate the trusted run is not there: the run goes on, and the map says so."""
    found = find_sandbox("auto")
    if not found.isolates:
        said = f" ({found.detail})" if found.detail else ""
        left = "Landlock restricts files only" if found.kind == "landlock" else "nothing but limits is left"
        advice = what_to_do(found)
        message = f"the trusted run has no sandbox, because {found.reason}{said}; {left}"
        yield Trouble("no-sandbox", False, f"{message}. {advice}" if advice else message)


def _ask(python: Interpreter, names: frozenset[str]) -> _Answer:
    command = [str(python.path), "-I", "-B", "-c", _QUESTION, json.dumps(sorted(names))]
    try:
        done = subprocess.run(command, check=False, capture_output=True, timeout=_SECONDS, cwd=python.path.parent)
        return msgspec.json.decode(done.stdout, type=_Answer)
    except (OSError, subprocess.TimeoutExpired, msgspec.MsgspecError) as error:
        raise EvidenceError(f"{python.path} cannot tell what is installed: {error}") from error


def _is_inside(place: str, root: Path) -> bool:
    return Path(place).resolve().is_relative_to(root.resolve())


def _suites(patient: Patient) -> tuple[Suite, ...]:
    """The suites that the recorder runs; those with a command of their own look after themselves."""
    suites = patient.case.loaded.settings.suite or (Suite(),)
    return tuple(suite for suite in suites if not suite.run)
