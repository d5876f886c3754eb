"""Asks the tested interpreter what can be observed in the changed files, before anything of the patch runs."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, Protocol

import msgspec

from linewitness.errors import EvidenceError
from linewitness.evidence.hits import Entry, FileSites, Site
from linewitness.evidence.interpreter import Interpreter
from linewitness.evidence.kit import PACKAGE
from linewitness.evidence.sites import list_files, list_quietly
from linewitness.model import RepoPath
from linewitness.parallel import Fork, can_fork
from linewitness.values import NamedTuple

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
    digest: str = ""
    codes: msgspec.Raw = msgspec.Raw(b"[]")  # for the recorder only
    code: str = ""
    placeholder: str = ""
    silent: bool = False
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
    isolated from everything in the tree, and never executed; many of them in two processes at once. An interpreter
    that compiles as ours does is not started for it: this process or a copy of it does the same. Errors: EvidenceError
    when the interpreter fails or answers nonsense.
    """
    parts = _shares(root, changed)
    is_alike = python.compiles_alike and not prepare
    if is_alike and len(parts) == 1 and (made := _made_here({"root": str(root), "files": parts[0]})):
        return _listing(python, made)
    ask: Callable[[Mapping[str, object]], _Child] = _Copy if is_alike and can_fork() else partial(_Program, python, kit)
    with ExitStack() as stack:
        started = []
        for number, part in enumerate(parts):
            child = ask({"root": str(root), "prepare": prepare and number == 0, "files": part})
            stack.callback(child.end)
            started.append(child)
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


def _made_here(request: Mapping[str, object]) -> _Answer | None:
    """The answer of this process; ``None`` when something is wrong with a file, or it is nested too deeply for us.

    A process that may crash may use more of its stack, and says what is wrong.
    """
    mode, files = list_quietly(request)
    if any("error" in file for file in files.values()):
        return None
    return msgspec.json.decode(msgspec.json.encode({"mode": mode, "files": files}), type=_Answer)


class _Child(Protocol):
    """A process that works on a request."""

    def answer(self) -> bytes | None:
        """What it said in the end, ``None`` when it failed. Errors: OSError, ``TimeoutExpired``."""

    def end(self) -> None:
        """Have it end now, if it did not."""


class _Copy:
    """A copy of this process. What it does leaves no trace here, and neither does a crash of the compiler."""

    def __init__(self, request: Mapping[str, object]) -> None:
        def listed() -> bytes:
            mode, files = list_files(request)
            return msgspec.json.encode({"mode": mode, "files": files})

        self._fork = Fork(listed)

    def answer(self) -> bytes | None:
        return self._fork.result(_TIMEOUT)

    def end(self) -> None:
        self._fork.end(kill=True)


class _Program:
    """The tested interpreter. Through files, because pipes would have to be emptied for two at once."""

    def __init__(self, python: Interpreter, kit: Path, request: Mapping[str, object]) -> None:
        program = f"import sys; sys.path.insert(0, {str(kit)!r}); from {PACKAGE}.sites import main; main()"
        command = [str(python.path), "-I", "-S", "-B", "-c", program]
        self._output = TemporaryFile(dir=kit)  # noqa: SIM115 - open until the answer was read
        with TemporaryFile(dir=kit) as asked:
            asked.write(msgspec.json.encode(request))
            asked.seek(0)
            try:
                self._process = subprocess.Popen(
                    command, stdin=asked, stdout=self._output, stderr=subprocess.DEVNULL, cwd=kit
                )
            except OSError as error:
                self._output.close()
                raise EvidenceError(f"{command[0]} could not list the code of the changed files: {error}") from error

    def answer(self) -> bytes | None:
        if self._process.wait(_TIMEOUT):
            return None
        self._output.seek(0)
        return self._output.read()

    def end(self) -> None:
        self._process.kill()
        self._process.wait()
        self._output.close()


def _answer(python: Interpreter, child: _Child, part: Mapping[str, LineRanges]) -> _Answer:
    try:
        said = child.answer()
        if said is None:
            raise EvidenceError(
                f"{python.path} could not list the code of the changed files: it did not get to its end"
            )
        answer = msgspec.json.decode(said, type=_Answer)
    except (OSError, subprocess.TimeoutExpired, msgspec.MsgspecError) as error:
        raise EvidenceError(f"{python.path} could not list the code of the changed files: {error}") from error
    if set(answer.files) != set(part):
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


def with_unlisted(listing: Listing, paths: Iterable[RepoPath]) -> Listing:
    """The same, with further changed files of which nothing is observed but that they are loaded."""
    more = sorted(paths)
    if not more:
        return listing
    return listing._replace(
        sites={**listing.sites, **{path: FileSites(path, (), ()) for path in more}},
        plan={**listing.plan, **{path: _plan(_File()) for path in more}},
    )


def _plan(file: _File) -> dict[str, Any]:
    named = {"codes": file.codes, "code": file.code, "placeholder": file.placeholder, "digest": file.digest}
    return {**named, "silent": file.silent, "unrun": file.unrun}
