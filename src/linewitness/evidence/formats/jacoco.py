"""JaCoCo XML (report.dtd of 0.8), which Kover writes too, and gcovr in part.

A line has counts of instructions and of branches, missed and covered, and no hits. A source file is named by its
package, without the folder that holds the package, and once per group (module) when a report has groups.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from typing import Final

from linewitness.evidence.formats.facts import (
    MAX_LINE,
    SOME_ARM,
    SOME_MISSED_ARM,
    BranchArm,
    FileFacts,
    FunctionHit,
    Grain,
    WithoutContexts,
    broken,
    combine,
    merged_arms,
)
from linewitness.evidence.formats.numbers import hit_count, line_number, stands_nowhere
from linewitness.evidence.formats.paths import ANY_FOLDERS
from linewitness.evidence.formats.source import ExportFile
from linewitness.evidence.formats.xml_tags import Place, decode, spelled, tags
from linewitness.values import NamedTuple

_WATCHED: Final = frozenset({"group", "package", "sourcefile", "class"})
_LINE: Final = re.compile(rb'<line nr="(\d{1,9})" mi="(\d{1,9})" ci="(\d{1,9})" mb="(\d{1,9})" cb="(\d{1,9})"/>')


class Unit(NamedTuple):
    """A source file as the report places it: the groups around it, its package, its name."""

    groups: tuple[str, ...]
    package: str
    file: str


class _Places(NamedTuple):
    lines: list[Place]
    classes: list[Place]


class Report(WithoutContexts):
    """An opened report: where the lines and the classes of each source file are."""

    def __init__(self, export: ExportFile) -> None:
        self._export = export
        self._units = _named(_index(export))
        if not self._units:
            raise broken(export, "there is no <sourcefile> in it; write the report with the XML format")

    @property
    def names(self) -> Collection[str]:
        """Package and file of each source file; behind its module where several modules have the same one."""
        return self._units.keys()

    def facts(self, name: str) -> FileFacts:
        """The union of what is said of one source file. Errors: ``EvidenceError`` for a number that is none."""
        places = self._units[name]
        functions = tuple(hit for place in places.classes for hit in self._methods(place))
        lines = [self._lines(place) for place in places.lines]
        return combine(FileFacts(Grain.COMPILED, {}, functions=functions, solid=True), *lines)

    def _lines(self, place: Place) -> FileFacts:
        rows = _usual_rows(self._export.read(place.start, place.end))
        if rows is None:
            rows = []

            def visit(path: tuple[str, ...], attributes: dict[str, str]) -> None:
                if path == ("sourcefile", "line") and not stands_nowhere(attributes.get("nr", "")):
                    rows.append(self._row(attributes))

            decode(self._export, place, visit)
        return _facts(rows)

    def _row(self, attributes: dict[str, str]) -> tuple[int, ...]:
        number = line_number(attributes.get("nr", ""))
        counts = [hit_count(attributes[key]) if key in attributes else -1 for key in ("mi", "ci", "mb", "cb")]
        if number is None or None in counts:
            raise broken(self._export, f"{spelled(attributes)} is no line")
        return (number, *(count for count in counts if count is not None))

    def _methods(self, place: Place) -> list[FunctionHit]:
        found: list[FunctionHit] = []
        current: dict[str, str] = {}

        def visit(path: tuple[str, ...], attributes: dict[str, str]) -> None:
            if path == ("class", "method"):
                current.clear()
                current.update(attributes)
            elif path == ("class", "method", "counter") and attributes.get("type") == "METHOD":
                line, count = line_number(current.get("line", "")), hit_count(attributes.get("covered", ""))
                if line is not None and count is not None:
                    found.append(FunctionHit(line, current.get("name", ""), count))

        decode(self._export, place, visit)
        return found


def _index(export: ExportFile) -> dict[Unit, _Places]:
    units: dict[Unit, _Places] = {}
    groups: list[str] = []
    package = ""
    current: tuple[Unit, int] | None = None
    for name, attributes, start in tags(export, "report", _WATCHED):
        if name == "group":
            groups.pop() if attributes is None else groups.append(attributes.get("name", ""))
        elif name == "package":
            package = "" if attributes is None else attributes.get("name", "")
        elif attributes is None:
            if current is not None:
                places = units.setdefault(current[0], _Places([], []))
                (places.lines if name == "sourcefile" else places.classes).append(Place(name, current[1], start))
            current = None
        else:
            file = attributes.get("name" if name == "sourcefile" else "sourcefilename", "")
            current = (Unit(tuple(groups), package, file), start) if file else None
    return {unit: places for unit, places in units.items() if places.lines}


def _named(units: dict[Unit, _Places]) -> dict[str, _Places]:
    """A name for each unit: the module is told only where two modules have a file of the same name and package."""
    count: dict[str, int] = {}
    for unit in units:
        count[_plain_name(unit)] = count.get(_plain_name(unit), 0) + 1
    named: dict[str, _Places] = {}
    for unit, places in units.items():
        plain = _plain_name(unit)
        name = plain if count[plain] == 1 or not unit.groups else f"{'/'.join(unit.groups)}{ANY_FOLDERS}{plain}"
        known = named.setdefault(name, _Places([], []))
        known.lines.extend(places.lines)
        known.classes.extend(places.classes)
    return named


def _plain_name(unit: Unit) -> str:
    return f"{unit.package}/{unit.file}" if unit.package else unit.file


def _usual_rows(text: bytes) -> list[tuple[int, ...]] | None:
    """The lines of one source file as JaCoCo spells them, or ``None`` when any is spelled differently."""
    found = _LINE.findall(text)
    if len(found) != text.count(b"<line"):
        return None
    rows = [tuple(map(int, each)) for each in found]
    return rows if all(0 < row[0] <= MAX_LINE for row in rows) else None


def _facts(rows: Iterable[tuple[int, ...]]) -> FileFacts:
    """Facts from rows of line, missed and covered instructions, missed and covered branches; -1 is "not told".

    Kover writes lines without any instruction, and gcovr leaves the instructions out: such lines have no count, unless
    a branch on them was taken.
    """
    counts: dict[int, int] = {}
    complete: dict[int, bool] = {}
    uncounted: set[int] = set()
    arms: list[BranchArm] = []
    for line, missed, covered, missed_arms, covered_arms in rows:
        if missed > 0 or covered > 0 or covered_arms > 0:
            ran = int(covered > 0 or covered_arms > 0)
            counts[line] = max(ran, counts.get(line, 0))
            if ran and missed >= 0:
                complete[line] = missed == 0 or complete.get(line, False)
        else:
            uncounted.add(line)
        if covered_arms > 0:
            arms.append(BranchArm(line, SOME_ARM, True))
        if missed_arms > 0:
            arms.append(BranchArm(line, SOME_MISSED_ARM, False))
    return FileFacts(
        Grain.COMPILED,
        counts,
        branches=merged_arms(arms),
        complete=complete,
        uncounted=frozenset(uncounted - counts.keys()),
        solid=True,
    )
