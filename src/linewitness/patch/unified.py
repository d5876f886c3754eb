"""Unified diffs as text: which files, which lines, and where in the diff their bytes lie.

Bodies of hunks are walked by the counts of their headers, so that content which looks like a header is content. Runs
of lines are measured by regular expressions and ``bytes.count``, never line by line. What is not understood is an
error with the line of the diff; nothing is skipped. Formats: git-diff(1), "Generating patch text with -p", and the
unified format of GNU diff.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import accumulate, chain
from operator import add, not_, or_, sub

from linewitness.errors import PatchError
from linewitness.model import RepoPath
from linewitness.patch.names import header_name, lone_name, printed_name, refuse_unsafe, shared_name, unquoted
from linewitness.patch.objects import blob_id, repo_path

LARGEST_DIFF = 1 << 30
"""Bytes of the largest diff that is read."""

_LONGEST_HEADER = 1 << 16

_SAME = rb"((?:(?: [^\n]*+)?\n)*+)"
_CHANGED = rb"((?:-[^\n]*+\n)*+)((?:\+[^\n]*+\n)*+)"
_HEADER = rb"@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@[^\n]*+\n"
_HUNK = re.compile(_HEADER + _SAME + _CHANGED + _SAME)
_BODY = re.compile(_SAME + _CHANGED)
_BARE = re.compile(b"(" + _HEADER + b")" + _CHANGED)
_LARGEST_BARE = 1 << 20
_EPOCH = re.compile(rb"\t(?:1969-12-31|1970-01-01) \d\d:\d\d:\d\d")
_EXTENDED = re.compile(
    rb"(old mode|new mode|deleted file mode|new file mode|copy from|copy to|rename from|rename to"
    rb"|similarity index|dissimilarity index|index) (.*)"
)
_INDEX = re.compile(rb"([0-9a-f]{4,64})\.\.([0-9a-f]{4,64})(?: ([0-7]{6}))?")
_MODE = re.compile(rb"[0-7]{6}")
_EMPTY = tuple(blob_id(b"", algorithm) for algorithm in ("sha1", "sha256"))

_HINTS = {
    b"\xff\xfe": "it is UTF-16, as PowerShell's `>` writes: use `git diff --output=FILE`",
    b"\xfe\xff": "it is UTF-16: write the bytes that git prints",
    b"\xef\xbb\xbf": "it begins with a byte order mark: write the bytes that git prints",
    b"\x1b[": "it is coloured: use `git diff --no-color`",
    b"diff --cc ": "it is a combined diff of a merge, which hides lines: use `git diff BASE...HEAD`",
    b"diff --combined ": "it is a combined diff of a merge, which hides lines: use `git diff BASE...HEAD`",
    b"@@@ ": "it is a combined diff of a merge, which hides lines: use `git diff BASE...HEAD`",
    b"commit ": "a commit message stands before the diff: use `git diff BASE...HEAD`, not `git show` or `git log`",
    b"From ": "it is a mail: use `git diff BASE...HEAD`, not `git format-patch`",
    b"Submodule ": "the submodule is shown as a log: use `git diff --submodule=short`",
    b"* Unmerged path ": "a merge is unfinished: resolve it first",
    b"Only in ": "files that exist on one side only are left out: use `git diff`, or `diff -N`",
    b"Binary files ": "`diff` does not show what changed: use `git diff`",
    b"Index: ": "it is not a diff of git: use `git diff BASE...HEAD`",
}


@dataclass(slots=True)
class Section:
    """What a diff says of one file.

    ``old`` and ``new`` are ``None`` where the file is absent; modes are ``None`` and ids empty where the diff is
    silent. ``groups`` holds seven numbers for each run of changed lines: base start and count, head start and count
    (as in :class:`linewitness.model.Hunk`), and the offsets in the diff where removed lines begin, where they end and
    added ones begin, and where those end. ``contexts`` holds four for each run of unchanged lines: head start, count,
    and the offsets of its begin and end. ``unended`` names the sides (``-``, ``+``) whose last line has no line end.
    """

    at: int
    old: RepoPath | None = None
    new: RepoPath | None = None
    old_mode: int | None = None
    new_mode: int | None = None
    old_id: str = ""
    new_id: str = ""
    moved: bool = False
    copied: bool = False
    binary: bool = False
    unended: frozenset[str] = frozenset()
    groups: array[int] = field(default_factory=lambda: array("I"))
    contexts: array[int] = field(default_factory=lambda: array("I"))


def plain(diff: bytes) -> bytes:
    """The diff with the line ends that git writes. Errors: :class:`PatchError` for what cannot be a diff at all.

    A diff whose very headers end in CR LF was converted as a whole, and is converted back.
    """
    if len(diff) > LARGEST_DIFF:
        raise PatchError(f"the diff has {len(diff)} bytes; more than {LARGEST_DIFF} are not read")
    if diff and not diff.endswith(b"\n"):
        _refuse_known(diff, 1)
        raise PatchError("the diff ends in the middle of a line: it was cut off")
    if not diff.partition(b"\n")[0].endswith(b"\r"):
        return diff
    if diff.count(b"\r\n") != diff.count(b"\n"):
        raise PatchError("some lines of the diff end in CR LF and some do not: write the bytes that git prints")
    return diff.replace(b"\r\n", b"\n")


def parse(diff: bytes) -> Iterator[Section]:
    """The files of a diff (:func:`plain` comes first), in its order. Errors: :class:`PatchError`, with the line."""
    reader = _Reader(diff)
    while not reader.ended:
        yield _section(reader)


class _Reader:
    """A place in the diff."""

    def __init__(self, diff: bytes) -> None:
        self.diff = diff
        self.position = 0
        self._counted = (0, 1)

    @property
    def ended(self) -> bool:
        return self.position >= len(self.diff)

    @property
    def line_number(self) -> int:
        offset, line = self._counted
        self._counted = (self.position, line + self.diff.count(b"\n", offset, self.position))
        return self._counted[1]

    def starts(self, text: bytes) -> bool:
        return self.diff.startswith(text, self.position)

    def take(self) -> bytes:
        end = self.diff.find(b"\n", self.position)
        line = self.diff[self.position : end]
        if len(line) > _LONGEST_HEADER:
            raise self.fail("the line is too long for a header")
        self.position = end + 1
        return line

    def fail(self, message: str) -> PatchError:
        return PatchError(f"line {self.line_number} of the diff: {message}")


def _section(reader: _Reader) -> Section:
    section = Section(reader.line_number)
    if reader.starts(b"diff --git "):
        _git_section(reader, section)
    else:
        _plain_section(reader, section)
    if section.old is None and section.new is None:
        raise reader.fail("the file exists on neither side")
    for path in (section.old, section.new):
        if path is not None:
            refuse_unsafe(path)
    return section


# ---------------------------------------------------------------- headers


def _git_section(reader: _Reader, section: Section) -> None:
    pair = reader.take().removeprefix(b"diff --git ")
    facts = _extended_headers(reader)
    printed: tuple[bytes | None, bytes | None] = (None, None)
    if reader.starts(b"--- "):
        printed = _printed_names(reader)
        _hunks(reader, section, is_git=True)
    elif reader.starts(b"Binary files "):
        section.binary = reader.take().endswith(b" differ")
    elif reader.starts(b"GIT binary patch\n"):
        _skip_binary_patch(reader)
        section.binary = True
    _take_facts(reader, section, facts)
    _name(reader, section, facts, _names(reader, pair, facts, printed))
    if not (section.groups or section.binary or _may_be_silent(section)):
        raise reader.fail("the file changed but its lines are not shown: the diff was cut off or made with a filter")


def _may_be_silent(section: Section) -> bool:
    """Whether nothing but headers can be the whole truth: for modes, names and empty files."""
    for path, oid in ((section.old, section.new_id), (section.new, section.old_id)):
        if path is None:
            return any(empty.startswith(oid) for empty in _EMPTY)
    if section.old_id != section.new_id:
        return False
    return section.moved or section.copied or section.old_mode != section.new_mode


def _extended_headers(reader: _Reader) -> dict[bytes, bytes]:
    facts: dict[bytes, bytes] = {}
    while not reader.ended and (match := _EXTENDED.match(reader.diff, reader.position)):
        reader.take()
        facts[match.group(1)] = match.group(2)
    return facts


def _printed_names(reader: _Reader) -> tuple[bytes | None, bytes | None]:
    """The names after ``---`` and ``+++``, ``None`` for ``/dev/null``."""
    old = reader.take()[4:]
    if not reader.starts(b"+++ "):
        raise reader.fail("`+++` is expected after `---`")
    new = reader.take()[4:]
    names = [None if name == b"/dev/null" else printed_name(name) for name in (old, new)]
    return names[0], names[1]


def _take_facts(reader: _Reader, section: Section, facts: dict[bytes, bytes]) -> None:
    index = _INDEX.fullmatch(facts.get(b"index", b""))
    if index:
        section.old_id, section.new_id = index.group(1).decode(), index.group(2).decode()
        if index.group(3):
            section.old_mode = section.new_mode = int(index.group(3), 8)
    elif b"index" in facts:
        raise reader.fail("the `index` line before it cannot be read")
    for key, side in _MODES.items():
        if key in facts:
            if not _MODE.fullmatch(facts[key]):
                raise reader.fail(f"the `{key.decode()}` line before it cannot be read")
            setattr(section, side, int(facts[key], 8))
    section.moved = b"rename from" in facts
    section.copied = b"copy from" in facts


_MODES = {
    b"old mode": "old_mode",
    b"new mode": "new_mode",
    b"deleted file mode": "old_mode",
    b"new file mode": "new_mode",
}


def _names(
    reader: _Reader, pair: bytes, facts: dict[bytes, bytes], printed: tuple[bytes | None, bytes | None]
) -> tuple[bytes, bytes]:
    for verb in (b"rename", b"copy"):
        if verb + b" from" in facts:
            return unquoted(facts[verb + b" from"]), unquoted(facts.get(verb + b" to", b""))
    old, new = printed
    name = shared_name(old, new) if old is not None and new is not None else header_name(pair, old, new)
    if name is None:
        raise reader.fail(f"the file's name cannot be told from `{pair.decode('utf-8', 'replace')}`")
    return name, name


def _name(reader: _Reader, section: Section, facts: dict[bytes, bytes], names: tuple[bytes, bytes]) -> None:
    created, deleted = b"new file mode" in facts, b"deleted file mode" in facts
    if created and deleted:
        raise reader.fail("a file cannot be new and deleted at once")
    section.old = None if created else repo_path(names[0])
    section.new = None if deleted else repo_path(names[1])


def _plain_section(reader: _Reader, section: Section) -> None:
    """A section without git's headers, as ``diff -u`` and ``diff -ru`` write them."""
    _refuse_known(reader.diff[reader.position : reader.position + 32], reader.line_number)
    if reader.starts(b"diff "):
        reader.take()
        _refuse_known(reader.diff[reader.position : reader.position + 32], reader.line_number)
    if not reader.starts(b"--- "):
        raise reader.fail("this is no diff. Make one with `git diff BASE...HEAD`")
    headers = reader.diff[reader.position : reader.position + 2 * _LONGEST_HEADER].split(b"\n", 2)[:2]
    old, new = _printed_names(reader)
    _hunks(reader, section)
    name = shared_name(old, new) or new if old and new else lone_name(old, 0) if old else lone_name(new or b"", 1)
    if not name:
        raise reader.fail("the file has no name")
    section.old = None if old is None or _is_absent(headers[0], section, 0) else repo_path(name)
    section.new = None if new is None or _is_absent(headers[1], section, 2) else repo_path(name)


