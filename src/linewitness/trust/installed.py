"""Asks the tests' interpreter which of some names it would find without the repository."""

from __future__ import annotations

import subprocess
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Final, Self

import msgspec

from linewitness.errors import EvidenceError
from linewitness.model import RepoPath
from linewitness.settings import PYPROJECT, Settings, Suite
from linewitness.trust.pair import Pair
from linewitness.trust.shadowing import Installed

_SECONDS: Final = 120
# In isolation, as in the trusted run: no folder of the user's, no PYTHON* variable, and not the current folder. What
# was installed from a folder (PEP 610) is the project itself or a neighbour of it, and what lies in the checkout is
# the patch: neither is replaced by a new module of the same name, as both *are* that module.
_QUESTION: Final = """
import json, os, sys
from importlib.metadata import distributions
from importlib.util import find_spec
names, root, own = json.loads(sys.argv[1])
def place(spec):
    if spec.origin and os.path.isabs(spec.origin):
        return os.path.realpath(spec.origin)
    return next((os.path.realpath(p) for p in spec.submodule_search_locations or ()), spec.origin or "built-in")
def of_the_project(found):
    if own and (found.metadata["Name"] or "").lower().replace("_", "-").replace(".", "-") == own:
        return True
    text = found.read_text("direct_url.json")
    return bool(text) and "dir_info" in json.loads(text)
own_files = set()
for found in distributions():
    if of_the_project(found):
        own_files.update(os.path.realpath(str(found.locate_file(file))) for file in found.files or ())
answer = {}
for name in names:
    try:
        spec = find_spec(name)
    except (ImportError, ValueError, AttributeError):
        spec = None
    if spec is None:
        continue
    where = place(spec)
    if where.startswith(root + os.sep) or where in own_files:
        continue
    stdlib = name in getattr(sys, "stdlib_module_names", ())
    answer[name] = "the standard library's `%s`" % name if stdlib else "the installed `%s`" % name
json.dump(answer, sys.stdout)
"""


def asking(pair: Pair) -> Installed:
    """The environments of this checkout, found when they are first asked."""

    def ask(names: Collection[str]) -> Mapping[str, str] | None:
        return Environment.of(pair)(names)

    return ask


class Environment:
    """The interpreters of a checkout's suites. ``project`` is the name under which base says it is distributed."""

    def __init__(self, checkout: Path, settings: Settings, project: str = "") -> None:
        self._checkout = checkout
        self._suites = settings.suite or (Suite(),)
        self._project = project.lower().replace("_", "-").replace(".", "-")

    @classmethod
    def of(cls, pair: Pair) -> Self:
        """The environment in which the checkout of this repository is tested."""
        blob = pair.base_tree.get(RepoPath(PYPROJECT))
        data = pair.repository.read(blob.oid) if blob and blob.is_regular else b""
        return cls(pair.repository.root, pair.loaded.settings, _project_name(data))

    def __call__(self, names: Collection[str]) -> Mapping[str, str] | None:
        """Those of the dotted ``names`` that any of the interpreters finds elsewhere; ``None`` when none can be asked.

        A suite whose interpreter is missing is told about when it is to be run.
        """
        from linewitness.evidence.interpreter import find_interpreter

        if not names:
            return {}
        answers: list[Mapping[str, str]] = []
        for suite in self._suites:
            if suite.run:
                continue
            try:
                answers.append(self._ask(find_interpreter(suite, self._checkout).path, names))
            except EvidenceError:
                continue
        return {name: what for answer in answers for name, what in answer.items()} if answers else None

    def _ask(self, python: Path, names: Collection[str]) -> Mapping[str, str]:
        question = msgspec.json.encode([sorted(names), str(self._checkout.resolve()), self._project]).decode()
        command = [str(python), "-I", "-B", "-c", _QUESTION, question]
        try:
            done = subprocess.run(command, capture_output=True, timeout=_SECONDS, check=False, cwd=python.parent)
            return msgspec.json.decode(done.stdout, type=dict[str, str])
        except (OSError, subprocess.TimeoutExpired, msgspec.MsgspecError) as error:
            raise EvidenceError(f"{python} does not say what is installed: {error}") from error


def _project_name(pyproject: bytes) -> str:
    """The name in ``[project]``, empty when there is none that can be read."""
    import tomllib

    try:
        project = tomllib.loads(pyproject.decode()).get("project", {})
    except (ValueError, RecursionError):
        return ""
    name = project.get("name", "") if isinstance(project, dict) else ""
    return name if isinstance(name, str) else ""
