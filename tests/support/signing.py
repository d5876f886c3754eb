"""Keys that ``ssh-keygen`` makes, and commits that are signed with them. Debian's package is openssh-client."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import NamedTuple

from tests.support.repos import Repo

ADDRESS = "ada@example.org"


class Key(NamedTuple):
    """One key pair without a passphrase. ``file`` is the private half."""

    file: Path

    @classmethod
    def make(cls, folder: Path, name: str = "ada", kind: str = "ed25519") -> Key:
        """A new key, stored below ``folder``."""
        folder.mkdir(parents=True, exist_ok=True)
        file = folder / name
        run("-q", "-t", kind, "-N", "", "-C", f"{name}'s key", "-f", str(file))
        return cls(file)

    @property
    def public(self) -> str:
        """The public half: type and key, without the comment."""
        return " ".join(self.file.with_name(f"{self.file.name}.pub").read_text().split()[:2])

    @property
    def fingerprint(self) -> str:
        """The fingerprint, as OpenSSH prints it."""
        return run("-l", "-f", f"{self.file}.pub").split()[1]

    def line(self, principal: str = ADDRESS, options: str = "") -> str:
        """A line of an approvers file."""
        return " ".join(word for word in (principal, options, self.public) if word) + "\n"


def run(*arguments: str) -> str:
    """What ssh-keygen printed."""
    return subprocess.run(["ssh-keygen", *arguments], check=True, capture_output=True, text=True).stdout


def signed(repo: Repo, key: Key, message: str = "approve", *options: str) -> str:
    """Commit the index, signed by git itself; the commit's id."""
    repo.git("config", "gpg.format", "ssh")
    repo.git("config", "user.signingKey", os.fspath(key.file))
    try:
        return repo.commit_index(message, "-S", *options)
    finally:
        repo.git("config", "--unset", "gpg.format")
        repo.git("config", "--unset", "user.signingKey")
