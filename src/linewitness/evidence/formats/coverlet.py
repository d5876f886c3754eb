"""coverlet's own JSON (.NET): module, file, class, method, and in each method counts by line and branches."""

from __future__ import annotations

from collections.abc import Iterator
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
from linewitness.evidence.formats.numbers import line_number, stands_nowhere
from linewitness.evidence.formats.source import ExportFile

_Line = Annotated[int, msgspec.Meta(ge=0, le=1 << 31)]


class _Branch(msgspec.Struct, rename="pascal"):
    line: _Line
    hits: int
    path: int = 0
    ordinal: int = 0


class _Method(msgspec.Struct, rename="pascal"):
    lines: dict[str, int]
    branches: list[_Branch] = []


class Report(ByFile[Value]):
    """An opened export: where the entries of each file are, one for each module that holds it."""

    def __init__(self, export: ExportFile) -> None:
        super().__init__(export)
        text = JsonText(export)
        for name, module in text.members(text.top).items():
            if not name.endswith((".dll", ".exe")):
                raise broken(export, f"{name[:200]!r} is no .NET module", offset=module.start)
            for path, value in text.members(module).items():
                self._places.setdefault(path, []).append(value)
        if not self._places:
            raise broken(export, "there is no file in it: no module was instrumented")

    def _decode(self, place: Value) -> FileFacts:
        classes = read(self._export, place, dict[str, dict[str, _Method]])
        methods = [(name, method) for each in classes.values() for name, method in each.items()]
        rows = [(name, self._rows(method)) for name, method in methods]
        return FileFacts(
            Grain.TOUCHED,
            merged_counts(row for _name, each in rows for row in each),
            branches=merged_arms(arm for _name, method in methods for arm in _arms(method)),
            functions=tuple(
                FunctionHit(*min(each)[:1], name, max(row[1] for row in each)) for name, each in rows if each
            ),
        )

    def _rows(self, method: _Method) -> list[tuple[int, int]]:
        rows: list[tuple[int, int]] = []
        for text, count in method.lines.items():
            if stands_nowhere(text):
                continue
            line = line_number(text)
            if line is None:
                raise broken(self._export, f"{text[:40]!r} is no line number")
            rows.append((line, clamped(count)))
        return rows


def _arms(method: _Method) -> Iterator[BranchArm]:
    for each in method.branches:
        if 0 < each.line <= MAX_LINE:
            yield BranchArm(each.line, f"branch {each.ordinal}, path {each.path}", each.hits > 0)
