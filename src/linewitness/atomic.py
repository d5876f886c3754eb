"""Files that appear whole or not at all.

A map or a waiver file that was cut off half way must never be read as the real one, so a file is written beside
its final place, flushed to the disk and moved there in one step (rename(2) is atomic within a file system).
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterable

from linewitness.errors import UsageError

_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


def write_bytes(path: str | os.PathLike[str], data: bytes | Iterable[bytes]) -> None:
    """Put ``data`` (bytes, or chunks that are produced while writing) at ``path``.

    A regular file that is there keeps its permission bits. A symbolic link is replaced by the file and never
    followed, so that a link in somebody's patch cannot direct a report elsewhere. Devices and pipes
    (``/dev/stdout``, a FIFO) cannot be replaced; they are written plainly. When anything fails, also while the
    chunks are produced, the old file is untouched and nothing is left behind.

    Errors: :class:`linewitness.errors.UsageError` naming the path when the system refuses.
    """
    target = os.fspath(path)
    if "\0" in target:
        raise UsageError("cannot be written: a file name has no NUL character", path=target)
    chunks: Iterable[bytes] = (data,) if isinstance(data, bytes) else data
    try:
        if _is_stream(target):
            with open(target, "wb") as stream:
                stream.writelines(chunks)
        else:
            _replace(target, chunks)
    except OSError as error:
        raise _refusal(target, error) from error


def _is_stream(target: str) -> bool:
    """Whether the place is a device or a pipe.

    Names below /dev and /proc always are: redirected to a file, ``/dev/stdout`` looks like that file, and must
    still not be replaced.
    """
    folder = os.path.realpath(os.path.dirname(os.path.abspath(target)))
    # POSIX lets two slashes at the start mean something else, so Python keeps them; here they mean one.
    if f"/{folder.lstrip('/')}/".startswith(("/dev/", "/proc/")):
        return True
    try:
        mode = os.stat(target).st_mode
    except OSError:
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISCHR(mode)


def _replace(target: str, chunks: Iterable[bytes]) -> None:
    mode = _present_mode(target)
    # A name of fixed length: the target's own name may already be as long as the file system allows.
    temporary = os.path.join(os.path.dirname(target), f".linewitness-{os.urandom(8).hex()}.tmp")
    descriptor = os.open(temporary, _CREATE, 0o666)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.writelines(chunks)
            stream.flush()
            os.fsync(stream.fileno())
        if mode is not None:
            os.chmod(temporary, mode)
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def _present_mode(target: str) -> int | None:
    """Permission bits of the regular file at ``target``, or ``None`` when none is there."""
    if not os.path.basename(target) or os.path.isdir(target):
        raise UsageError("is a directory, a file name was expected", path=target)
    try:
        mode = os.lstat(target).st_mode
    except FileNotFoundError:
        return None
    if stat.S_ISLNK(mode):
        return None
    if not stat.S_ISREG(mode):
        raise UsageError("is neither a file nor a pipe; it was left alone", path=target)
    return mode & 0o777


def _refusal(target: str, error: OSError) -> UsageError:
    folder = os.path.dirname(target) or "."
    if isinstance(error, FileNotFoundError) and not os.path.isdir(folder):
        return UsageError(f"cannot be written: there is no folder {folder}", path=target)
    return UsageError(f"cannot be written: {error.strerror or error}", path=target)
