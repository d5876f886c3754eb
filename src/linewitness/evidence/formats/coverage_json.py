"""``coverage json`` of coverage.py: files without a format number (to 7.2), format 2 and format 3.

With ``show_contexts`` the keys of ``contexts`` are raw line events and say more than ``executed_lines``, which are
folded to the first line of each statement. Format 3 repeats every list for each function and class of a file.

In the writer's usual shape the file is hopped over, from entry to entry, and only wanted entries are decoded.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Annotated, Final

import msgspec

from linewitness.errors import EvidenceError
from linewitness.evidence.formats import coverage_json_tree as tree
from linewitness.evidence.formats.facts import (
    MAX_LINE,
    BranchArm,
    FileFacts,
    Grain,
    broken,
    combine,
    merged_arms,
)
from linewitness.evidence.formats.numbers import line_number
from linewitness.evidence.formats.source import ExportFile
from linewitness.values import NamedTuple

FORMATS: Final = (None, 2, 3)
_FIRST_KEY: Final = b'"executed_lines"'
_REGIONS: Final = (b'"functions":', b'"classes":')
_MAX_KEY: Final = 1 << 13
_HEAD: Final = 1 << 13
_TAIL: Final = 1 << 16
_OPENING: Final = re.compile(rb'\s*\{\s*"meta":\s*(\{[^{}]*\}),\s*"files":\s*\{\s*')
_STRING: Final = re.compile(rb'"(?:[^"\\]|\\.)*"')
_CONTEXTS: Final = re.compile(rb'"[0-9]+":\s*\[((?:[\s,]*"(?:[^"\\]|\\.)*")+)')

_Line = Annotated[int, msgspec.Meta(ge=0, le=MAX_LINE)]
_Place = Annotated[int, msgspec.Meta(ge=-MAX_LINE, le=MAX_LINE)]


class Entry(msgspec.Struct):
    """One file of the report."""

    executed_lines: list[_Line]
    missing_lines: list[_Line]
    excluded_lines: list[_Line] = []
    contexts: dict[str, list[str]] | None = None
    executed_branches: list[tuple[_Place, _Place]] = []
    missing_branches: list[tuple[_Place, _Place]] = []


class _HoppedEntry(Entry):
    """``functions`` is there in format 3 only, and only in files, never in their regions."""

    functions: msgspec.Raw = msgspec.Raw()


class _Meta(msgspec.Struct):
    format: int | None = None


class _Mark(NamedTuple):
    """A key whose value begins with ``executed_lines``: where the key and where the value starts."""

    name: str
    key: int
    value: int


_ENTRY: Final = msgspec.json.Decoder(_HoppedEntry)


class Hopped(NamedTuple):
    """A report of the usual shape, of which only the places of its entries are known."""

    export: ExportFile
    places: dict[str, list[tuple[int, int]]]
    with_regions: bool
    bases: tuple[str, ...] = ()

    @property
    def names(self) -> Collection[str]:
        """The keys of ``files``."""
        return self.places.keys()

    def facts(self, name: str) -> FileFacts:
        """The union of all entries of one file. Errors: ``EvidenceError`` for an entry that cannot be read."""
        try:
            entries = [_decode(self.export, *place) for place in self.places[name]]
        except (msgspec.MsgspecError, RecursionError):
            entries = []
        if not entries or any(self.with_regions and not bytes(each.functions) for each in entries):
            # not what the hop took it for: the parser knows better, or knows what is wrong and where
            return read(self.export).facts(name)
        return combine(*(_facts(self.export, each) for each in entries))

    def context_names(self) -> Collection[str]:
        """Contexts of the export: all of them, or enough to know that the empty one is among several."""
        found: set[str] = set()
        for window in self.export.windows(_MAX_KEY):
            for match in _CONTEXTS.finditer(window.data):
                found.update(_text(name) for name in _STRING.findall(match[1]))
                if len(found) > 1 and "" in found:
                    return found
        return found


class Parsed(NamedTuple):
    """A report that went through the parser."""

    export: ExportFile
    tree: tree.Tree
    bases: tuple[str, ...] = ()

    @property
    def names(self) -> Collection[str]:
        """The keys of ``files``."""
        return self.tree.files.keys()

    def facts(self, name: str) -> FileFacts:
        """The union of all entries of one file. Errors: ``EvidenceError`` for an entry that cannot be read."""
        entries = self.tree.files.get(name)
        if not entries:
            raise broken(self.export, f"{name!r} is no key of its files")
        try:
            return combine(*(_facts(self.export, msgspec.convert(each, Entry)) for each in entries))
        except msgspec.MsgspecError as error:
            raise broken(self.export, f"the entry of {name!r}: {error}") from error

    def context_names(self) -> Collection[str]:
        """All contexts of the report."""
        return tree.context_names(self.tree)


def open_json(export: ExportFile) -> Hopped | Parsed:
    """Errors: ``EvidenceError`` with the place, for anything that is not coverage.py's JSON."""
    return hop(export) or read(export)


def read(export: ExportFile) -> Parsed:
    """The report through the parser."""
    parsed = tree.parse(export)
    if parsed.format not in FORMATS:
        raise _unknown_format(export, parsed.format)
    return Parsed(export, parsed)


