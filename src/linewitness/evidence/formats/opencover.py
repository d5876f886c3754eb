"""OpenCover XML (.NET), as OpenCover, AltCover and coverlet write it: sequence points with a count each.

OpenCover's points are true stretches of text (1-based columns, the end exclusive); coverlet writes one point for each
line, with columns of no meaning. A point belongs to a file by its own ``fileid`` or by the ``FileRef`` of its method.
"""

from __future__ import annotations

import re
from typing import Final

from linewitness.evidence.formats.facts import (
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
from linewitness.evidence.formats.regions import Regions, Scope, Unit, flat
from linewitness.evidence.formats.source import ExportFile
from linewitness.evidence.formats.xml_tags import Place, decode, spelled, tags
from linewitness.model import Pos, Span
from linewitness.values import NamedTuple

_WATCHED: Final = frozenset({"Module", "File", "Method", "FileRef"})
_FILE_ID: Final = re.compile(rb'\sfileid="([^"]*)"')


class _Methods(NamedTuple):
    """The methods that have points in one file, which is ``uid`` in their module."""

    uid: str
    places: list[Place]


class Report(ByFile[_Methods]):
    """An opened export: where the methods of each file are."""

    def __init__(self, export: ExportFile) -> None:
        super().__init__(export)
        self._index()
        if not self._places:
            raise broken(export, "there is no <File> in it: no module was instrumented")

    def _index(self) -> None:
        files: dict[str, str] = {}
        by_uid: dict[str, list[Place]] = {}
        method, ref = 0, ""
        for name, attributes, start in tags(self._export, "CoverageSession", _WATCHED):
            if name == "Module" and attributes is None:
                self._close(files, by_uid)
                files, by_uid = {}, {}
            elif name == "File" and attributes is not None:
                files[attributes.get("uid", "")] = attributes.get("fullPath", "")
            elif name == "FileRef" and attributes is not None:
                ref = attributes.get("uid", "")
            elif name == "Method" and attributes is not None:
                method, ref = start, ""
            elif name == "Method":
                place = Place(name, method, start)
                for uid in {ref} if ref else self._ids(place):
                    by_uid.setdefault(uid, []).append(place)

    def _ids(self, place: Place) -> set[str]:
        found = _FILE_ID.findall(self._export.read(place.start, place.end))
        return {each.decode("ascii", "replace") for each in found}

    def _close(self, files: dict[str, str], by_uid: dict[str, list[Place]]) -> None:
        for uid, path in files.items():
            if path:
                self._places.setdefault(path, []).append(_Methods(uid, by_uid.get(uid, [])))

    def _decode(self, place: _Methods) -> FileFacts:
        points = _Points(self._export, place.uid)
        functions: list[FunctionHit] = []
        for method in place.places:
            before = len(points.spans)
            decode(self._export, method, points.visit)
            mine = points.spans[before:]
            if mine:
                line = min(span.start.line for span, _count in mine)
                functions.append(FunctionHit(line, "", max(count for _span, count in mine)))
        # points that are all one column wide are coverlet's lines
        by_line = all(span.end == (span.start.line, span.start.col + 1) for span, _count in points.spans)
        return FileFacts(
            Grain.TOUCHED if by_line else Grain.COMPILED,
            merged_counts((span.start.line, count) for span, count in points.spans),
            branches=merged_arms(points.arms),
            functions=tuple(functions),
            regions=None if by_line else Regions(flat(points.spans), Scope.STATEMENTS, frozenset(), Unit.UTF16),
        )


class _Points:
    """The sequence points of one file."""

    def __init__(self, export: ExportFile, uid: str) -> None:
        self._export = export
        self._uid = uid
        self.spans: list[tuple[Span, int]] = []
        self.arms: list[BranchArm] = []

    def visit(self, path: tuple[str, ...], attributes: dict[str, str]) -> None:
        """Take one element of a method."""
        if path[-1] not in ("SequencePoint", "BranchPoint") or attributes.get("fileid", self._uid) != self._uid:
            return
        if not attributes.get("sl") or stands_nowhere(attributes["sl"]):
            return
        line, count = line_number(attributes["sl"]), hit_count(attributes.get("vc", ""))
        if line is None or count is None:
            raise broken(self._export, f"{spelled(attributes)} is no {path[-1]}")
        if path[-1] == "SequencePoint":
            self.spans.append((_span(line, attributes), count))
        else:
            text = f"branch at {attributes.get('offset', '')[:20]}, path {attributes.get('path', '')[:20]}"
            self.arms.append(BranchArm(line, text, count > 0))


def _span(line: int, attributes: dict[str, str]) -> Span:
    """The text of a point, at least one column of it."""
    left, last, right = (line_number(attributes.get(key, "")) for key in ("sc", "el", "ec"))
    start = Pos(line, (left or 1) - 1)
    return Span(start, max(Pos(last or line, (right or 1) - 1), Pos(line, start.col + 1)))
