"""Checks of the languages in the tree: whether their lines can be judged here, and whether anything can witness one."""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Final

from linewitness.errors import UsageError
from linewitness.globs import Globs
from linewitness.languages import files, tables
from linewitness.model import RepoPath
from linewitness.onboarding.trouble import Patient, Trouble
from linewitness.settings import SETTINGS_FILE, Suite
from linewitness.trust.undo import shell_quote
from linewitness.values import NamedTuple

_PYTHON: Final = "python"


class _Spoken(NamedTuple):
    """A language of the tree as people call it, and its files that owe, sorted."""

    title: str
    paths: tuple[RepoPath, ...]


def grammars_missing(patient: Patient) -> Iterator[Trouble]:
    """A patch in a language whose grammar is not installed is refused, and the one who meets it did not choose that."""
    missing = {name: spoken for name, spoken in _languages(patient).items() if not _is_readable(name, spoken.paths[0])}
    if missing:
        titles = ", ".join(spoken.title for spoken in missing.values())
        extras = ",".join(found.extra for name in missing if (found := tables.table(name)))
        message = f"there is no grammar for {titles} here, so a patch that changes such files is refused with exit 2"
        install = f"{shell_quote(sys.executable)} -m pip install {shell_quote(f'linewitness[{extras}]')}"
        yield Trouble("grammar-missing", False, message, install)


def _is_readable(name: str, path: RepoPath) -> bool:
    table = tables.table(name)
    if table is None:
        return True
    from linewitness.languages.grammar import wheels

    suffix = files.suffix(path)
    try:
        wheels.marks(table, suffix, wheels.parse(table, suffix, b"").root_node)
    except UsageError:
        return False
    return True


def languages_without_suite(patient: Patient) -> Iterator[Trouble]:
    """What no suite speaks about cannot be witnessed, however well it is tested elsewhere."""
    settings = patient.case.loaded.settings
    suites = settings.suite or (Suite(),)
    for name, spoken in _languages(patient).items():
        alone = [path for path in spoken.paths if not any(_speaks_about(suite, name, path) for suite in suites)]
        if alone:
            where = patient.case.loaded.origin or SETTINGS_FILE
            count = "1 file" if len(alone) == 1 else f"{len(alone)} files"
            message = (
                f"no suite can witness {spoken.title} ({count}, {alone[0]} is one): add a [[suite]] with `run`, "
                f"`export` and `sources` to {where}, or keep what is no product out of `sources`"
            )
            yield Trouble("language-without-suite", False, message, "", where)


def _speaks_about(suite: Suite, language: str, path: RepoPath) -> bool:
    if not suite.run and language != _PYTHON:
        return False
    return not suite.sources or Globs(suite.sources).match(path)


def _languages(patient: Patient) -> Mapping[str, _Spoken]:
    """The languages with a line rule that files of head which owe are written in, by name."""
    owes = patient.case.jurisdiction.owes
    found: dict[str, list[RepoPath]] = defaultdict(list)
    for path in sorted(patient.case.head_tree):
        name = files.language(path, b"")
        if (name == _PYTHON or name in tables.MODULES) and owes(path):
            found[name].append(path)
    return {name: _Spoken(_title(name), tuple(paths)) for name, paths in sorted(found.items())}


def _title(name: str) -> str:
    table = tables.table(name)
    return table.title if table else "Python"
