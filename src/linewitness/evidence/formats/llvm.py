"""``llvm-cov export`` (``llvm.coverage.json.export``, versions 2 and 3): segments of the text with counts.

A segment begins at a line and column (1-based, in bytes) and reaches to the next; it has a count or none, begins a
region or goes on with the one around it, and is a gap where no code stands. Writers: llvm-cov, cargo-llvm-cov, Swift.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise
from typing import Annotated, Final

import msgspec

from linewitness.evidence.formats.facts import (
    MAX_LINE,
    Condition,
    FileFacts,
    FunctionHit,
    Grain,
    WithoutContexts,
    broken,
    combine,
    merged_conditions,
)
from linewitness.evidence.formats.json_text import JsonText, Value, clamped, read
from linewitness.evidence.formats.regions import Part, Piece, Regions, Scope
from linewitness.evidence.formats.source import ExportFile
from linewitness.model import Pos, Span
from linewitness.values import NamedTuple

_TYPE: Final = "llvm.coverage.json.export"
_MAX_COLUMN: Final = 1 << 30

_Line = Annotated[int, msgspec.Meta(ge=1, le=MAX_LINE)]
_Column = Annotated[int, msgspec.Meta(ge=0, le=_MAX_COLUMN)]


class _Segment(msgspec.Struct, array_like=True):
    line: _Line
    column: _Column
    count: int
    has_count: bool
    begins: bool
    is_gap: bool = False


class _Branch(msgspec.Struct, array_like=True):
    line: _Line
    column: _Column
    end_line: _Line
    end_column: _Column
    true: int
    false: int
    file: int = 0
    expanded: int = 0


class _File(msgspec.Struct):
    filename: str
    segments: list[_Segment]
    branches: list[_Branch] = []


class _Region(msgspec.Struct, array_like=True):
    line: _Line
    column: _Column
    end_line: _Line
    end_column: _Column
    count: int


class _Function(msgspec.Struct):
    name: str
    count: int
    regions: list[_Region]


class _Places(NamedTuple):
    files: list[Value]
    functions: list[Value]


class Report(WithoutContexts):
    """An opened export: where the file and the functions of each source file are."""

    def __init__(self, export: ExportFile) -> None:
        self._export = export
        text = JsonText(export)
        top = text.members(text.top)
        kind = text.decode(top["type"], str) if "type" in top else ""
        if kind != _TYPE or "data" not in top:
            raise broken(export, f"its type is {kind[:40]!r} and not {_TYPE}; write it with `llvm-cov export`")
        self._places: dict[str, _Places] = {}
        for value in text.items(top["data"]):
            part = text.members(value)
            self._add_files(text, part)
            self._add_functions(text, part)
        if not self._places:
            raise broken(export, "there is no file in it")

    def _add_files(self, text: JsonText, part: dict[str, Value]) -> None:
        for value in text.items(part["files"]) if "files" in part else []:
            members = text.members(value)
            if "segments" not in members:
                raise broken(self._export, "it has no segments: write it without -summary-only", offset=value.start)
            name = text.decode(members["filename"], str) if "filename" in members else ""
            self._places.setdefault(name, _Places([], [])).files.append(value)

    def _add_functions(self, text: JsonText, part: dict[str, Value]) -> None:
        for value in text.items(part["functions"]) if "functions" in part else []:
            filenames = text.members(value).get("filenames")
            names = text.decode(filenames, list[str]) if filenames is not None else []
            if names and names[0] in self._places:
                self._places[names[0]].functions.append(value)

    @property
    def names(self) -> Collection[str]:
        """The ``filename`` of every file."""
        return self._places.keys()

    def facts(self, name: str) -> FileFacts:
        """What is said of one file. Errors: ``EvidenceError`` for an entry that is none."""
        places = self._places[name]
        functions = (read(self._export, value, _Function) for value in places.functions)
        hits = tuple(
            FunctionHit(each.regions[0].line, each.name, clamped(each.count), each.regions[0].end_line)
            for each in functions
            if each.regions
        )
        files = [_facts(read(self._export, value, _File)) for value in places.files]
        return combine(FileFacts(Grain.COMPILED, {}, functions=hits), *files)


def _facts(file: _File) -> FileFacts:
    segments = sorted(file.segments, key=lambda each: (each.line, each.column))
    regions = Regions(tuple(_pieces(segments)), Scope.BLOCKS, frozenset({Part.OPERAND, Part.FUNCTION}))
    return FileFacts(
        Grain.COMPILED,
        dict(_line_counts(segments)),
        regions=regions,
        conditions=merged_conditions(_conditions(file.branches)),
    )


def _pieces(segments: Sequence[_Segment]) -> Iterator[Piece]:
    for here, following in pairwise(segments):
        span = Span(_place(here.line, here.column), _place(following.line, following.column))
        if here.has_count and not here.is_gap and span.start < span.end:
            yield Piece(span.start, span.end, clamped(here.count), span)


def _place(line: int, column: int) -> Pos:
    return Pos(line, max(column, 1) - 1)


def _line_counts(segments: Sequence[_Segment]) -> Iterator[tuple[int, int]]:
    """The count of each line as llvm-cov itself reckons it (LineCoverageStats in llvm's CoverageMapping.cpp).

    The largest of the segment that reaches into the line and of the regions that begin on it; none where the line
    begins in a segment without count and no region begins on it.
    """
    by_line: dict[int, list[_Segment]] = {}
    for each in segments:
        by_line.setdefault(each.line, []).append(each)
    wrapping: _Segment | None = None
    for line in range(segments[0].line, segments[-1].line + 1) if segments else ():
        here = by_line.get(line, [])
        begun = [each for each in here if each.has_count and each.begins and not each.is_gap]
        skipped = bool(here) and not here[0].has_count and here[0].begins
        mapped = not skipped and ((wrapping is not None and wrapping.has_count) or bool(begun))
        if mapped:
            counts = [each.count for each in begun]
            if wrapping is not None and wrapping.has_count:
                counts.append(wrapping.count)
            yield line, clamped(max(counts))
        wrapping = here[-1] if here else wrapping


def _conditions(branches: Sequence[_Branch]) -> Iterator[Condition]:
    """Conditions in the text of the file itself; those of macros belong to the place of the macro."""
    for each in branches:
        if each.file == each.expanded == 0:
            span = Span(_place(each.line, each.column), _place(each.end_line, each.end_column))
            yield Condition(each.line, f"column {each.column}", each.true > 0, each.false > 0, span)
