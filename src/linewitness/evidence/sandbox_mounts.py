"""What a sandboxed run sees of the file system: a list of what is there, not of what is hidden.

The system's programs and libraries, the interpreter of the tests, the export, and a folder for results; nobody's home,
no run-time sockets, no checkout with its history and its tokens.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from linewitness.evidence.interpreter import Interpreter
from linewitness.model import RepoPath
from linewitness.values import NamedTuple

SYSTEM: Final = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/opt", "/nix", "/gnu")
_ALSO_READ: Final = ("/sys",)
_DEVICES: Final = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty")
_OF_AN_ENVIRONMENT: Final = ("bin", "lib", "lib64", "include", "share", "pyvenv.cfg")
_MANY: Final = 200
# What only root may read, where the run is a root who cannot become somebody else.
_ROOTS_FILES: Final = ("/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/gshadow-", "/etc/sudoers")
_ROOTS_FOLDERS: Final = (
    "/etc/ssl/private", "/etc/ssh", "/etc/sudoers.d", "/etc/docker", "/etc/kubernetes", "/etc/gitlab-runner",
)  # fmt: skip
_READ_ONLY, _WRITABLE = "--ro-bind", "--bind"


class Borrowed(NamedTuple):
    """A folder of the checkout that appears in the export: what ``setup`` would have to build again."""

    outside: Path
    inside: RepoPath


class Sealed(NamedTuple):
    """Places of the export that stay as they are. ``pinned`` folders may gain files, but not be moved away."""

    folders: tuple[RepoPath, ...] = ()
    files: tuple[RepoPath, ...] = ()
    pinned: tuple[RepoPath, ...] = ()


class Place(NamedTuple):
    """The folders of one run, absolute and without links. ``temporary`` is what the run sees as ``/tmp``."""

    export: Path
    results: Path
    temporary: Path
    readable: tuple[Path, ...] = ()
    sealed: Sealed = Sealed()
    borrowed: tuple[Borrowed, ...] = ()

    def reachable(self) -> tuple[list[str], list[str]]:
        """For Landlock: what is read, and what is written and read. Sealing parts of a folder is beyond it."""
        borrowed = [entry.outside for entry in self.borrowed]
        read = [*SYSTEM, *_ALSO_READ, "/proc", "/dev", *map(str, (*self.readable, *borrowed))]
        write = [*map(str, (self.export, self.results, self.temporary)), "/dev/shm", "/dev/pts", *_DEVICES]  # noqa: S108
        return read, write


def mounts(place: Place, *, network: bool, hides_roots: bool) -> list[str]:
    """The arguments of bubblewrap that lay out the file system. Later ones lie over earlier ones.

    ``network`` needs to know how names are resolved; ``hides_roots`` hides what only root may read.
    """
    arguments = [*_system(), *(_without_roots() if hides_roots else ()), "--proc", "/proc", "--dev", "/dev"]
    arguments += ["--perms", "1777", "--tmpfs", "/dev/shm"]  # noqa: S108
    arguments += [_WRITABLE, str(place.temporary), "/tmp", "--perms", "1777", "--tmpfs", "/var/tmp"]  # noqa: S108
    made = {"/", "/tmp", "/var"}  # noqa: S108
    for folder in _not_covered(place.readable):
        arguments += [*_on_the_way(folder, made), _READ_ONLY, str(folder), str(folder)]
    if network:
        resolver = os.path.realpath("/etc/resolv.conf")
        if not resolver.startswith("/etc/") and os.path.isfile(resolver):
            arguments += [*_on_the_way(Path(resolver), made), _READ_ONLY, resolver, resolver]
    for folder in (place.export, place.results):
        arguments += [*_on_the_way(folder, made), _WRITABLE, str(folder), str(folder)]
    for outside, inside in place.borrowed:
        arguments += [_READ_ONLY, str(outside), str(place.export / inside)]
    return [*arguments, *_seals(place), "--chdir", str(place.export)]


def _system() -> list[str]:
    arguments: list[str] = []
    for name in SYSTEM:
        if os.path.islink(name):
            arguments += ["--symlink", os.readlink(name), name]
        elif os.path.isdir(name):
            arguments += [_READ_ONLY, name, name]
    for name in _ALSO_READ:
        if os.path.isdir(name):
            arguments += [_READ_ONLY, name, name]
    return arguments


def _without_roots() -> list[str]:
    arguments: list[str] = []
    for name in _ROOTS_FILES:
        if os.path.isfile(name):
            arguments += [_READ_ONLY, os.devnull, name]
    for name in _ROOTS_FOLDERS:
        if os.path.isdir(name):
            arguments += ["--tmpfs", name]
    return arguments


def _not_covered(folders: Iterable[Path]) -> list[Path]:
    """Outer folders first, without those that lie in one that is there already."""
    found: list[Path] = []
    for folder in sorted(set(folders), key=lambda path: (len(path.parts), path)):
        # a link of the system's, such as /lib, is no folder of its own
        covered = [*(Path(name) for name in SYSTEM), *found]
        if not any(folder == outer or folder.is_relative_to(outer) for outer in covered) and folder.exists():
            found.append(folder)
    return found


def _on_the_way(place: Path, made: set[str]) -> list[str]:
    """Folders above ``place``, which bubblewrap would make for its own user only."""
    arguments: list[str] = []
    for folder in reversed(place.parents):
        if str(folder) not in made:
            made.add(str(folder))
            arguments += ["--perms", "0755", "--dir", str(folder)]
    return arguments


def _seals(place: Place) -> list[str]:
    """A mount can be neither moved nor replaced, so its being there keeps a folder in its place."""
    sealed = place.sealed
    rows = [(path, _WRITABLE) for path in sealed.pinned]
    rows += [(path, _READ_ONLY) for path in (*sealed.folders, *sealed.files)]
    arguments = []
    for path, how in sorted(rows, key=lambda row: (row[0].count("/"), row)):
        arguments += [how, str(place.export / path), str(place.export / path)]
    return arguments


def seal(protected: Iterable[RepoPath], tree: Iterable[RepoPath]) -> Sealed:
    """How to keep protected files from being changed during a run.

    A folder whose files are all protected is sealed as a whole, so that nothing new appears in it either; in others
    each protected file is. The folders above are pinned. ``tree`` are all files of the tree.
    """
    protected = frozenset(protected)
    mixed = {path.rpartition("/")[0] for path in tree if path not in protected}
    files = {path for path in protected if not path.rpartition("/")[0] or path.rpartition("/")[0] in mixed}
    if len(files) > _MANY:
        # each mount makes the next one slower
        files = {path for path in files if "/" not in path}
    holders = {path.rpartition("/")[0] for path in protected - files}
    folders = {folder for folder in holders if not any(above in holders for above in _above(folder))}
    files = {path for path in files if not any(above in folders for above in _above(path))}
    pinned = {above for path in (*folders, *files) for above in _above(path)}
    return Sealed(*(tuple(map(RepoPath, sorted(group))) for group in (folders, files, pinned - folders)))


def _above(path: str) -> list[str]:
    """The folders above a path, innermost first, without the root."""
    found = []
    while path := path.rpartition("/")[0]:
        found.append(path)
    return found


def environment_of(python: Interpreter, off_limits: Sequence[Path]) -> tuple[Path, ...]:
    """What has to be readable for this interpreter to run with all that is installed for it.

    A prefix that holds a folder which is ``off_limits`` (somebody's home, the checkout) is not shown as a whole, and
    what was put on the path out of one of these folders not at all: the export has it.
    """
    prefixes = dict.fromkeys(Path(os.path.realpath(place)) for place in python.prefixes if place)
    limits = [Path(os.path.realpath(place)) for place in off_limits]
    shown: list[Path] = [Path(os.path.realpath(python.path)).parent]
    for prefix in prefixes:
        if any(limit.is_relative_to(prefix) for limit in limits):
            shown += [prefix / name for name in _OF_AN_ENVIRONMENT]
        else:
            shown.append(prefix)
    for entry in python.search_path:
        place = Path(os.path.realpath(entry))
        if not any(place.is_relative_to(limit) or limit.is_relative_to(place) for limit in limits):
            shown.append(place)
    links = [Path(os.path.abspath(python.path)).parent]
    return tuple(place for place in (*shown, *_prefix_by_name(python), *links) if place != Path("/"))


def _prefix_by_name(python: Interpreter) -> list[Path]:
    """Prefixes as the interpreter calls them: a virtual environment may be reached through a link."""
    return [Path(place) for place in python.prefixes if place and os.path.realpath(place) != place]
