r"""Names of files as git and diff print them, and which of them are names of files at all."""

from __future__ import annotations

import re
from collections.abc import Iterator

from linewitness.errors import PatchError
from linewitness.model import RepoPath
from linewitness.patterns import late

# what HFS+ leaves out when it compares names: git's utf8.c, next_hfs_char
_INVISIBLE = "[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]"

_PREFIXES = ((b"a/", b"b/"), (b"i/", b"w/"), (b"c/", b"i/"), (b"c/", b"w/"), (b"o/", b"w/"), (b"1/", b"2/"))
"""What git puts before the names: by default, and with ``diff.mnemonicPrefix`` (index, commit, object, work tree)."""

_MOST_SPLITS = 64

DEEPEST_PATH = 200
"""Folders above a file, at most; what operating systems allow is about ten times as much."""

_QUOTED = late(rb'"(?:[^"\\]|\\.)*"')
_ESCAPE = late(rb"\\([0-7]{3}|.)")
_ESCAPED = {b"a": b"\a", b"b": b"\b", b"f": b"\f", b"n": b"\n", b"r": b"\r", b"t": b"\t", b"v": b"\v"}


def refuse_unsafe(path: RepoPath) -> None:
    """Refuse a path that could name something outside of a tree, or git's own folder on any file system.

    Errors: :class:`PatchError`. The list of disguises of ``.git`` is git's own (path.c ``is_ntfs_dotgit``, utf8.c
    ``is_hfs_dotgit``).
    """
    if path.count("/") > DEEPEST_PATH:
        raise PatchError(f"lies more than {DEEPEST_PATH} folders deep", path=path[:100] + "...")
    for part in path.split("/"):
        if part in ("", ".", "..") or "\0" in part:
            raise PatchError(f"{path!r} is not a path inside of the repository")
        shown = part if part.isascii() else re.sub(_INVISIBLE, "", part)
        seen = shown.partition(":")[0].rstrip(" .").lower()
        if seen in (".git", "git~1"):
            raise PatchError(f"{path!r} would write into git's own folder")


def printed_name(text: bytes) -> bytes:
    """The name in what follows ``--- `` or ``+++ ``: C-quoted, or up to a tab (after which a date may stand)."""
    quoted = _QUOTED.match(text)
    return unquoted(quoted.group()) if quoted else text.partition(b"\t")[0]


def unquoted(name: bytes) -> bytes:
    """A name without the quotation that git gives to unusual ones (git-config(1), core.quotePath)."""
    if not (len(name) > 1 and name.startswith(b'"') and name.endswith(b'"')):
        return name
    return _ESCAPE.sub(_unescape, name[1:-1])


def _unescape(match: re.Match[bytes]) -> bytes:
    code = match.group(1)
    return bytes([int(code, 8) & 0xFF]) if len(code) == 3 else _ESCAPED.get(code, code)


def shared_name(old: bytes, new: bytes) -> bytes | None:
    """The name that two printed ones stand for, of a file that was not renamed.

    That is what is left without the usual prefixes, the printed name itself when both are equal, else what follows
    the first slash that both share from the end. ``None`` when there is nothing of the kind.
    """
    if old == new:
        return old
    for pair in _PREFIXES:
        for ours, theirs in (pair, pair[::-1]):
            if old.startswith(ours) and new.startswith(theirs) and old[len(ours) :] == new[len(theirs) :]:
                return old[len(ours) :]
    length = 0
    while length < min(len(old), len(new)) and old[-1 - length] == new[-1 - length]:
        length += 1
    _, slash, name = old[len(old) - length :].partition(b"/")
    return name if slash and name else None


def lone_name(printed: bytes, prefixes: int) -> bytes:
    """The name when the other side is ``/dev/null``; ``prefixes`` is 0 for the old side and 1 for the new one."""
    known = {pair[prefixes] for pair in _PREFIXES}
    return printed[2:] if printed[:2] in known else printed


def header_name(pair: bytes, old: bytes | None = None, new: bytes | None = None) -> bytes | None:
    """The one name in what follows ``diff --git ``, for a file that was not renamed.

    ``old`` and ``new`` are the printed names where the section tells them. ``None`` when it cannot be told apart.
    """
    names = set()
    for left, right in _splits(pair):
        if (old is None or left == old) and (new is None or right == new) and (name := shared_name(left, right)):
            if len(left) == len(right):
                return name
            names.add(name)
    return names.pop() if len(names) == 1 else None


def _splits(pair: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Where the line may be cut in two, the middle first: without spaces of its own a name can be nothing else."""
    first = _QUOTED.match(pair)
    if first:
        yield unquoted(first.group()), unquoted(pair[first.end() + 1 :])
        return
    middle = len(pair) // 2
    spaces = [space.start() for space in re.finditer(b" ", pair)]
    if middle in spaces:
        spaces.remove(middle)
        spaces.insert(0, middle)
    for space in spaces[:_MOST_SPLITS]:
        yield pair[:space], unquoted(pair[space + 1 :])