def _is_absent(header: bytes, section: Section, side: int) -> bool:
    """Whether ``diff -N`` says, by a date long ago, that one side has no such file: then it has no line there."""
    lines = section.groups[side + 1 :: 7]
    return bool(_EPOCH.search(header)) and not any(lines) and not section.contexts


def _refuse_known(text: bytes, line: int) -> None:
    for start, hint in _HINTS.items():
        if text.startswith(start):
            raise PatchError(f"line {line} of the diff: {hint}")


def _skip_binary_patch(reader: _Reader) -> None:
    reader.take()
    while reader.starts(b"literal ") or reader.starts(b"delta "):
        while not reader.ended and reader.take():
            pass


# ---------------------------------------------------------------- hunks


def _hunks(reader: _Reader, section: Section, *, is_git: bool = False) -> None:
    walk = _Walk(reader, section)
    if not (is_git and walk.bare_hunks()):
        walk.hunks()
    if reader.starts(b"@@"):
        _refuse_known(reader.diff[reader.position : reader.position + 32], reader.line_number)
        raise reader.fail("the hunk's header cannot be read")
    if not section.groups and not section.contexts:
        raise reader.fail("a hunk (`@@ -1 +1 @@`) is expected")
    section.unended = frozenset(walk.unended)


def _columns(diff: bytes, start: int, end: int) -> tuple[list[int], ...] | None:
    """The seven columns of :attr:`Section.groups`, when hunks without context fill a stretch of the diff, or ``None``.

    They are most of what is read, so no step here is one of Python for each. What is odd about a hunk is left to the
    walk, which can say it.
    """
    headers, old, old_counts, new, new_counts, removed, added = zip(*_BARE.findall(diff, start, end), strict=True)
    lengths = map(len, chain.from_iterable(zip(headers, removed, added, strict=True)))
    offsets = list(accumulate(lengths, initial=start))
    n, m = [[int(count or 1) for count in counts] for counts in (old_counts, new_counts)]
    told = [text.count(b"\n") for text in removed], [text.count(b"\n") for text in added]
    if offsets[-1] != end or (n, m) != told or not all(map(or_, n, m)):
        return None
    # a side without lines names the line before the gap
    b, h = list(map(add, map(int, old), map(not_, n))), list(map(add, map(int, new), map(not_, m)))
    gaps = list(map(sub, b, chain((1,), map(add, b, n))))
    if min(gaps) < 0 or gaps != list(map(sub, h, chain((1,), map(add, h, m)))):
        return None
    return b, n, h, m, offsets[1::3], offsets[2::3], offsets[3::3]


