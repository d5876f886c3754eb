"""Reading files below a folder, never through a symbolic link and never anything but an ordinary file."""

from __future__ import annotations

import os
import stat

from linewitness.errors import PatchError
from linewitness.model import RepoPath
from linewitness.patch.objects import LARGEST_BLOB, path_bytes

# O_NONBLOCK: opening what has become a FIFO in the meantime would wait for a writer. Windows knows none of these flags
_READ = os.O_RDONLY
for _flag in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY"):
    _READ |= getattr(os, _flag, 0)


class Folder:
    """A folder whose files are looked at by repository path. Which of its folders are real is remembered."""

    def __init__(self, root: str | os.PathLike[str]) -> None:
        self._root = os.fsencode(root)
        self._real: dict[bytes, bool] = {b"": True}

    def where(self, path: RepoPath) -> bytes:
        """The path on disk."""
        return self._root + b"/" + path_bytes(path).rstrip(b"/")

    def stat(self, path: RepoPath) -> os.stat_result | None:
        """What lies at the path itself, or ``None`` when nothing does or only behind a link to a folder."""
        if not self._is_real(os.path.dirname(path_bytes(path).rstrip(b"/"))):
            return None
        try:
            return os.lstat(self.where(path))
        except (FileNotFoundError, NotADirectoryError):
            return None
        except (OSError, ValueError) as error:
            raise PatchError(f"cannot be looked at: {error}", path=path) from None

    def _is_real(self, name: bytes) -> bool:
        # what lies behind a link to a folder is not a file of this tree, and git takes it for deleted
        real, folder = True, b""
        for part in name.split(b"/"):
            folder = folder + b"/" + part if folder else part
            if real and folder not in self._real:
                self._real[folder] = not os.path.islink(self._root + b"/" + folder)
            real = real and self._real[folder]
        return real

    def link(self, path: RepoPath) -> bytes:
        """The target of a symbolic link. Errors: :class:`PatchError`."""
        try:
            return os.readlink(self.where(path))
        except OSError as error:
            raise PatchError(f"cannot be read: {error.strerror}", path=path) from None

    def read(self, path: RepoPath) -> bytes:
        """The bytes of an ordinary file. Errors: :class:`PatchError`, also when it is too large."""
        try:
            opened = os.open(self.where(path), _READ)
            with open(opened, "rb") as file:
                found = os.fstat(opened)
                if not stat.S_ISREG(found.st_mode):
                    raise PatchError("is not an ordinary file", path=path)
                if found.st_size > LARGEST_BLOB:
                    raise PatchError(f"has {found.st_size} bytes; more than {LARGEST_BLOB} are not read", path=path)
                return file.read()
        except OSError as error:
            raise PatchError(f"cannot be read: {error.strerror}", path=path) from None
