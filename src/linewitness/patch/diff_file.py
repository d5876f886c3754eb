"""A patch from a diff that somebody else made, beside the checkout that the diff leads to.

The diff is not believed either. Head's text is read from the checkout, and every line the diff adds or shows as
context must stand there; base's text is rebuilt by taking the diff back. Where the diff carries blob ids, both texts
must have them, which also finds hunks that are missing and diffs made with an option that ignores changes. Line
ends never decide: a checkout with converted ones fits a diff of the commit.
"""

from __future__ import annotations

import stat
from collections.abc import Iterable, Iterator
from os import PathLike

from linewitness.errors import PatchError
from linewitness.model import Blob, Commit, FileChange, FileText, Hunk, ObjectId, Patch, RepoPath
from linewitness.patch import hunks as line_hunks
from linewitness.patch.diff import Owes, never
from linewitness.patch.files import Folder
from linewitness.patch.identity import lines_of, split_lines
from linewitness.patch.objects import SUBMODULE, SYMLINK, blob_id
from linewitness.patch.unified import Section, parse, plain
from linewitness.values import NamedTuple

_AGAIN = "the diff does not match the tree. Make it again from this very tree: `git diff --unified=0 BASE...HEAD`"
_FORMAT = 0o170000
_REGULAR = 0o100000
_FULL = (40, 64)


class _Origin(NamedTuple):
    """The sections from which the two sides of a change come; the same one unless the file's type changed."""

    base: Section | None
    head: Section | None


class _Rebuilt(NamedTuple):
    """Base's text, and the pieces it was joined from: its lines, where no carriage return stands in it."""

    text: bytes
    lines: list[bytes]


