"""Go's coverage profile: ``mode:`` and then one block of code in each line (golang.org/x/tools/cover).

``file:line.col,line.col statements count``; columns are 1-based bytes, the end is exclusive. A block is counted when it
is entered. Neighbouring blocks share lines, so that only columns tell which code ran. Blocks are repeated, once per
test binary, and profiles are often concatenated, mode lines and all.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Collection
from typing import Final

from linewitness.evidence.formats.facts import MAX_COUNT, MAX_LINE, FileFacts, Grain, WithoutContexts, broken
from linewitness.evidence.formats.regions import Regions, Scope, flat
from linewitness.evidence.formats.source import ExportFile
from linewitness.model import Pos, Span

_MODES: Final = frozenset({b"set", b"count", b"atomic"})
_BLOCK: Final = re.compile(rb"(\d{1,9})\.(\d{1,9}),(\d{1,9})\.(\d{1,9}) (\d{1,18}) (\d{1,24})\r?")
_BOM: Final = b"\xef\xbb\xbf"
_MAX_LINE_BYTES: Final = 1 << 14


class Profile(WithoutContexts):
    """An opened profile: where the blocks of each file are."""

    def __init__(self, export: ExportFile) -> None:
        self._export = export
        self._places = _index(export)

    @property
    def names(self) -> Collection[str]:
        """The import path of every file, as written."""
        return self._places.keys()

    def facts(self, name: str) -> FileFacts:
        """The blocks of one file. Errors: ``EvidenceError`` for a block that is none."""
        stretches = self._places[name]
        head = name.encode("utf-8", "surrogateescape") + b":"
        blocks: dict[Span, int] = {}
        for start, end in zip(stretches[::2], stretches[1::2], strict=True):
            self._read(start, end, head, blocks)
        # no counts by line: neighbouring blocks share lines, on which one of them has nothing but a brace
        return FileFacts(Grain.STATEMENTS, {}, regions=Regions(flat(blocks.items()), Scope.BLOCKS))

    def _read(self, start: int, end: int, head: bytes, blocks: dict[Span, int]) -> None:
        at = start
        for line in self._export.read(start, end).split(b"\n"):
            found = _BLOCK.fullmatch(line, len(head)) if line.startswith(head) else None
            if found is None and line.strip():
                raise broken(
                    self._export, f"{line[:80].decode('utf-8', 'replace')!r} is no block of a profile", offset=at
                )
            at += len(line) + 1
            if found is None:
                continue
            span, count = _span(found), min(int(found[6]), MAX_COUNT)
            if span is None:
                raise broken(
                    self._export, f"{line[-80:].decode('utf-8', 'replace')!r} is no range of a file", offset=at
                )
            blocks[span] = max(count, blocks.get(span, 0))


def _span(found: re.Match[bytes]) -> Span | None:
    first, left, last, right = (int(found[group]) for group in (1, 2, 3, 4))
    if not 1 <= first <= last <= MAX_LINE or left < 1 or right < 1:
        return None
    span = Span(Pos(first, left - 1), Pos(last, right - 1))
    return span if span.start <= span.end else None


def _index(export: ExportFile) -> dict[str, array[int]]:
    """Where each file's blocks are: pairs of start and end, one for each run of lines that name the same file."""
    places: dict[bytes, array[int]] = {}
    begun = False
    for start, text in export.whole_lines(_MAX_LINE_BYTES):
        at = len(_BOM) if start == 0 and text.startswith(_BOM) else 0
        while at < len(text):
            newline = text.find(b"\n", at)
            end = len(text) if newline < 0 else newline
            line = text[at:end].strip()
            if line.startswith(b"mode:"):
                begun = _is_mode(export, line, start + at)
            elif line:
                name = _name(export, line, start + at, begun=begun)
                # a run of lines of one file is hopped over
                other = re.compile(b"\n(?!" + re.escape(name) + b":)").search(text, end)
                end = len(text) if other is None else other.start()
                places.setdefault(name, array("q")).extend((start + at, start + end))
            at = end + 1
    if not begun:
        raise broken(export, "there is no mode line in it")
    return {name.decode("utf-8", "surrogateescape"): runs for name, runs in places.items()}


def _is_mode(export: ExportFile, line: bytes, at: int) -> bool:
    if line.removeprefix(b"mode:").strip() not in _MODES:
        raise broken(export, f"{line[:40].decode('utf-8', 'replace')!r} is no mode of go test", offset=at)
    return True


def _name(export: ExportFile, line: bytes, at: int, *, begun: bool) -> bytes:
    """The import path in front of the last colon, for a path may hold colons of its own."""
    name, colon, rest = line.rpartition(b":")
    if not begun or not colon or not name or _BLOCK.fullmatch(rest) is None:
        raise broken(export, f"{line[:80].decode('utf-8', 'replace')!r} is no block of a profile", offset=at)
    return name
