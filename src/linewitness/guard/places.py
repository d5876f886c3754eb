"""The folders in which a call of an agent can do harm, and the rules that hold in each.

The rules come from the target branch: from the first of the branches below that exists, and from the work tree too, so
that settings which were just written and not landed protect already. Something is protected when either says so; what
an agent writes into its work tree can therefore add protection and never remove any.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Final

from linewitness.errors import UsageError
from linewitness.globs import fold
from linewitness.guard.rules import PYPROJECT, SETTINGS_FILE, Chosen, Rules, parse

# The order of Repository.default_base. "HEAD" alone is the current branch: it stands in where nothing else is known.
_BRANCHES: Final = (
    *("refs/remotes/origin/HEAD", "refs/remotes/origin/main", "refs/remotes/origin/master"),
    *("refs/heads/main", "refs/heads/master", "HEAD"),
)
_LARGEST: Final = 1 << 20


class Place:
    """One work tree, or a folder outside of any repository. ``top`` is absolute and free of links."""

    def __init__(self, top: str, git_dir: str | None) -> None:
        self.top = top
        self.git_dir = git_dir

    def relative(self, path: str) -> str | None:
        """The path from the top to an absolute path; empty for the top itself, ``None`` for what lies elsewhere."""
        if path == self.top:
            return ""
        start = self.top if self.top.endswith("/") else f"{self.top}/"
        if path.startswith(start):
            return path[len(start) :]
        # Some file systems take /Repo and /repo for the same folder.
        count = start.count("/")
        parts = path.split("/")
        same = len(parts) >= count and fold("/".join(parts[:count])) == fold(self.top)
        return "/".join(parts[count:]) if same else None

    @cached_property
    def rules(self) -> tuple[Rules, ...]:
        """The rules of the target branch and of the work tree, each once. Errors: :class:`UsageError`, PatchError."""
        here = parse(*(_read(os.path.join(self.top, name)) for name in (SETTINGS_FILE, PYPROJECT)))
        choices = [self._landed()] if self.git_dir else []
        if here not in choices:
            choices.append(here)
        return tuple(map(Rules, choices))

    def _landed(self) -> Chosen:
        from linewitness.patch import glance

        found = glance.blobs(self.top, [f"{at}:{name}" for at in _BRANCHES for name in ("", SETTINGS_FILE, PYPROJECT)])
        trees = found[0::3]
        pairs = dict(zip(_BRANCHES, zip(found[1::3], found[2::3], strict=True), strict=True))
        default = next((at for at, tree in zip(_BRANCHES, trees, strict=True) if tree is not None), None)
        if default is None:
            return Chosen()
        chosen = parse(*pairs[default])
        named = chosen.target_branch
        if not named or default == "HEAD" or default.endswith(f"/{named}"):
            return chosen
        asked = [f"refs/{kind}/{named}:{name}" for kind in _KINDS for name in ("", SETTINGS_FILE, PYPROJECT)]
        there = glance.blobs(self.top, asked)
        first = next((at for at in range(0, len(there), 3) if there[at] is not None), None)
        return chosen if first is None else parse(there[first + 1], there[first + 2])


_KINDS: Final = ("remotes/origin", "heads")


def find(folders: Iterable[str]) -> tuple[Place, ...]:
    """The places around some folders, each once, innermost first when one holds another."""
    found: dict[str, Place] = {}
    for folder in folders:
        place = around(folder)
        # A repository inside of another is no way out of that one: whoever can run `git init` could make one.
        while place.top not in found:
            found[place.top] = place
            outer = around(os.path.dirname(place.top))
            if outer.git_dir is None:
                break
            place = outer
    return tuple(sorted(found.values(), key=lambda place: -len(place.top)))


def around(folder: str) -> Place:
    """The work tree that holds a folder, which need not exist; the folder itself where there is none."""
    start = os.path.realpath(folder)
    here = start
    while True:
        git = os.path.join(here, ".git")
        if os.path.lexists(git):
            return Place(here, _git_dir(git))
        above = os.path.dirname(here)
        if above == here:
            return Place(start, None)
        here = above


def _git_dir(git: str) -> str:
    """Where git keeps its own files: for a linked work tree or a submodule, ``.git`` is a file that tells."""
    if os.path.isdir(git):
        return git
    told = (_read(git) or b"").decode("utf-8", "surrogateescape")
    if not told.startswith("gitdir: "):
        raise UsageError("is neither a folder nor the pointer to one", path=git)
    return os.path.realpath(os.path.join(os.path.dirname(git), told[8:].strip()))


def shares_objects(place: Place, others: Sequence[Place]) -> bool:
    """Whether a work tree is another one of a repository that is known already."""
    common = _common(place)
    return common is not None and any(common == _common(other) for other in others)


def _common(place: Place) -> str | None:
    if place.git_dir is None:
        return None
    told = _read(os.path.join(place.git_dir, "commondir"))
    if told is None:
        return os.path.realpath(place.git_dir)
    return os.path.realpath(os.path.join(place.git_dir, os.fsdecode(told).strip()))


def _read(path: str) -> bytes | None:
    """The bytes of a regular file, or ``None``."""
    if not os.path.isfile(path):
        return None
    try:
        with open(path, "rb") as stream:
            data = stream.read(_LARGEST + 1)
    except OSError as error:
        raise UsageError(f"cannot be read: {error.strerror or error}", path=path) from error
    if len(data) > _LARGEST:
        raise UsageError("is larger than 1 MiB, which no settings file needs", path=path)
    return data