class DiffPatch:
    """A unified diff and the tree it leads to, under ``root``. Implements :class:`linewitness.model.PatchSource`.

    The diff may be of ``git diff`` with any number of context lines and any prefixes, or of ``diff -u``. Commits and
    trees of the patch are empty, and so is the id of a base blob that the diff does not tell in full. A binary file,
    or one that git was told to treat so, counts as changed from its first line to its last. ``owes`` is as for
    :class:`linewitness.patch.diff.GitPatch`.

    Errors: :class:`PatchError` for anything that is not a complete diff, and when it does not fit the tree.
    """

    def __init__(self, diff: bytes, root: str | PathLike[str], owes: Owes = never) -> None:
        self._diff = plain(diff)
        self._folder = Folder(root)
        self._origins: dict[RepoPath, _Origin] = {}
        self._changes: dict[RepoPath, FileChange] = {}
        self._sections = tuple(parse(self._diff))
        self._kept = {section.new for section in self._sections}
        for section in self._sections:
            for change in self._of(section, owes):
                self._add(change, section)
        nowhere = Commit(None, ObjectId(""))
        self.patch = Patch(nowhere, nowhere, tuple(self._changes[path] for path in sorted(self._changes)))

    # ------------------------------------------------------------ which files

    def _of(self, section: Section, owes: Owes) -> Iterator[FileChange]:
        old, new = section.old, section.new
        head = self._head_blob(section, new) if new is not None else None
        base = self._base_blob(section, head) if old is not None else None
        if old is not None and not section.copied and old not in self._kept and self._folder.stat(old) is not None:
            raise PatchError(f"is gone according to the diff, but is in the tree: {_AGAIN}", path=old)
        if old is None or new is None or old == new or (section.moved and owes(old)):
            yield FileChange(new or old or RepoPath(""), old or new or RepoPath(""), base, head)
            return
        yield FileChange(new, new, None, head)
        if section.moved:
            yield FileChange(old, old, base, None)

    def _add(self, change: FileChange, section: Section) -> None:
        path = change.path
        origin = _Origin(section if change.base else None, section if change.head else None)
        before = self._changes.get(path)
        if before is not None:
            known = self._origins[path]
            if (before.base is None) == (change.base is None) or (before.head is None) == (change.head is None):
                raise PatchError("appears twice in the diff: make one diff from base to head", path=path)
            # git shows a file that became a link, or the reverse, as one deleted and one added
            origin = _Origin(origin.base or known.base, origin.head or known.head)
            change = FileChange(path, path, change.base or before.base, change.head or before.head)
        self._origins[path] = origin
        self._changes[path] = change

    @staticmethod
    def _base_blob(section: Section, head: Blob | None) -> Blob:
        mode = section.old_mode or (head.mode if head else 0o100644)
        if head and not section.groups and not section.binary and not section.old_id:
            return Blob(mode, head.oid)
        return Blob(mode, ObjectId(section.old_id if len(section.old_id) in _FULL else ""))

    def _head_blob(self, section: Section, path: RepoPath) -> Blob:
        mode = self._head_mode(section, path)
        if mode == SUBMODULE:
            return Blob(mode, ObjectId(self._submodule_line(section, path).split()[-1].decode("ascii", "replace")[:40]))
        content = self._head(section, path)
        return Blob(mode, _matching_id(content, section.new_id, path))

    def _head_mode(self, section: Section, path: RepoPath) -> int:
        if section.new_mode == SUBMODULE:
            return SUBMODULE
        found = self._folder.stat(path)
        if found is None:
            raise PatchError(f"is in the diff but not in the tree: {_AGAIN}", path=path)
        there = SYMLINK if stat.S_ISLNK(found.st_mode) else found.st_mode & _FORMAT
        if there != (section.new_mode or _REGULAR) & _FORMAT:
            raise PatchError(f"is another kind of file than the diff says: {_AGAIN}", path=path)
        if section.new_mode:
            return section.new_mode
        return 0o100755 if found.st_mode & stat.S_IXUSR else 0o100644

    # ------------------------------------------------------------ which lines

    def text(self, change: FileChange) -> FileText:
        """Both sides of one change and the lines in which they differ."""
        origin = self._origins[change.path]
        head = self._head(origin.head, change.path) if origin.head else None
        if origin.base and origin.head is origin.base and not origin.base.binary:
            base = self._base(origin.base, change.path, head or b"")
            return FileText(change, base.text, head, self._hunks(origin.base, change.path, base, head or b""))
        if origin.head and not origin.head.binary:
            before = self._base(origin.head, change.path, head or b"").text
            if before and origin.head.old is None:
                raise PatchError(f"is new in the diff, but the tree has more lines of it: {_AGAIN}", path=change.path)
        return self._whole(change, self._lone_base(origin.base, change.path), head)

    def _lone_base(self, section: Section | None, path: RepoPath) -> bytes | None:
        """Base's text when what became of it is no side of the same change."""
        if section is None:
            return None
        if section.binary:
            return b""
        source = self._head(section, section.new) if section.new is not None else b""
        return self._base(section, path, source).text

    @staticmethod
    def _whole(change: FileChange, base: bytes | None, head: bytes | None) -> FileText:
        lines = len(split_lines(base or b"")), len(split_lines(head or b""))
        return FileText(change, base, head, line_hunks.whole(*lines))

    def _head(self, section: Section, path: RepoPath) -> bytes:
        mode = self._head_mode(section, path)
        if mode == SUBMODULE:
            return self._submodule_line(section, path) + b"\n"
        return self._folder.link(path) if mode == SYMLINK else self._folder.read(path)

    def _submodule_line(self, section: Section, path: RepoPath) -> bytes:
        lines = [self._diff[row[5] + 1 : row[6] - 1] for row in _rows(section)]
        if len(lines) != 1 or not lines[0].startswith(b"Subproject commit "):
            raise PatchError("is a submodule whose commit the diff does not tell", path=path)
        return lines[0]

    def _base(self, section: Section, path: RepoPath, head: bytes) -> _Rebuilt:
        """Base's text: head with the hunks taken back, once every line they show has been found in head."""
        ended = not head or head.endswith(b"\n")
        lines = head.removesuffix(b"\n").split(b"\n") if b"\r" in head else list(lines_of(head))
        self._find_context(section, path, lines)
        diff, join = self._diff, b"\n+".join
        base: list[bytes] = []
        reached = 0
        for _, count, start, added, removed_at, added_at, end in _rows(section):
            before, reached = reached, start - 1 + added
            if added and join(lines[start - 1 : reached]) != diff[added_at + 1 : end - 1]:
                self._compare(path, lines, start, added, diff[added_at:end])
            base += lines[before : start - 1]
            if count:
                base += diff[removed_at + 1 : added_at - 1].split(b"\n-")
        # where base's last line is shown, or is not head's last, only a mark can say that it has no end
        ended = ended or reached >= len(lines)
        base += lines[reached:]
        text = b"\n".join(base)
        if base and ended and "-" not in section.unended:
            text += b"\n"
        if section.old_id and section.old_mode != SUBMODULE:
            _matching_id(text, section.old_id, path)
        return _Rebuilt(text, base)

    def _find_context(self, section: Section, path: RepoPath, lines: list[bytes]) -> None:
        values = iter(section.contexts)
        for start, count, begin, end in zip(values, values, values, values, strict=True):
            self._compare(path, lines, start, count, self._diff[begin:end])

    def _compare(self, path: RepoPath, lines: list[bytes], start: int, count: int, shown: bytes) -> None:
        """Whether lines of the diff, marks at their begin included, are head's; line ends aside."""
        there = lines[start - 1 : start - 1 + count]
        if not count or (shown[:1] + (b"\n" + shown[:1]).join(there)) == shown[:-1]:
            return
        for number, line in enumerate(shown[:-1].split(b"\n")):
            if number >= len(there) or there[number].removesuffix(b"\r") != line[1:].removesuffix(b"\r"):
                raise PatchError(f"is not the line that the diff shows here: {_AGAIN}", path=path, line=start + number)

    def _hunks(self, section: Section, path: RepoPath, base: _Rebuilt, head: bytes) -> tuple[Hunk, ...]:
        theirs = lines_of(head)
        groups = section.groups
        rows: Iterable[tuple[int, int, int, int]] = zip(*(groups[n::7] for n in range(4)), strict=True)
        if section.unended or b"\r" in base.text or b"\r" in head:
            # for the program that made the diff, a line and the same line with another end were two lines
            ours = lines_of(base.text)
            proved = line_hunks.prove(ours, theirs, line_hunks.refine(ours, theirs, _merged(rows)))
        else:
            proved = line_hunks.taken_back(base.lines, theirs, rows)
        if proved is None:
            raise PatchError(f"has hunks that do not lead to the tree: {_AGAIN}", path=path)
        return proved


