"""SimpleCov for Ruby: ``.resultset.json``, and ``coverage.json`` of its JSON formatter or of the gem simplecov-json.

Lines are an array whose index 0 is line 1: a count, ``null`` for no code, ``"ignored"`` for what ``:nocov:`` hides. The
place of a branch is the text of a Ruby array, ``[:then, 1, 23, 4, 24, 28]``: type, number, first line and column, last
line and column.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated, Final, Literal

import msgspec

from linewitness.evidence.formats.facts import (
    MAX_LINE,
    BranchArm,
    ByFile,
    FileFacts,
    Grain,
    broken,
    merged_arms,
)
from linewitness.evidence.formats.json_text import JsonText, Value, clamped, read
from linewitness.evidence.formats.regions import Regions, Scope, flat
from linewitness.evidence.formats.source import ExportFile
from linewitness.model import Pos, Span

_PLACE: Final = re.compile(r'\[:"?([^\s,"]{1,20})"?, \d{1,9}, (\d{1,8}), (\d{1,8}), (\d{1,8}), (\d{1,8})\]')

_Lines = list[int | Literal["ignored"] | None]
_Line = Annotated[int, msgspec.Meta(ge=0, le=MAX_LINE)]


class _Arm(msgspec.Struct):
    type: str
    start_line: _Line
    end_line: _Line
    coverage: int | Literal["ignored"]


class _Entry(msgspec.Struct):
    lines: _Lines
    branches: dict[str, dict[str, int]] | list[_Arm] | None = None


class Report(ByFile[Value]):
    """An opened export: where the entries of each file are."""

    def __init__(self, export: ExportFile) -> None:
        super().__init__(export)
        text = JsonText(export)
        top = text.members(text.top)
        files = self._listed(text, top["files"]) if "files" in top else self._by_path(text, top)
        for path, entry in files:
            self._places.setdefault(path, []).append(entry)
        self._plain = frozenset(value for each in self._places.values() for value in each if text.begins(value) == b"[")
        if not self._places:
            raise broken(export, "there is no file in it: SimpleCov was started too late, or not at all")

    def _by_path(self, text: JsonText, top: dict[str, Value]) -> Iterator[tuple[str, Value]]:
        for value in [text.top] if "meta" in top else top.values():
            coverage = text.members(value).get("coverage")
            if coverage is None:
                raise broken(self._export, "there is no coverage in it, as SimpleCov writes it", offset=value.start)
            yield from text.members(coverage).items()

    def _listed(self, text: JsonText, files: Value) -> Iterator[tuple[str, Value]]:
        """The files of the gem, each with its name inside."""
        for value in text.items(files):
            members = text.members(value)
            if "filename" not in members or "coverage" not in members:
                raise broken(self._export, "a file without filename or coverage", offset=value.start)
            yield text.decode(members["filename"], str), members["coverage"]

    def _decode(self, place: Value) -> FileFacts:
        """The facts of an entry, which is the bare array of lines before SimpleCov 0.18."""
        if place in self._plain:
            return _facts(_Entry(read(self._export, place, _Lines)))
        return _facts(read(self._export, place, _Entry))


def _facts(entry: _Entry) -> FileFacts:
    numbered = list(enumerate(entry.lines[:MAX_LINE], 1))
    arms = [*_arms(entry)]
    regions = flat((arm.span, count) for arm, count in arms if arm.span is not None)
    return FileFacts(
        Grain.STATEMENTS,
        {line: clamped(count) for line, count in numbered if isinstance(count, int)},
        excluded=frozenset(line for line, count in numbered if count == "ignored"),
        branches=merged_arms(arm for arm, _count in arms),
        regions=Regions(regions, Scope.ARMS) if regions else None,
        solid=True,
    )


def _arms(entry: _Entry) -> Iterator[tuple[BranchArm, int]]:
    if isinstance(entry.branches, list):
        for each in entry.branches:
            if each.coverage != "ignored" and each.start_line:
                text = f"{each.type} (lines {each.start_line} to {each.end_line})"
                yield BranchArm(each.start_line, text, each.coverage > 0), clamped(each.coverage)
        return
    for spelled, arms in (entry.branches or {}).items():
        branch = _PLACE.fullmatch(spelled)
        whole = _span(branch) if branch is not None else None
        for text, count in arms.items():
            found = _PLACE.fullmatch(text)
            span = _span(found) if found is not None else None
            if found is not None and span is not None:
                # an arm without code of its own has the place of the whole branch
                line = whole.start.line if whole is not None else span.start.line
                yield BranchArm(line, found[1], count > 0, None if span == whole else span), clamped(count)


def _span(found: re.Match[str]) -> Span | None:
    first, left, last, right = (int(found[group]) for group in (2, 3, 4, 5))
    span = Span(Pos(first, left), Pos(last, right))
    return span if 1 <= first <= last <= MAX_LINE and span.start < span.end else None
