"""Asks the tested interpreter what can be observed in the changed files, before anything of the patch runs."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any, NamedTuple

import msgspec

from linewitness.errors import EvidenceError
from linewitness.evidence.hits import Entry, FileSites, Site
from linewitness.evidence.interpreter import Interpreter
from linewitness.evidence.kit import PACKAGE
from linewitness.model import RepoPath

LineRanges = tuple[tuple[int, int], ...]
_TIMEOUT = 600
# Bytes of source above which a second process pays: starting one costs what 50 kB do.
_WORTH_A_PROCESS = 200_000


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
    sites: tuple[Site, ...] = ()
    entries: tuple[Entry, ...] = ()
    bodies: frozenset[int] = frozenset()
    sha256: str = ""
    codes: msgspec.Raw = msgspec.Raw(b"[]")  # for the recorder only
    code: str = ""
    placeholder: str = ""
    unrun: list[int] = []
    error: str = ""
    line: int = 0


class _Answer(msgspec.Struct):
    mode: str
    files: dict[str, _File]


def list_sites(
    python: Interpreter, kit: Path, root: Path, changed: Mapping[RepoPath, LineRanges], *, prepare: bool
) -> Listing:
    """Sites of the wanted lines (1-based, inclusive ranges) of each changed file below ``root``.

    ``kit`` holds a written kit; ``prepare`` has the interpreter leave byte code beside it. The files are compiled,
    isolated from everything in the tree, and never executed; many of them in two processes at once. Errors:
    EvidenceError when the interpreter fails or answers nonsense.
    """
    program = f"import sys; sys.path.insert(0, {str(kit)!r}); from {PACKAGE}.sites import main; main()"
    command = [str(python.path), "-I", "-S", "-B", "-c", program]
    parts = _shares(root, changed)
    with ExitStack() as stack:
        asked = (
            {"root": str(root), "prepare": prepare and number == 0, "files": part} for number, part in enumerate(parts)
        )
        started = [stack.enter_context(_ask(command, kit, each)) for each in asked]
        answers = [_answer(python, child, part) for child, part in zip(started, parts, strict=True)]
    files = {path: file for answer in answers for path, file in answer.files.items()}
    return _listing(python, _Answer(answers[0].mode, files))


def _shares(root: Path, changed: Mapping[RepoPath, LineRanges]) -> list[dict[str, LineRanges]]:
    """The files, in one share, or dealt out by size when starting a second process is the smaller part."""
    sizes = {path: _size(root / path) for path in changed}
    shares: list[dict[str, LineRanges]] = [{}]
    if sum(sizes.values()) > _WORTH_A_PROCESS and (os.cpu_count() or 1) > 1:
        shares.append({})
    weights = [0] * len(shares)
    for path in sorted(changed, key=lambda each: (-sizes[each], each)):
        lightest = weights.index(min(weights))
        shares[lightest][path] = changed[path]
        weights[lightest] += sizes[path]
    return shares


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0  # The child says what is wrong with it.


class _Child(NamedTuple):
    process: subprocess.Popen[bytes]
    output: IO[bytes]


@contextmanager
def _ask(command: Sequence[str], kit: Path, request: Mapping[str, object]) -> Iterator[_Child]:
    """A child that works on a request. Through files, because pipes would have to be emptied for two at once."""
    with TemporaryFile(dir=kit) as asked, TemporaryFile(dir=kit) as output:
        asked.write(msgspec.json.encode(request))
        asked.seek(0)
        try:
            process = subprocess.Popen(command, stdin=asked, stdout=output, stderr=subprocess.DEVNULL, cwd=kit)
        except OSError as error:
            raise EvidenceError(f"{command[0]} could not list the code of the changed files: {error}") from error
        try:
            yield _Child(process, output)
        finally:
            process.kill()
            process.wait()


def _answer(python: Interpreter, child: _Child, part: Mapping[str, LineRanges]) -> _Answer:
    try:
        status = child.process.wait(_TIMEOUT)
        child.output.seek(0)
        answer = msgspec.json.decode(child.output.read(), type=_Answer)
    except (OSError, subprocess.TimeoutExpired, msgspec.MsgspecError) as error:
        raise EvidenceError(f"{python.path} could not list the code of the changed files: {error}") from error
    if status or set(answer.files) != set(part):
        raise EvidenceError(f"{python.path} listed the code of {len(answer.files)} of {len(part)} changed files.")
    return answer


def _listing(python: Interpreter, answer: _Answer) -> Listing:
    good = {RepoPath(path): file for path, file in answer.files.items() if not file.error}
    version = ".".join(map(str, python.version[:2]))
    return Listing(
        answer.mode,
        {path: FileSites(path, file.sites, file.entries) for path, file in good.items()},
        {path: file.bodies for path, file in good.items()},
        {path: _plan(file) for path, file in good.items()},
        {
            RepoPath(path): f"does not compile on Python {version}: {file.error}"
            + (f" (line {file.line})" * (file.line > 0))
            for path, file in answer.files.items()
            if file.error
        },
    )


def _plan(file: _File) -> dict[str, Any]:
    named = {"codes": file.codes, "code": file.code, "placeholder": file.placeholder, "sha256": file.sha256}
    return {**named, "unrun": file.unrun}
