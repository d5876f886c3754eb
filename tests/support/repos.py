"""A builder of tiny git repositories that no setting of the machine can reach.

    repo = Repo(tmp_path)
    base = repo.commit("base", {"app.py": "x = 1\\n"})
    repo.write({"app.py": "x = 2\\n", "run": Executable("#!/bin/sh\\n"), "alias.py": Link("app.py")})
    repo.remove("old.py")
    head = repo.commit("head")

Text is dedented and written as UTF-8; give bytes where each byte matters. Names may be bytes too. Authors and dates
are fixed, so that the same calls give the same object ids on every machine.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple


class Link(NamedTuple):
    """A symbolic link."""

    target: str | bytes


class Executable(NamedTuple):
    """A regular file with mode 0755."""

    content: str | bytes


Content = str | bytes | Link | Executable
Name = str | bytes

# Names as keys, text or bytes. Mappings are invariant in their keys, so the union would refuse a dict of either.
Files = Mapping[Any, Content]

_FIRST_DATE = 1_700_000_000


def environment() -> dict[str, str]:
    """All that git sees of this process: where programs are, and nobody's settings."""
    person = {f"GIT_{who}_{what}": value for who in ("AUTHOR", "COMMITTER") for what, value in _PERSON.items()}
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": os.devnull,
        "LC_ALL": "C",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0",
        **person,
    }


_PERSON = {"NAME": "Ada", "EMAIL": "ada@example.org"}
_SETTINGS = ("-c", "protocol.file.allow=always", "-c", "gc.auto=0", "-c", "advice.detachedHead=false")


class Repo:
    """One repository with a work tree under ``root``. Branch ``main`` is checked out and has no commit yet."""

    def __init__(self, root: Path, *, init: bool = True) -> None:
        self.root = root
        self._date = _FIRST_DATE
        if init:
            root.mkdir(parents=True, exist_ok=True)
            self.git("init", "-q", "--template=", "-b", "main")

    def run(self, *args: Name, stdin: bytes = b"", check: bool = True) -> subprocess.CompletedProcess[bytes]:
        """Run git here. With ``check``, a failure is an ``AssertionError`` that shows what git said."""
        dates = dict.fromkeys(("GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"), f"{self._date} +0000")
        done = subprocess.run(
            ["git", *_SETTINGS, *args],
            check=False,
            cwd=self.root,
            env=environment() | dates,
            input=stdin,
            capture_output=True,
        )
        if check and done.returncode:
            raise AssertionError(f"git {args!r} ended with {done.returncode}: {done.stderr.decode(errors='replace')}")
        return done

    def git(self, *args: Name, stdin: bytes = b"") -> str:
        """What git printed, without the last newline."""
        return self.run(*args, stdin=stdin).stdout.decode("utf-8", "surrogateescape").removesuffix("\n")

    def path(self, name: Name) -> Path:
        """Where a name of the repository lies on disk."""
        return self.root / os.fsdecode(name)

    def write(self, files: Files) -> None:
        """Write files into the work tree; folders appear as needed, what stood there before is replaced."""
        for name, content in files.items():
            path = self.path(name)
            self._make_way(path)
            match content:
                case Link(target):
                    os.symlink(os.fsdecode(target), path)
                case Executable(inner):
                    path.write_bytes(_bytes(inner))
                    path.chmod(0o755)
                case _:
                    path.write_bytes(_bytes(content))

    def _make_way(self, path: Path) -> None:
        for folder in reversed(path.relative_to(self.root).parents):
            standing = self.root / folder
            if standing.is_symlink() or standing.is_file():
                standing.unlink()
        self.remove(path.relative_to(self.root).as_posix())
        path.parent.mkdir(parents=True, exist_ok=True)

    def remove(self, *names: Name) -> None:
        """Remove files, links and folders of the work tree; a name that is not there is fine."""
        for path in map(self.path, names):
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)

    def commit(self, message: str = "change", files: Files | None = None) -> str:
        """Write ``files``, commit everything in the work tree, ignored files too; the commit's id."""
        self.write(files or {})
        self.git("add", "-A", "-f", "--", ".")
        return self.commit_index(message)

    def commit_index(self, message: str = "change", *options: str) -> str:
        """Commit the index as it stands (nothing is added first); the commit's id."""
        self._date += 60
        self.git("commit", "-q", "--allow-empty", "--allow-empty-message", "--no-verify", "-m", message, *options)
        return self.git("rev-parse", "HEAD")

    def commit_raw(self, message: str, files: Mapping[Any, bytes]) -> str:
        """Commit blobs byte for byte on top of the index, whatever attributes and filters say; the commit's id."""
        for name, content in files.items():
            oid = self.git("hash-object", "-w", "--no-filters", "--stdin", stdin=content)
            self.stage(name, oid)
        return self.commit_index(message)

    def stage(self, name: Name, oid: str, mode: str = "100644") -> None:
        """Put one entry into the index: any name, mode and id."""
        record = f"{mode} {oid}\t".encode() + os.fsencode(name) + b"\0"
        self.git("update-index", "-z", "--index-info", stdin=record)

    def submodule(self, name: Name, oid: str) -> None:
        """Stage a submodule at ``oid``, with the empty folder that stands for one that is not checked out."""
        self.path(name).mkdir(parents=True, exist_ok=True)
        self.stage(name, oid, "160000")

    def tag(self, name: str, at: str = "HEAD") -> None:
        """Make a lightweight tag."""
        self.git("tag", "--", name, at)

    def branch(self, name: str, at: str = "HEAD") -> None:
        """Check out a new branch."""
        self.git("checkout", "-q", "-b", name, at)

    def tree(self, at: str = "HEAD") -> str:
        """The id of a commit's tree."""
        return self.git("rev-parse", f"{at}^{{tree}}")

    def clone(self, destination: Path, *options: str) -> Repo:
        """Clone this repository, over the transport so that ``--depth`` and ``--filter`` mean something."""
        self.git("clone", "-q", *options, f"file://{self.root}", os.fspath(destination))
        return Repo(destination, init=False)


def _bytes(content: str | bytes) -> bytes:
    return content if isinstance(content, bytes) else textwrap.dedent(content).encode("utf-8", "surrogateescape")
