"""Clover XML, as OpenClover, PHPUnit, Istanbul and gcovr write it.

Lines have a type: ``stmt`` and ``cond`` are code, ``method`` is the header of a function and its count an entry.
"""

from __future__ import annotations

import re
from typing import Final

from linewitness.evidence.formats.facts import (
    MAX_LINE,
    SOME_ARM,
    SOME_MISSED_ARM,
    BranchArm,
    ByFile,
    FileFacts,
    FunctionHit,
    Grain,
    broken,
    merged_arms,
    merged_counts,
)
from linewitness.evidence.formats.numbers import hit_count, line_number, stands_nowhere
from linewitness.evidence.formats.source import ExportFile
from linewitness.evidence.formats.xml_tags import Place, decode, spelled, tags

_WATCHED: Final = frozenset({"file", "package", "project"})
_STATEMENT: Final = re.compile(
    rb'<line (?:num="(\d{1,9})" count="(\d{1,18})" type="stmt"|num="(\d{1,9})" type="stmt" count="(\d{1,18})")\s*/>'
)


class Report(ByFile[Place]):
    """An opened report: where the lines of each file are."""

    def __init__(self, export: ExportFile) -> None:
        super().__init__(export)
        current: tuple[str, int] | None = None
        is_clover = False
        for name, attributes, start in tags(export, "coverage", _WATCHED):
            is_clover |= name == "project"
            if name != "file":
                continue
            if attributes is not None:
                # Istanbul and OpenClover put the base name into name and say where the file is in path
                path = attributes.get("path") or attributes.get("name") or ""
                current = (path, start) if path else None
            elif current is not None:
                self._places.setdefault(current[0], []).append(Place("file", current[1], start))
                current = None
        if not self._places or not is_clover:
            raise broken(export, "there is no <project> with a <file> in it, as Clover reports have")

    def _decode(self, place: Place) -> FileFacts:
        text = self._export.read(place.start, place.end)
        found = _STATEMENT.findall(text)
        if len(found) == text.count(b"<line"):
            pairs = [(int(one or two), int(count or other)) for one, count, two, other in found]
            if all(1 <= line <= MAX_LINE for line, _count in pairs):
                return FileFacts(Grain.STATEMENTS, merged_counts(pairs))
        lines = _Lines(self._export)
        decode(self._export, place, lines.visit)
        return FileFacts(
            Grain.STATEMENTS,
            merged_counts(lines.counts),
            branches=merged_arms(lines.arms),
            functions=tuple(lines.functions),
        )


class _Lines:
    """What the lines of one file say."""

    def __init__(self, export: ExportFile) -> None:
        self._export = export
        self.counts: list[tuple[int, int]] = []
        self.arms: list[BranchArm] = []
        self.functions: list[FunctionHit] = []

    def visit(self, path: tuple[str, ...], attributes: dict[str, str]) -> None:
        """Take a ``<line>``; anything else beside the lines is metrics."""
        if path != ("file", "line"):
            return
        number, count = line_number(attributes.get("num", "")), hit_count(attributes.get("count", ""))
        kind = attributes.get("type", "")
        if kind == "cond" and "count" not in attributes:
            # OpenClover counts the outcomes of a condition and not the line
            outcomes = [hit_count(attributes.get(key, "")) for key in ("truecount", "falsecount")]
            count = None if None in outcomes else sum(each or 0 for each in outcomes)
        if count is not None and stands_nowhere(attributes.get("num", "")):
            return
        if number is None or count is None or kind not in ("stmt", "cond", "method"):
            raise broken(self._export, f"{spelled(attributes)} is no line")
        if kind == "method":
            self.functions.append(FunctionHit(number, attributes.get("name", ""), count))
            return
        self.counts.append((number, count))
        if kind == "cond":
            self.arms += _arms(number, attributes)


def _arms(line: int, attributes: dict[str, str]) -> list[BranchArm]:
    """The arms of a condition. Istanbul and gcovr count the arms that were taken and those that were not.

    OpenClover, which gives such a line no count of its own, counts how often the condition was true, and how often not.
    """
    first, second = (hit_count(attributes.get(key, "")) or 0 for key in ("truecount", "falsecount"))
    if "count" not in attributes:
        return [BranchArm(line, "true", first > 0), BranchArm(line, "false", second > 0)]
    taken = [BranchArm(line, SOME_ARM, True)] if first else []
    return [*taken, BranchArm(line, SOME_MISSED_ARM, False)] if second else taken
