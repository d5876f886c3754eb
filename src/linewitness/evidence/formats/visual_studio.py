"""Visual Studio's XML, as dotnet-coverage and CodeCoverage.exe write it: ranges of text, run, run in part, or not.

``results/modules/module`` has functions with ranges and then its source files, which ranges name by ``source_id``.
Managed code has columns (1-based, the end exclusive); those of native code are 0, and a range is a line.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from linewitness.evidence.formats.facts import (
    MAX_LINE,
    ByFile,
    FileFacts,
    FunctionHit,
    Grain,
    broken,
    merged_counts,
)
from linewitness.evidence.formats.numbers import md5_digits, stands_nowhere
from linewitness.evidence.formats.regions import Regions, Scope, Unit, flat
from linewitness.evidence.formats.source import ExportFile
from linewitness.evidence.formats.xml_tags import Place, decode, spelled, tags
from linewitness.model import Pos, Span
from linewitness.values import NamedTuple

_WATCHED: Final = frozenset({"module", "function", "source_file"})
_SOURCE: Final = re.compile(rb'\ssource_id="([^"]*)"')
_COVERED: Final[Mapping[str, int]] = {"yes": 1, "partial": 1, "no": 0}
#: Of a range of more lines than any statement has, the rest is told nothing about.
_LONGEST: Final = 10_000
_MAX_DIGITS: Final = 8


class _Functions(NamedTuple):
    """The functions with ranges in a file, which is ``source`` in their module, and its checksum if that is an MD5."""

    source: str
    digest: str | None
    places: list[Place]


class _Range(NamedTuple):
    span: Span
    covered: str


class Report(ByFile[_Functions]):
    """An opened export: where the functions of each module are, and which files it has."""

    def __init__(self, export: ExportFile) -> None:
        super().__init__(export)
        by_source: dict[str, list[Place]] = {}
        start = 0
        for name, attributes, at in tags(export, "results", _WATCHED):
            if name == "module":
                by_source = by_source if attributes is None else {}
            elif name == "function" and attributes is not None:
                start = at
            elif name == "function":
                for source in set(_SOURCE.findall(export.read(start, at))):
                    by_source.setdefault(source.decode("ascii", "replace"), []).append(Place(name, start, at))
            elif attributes is not None and attributes.get("path"):
                md5 = attributes.get("checksum", "") if attributes.get("checksum_type") == "MD5" else ""
                source_id = attributes.get("id", "")
                entry = _Functions(source_id, md5_digits(md5), by_source.setdefault(source_id, []))
                self._places.setdefault(attributes["path"], []).append(entry)
        if not self._places:
            raise broken(export, "there is no <source_file> in it: no module with symbols was measured")

    def _decode(self, place: _Functions) -> FileFacts:
        ranges: list[_Range] = []
        functions: list[FunctionHit] = []

        def visit(path: tuple[str, ...], attributes: dict[str, str]) -> None:
            if path[-1] == "range" and attributes.get("source_id") == place.source:
                ranges.extend(self._range(attributes))

        for each in place.places:
            before = len(ranges)
            decode(self._export, each, visit)
            mine = ranges[before:]
            if mine:
                first = min(part.span.start.line for part in mine)
                functions.append(FunctionHit(first, "", max(_COVERED[part.covered] for part in mine)))
        return _facts(ranges, functions, place.digest)

    def _range(self, attributes: dict[str, str]) -> tuple[_Range, ...]:
        names = ("start_line", "start_column", "end_line", "end_column")
        values = [attributes.get(name, "") for name in names]
        covered = attributes.get("covered", "")
        numbers = [int(value) for value in values if value.isascii() and value.isdigit() and len(value) <= _MAX_DIGITS]
        if covered not in _COVERED or len(numbers) < len(values):
            raise broken(self._export, f"{spelled(attributes)} is no range")
        line, left, last, right = numbers
        if stands_nowhere(values[0]):
            return ()
        if last < line or last > MAX_LINE:
            raise broken(self._export, f"{spelled(attributes)} is no range")
        return (_Range(Span(Pos(line, max(left - 1, 0)), Pos(last, max(right - 1, 0))), covered),)


def _facts(ranges: list[_Range], functions: list[FunctionHit], digest: str | None) -> FileFacts:
    """A line is known by the ranges that begin on it, and ran whole when none on it ran in part, or not at all."""
    complete: dict[int, bool] = {}
    for span, covered in ranges:
        for line in range(span.start.line, min(span.end.line, span.start.line + _LONGEST) + 1):
            complete[line] = covered == "yes" and complete.get(line, True)
    counts = merged_counts((each.span.start.line, _COVERED[each.covered]) for each in ranges)
    has_columns = any(each.span.start < each.span.end for each in ranges)
    spans = [(each.span, _COVERED[each.covered]) for each in ranges]
    return FileFacts(
        Grain.COMPILED if has_columns else Grain.TOUCHED,
        counts,
        digests=frozenset({digest} if digest else ()),
        functions=tuple(functions),
        regions=Regions(flat(spans), Scope.STATEMENTS, frozenset(), Unit.UTF16) if has_columns else None,
        complete=complete,
    )
