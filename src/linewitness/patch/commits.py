"""Commit objects, byte for byte: reading what was signed, and writing a commit that somebody else signs.

Format: "Signed commits" in gitformat-signature(5). The signature is a header of the commit, called ``gpgsig`` whatever
made it (``gpgsig-sha256`` where objects are named by SHA-256), and covers every other byte of it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from linewitness.digests import hexdigest
from linewitness.errors import PatchError, UsageError
from linewitness.model import Commit, ObjectId
from linewitness.patch.objects import path_bytes
from linewitness.patch.repository import Repository
from linewitness.values import NamedTuple

_HEADERS: Final = {"sha1": b"gpgsig", "sha256": b"gpgsig-sha256"}
_BATCH: Final = 200
_PERSONAL: Final = (
    *("HOME", "XDG_CONFIG_HOME", "EMAIL", "USER", "LOGNAME", "GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_AUTHOR_DATE"),
    *("GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL", "GIT_COMMITTER_DATE"),
)


class SignedCommit(NamedTuple):
    """A commit that carries signatures: what they cover, and their texts. Sound ones carry one."""

    commit: Commit
    payload: bytes
    signatures: tuple[bytes, ...]


def signed_commits(repository: Repository, commits: Sequence[Commit]) -> Iterator[SignedCommit]:
    """Those of ``commits`` that carry a signature, in their order, each checked against its id.

    Errors: :class:`PatchError` for a commit that is missing or damaged.
    """
    for start in range(0, len(commits), _BATCH):
        for commit, data in _read(repository, commits[start : start + _BATCH]):
            payload, signatures = _parted(data)
            if signatures:
                yield SignedCommit(commit, payload, signatures)


def _read(repository: Repository, commits: Sequence[Commit]) -> Iterator[tuple[Commit, bytes]]:
    asked = "".join(f"{commit.commit}\n" for commit in commits)
    answer = repository.run("cat-file", "--batch", stdin=asked.encode())
    at = 0
    for commit in commits:
        header, _, _ = answer[at : at + 200].partition(b"\n")
        words = header.split()
        if len(words) != 3 or words[1] != b"commit":
            raise PatchError(f"commit {commit.commit} cannot be read")
        start = at + len(header) + 1
        data = answer[start : start + int(words[2])]
        at = start + int(words[2]) + 1
        if _id(data, repository.algorithm) != commit.commit or not data.startswith(f"tree {commit.tree}\n".encode()):
            raise PatchError(f"commit {commit.commit} is damaged: its bytes do not have this id")
        yield commit, data


def _id(data: bytes, algorithm: str) -> ObjectId:
    return ObjectId(hexdigest(algorithm, b"commit %d\0" % len(data), data))


def _parted(data: bytes) -> tuple[bytes, tuple[bytes, ...]]:
    """A commit without its signatures, and these. Continuation lines begin with a space."""
    head, gap, message = data.partition(b"\n\n")
    kept: list[bytes] = []
    signatures: list[list[bytes]] = []
    inside = False
    for line in head.split(b"\n"):
        if not line.startswith(b" "):
            inside = line.partition(b" ")[0] in _HEADERS.values()
            if inside:
                signatures.append([])
        if inside:
            signatures[-1].append(line.partition(b" ")[2])
        else:
            kept.append(line)
    return b"\n".join(kept) + gap + message, tuple(b"\n".join(lines) + b"\n" for lines in signatures)


# ---------------------------------------------------------------- writing


class Person(NamedTuple):
    """What a person's own git settings say: who they are, as headers of a commit tell it, and their signing key."""

    author: str
    committer: str
    signing_key: str


def person(repository: Repository, environment: Mapping[str, str]) -> Person:
    """The person at this machine. Nothing of it is believed by the gate; only the key that signs is.

    Errors: :class:`UsageError` when git does not know who they are.
    """
    personal = {name: environment[name] for name in _PERSONAL if name in environment}
    settings = repository.scratch() / "person.gitconfig"
    chosen = environment.get("GIT_CONFIG_GLOBAL")
    default = environment.get("XDG_CONFIG_HOME") or "~/.config"
    files = [chosen] if chosen else [f"{default}/git/config", "~/.gitconfig"]
    settings.write_text("".join(f"[include]\n\tpath = {_quoted(file)}\n" for file in files), encoding="utf-8")
    env = {**personal, "GIT_CONFIG_GLOBAL": os.fspath(settings)}
    idents = [_ask(repository, env, "var", f"GIT_{who}_IDENT") for who in ("AUTHOR", "COMMITTER")]
    if not all(idents):
        raise UsageError("git does not know who you are: set user.name and user.email with `git config --global`")
    is_ssh = _ask(repository, env, "config", "--get", "gpg.format") == "ssh"
    key = _ask(repository, env, "config", "--type=path", "--get", "user.signingKey") if is_ssh else ""
    return Person(idents[0], idents[1], key)


def _quoted(path: str) -> str:
    return '"' + path.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _ask(repository: Repository, env: Mapping[str, str], *arguments: str) -> str:
    answer = repository.run(*arguments, env=env, ok=(0, 1, 128))
    return answer.decode("utf-8", "surrogateescape").removesuffix("\n")


def compose(parent: Commit, who: Person, message: str) -> bytes:
    """A commit on top of ``parent`` with the same tree, not signed yet."""
    lines = (f"tree {parent.tree}", f"parent {parent.commit}", f"author {who.author}", f"committer {who.committer}")
    return path_bytes("\n".join(lines) + "\n\n" + message.rstrip("\n") + "\n")


def with_signature(payload: bytes, signature: bytes, algorithm: str) -> bytes:
    """The commit that carries this signature over ``payload``."""
    head, gap, message = payload.partition(b"\n\n")
    text = signature.rstrip(b"\n").replace(b"\n", b"\n ")
    return head + b"\n" + _HEADERS[algorithm] + b" " + text + gap + message


def advance(repository: Repository, head: Commit, data: bytes, why: str) -> ObjectId:
    """Store a commit and put HEAD on it, unless HEAD is no longer at ``head``; its id. No hook of the clone runs.

    Errors: :class:`PatchError`; nothing has moved then.
    """
    stored = repository.run("hash-object", "-t", "commit", "-w", "--stdin", stdin=data).decode().strip()
    if stored != _id(data, repository.algorithm):
        raise PatchError("git stored another commit than it was given")
    repository.run("update-ref", "-m", why, "HEAD", stored, head.commit or "")
    return ObjectId(stored)