def _facts(export: ExportFile, entry: Entry) -> FileFacts:
    excluded = frozenset(entry.excluded_lines)
    branches = merged_arms(
        BranchArm(start, _arm_text(start, end), taken)
        for pairs, taken in ((entry.executed_branches, True), (entry.missing_branches, False))
        for start, end in pairs
        if start > 0
    )
    counts = dict.fromkeys(entry.missing_lines, 0)
    if entry.contexts or (entry.contexts is not None and not entry.executed_lines):
        contexts = _contexts(export, entry.contexts)
        counts |= dict.fromkeys(contexts, 1)
        return FileFacts(Grain.EVENTS, _real(counts), excluded, branches, contexts)
    counts |= dict.fromkeys(entry.executed_lines, 1)
    return FileFacts(Grain.STATEMENTS, _real(counts), excluded, branches)


def _real(counts: dict[int, int]) -> dict[int, int]:
    """Without line 0, where some versions of Python place the start of a module."""
    counts.pop(0, None)
    return counts


def _contexts(export: ExportFile, contexts: dict[str, list[str]]) -> dict[int, tuple[str, ...]]:
    found: dict[int, tuple[str, ...]] = {}
    for key, names in contexts.items():
        line = line_number(key)
        if line is not None:
            found[line] = tuple(sorted(set(names)))
        elif key != "0":
            raise broken(export, f"{key[:40]!r} is no line number")
    return found


def hop(export: ExportFile) -> Hopped | None:
    """Where each file's entries start and end, or ``None`` when the report is not in the writer's usual shape.

    Errors: :class:`EvidenceError` for a format number that is not known.
    """
    opening = _OPENING.match(export.read(0, min(_HEAD, export.size)))
    if opening is None:
        return None
    try:
        number = msgspec.json.decode(opening[1], type=_Meta).format
    except msgspec.MsgspecError:
        return None
    if number not in FORMATS:
        raise _unknown_format(export, number)
    totals = _totals(export)
    marks = _marks(export)
    if totals is None or not marks or marks[0].key != opening.end():
        return None
    files = marks if number != 3 else _without_regions(marks)
    if files is None or (number == 3 and any(_count(export, key) != len(files) for key in _REGIONS)):
        return None
    places: dict[str, list[tuple[int, int]]] = {}
    for mark, end in zip(files, [*(each.key for each in files[1:]), totals], strict=True):
        places.setdefault(mark.name, []).append((mark.value, end))
    return Hopped(export, places, with_regions=number == 3)


def _marks(export: ExportFile) -> list[_Mark] | None:
    """Every key whose value begins as an entry does, in order; ``None`` when one of them looks unusual.

    A quote inside a JSON string is escaped, so that these bytes cannot be part of one.
    """
    marks: list[_Mark] = []
    done = -1
    for window in export.windows(_MAX_KEY):
        data, at = window.data, window.data.find(_FIRST_KEY)
        while at >= 0:
            if window.start + at > done:
                done = window.start + at
                mark = _mark(data, at, window.start)
                if mark is None:
                    return None
                marks.append(mark)
            at = data.find(_FIRST_KEY, at + 1)
    return marks


_BEFORE: Final = re.compile(rb'[{,\s]("[^"\\]*"): ?(\{)\s*$')


def _mark(data: bytes, at: int, start: int) -> _Mark | None:
    brace = data.rfind(b"{", max(0, at - _MAX_KEY), at)
    quote = data.rfind(b'"', max(0, at - _MAX_KEY), max(0, data.rfind(b'"', max(0, at - _MAX_KEY), at)))
    if brace < 0 or quote < 1:
        return None
    found = _BEFORE.match(data[quote - 1 : at])
    if found is None:
        return None
    return _Mark(_text(found[1]), start + quote, start + brace)


def _without_regions(marks: list[_Mark]) -> list[_Mark] | None:
    """The marks of files in format 3: each is followed by its functions and its classes, and both end with ``""``."""
    files: list[_Mark] = []
    ends = 2
    for mark in marks:
        if ends == 2:
            files.append(mark)
            ends = 0
        elif mark.name == "":
            ends += 1
    return files if ends == 2 else None


def _count(export: ExportFile, key: bytes) -> int:
    return sum(window.data.count(key) for window in export.windows(len(key) - 1))


def _totals(export: ExportFile) -> int | None:
    """Where the key after the files stands, when the report ends as a complete one does."""
    start = max(0, export.size - _TAIL)
    tail = export.read(start, export.size)
    at = tail.rfind(b'"totals"')
    if at < 0:
        return None
    try:
        msgspec.json.decode(b"{" + tail[at:])
    except (msgspec.MsgspecError, RecursionError):
        return None
    return start + at


def _decode(export: ExportFile, start: int, end: int) -> _HoppedEntry:
    text = export.read(start, end).rstrip().removesuffix(b",").rstrip()
    try:
        return _ENTRY.decode(text)
    except msgspec.DecodeError:
        # the last entry is followed by the brace that closes the files
        return _ENTRY.decode(text.removesuffix(b"}"))


def _text(quoted: bytes) -> str:
    try:
        return msgspec.json.decode(quoted, type=str)
    except msgspec.MsgspecError:
        return quoted.decode("utf-8", "replace")


def _arm_text(start: int, end: int) -> str:
    """A negative end is the exit of the code object that begins on that line."""
    if end > 0:
        return f"line {end}"
    return "exit" if -end != start else "exit of the code that begins on this line"


def _unknown_format(export: ExportFile, number: int | None) -> EvidenceError:
    return broken(export, f"format {number} of coverage.py's JSON is not known here (known are none, 2 and 3)")
