"""A few blobs and the index of a repository, asked of git in one process, for programs that must answer at once.

Asking git is for :class:`linewitness.patch.repository.Repository`. Importing what it needs takes longer than
an agent's hook may take in all, so the questions of that hook are asked here: the bytes at some names such as
``refs/heads/main:linewitness.toml``, and which files git tracks. The environment is built from nothing, as there.
"""

from __future__ import annotations

import os
import select
import time
from collections.abc import Sequence

from linewitness.errors import PatchError

_SECONDS = 5.0
_LARGEST = 1 << 22
_LARGEST_LIST = 1 << 28
_SETTINGS = ("safe.directory=*", "core.fsmonitor=false", "core.commitGraph=false")


def blobs(top: str, names: Sequence[str]) -> tuple[bytes | None, ...]:
    """The content of each name in the repository whose work tree (or git directory) is ``top``; ``None`` for no object.

    What is no blob has an empty content. Errors: :class:`PatchError` when git cannot be started, fails,
    takes longer than five seconds or says something else than answers.
    """
    asked = "".join(f"{name}\n" for name in names).encode("utf-8", "surrogateescape")
    if asked.count(b"\n") != len(names):
        raise PatchError("a name with a line break cannot be asked for", path=top)
    answer, rest = _ask(top, ("cat-file", "--batch"), asked, _LARGEST), []
    for _ in names:
        content, answer = _one(answer)
        rest.append(content)
    if answer:
        raise PatchError("git said more than it was asked for", path=top)
    return tuple(rest)


def tracked(top: str) -> tuple[str, ...]:
    """The paths in the index of the work tree at ``top``, relative to it. Errors: as :func:`blobs`."""
    names = _ask(top, ("ls-files", "-z", "--full-name", "--", ":/"), b"", _LARGEST_LIST).split(b"\0")
    return tuple(name.decode("utf-8", "surrogateescape") for name in names[:-1])


def _one(answer: bytes) -> tuple[bytes | None, bytes]:
    header, found, rest = answer.partition(b"\n")
    words = header.split(b" ")
    if not found:
        raise PatchError("git did not answer every question")
    if words[-1] in {b"missing", b"ambiguous"}:
        return None, rest
    if len(words) != 3 or not words[2].isdigit():
        raise PatchError("git gave an answer that is not understood")
    size = int(words[2])
    if len(rest) < size + 1:
        raise PatchError("git stopped in the middle of an answer")
    return (rest[:size] if words[1] == b"blob" else b""), rest[size + 1 :]


def _ask(top: str, command: Sequence[str], asked: bytes, most: int) -> bytes:
    """What a command of git answers. :mod:`subprocess` alone costs as much as the whole question."""
    question, ours = os.pipe()
    answers, theirs = os.pipe()
    words = ["git", *(part for setting in _SETTINGS for part in ("-c", setting)), "-C", top, *command]
    nowhere = (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0)
    actions = [(os.POSIX_SPAWN_DUP2, question, 0), (os.POSIX_SPAWN_DUP2, theirs, 1), nowhere]
    try:
        pid = os.posix_spawn(_git(), words, _environment(), file_actions=actions)
    except OSError as error:
        os.close(ours)
        os.close(answers)
        raise PatchError(f"git cannot be started: {error.strerror or error}") from None
    finally:
        os.close(question)
        os.close(theirs)
    try:
        os.write(ours, asked)
        os.close(ours)
        return _read(answers, most)
    finally:
        os.close(answers)
        _end(pid)


def _read(pipe: int, most: int) -> bytes:
    deadline, size = time.monotonic() + _SECONDS, 0
    said: list[bytes] = []
    while select.select([pipe], [], [], max(0.0, deadline - time.monotonic()))[0]:
        part = os.read(pipe, 1 << 16)
        if not part:
            return b"".join(said)
        said.append(part)
        size += len(part)
        if size > most:
            break
    raise PatchError("git did not end in time, or said far more than was expected")


def _end(pid: int) -> None:
    ended, _ = os.waitpid(pid, os.WNOHANG)
    if not ended:
        # Its output was read whole or is not wanted: nothing is lost.
        os.kill(pid, 9)
        os.waitpid(pid, 0)


def _git() -> str:
    # An empty or relative part of PATH would find a program inside the folder that is judged.
    for folder in os.environ.get("PATH", os.defpath).split(os.pathsep):
        found = os.path.join(folder, "git")
        if os.path.isabs(folder) and os.access(found, os.X_OK) and os.path.isfile(found):
            return found
    raise PatchError("git was not found on PATH; install git 2.29 or later")


def _environment() -> dict[str, str]:
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "LC_ALL": "C",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_GRAFT_FILE": os.devnull,
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_ALLOW_PROTOCOL": "",
        "GIT_TERMINAL_PROMPT": "0",
    }
