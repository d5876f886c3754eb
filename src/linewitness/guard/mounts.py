"""What has to be read-only, and what has to stay where it is, for a program that may write everywhere else."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence

from linewitness.guard.fence import AT_HOME, Fence
from linewitness.guard.places import Place
from linewitness.values import NamedTuple

_IN_GIT = ("hooks", "config", "config.worktree", "info")


class Mounts(NamedTuple):
    """Absolute paths. ``fixed`` are folders that lead to protected content: written in, but not renamed or removed.

    ``writable`` are folders inside of ``read_only`` ones that agents may write to.
    """

    top: str
    read_only: tuple[str, ...]
    writable: tuple[str, ...]
    fixed: tuple[str, ...]
    git: tuple[str, ...]


def plan(top: str, home: str) -> Mounts:
    """The mounts for the work tree around ``top``. Errors: those of reading its settings, and of git."""
    fence = Fence([top], home)
    place = fence.places[0]
    found = _outermost(sorted(_present(fence, place)))
    git = tuple(each for name in _IN_GIT if place.git_dir and os.path.lexists(each := f"{place.git_dir}/{name}"))
    at_home = tuple(each for name in AT_HOME if home and os.path.lexists(each := f"{os.path.realpath(home)}/{name}"))
    back = {f"{place.top}/{name}" for rules in place.rules for name in rules.exceptions()}
    writable = tuple(
        each for each in sorted(back) if _is_inside(each, found) and not fence.is_protected(place, _child(each, place))
    )
    return Mounts(place.top, (*found, *_outermost(sorted(at_home))), writable, tuple(_leading(place.top, found)), git)


def _is_inside(path: str, folders: Sequence[str]) -> bool:
    return os.path.isdir(path) and not os.path.islink(path) and any(path.startswith(f"{each}/") for each in folders)


def _child(path: str, place: Place) -> str:
    return f"{place.relative(path)}/x"


def _present(fence: Fence, place: Place) -> Iterator[str]:
    for relative in fence.tracked(place):
        whole = f"{place.top}/{relative}"
        if os.path.lexists(whole):
            # A link is protected by what it is and not by what it names: its folder is what would have to be mounted.
            yield (
                os.path.dirname(whole) if stat.S_ISLNK(os.lstat(whole).st_mode) and _may_mount(place, whole) else whole
            )


def _may_mount(place: Place, whole: str) -> bool:
    return os.path.dirname(whole) != place.top


def _outermost(paths: Sequence[str]) -> tuple[str, ...]:
    kept: list[str] = []
    for path in paths:
        if not any(path == each or path.startswith(f"{each}/") for each in kept):
            kept.append(path)
    return tuple(kept)


def _leading(top: str, paths: Sequence[str]) -> list[str]:
    """The folders from the top to some paths, outer ones first, without the paths themselves."""
    folders = {top}
    for path in paths:
        folder = os.path.dirname(path)
        while folder.startswith(f"{top}/"):
            folders.add(folder)
            folder = os.path.dirname(folder)
    return sorted(folders)
