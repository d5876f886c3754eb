"""gcov's JSON (gcc 9 and later) and gcovr's, which grew out of it.

Lines are those of the compiler's line table, one entry per function, so that a line of a template stands there once per
instance. gcov tells by ``unexecuted_block`` that a line which ran has code that did not; gcovr tells the MD5 of lines
and what it was told to leave out.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator
from typing import Annotated

import msgspec

from linewitness.evidence.formats.facts import (
    MAX_LINE,
    BranchArm,
    ByFile,
    FileFacts,
    FunctionHit,
    Grain,
    broken,
    merged_arms,
    merged_counts,
)
from linewitness.evidence.formats.json_text import JsonText, Value, clamped, read
from linewitness.evidence.formats.numbers import md5_digits
from linewitness.evidence.formats.source import ExportFile

_Number = Annotated[int, msgspec.Meta(ge=0, le=MAX_LINE)]


class _Branch(msgspec.Struct):
    count: int
    throw: bool = False
    excluded: bool = msgspec.field(default=False, name="gcovr/excluded")


class _Line(msgspec.Struct):
    line_number: _Number
    count: int
    branches: list[_Branch] = []
    unexecuted_block: bool | None = None
    function_name: str | None = None
    excluded: bool = msgspec.field(default=False, name="gcovr/excluded")
    noncode: bool = msgspec.field(default=False, name="gcovr/noncode")
    md5: str = msgspec.field(default="", name="gcovr/md5")


class _Function(msgspec.Struct):
    name: str = ""
    demangled_name: str = ""
    start_line: _Number = 0
    lineno: _Number = 0
    end_line: _Number | None = None
    execution_count: int = 0


class _File(msgspec.Struct):
    lines: list[_Line]
    functions: list[_Function] = []


class Report(ByFile[Value]):
    """An opened export: where the entries of each source file are."""

    def __init__(self, export: ExportFile) -> None:
        super().__init__(export)
        # gcov --stdout writes one object after the other, each on a line
        text = JsonText(export, by_line=True)
        for top in text.tops:
            self._find(text, top, alone=len(text.tops) == 1)
        if not self._places:
            raise broken(export, "there is no file in it: nothing was compiled with --coverage, or nothing ran")

    def _find(self, text: JsonText, top: Value, *, alone: bool) -> None:
        members = text.members(top)
        if "files" not in members or not (alone or "gcc_version" in members):
            message = "there are no files in it, as gcov and gcovr write them"
            raise broken(self._export, message, offset=top.start or None)
        known = "current_working_directory" in members
        folder = text.decode(members["current_working_directory"], str) if known else ""
        for value in text.items(members["files"]):
            each = text.members(value)
            name = text.decode(each["file"], str) if "file" in each else ""
            if not name or "lines" not in each:
                message = "a file without name or lines; gcovr writes them with --json"
                raise broken(self._export, message, offset=value.start)
            self._places.setdefault(posixpath.join(folder, name), []).append(value)

    def _decode(self, place: Value) -> FileFacts:
        return _facts(read(self._export, place, _File))


def _facts(file: _File) -> FileFacts:
    # gcov puts what belongs to no line of the text at line 0
    lines = [each for each in file.lines if each.line_number and not each.noncode]
    counted = [each for each in lines if not each.excluded]
    return FileFacts(
        Grain.COMPILED,
        merged_counts((each.line_number, clamped(each.count)) for each in counted),
        excluded=frozenset(each.line_number for each in lines if each.excluded),
        branches=merged_arms(_arms(counted)),
        checksums={each.line_number: md5 for each in lines if (md5 := md5_digits(each.md5))},
        functions=tuple(_hits(file.functions)),
        complete=_complete(counted),
        solid=True,
    )


def _arms(lines: Iterable[_Line]) -> Iterator[BranchArm]:
    """The ways out of each branch, without those that an exception takes: these stand in no source text."""
    for line in lines:
        for number, each in enumerate(line.branches):
            if not each.throw and not each.excluded:
                yield BranchArm(line.line_number, f"branch {number}", each.count > 0)


def _complete(lines: Iterable[_Line]) -> dict[int, bool]:
    complete: dict[int, bool] = {}
    for each in lines:
        if each.count > 0 and each.unexecuted_block is not None:
            complete[each.line_number] = complete.get(each.line_number, False) or not each.unexecuted_block
    return complete


def _hits(functions: Iterable[_Function]) -> Iterator[FunctionHit]:
    for each in functions:
        line = each.start_line or each.lineno
        if line:
            yield FunctionHit(line, each.demangled_name or each.name, clamped(each.execution_count), each.end_line)
