"""A patch between two trees of a repository.

Which paths differ is read from ``git diff-tree --raw -z``, ids and modes only, or told from lists of both trees. Which
lines differ comes from one ``git diff-tree -p -U0`` over all files, because git's diff is several times faster than any
in Python; but nothing is believed: hunks are filed under the ids of the two blobs, never under a name, and each file's
hunks must lead from one blob to exactly the other. Where git prints none that do, our own diff decides.
"""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice
from typing import IO

from linewitness.errors import PatchError
from linewitness.model import Blob, Commit, FileChange, FileText, Hunk, ObjectId, Patch, RepoPath
from linewitness.patch import hunks as line_hunks
from linewitness.patch.identity import lines_of
from linewitness.patch.objects import is_submodule, repo_path
from linewitness.patch.repository import Repository
from linewitness.patterns import late

Owes = Callable[[RepoPath], bool]
"""Whether the lines of a path are subject to obligations. Only from such a path may a file be renamed for nothing."""

_RENAMES = ("--find-renames=50%", "-l1000")
_PATCH = (
    "--patch",
    "--unified=0",
    "--inter-hunk-context=0",
    "--diff-filter=MR",
    "--text",
    "--full-index",
    "--ignore-cr-at-eol",
    "--diff-algorithm=myers",
    "--indent-heuristic",
    "--ignore-submodules=all",
    "--no-ext-diff",
    "--no-textconv",
    "--no-color",
    "--no-relative",
    "--src-prefix=a/",
    "--dst-prefix=b/",
)
_HUNK = late(rb"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_INDEX = late(rb"index ([0-9a-f]{40,64})\.\.([0-9a-f]{40,64})(?: [0-7]+)?\n")

_Pair = tuple[ObjectId, ObjectId]


def never(_: RepoPath) -> bool:
    """No path owes: a renamed file is a new file."""
    return False


class GitPatch:
    """The difference between two trees, texts on demand. Implements :class:`linewitness.model.PatchSource`.

    ``owes`` tells for a deleted path whether a rename away from it is accepted (the rule of gate.md, section 3); then
    the deletion is no change of its own. ``listed`` are the files of both trees, where they were listed already.
    Nothing but numbers is kept between calls of :meth:`text`.
    Errors: :class:`PatchError` when an object is missing or damaged.
    """

    def __init__(
        self,
        repository: Repository,
        base: Commit,
        head: Commit,
        owes: Owes = never,
        listed: tuple[Mapping[RepoPath, Blob], Mapping[RepoPath, Blob]] | None = None,
    ) -> None:
        self._repository = repository
        self._trees = (base.tree, head.tree)
        changes = {change.path: change for change in (between(*listed) if listed else self._changes("--no-renames"))}
        gone = [path for path, change in changes.items() if change.head is None and owes(path)]
        self._renames = bool(gone) and self._accept_renames(changes, frozenset(gone))
        self.patch = Patch(base, head, tuple(changes[path] for path in sorted(changes)))

    def _accept_renames(self, changes: dict[RepoPath, FileChange], gone: frozenset[RepoPath]) -> bool:
        """Put renames away from the paths ``gone`` in the place of deletion and addition; whether there was one."""
        accepted = [
            change
            for change in self._changes(*_RENAMES)
            if change.base_path in gone and change.base_path != change.path and _both_regular(change)
        ]
        for change in accepted:
            del changes[change.base_path]
            changes[change.path] = change
        return bool(accepted)

    def _changes(self, *options: str) -> Iterator[FileChange]:
        raw = self._repository.run("diff-tree", "-r", "-z", "--raw", "--no-abbrev", *options, *self._trees)
        fields = iter(raw.split(b"\0")[:-1])
        for facts in fields:
            old_mode, new_mode, old, new, status = facts.removeprefix(b":").split(b" ")
            base_path = path = repo_path(next(fields))
            if status[:1] in b"RC":
                path = repo_path(next(fields))
            yield FileChange(path, base_path, _blob(old_mode, old), _blob(new_mode, new))

    def text(self, change: FileChange) -> FileText:
        """Both sides of one change and the lines in which they differ."""
        base, head = self._content(change.base), self._content(change.head)
        return FileText(change, base, head, self._hunks(change, lines_of(base or b""), lines_of(head or b"")))

    def _content(self, blob: Blob | None) -> bytes | None:
        if blob is None:
            return None
        if is_submodule(blob):
            return b"Subproject commit %s\n" % blob.oid.encode()
        return self._repository.read(blob.oid)

    def _hunks(self, change: FileChange, base: Sequence[bytes], head: Sequence[bytes]) -> tuple[Hunk, ...]:
        if change.base is None or change.head is None or change.base.mode >> 12 != change.head.mode >> 12:
            return line_hunks.whole(len(base), len(head))
        if base == head:
            return ()
        printed = self._printed.get((change.base.oid, change.head.oid)) if _both_regular(change) else None
        proved = line_hunks.prove(base, head, _quads(printed)) if printed else None
        if proved is None:
            proved = line_hunks.prove(base, head, line_hunks.line_diff(base, head))
        if not proved:
            raise PatchError("the lines that changed cannot be told; this is a bug of linewitness", path=change.path)
        return proved

    @cached_property
    def _printed(self) -> dict[_Pair, array[int]]:
        renames = _RENAMES if self._renames else ("--no-renames",)
        with self._repository.stream("diff-tree", "-r", *_PATCH, *renames, *self._trees) as printed:
            return _read_hunks(printed)


def between(base: Mapping[RepoPath, Blob], head: Mapping[RepoPath, Blob]) -> Iterator[FileChange]:
    """The files that differ between two lists, renames aside: what ``git diff-tree`` says of the trees."""
    for path, blob in head.items():
        before = base.get(path)
        if before != blob:
            yield FileChange(path, path, before, blob)
    for path, blob in base.items():
        if path not in head:
            yield FileChange(path, path, blob, None)


def _both_regular(change: FileChange) -> bool:
    return change.base is not None and change.head is not None and change.base.is_regular and change.head.is_regular


def _blob(mode: bytes, oid: bytes) -> Blob | None:
    return Blob(int(mode, 8), ObjectId(oid.decode())) if mode.strip(b"0") else None


def _read_hunks(printed: IO[bytes]) -> dict[_Pair, array[int]]:
    """Hunk headers as four numbers each, filed under the ids of the two blobs.

    Lines of a hunk are skipped by count. Without context lines each of them begins with ``-``, ``+`` or a backslash,
    and names in headers are quoted, so no content can be taken for a header.
    """
    found: dict[_Pair, array[int]] = {}
    numbers: array[int] = array("I")
    for line in printed:
        if line.startswith(b"@@"):
            match = _HUNK.match(line)
            if match is None:
                raise PatchError("git diff-tree printed a hunk that cannot be read")
            base_start, base_count, head_start, head_count = match.groups(b"1")
            quad = int(base_start), int(base_count), int(head_start), int(head_count)
            numbers.extend(quad)
            deque(islice(printed, quad[1] + quad[3]), maxlen=0)
        elif line.startswith(b"index ") and (match := _INDEX.fullmatch(line)):
            old, new = match.groups()
            numbers = found[ObjectId(old.decode()), ObjectId(new.decode())] = array("I")
    return found


def _quads(numbers: array[int]) -> Iterator[tuple[int, int, int, int]]:
    values = iter(numbers)
    for base_start, base_count, head_start, head_count in zip(values, values, values, values, strict=True):
        # git names the line before the gap when a side has no lines
        yield base_start + (not base_count), base_count, head_start + (not head_count), head_count