class _Walk:
    """The hunks of one file."""

    def __init__(self, reader: _Reader, section: Section) -> None:
        self._reader = reader
        self._diff = reader.diff
        self._groups = section.groups
        self._contexts = section.contexts
        self.unended: set[str] = set()

    def bare_hunks(self) -> bool:
        """Take all hunks up to git's next file at once, when none of them has context; false when one is different."""
        diff, start = self._diff, self._reader.position
        end = diff.find(b"\ndiff --git ", start) + 1 or len(diff)
        first = _BARE.match(diff, start, end)
        if first is None or end - start > _LARGEST_BARE or diff[first.end() : min(first.end() + 1, end)] not in b"@":
            return False
        columns = _columns(diff, start, end)
        if columns is None:
            return False
        self._groups.extend(chain.from_iterable(zip(*columns, strict=True)))
        self._reader.position = end
        return True

    def hunks(self) -> None:
        """Take the hunks one by one, as far as there are any. Errors: :class:`PatchError`, with the line."""
        reader, diff, extend = self._reader, self._diff, self._groups.extend
        next_b = next_h = 1
        while match := _HUNK.match(diff, reader.position):
            base, base_count, head, head_count, before, removed, added, after = match.groups(b"1")
            n, m = int(base_count), int(head_count)
            # a side without lines names the line before the gap
            b, h = int(base) + (not n), int(head) + (not m)
            if not (n or m) or b < next_b or b - next_b != h - next_h:
                raise reader.fail("the hunk is empty, or overlaps the one before it, or their numbers do not agree")
            next_b, next_h = b + n, h + m
            start = match.start(6)
            middle = start + len(removed)
            end = middle + len(added)
            plain = not before and not after and diff[end : end + 1] != b"\\"
            if plain and removed.count(b"\n") == n and added.count(b"\n") == m:
                # hunks without context are most of what is read, and each call less is felt
                extend((b, n, h, m, start, middle, end))
                reader.position = end
            elif not self._take_framed(match, (b, n, h, m)):
                reader.position = match.start(5)
                self._body(b, n, h, m)

    def _take_framed(self, match: re.Match[bytes], hunk: tuple[int, int, int, int]) -> bool:
        """Take a hunk of unchanged, removed, added, unchanged lines, if they are as many as its header says."""
        b, n, h, m = hunk
        before, removed, added, after = [run.count(b"\n") for run in match.groups()[4:]]
        end = match.end()
        if before + removed + after != n or before + added + after != m or self._diff[end : end + 1] == b"\\":
            return False
        if removed or added:
            self._groups.extend((b + before, removed, h + before, added, match.end(5), match.end(6), match.end(7)))
        if before:
            self._contexts.extend((h, before, match.start(5), match.end(5)))
        if after:
            self._contexts.extend((h + before + added, after, match.end(7), end))
        self._reader.position = end
        return True

    def _body(self, b: int, n: int, h: int, m: int) -> None:
        """Walk ``n`` lines of base from ``b`` and ``m`` lines of head from ``h``, run by run."""
        reader, diff = self._reader, self._diff
        count = diff.count
        while n or m:
            start = reader.position
            (_, end), (_, unchanged), (_, taken), _ = _BODY.match(diff, start).regs  # type: ignore[union-attr]
            context = count(b"\n", start, unchanged) if unchanged > start else 0
            removed = count(b"\n", unchanged, taken)
            added = count(b"\n", taken, end)
            if context + removed > n or context + added > m or start == end:
                context, removed, added, unchanged, taken, end = self._cut(n, m)
            if context:
                self._contexts.extend((h, context, start, unchanged))
                b, h, n, m = b + context, h + context, n - context, m - context
            if removed or added:
                self._groups.extend((b, removed, h, added, unchanged, taken, end))
                b, h, n, m = b + removed, h + added, n - removed, m - added
            reader.position = end
            if diff.startswith(b"\\", end):
                self._no_line_end("+" if added else "-" if removed else "-+", n, m)

    def _cut(self, n: int, m: int) -> tuple[int, int, int, int, int, int]:
        """The next runs line by line, for when the lines after the hunk look like its own (``--- a/next``)."""
        counts, ends = [], []
        at = self._reader.position
        for marks, in_base, in_head in ((b" \n", 1, 1), (b"-", 1, 0), (b"+", 0, 1)):
            lines = 0
            while n >= in_base and m >= in_head and at < len(self._diff) and self._diff[at] in marks:
                at = self._diff.index(b"\n", at) + 1
                n, m, lines = n - in_base, m - in_head, lines + 1
            counts.append(lines)
            ends.append(at)
        if not any(counts):
            raise self._reader.fail("the hunk has fewer lines than its header says")
        return counts[0], counts[1], counts[2], ends[0], ends[1], ends[2]

    def _no_line_end(self, sides: str, n: int, m: int) -> None:
        if ("-" in sides and n) or ("+" in sides and m) or self.unended.intersection(sides):
            raise self._reader.fail("only the last line of a file can lack its line end")
        self._reader.take()
        self.unended.update(sides)
