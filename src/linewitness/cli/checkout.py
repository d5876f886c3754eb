"""The checked-out files, as the commands that help people edit protected content see them.

These commands judge nothing. They read the settings of the work tree, where the gate reads base's.
"""

from __future__ import annotations

import argparse
import os
import stat
from pathlib import Path

from linewitness import settings
from linewitness.errors import PatchError, UsageError
from linewitness.model import Blob, Finding, ObjectId, RepoPath, Waiver
from linewitness.patch.objects import blob_id
from linewitness.settings import Settings
from linewitness.trust.matching import Head
from linewitness.values import NamedTuple


class Checkout(NamedTuple):
    """A folder with files and the settings that lie in it. ``algorithm`` is the repository's object format."""

    root: Path
    settings: Settings
    algorithm: str

    def read(self, path: str) -> bytes | None:
        """The bytes of a regular file at a path from the root, or ``None``. Errors: :class:`UsageError`."""
        place = self.root / path
        return _read(place) if place.is_file() and not place.is_symlink() else None

    def editable(self, path: str) -> bytes | None:
        """The bytes of a file that is about to be changed, ``None`` when there is none.

        Errors: :class:`UsageError` for anything but a regular file: the gate would not accept a link here either.
        """
        if os.path.lexists(self.root / path) and self.read(path) is None:
            raise UsageError("is not a regular file, so it is not touched", path=path)
        return self.read(path)

    def entry(self, path: str) -> tuple[Blob, bytes] | None:
        """The file or symbolic link at a path from the root as git would store it, or ``None``."""
        place = self.root / path
        try:
            mode = place.lstat().st_mode
        except OSError:
            return None
        if stat.S_ISLNK(mode):
            data, mode = os.fsencode(os.readlink(place)), 0o120000
        elif stat.S_ISREG(mode):
            data, mode = _read(place), 0o100755 if mode & stat.S_IXUSR else 0o100644
        else:
            return None
        return Blob(mode, ObjectId(blob_id(data, self.algorithm))), data

    def head(self, waivers: tuple[Waiver, ...]) -> Head:
        """The files that these waivers name."""
        entries = {waiver.path: self.entry(waiver.path) for waiver in waivers}
        tree = {path: entry[0] for path, entry in entries.items() if entry}
        store = {entry[0]: entry[1] for entry in entries.values() if entry}
        return Head(tree, lambda blob: store[blob])

    def path(self, name: str) -> RepoPath:
        """The path from the root of a file that a person named, from the root or from where they stand.

        Errors: :class:`UsageError` when it lies outside.
        """
        from_root, from_here = os.path.normpath(self.root / name), os.path.abspath(name)
        place = from_root if os.path.lexists(from_root) or not os.path.lexists(from_here) else from_here
        relative = os.path.relpath(place, self.root)
        if relative == os.curdir or relative.split(os.sep)[0] == os.pardir:
            raise UsageError(f"lies outside of {self.root}", path=name)
        return RepoPath(relative.replace(os.sep, "/"))


def add_root_option(parser: argparse.ArgumentParser) -> None:
    """Add where the checkout is."""
    parser.add_argument("--root", metavar="DIR", type=Path, default=Path(), help="a folder of the checkout")


def open_checkout(folder: Path) -> Checkout:
    """The checkout around ``folder``; where there is no git repository, the folder itself.

    Errors: :class:`UsageError` for a missing folder and for settings that cannot be read.
    """
    from linewitness.patch.repository import Repository

    if not folder.is_dir():
        raise UsageError("there is no such folder", path=str(folder))
    try:
        with Repository(folder) as repository:
            root, algorithm = repository.root, repository.algorithm
    except PatchError:
        root, algorithm = folder.absolute(), "sha1"
    bare = Checkout(root, Settings(), algorithm)
    return bare._replace(settings=settings.load(bare.read).settings)


def finding_line(finding: Finding) -> str:
    """One finding as a line of text, in the form that editors and terminals recognise as a place."""
    place = f"{finding.path}:{finding.line}" if finding.line else finding.path
    return f"{place}: {finding.severity}: {finding.message} [{finding.code}]\n"


def _read(place: Path) -> bytes:
    try:
        return place.read_bytes()
    except OSError as error:
        raise UsageError(f"cannot be read: {error.strerror or error}", path=str(place)) from error
