"""Asks the tested interpreter what can be observed in the changed files, before anything of the patch runs."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from linewitness.errors import EvidenceError
from linewitness.evidence.hits import Entry, FileSites, Site
from linewitness.evidence.interpreter import Interpreter
from linewitness.evidence.kit import PACKAGE
from linewitness.model import Pos, RepoPath, Span

LineRanges = tuple[tuple[int, int], ...]
_TIMEOUT = 600


class Listing(NamedTuple):
    """What the tested interpreter made of the changed files.

    ``mode`` is how the run observes (``monitoring`` or ``probes``), ``plan`` what the recorder needs, ``bodies`` the
    idents of code that runs where it is defined, ``unreadable`` the files that do not compile there, with the reason.
    """

    mode: str
    sites: Mapping[RepoPath, FileSites]
    bodies: Mapping[RepoPath, frozenset[int]]
    plan: Mapping[str, Mapping[str, Any]]
    unreadable: Mapping[RepoPath, str]


class _File(msgspec.Struct):
    sites: list[tuple[int, int, int, int, int, bool, bool]] = []
    entries: list[tuple[int, str, int]] = []
    bodies: list[int] = []
    sha256: str = ""
    codes: list[dict[str, Any]] = []
    code: str = ""
    error: str = ""
    line: int = 0


class _Answer(msgspec.Struct):
    mode: str
    files: dict[str, _File]


def list_sites(python: Interpreter, kit: Path, root: Path, changed: Mapping[RepoPath, LineRanges]) -> Listing:
    """Sites of the wanted lines (1-based, inclusive ranges) of each changed file below ``root``.

    ``kit`` holds a written kit. The files are compiled, isolated from everything in the tree, and never executed.
    Errors: EvidenceError when the interpreter fails or answers nonsense.
    """
    program = f"import sys; sys.path.insert(0, {str(kit)!r}); from {PACKAGE}.sites import main; main()"
    request = msgspec.json.encode({"root": str(root), "files": {path: list(r) for path, r in changed.items()}})
    command = [str(python.path), "-I", "-S", "-B", "-c", program]
    try:
        run = subprocess.run(command, input=request, capture_output=True, timeout=_TIMEOUT, check=False, cwd=kit)
        answer = msgspec.json.decode(run.stdout, type=_Answer)
    except (OSError, subprocess.TimeoutExpired, msgspec.MsgspecError) as error:
        raise EvidenceError(f"{python.path} could not list the code of the changed files: {error}") from error
    if run.returncode or set(answer.files) != set(changed):
        raise EvidenceError(f"{python.path} listed the code of {len(answer.files)} of {len(changed)} changed files.")
    return _listing(python, answer)


def _listing(python: Interpreter, answer: _Answer) -> Listing:
    good = {RepoPath(path): file for path, file in answer.files.items() if not file.error}
    version = ".".join(map(str, python.version[:2]))
    return Listing(
        answer.mode,
        {path: _file_sites(path, file) for path, file in good.items()},
        {path: frozenset(file.bodies) for path, file in good.items()},
        {path: {"codes": file.codes, "code": file.code, "sha256": file.sha256} for path, file in good.items()},
        {
            RepoPath(path): f"does not compile on Python {version}: {file.error}"
            + (f" (line {file.line})" * (file.line > 0))
            for path, file in answer.files.items()
            if file.error
        },
    )


def _file_sites(path: RepoPath, file: _File) -> FileSites:
    sites = tuple(
        Site(ident, Span(Pos(line, col), Pos(end_line, end_col)), weak, lazy)
        for ident, line, col, end_line, end_col, weak, lazy in file.sites
    )
    return FileSites(path, sites, tuple(Entry(*entry) for entry in file.entries))
