"""Istanbul's coverage-final.json: maps of statements, functions and branches, and how often each ran.

nyc, Jest, Vitest and others write it. c8 (v8-to-istanbul) writes the same shape with another meaning: each physical
line is a statement, and what it calls branches are the blocks of V8. Lines are 1-based, columns count UTF-16 units from
0; a column that is null is the end of its line.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Annotated, Final

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
from linewitness.evidence.formats.regions import END_OF_LINE, Part, Regions, Scope, Unit, flat
from linewitness.evidence.formats.source import ExportFile
from linewitness.model import Pos, Span

_ARMS: Final = {"if": ("then", "else"), "cond-expr": ("then", "else"), "default-arg": ("default value",)}

_Line = Annotated[int, msgspec.Meta(ge=0, le=MAX_LINE)]
#: v8-to-istanbul gives a block that begins with the line feed in front of a line the column -1.
_Column = Annotated[int, msgspec.Meta(ge=-END_OF_LINE, le=END_OF_LINE)]


class _Place(msgspec.Struct, frozen=True):
    line: _Line | None = None
    column: _Column | None = None


class _Range(msgspec.Struct, frozen=True):
    start: _Place = _Place()
    end: _Place = _Place()


class _Function(msgspec.Struct):
    loc: _Range
    name: str = ""
    decl: _Range | None = None
    line: _Line | None = None


class _Branch(msgspec.Struct):
    locations: list[_Range]
    type: str = ""
    loc: _Range | None = None
    line: _Line | None = None


class _Entry(msgspec.Struct, rename={"statement_map": "statementMap", "fn_map": "fnMap", "branch_map": "branchMap"}):
    statement_map: dict[str, _Range]
    fn_map: dict[str, _Function]
    branch_map: dict[str, _Branch]
    s: dict[str, int]
    f: dict[str, int]
    b: dict[str, list[int]]
    path: str = ""
    input_source_map: msgspec.Raw = msgspec.field(default=msgspec.Raw(), name="inputSourceMap")


class Report(ByFile[Value]):
    """An opened report: where the entry of each file is."""

    def __init__(self, export: ExportFile) -> None:
        super().__init__(export)
        text = JsonText(export)
        for key, outer in text.members(text.top).items():
            value, members = outer, text.members(outer)
            if set(members) == {"data"}:
                # some plugins of bundlers put the maps one level deeper
                value, members = members["data"], text.members(members["data"])
            if "statementMap" not in members:
                raise broken(export, f"the entry of {key[:200]!r} has no statementMap", offset=value.start)
            self._places.setdefault(key, []).append(value)
        if not self._places:
            raise broken(export, "there is no file in it: nothing was instrumented, or everything was left out")

    def _decode(self, place: Value) -> FileFacts:
        """The facts of an entry. Errors: ``EvidenceError`` for one of transpiled text."""
        entry = read(self._export, place, _Entry)
        if bytes(entry.input_source_map) not in (b"", b"null", b"{}"):
            raise broken(
                self._export,
                f"{self._name_of(place)!r} has places of transpiled text (inputSourceMap); pass the report that nyc, "
                "Jest or Vitest wrote after mapping it back (reporter `json` or `lcov`), not the raw data",
            )
        complete = (
            entry.statement_map.keys() == entry.s.keys()
            and entry.fn_map.keys() == entry.f.keys()
            and entry.branch_map.keys() == entry.b.keys()
            and all(len(branch.locations) == len(entry.b[key]) for key, branch in entry.branch_map.items())
        )
        if not complete:
            raise broken(self._export, f"the maps and the counts of {self._name_of(place)!r} do not fit together")
        return _blocks(entry) if _is_by_line(entry) else _statements(entry)

    def _name_of(self, place: Value) -> str:
        return next(name for name, places in self._places.items() if place in places)


def _is_by_line(entry: _Entry) -> bool:
    """Whether the statements are simply the lines of the file, as v8-to-istanbul writes them."""
    if not entry.statement_map or any(branch.type != "branch" for branch in entry.branch_map.values()):
        return False
    numbered = enumerate(entry.statement_map.values(), 1)
    return all(each.start == _Place(line, 0) and each.end.line == line for line, each in numbered)


def _statements(entry: _Entry) -> FileFacts:
    """Statements are counted when they begin, functions when they are entered, arms when they are chosen."""
    statements = list(_counted((each, entry.s[key]) for key, each in entry.statement_map.items()))
    arms = [arm for key, branch in entry.branch_map.items() for arm in _arms(branch, entry.b[key])]
    functions = list(_counted((each.loc, entry.f[key]) for key, each in entry.fn_map.items()))
    regions: list[tuple[Span, int | None]] = [*statements]
    regions += [(arm.span, clamped(count)) for arm, count in arms if arm.span is not None and arm.text != "if"]
    # that a function was entered says nothing of code in it that has no counter; that it was not, everything
    regions += [(span, 0 if count == 0 else None) for span, count in functions]
    return FileFacts(
        Grain.STATEMENTS,
        merged_counts((span.start.line, count) for span, count in statements),
        branches=merged_arms(arm for arm, _count in arms),
        functions=tuple(_hits(entry)),
        regions=Regions(flat(regions), Scope.STATEMENTS, frozenset(), Unit.UTF16),
        solid=True,
    )


def _blocks(entry: _Entry) -> FileFacts:
    """c8: a line is zero when a block that never ran covers it whole; blocks have columns, and are called branches.

    Functions without a name that never ran stand in no map, so that only the zero of whole lines tells of them.
    """
    counts = {each.start.line or 0: clamped(entry.s[key]) for key, each in entry.statement_map.items()}
    blocks = [(each.locations[0], entry.b[key][0]) for key, each in entry.branch_map.items() if each.locations]
    idle = [(each.loc, 0) for key, each in entry.fn_map.items() if clamped(entry.f[key]) == 0]
    regions = flat(_counted([*blocks, *idle]), later_is_inner=True)
    return FileFacts(
        Grain.PHYSICAL,
        counts,
        functions=tuple(_hits(entry)),
        regions=Regions(regions, Scope.BLOCKS, frozenset({Part.OPERAND}), Unit.UTF16),
    )


def _counted(ranges: Collection[tuple[_Range, int]] | Iterator[tuple[_Range, int]]) -> Iterator[tuple[Span, int]]:
    for place, count in ranges:
        span = _span(place)
        if span is not None:
            yield span, clamped(count)


def _span(place: _Range) -> Span | None:
    """A range of the text, or ``None`` for one that is empty, backwards, or not told."""
    if not place.start.line or not place.end.line:
        return None
    start = Pos(place.start.line, max(place.start.column or 0, 0))
    end = Pos(place.end.line, END_OF_LINE if place.end.column is None else max(place.end.column, 0))
    return Span(start, end) if start < end else None


def _arms(branch: _Branch, counts: list[int]) -> Iterator[tuple[BranchArm, int]]:
    """The arms of a branch. What is given as the place of an ``if``'s arm is the whole ``if``, so it has none here."""
    whole = _span(branch.loc) if branch.loc is not None else None
    line = (
        branch.line
        or (whole.start.line if whole else 0)
        or next((each.start.line for each in branch.locations if each.start.line), 0)
    )
    for number, (place, count) in enumerate(zip(branch.locations, counts, strict=True), 1):
        span = _span(place)
        span = None if branch.type == "if" or span == whole else span
        if line:
            yield BranchArm(line, _arm_text(branch, number), count > 0, span), count


def _arm_text(branch: _Branch, number: int) -> str:
    names = _ARMS.get(branch.type, ())
    return names[number - 1] if number <= len(names) else f"{branch.type or 'branch'} arm {number}"


def _hits(entry: _Entry) -> Iterator[FunctionHit]:
    for key, each in entry.fn_map.items():
        head = each.decl or each.loc
        line = head.start.line or each.line or each.loc.start.line
        if line:
            yield FunctionHit(line, each.name, clamped(entry.f[key]), each.loc.end.line)
