"""The trusted run of a repository's patch, as ``check`` starts it, and the same pytest run without the recorder.

Both have the same interpreter with the same flags, folder, environment and arguments for pytest. The one difference is
that the recorder's program puts the export's import roots on the path itself, and that plain pytest gets them by
``PYTHONPATH``.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from measuring import Command, Cost, Started, watch, watched

from linewitness import obligations, trusted_run
from linewitness.case import Case, Question, open_case
from linewitness.evidence.hits import RunRecord
from linewitness.evidence.interpreter import find_interpreter
from linewitness.evidence.listing import LineRanges
from linewitness.evidence.pytest_run import RunRequest, run_pytest
from linewitness.evidence.pytest_settings import owned_names, read_pytest_settings
from linewitness.globs import Globs
from linewitness.model import RepoPath, Severity
from linewitness.patch.diff import GitPatch
from linewitness.patch.export import export_tree
from linewitness.patch.repository import Repository
from linewitness.settings import Suite

PLUGINS = "_linewitness."


class Plain(NamedTuple):
    """How plain pytest is started: the interpreter with its flags, pytest's arguments, and the surroundings."""

    python: tuple[str, ...]
    arguments: tuple[str, ...]
    command: Command

    def pytest(self, *more: str, through: Sequence[str] = ("-m", "pytest"), **variables: str) -> Command:
        """Pytest with further arguments in front, started ``through`` a module, with further variables."""
        surroundings = dict(self.command.environment or {})
        return self.command._replace(
            words=[*self.python, *through, *more, *self.arguments], environment=surroundings | variables
        )


def request_of(root: Path, folder: Path, host: Mapping[str, str] | None = None) -> RunRequest:
    """What ``check`` asks the recorder for the patch from tag ``base`` to tag ``head``.

    The export and the results go into ``folder``, which exists. ``host`` is the environment that the settings let
    variables through from (``None``: this process's).
    """
    with Repository(root) as repository:
        case = open_case(repository, Question("base", "head"))
        source = GitPatch(repository, case.base, case.head, case.jurisdiction.owes)
        ledgers = tuple(obligations.collect(source, case.jurisdiction))
        export_tree(repository, case.head.tree, folder / "export")
        request = _request(case, folder, trusted_run.observed_lines(ledgers))
        return request._replace(
            host=host,
            notes_reads=trusted_run.notes_reads(case, ledgers, request.export),
            watches_starts=trusted_run.watches_starts(case, request.export),
        )


def _request(case: Case, folder: Path, changed: Mapping[RepoPath, LineRanges]) -> RunRequest:
    suite = (case.loaded.settings.suite or (Suite(),))[0]
    python = find_interpreter(suite, case.repository.root)
    paths = Globs(suite.paths or ("**",))
    (folder / "results").mkdir()
    return RunRequest(
        export=folder / "export",
        python=python,
        suite=suite,
        paths=tuple(filter(paths.match, trusted_run.candidates(case))),
        changed=changed,
        results=folder / "results",
        owned=owned_names(case.base_tree, read_pytest_settings(folder / "export", python.pytest).pythonpath),
        protected=frozenset(filter(case.protection.is_protected, case.head_tree)),
    )


def record(request: RunRequest, *, instructions: bool = False) -> Cost:
    """What pytest with the recorder inside costs. Ends the benchmark when the record is not that of a whole run."""
    started, seen = _record(request, instructions=instructions)
    if request.changed and not seen.hits:
        raise SystemExit("the recorded run saw no changed line run: there is nothing to measure")
    return started.cost


def _record(request: RunRequest, *, instructions: bool) -> tuple[Started, RunRecord]:
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        out = Path(folder, "cost.json")
        seen = run_pytest(request._replace(wrapper=watch(out, instructions=instructions)))
        started = watched(out)
    unsound = [finding.message for finding in seen.findings if finding.severity is Severity.ERROR]
    if unsound or started is None or started.status:
        raise SystemExit("the recorded run is not sound:\n" + "\n".join(unsound[:10]))
    return started, seen


def plain(request: RunRequest) -> Plain:
    """The same run without the recorder, found by starting the recorded one once."""
    started, _ = _record(request, instructions=False)
    *flags, _, config = started.command
    asked = json.loads(Path(config).read_text(encoding="utf-8"))
    temporary = tempfile.mkdtemp(prefix="tmp-", dir=request.results)
    environment = dict(started.environment) | dict.fromkeys(("TMPDIR", "TEMP", "TMP"), temporary)
    environment["PYTHONPATH"] = os.pathsep.join(asked["roots"])
    command = Command((), Path(started.cwd), environment=environment)
    return Plain(tuple(flags), without_plugin(asked["args"]), command)


def without_plugin(arguments: Sequence[str]) -> tuple[str, ...]:
    """Pytest's arguments of the recorded run, less the recorder's plugins. Errors: ``ValueError`` without any."""
    ours = [at for at, each in enumerate(arguments) if each.startswith(PLUGINS)]
    if not ours:
        raise ValueError(f"no plugin of the recorder among {arguments}")
    return tuple(each for at, each in enumerate(arguments) if at not in ours and at + 1 not in ours)