def _rows(section: Section) -> Iterator[tuple[int, ...]]:
    values = iter(section.groups)
    return zip(*[values] * 7, strict=True)


def _merged(rows: Iterable[tuple[int, int, int, int]]) -> Iterator[Hunk]:
    """The changed lines without the seams that a mark for a missing line end leaves in the middle of a change."""
    last: Hunk | None = None
    for b, n, h, m in rows:
        if last and b == last.base_start + last.base_count and h == last.head_start + last.head_count:
            last = Hunk(last.base_start, last.base_count + n, last.head_start, last.head_count + m)
            continue
        if last:
            yield last
        last = Hunk(b, n, h, m)
    if last:
        yield last


def _matching_id(content: bytes, told: str, path: RepoPath) -> ObjectId:
    """The blob id of a text; when the diff tells one, in full or the beginning, it must be that of the text.

    Errors: :class:`PatchError`. A text with converted line ends may have the id of the text with git's.
    """
    own = blob_id(content)
    if not told.strip("0") or own.startswith(told):
        return own
    for text in (content, content.replace(b"\r\n", b"\n")):
        for algorithm in ("sha1", "sha256"):
            oid = blob_id(text, algorithm)
            if oid.startswith(told):
                return blob_id(content, algorithm)
    raise PatchError(f"is not the file with blob id {told} that the diff names: {_AGAIN}", path=path)
