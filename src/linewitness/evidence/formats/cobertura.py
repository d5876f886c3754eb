"""Cobertura XML (coverage-04.dtd), as coverage.py, gcovr, Istanbul, PHPUnit, coverlet and others write it.

Only ``class/lines/line`` is read: methods repeat lines, in some writers fewer of them. An export in its writer's usual
shape is hopped over from ``<class`` to ``<class``; any other goes through expat, with the same answer.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Collection, Iterator
from typing import Annotated, Final

import msgspec

from linewitness.evidence.formats.cobertura_xml import ClassLines, Document, parse, parse_fragment
from linewitness.evidence.formats.facts import (
    MAX_COUNT,
    MAX_LINE,
    SOME_ARM,
    SOME_MISSED_ARM,
    BranchArm,
    FileFacts,
    Grain,
    broken,
    combine,
    merged_arms,
    merged_counts,
)
from linewitness.evidence.formats.source import ExportFile
from linewitness.values import NamedTuple

_CLASS: Final = b"<class"
_CLOSE: Final = b"</class>"
_TAG: Final = re.compile(rb'<class(?:\s+[A-Za-z:_.-]+="[^"<&]*")*\s*/?>')
_FILENAME: Final = re.compile(rb'\sfilename="([^"]*)"')
_LINE: Final = re.compile(rb'<line number="(\d{1,18})" hits="(\d{1,18})"')
_BRANCH: Final = re.compile(rb'<line number="(\d+)"([^<>]*\scondition-coverage="([^"]*)"[^<>]*)/>')
_MISSING: Final = re.compile(rb'\smissing-branches="([^"&]*)"')
_SHARE: Final = re.compile(r"\((\d{1,9})\s*/\s*(\d{1,9})\)")
_PAIRS: Final = msgspec.json.Decoder(
    list[tuple[Annotated[int, msgspec.Meta(ge=1, le=MAX_LINE)], Annotated[int, msgspec.Meta(ge=0, le=MAX_COUNT)]]]
)
_MAX_TAG: Final = 1 << 12
_MAX_PREAMBLE: Final = 1 << 20


class Hopped(NamedTuple):
    """A file of the usual shape, of which only the places of its classes are known."""

    export: ExportFile
    bases: tuple[str, ...]
    places: dict[str, list[tuple[int, int]]]

    @property
    def names(self) -> Collection[str]:
        """The ``filename`` of every class."""
        return self.places.keys()

    def context_names(self) -> Collection[str]:
        """The format has none."""
        return ()

    def facts(self, name: str) -> FileFacts:
        """The union of all classes of one file. Errors: ``EvidenceError`` for a number that cannot be read."""
        return combine(*(self._decode(start, end) for start, end in self.places[name]))

    def _decode(self, start: int, end: int) -> FileFacts:
        text = self.export.read(start, end)
        close = text.find(_CLOSE)
        if close >= 0:
            text = text[: close + len(_CLOSE)]
        return _usual_lines(text) or _facts(parse_fragment(self.export, text, start))


class Parsed(NamedTuple):
    """A file that went through the parser."""

    document: Document

    @property
    def bases(self) -> tuple[str, ...]:
        """What stands in ``<source>``."""
        return self.document.sources

    @property
    def names(self) -> Collection[str]:
        """The ``filename`` of every class."""
        return self.document.classes.keys()

    def context_names(self) -> Collection[str]:
        """The format has none."""
        return ()

    def facts(self, name: str) -> FileFacts:
        """The union of all classes of one file."""
        return _facts(self.document.classes[name])


def open_cobertura(export: ExportFile) -> Hopped | Parsed:
    """Errors: ``EvidenceError`` with the place, for anything that is not Cobertura."""
    hopped = hop(export)
    if hopped is not None:
        return hopped
    parsed = Parsed(parse(export))
    if not parsed.names:
        raise broken(export, "there is no <class> in it: nothing was measured, or everything was left out")
    return parsed


def hop(export: ExportFile) -> Hopped | None:
    """The places of all classes, or ``None`` when the file is not in the usual shape and needs a parser."""
    starts = _class_starts(export)
    if not starts or starts[0] > _MAX_PREAMBLE or not _ends_well(export):
        return None
    bases = _preamble(export, starts[0])
    if bases is None:
        return None
    records: dict[str, list[tuple[int, int]]] = {}
    for start, end in zip(starts, [*starts[1:], export.size], strict=True):
        name = _name_in(export.read(start, min(end, start + _MAX_TAG)))
        if name is None:
            return None
        records.setdefault(name, []).append((start, end))
    return Hopped(export, bases, records)


def _class_starts(export: ExportFile) -> list[int] | None:
    """Offsets of all ``<class`` elements, or ``None`` if comments, CDATA or odd spacing make byte search unsafe."""
    starts: list[int] = []
    for window in export.windows(len(_CLASS)):
        data = window.data
        at = data.find(_CLASS)
        while 0 <= at < len(data) - len(_CLASS):
            follower = data[at + len(_CLASS) : at + len(_CLASS) + 1]
            if follower == b" ":
                starts.append(window.start + at)
            elif follower != b"e":
                return None
            at = data.find(_CLASS, at + 1)
        if starts and data.find(b"<!", max(0, starts[0] - window.start)) >= 0:
            return None
    return starts


def _ends_well(export: ExportFile) -> bool:
    return export.read(max(0, export.size - 256), export.size).rstrip().endswith(b"</coverage>")


def _preamble(export: ExportFile, end: int) -> tuple[str, ...] | None:
    """The ``<source>`` entries, read by the parser from what comes before the first class."""
    head = parse(export, stop=end)
    return head.sources if head.utf8 else None


def _name_in(text: bytes) -> str | None:
    tag = _TAG.match(text)
    names = _FILENAME.findall(tag[0]) if tag else []
    if len(names) != 1:
        return None
    try:
        return str(names[0], "utf-8")
    except UnicodeDecodeError:
        return None


def _usual_lines(text: bytes) -> FileFacts | None:
    """The facts of one class as bytes, when it is nothing but a flat list of lines; else ``None``."""
    body = _after_methods(text)
    if body is None:
        return None
    total = body.count(b"<line ")
    # <lines>, </lines> and </class> are all that may stand beside the lines
    if body.count(b"<") != total + 3 or body.count(b"/>") != total or not _closes(body):
        return FileFacts(Grain.STATEMENTS, {}) if _is_empty(body) else None
    counts = _plain_counts(body, total)
    if counts is None:
        found = _LINE.findall(body)
        if len(found) != total:
            return None
        counts = merged_counts((int(number), int(hits)) for number, hits in found)
        if counts and not 1 <= min(counts) <= max(counts) <= MAX_LINE:
            return None
    arms = _usual_arms(body) if b"condition-coverage" in body else ()
    return FileFacts(Grain.STATEMENTS, counts, branches=arms)


def _after_methods(text: bytes) -> bytes | None:
    tag = _TAG.match(text)
    if tag is None:
        return None
    for mark in (b"<methods/>", b"</methods>"):
        at = text.rfind(mark)
        if at >= 0:
            return text[at + len(mark) :]
    return text[tag.end() :]


def _closes(body: bytes) -> bool:
    return re.match(rb"\s*<lines>\s*<", body) is not None and re.search(rb"</lines>\s*</class>$", body) is not None


def _is_empty(body: bytes) -> bool:
    return re.fullmatch(rb"\s*(?:<lines\s*/>|<lines>\s*</lines>)?\s*</class>", body) is not None


def _plain_counts(body: bytes, total: int) -> dict[int, int] | None:
    """Lines that all look like ``<line number="1" hits="0"/>``, made JSON for a decoder in C to check and read."""
    head, between = b'<line number="', b'" hits="'
    first, last = body.find(head), body.rfind(b'"/>')
    second = body.find(head, first + 1)
    if first < 0:
        return {} if total == 0 else None
    block = body[first + len(head) : last]
    if second >= 0:
        gap = body[body.rfind(b'"/>', first, second) : second + len(head)]
        block = block.replace(gap, b"],[")
    try:
        pairs = _PAIRS.decode(b"[[" + block.replace(between, b",") + b"]]")
    except (msgspec.DecodeError, RecursionError):
        return None
    counts = dict(pairs)
    return counts if len(counts) == len(pairs) == total else None


def _usual_arms(body: bytes) -> tuple[BranchArm, ...]:
    arms: list[BranchArm] = []
    for number, attributes, share in _BRANCH.findall(body):
        missing = _MISSING.search(attributes)
        named = missing[1].decode("ascii", "replace") if missing else ""
        arms += _arms(int(number), share.decode("ascii", "replace"), named)
    return merged_arms(arms)


def _arms(line: int, share: str, missing: str) -> Iterator[BranchArm]:
    """Arms of ``condition-coverage="50% (1/2)" missing-branches="exit,29"``; the format does not name those taken."""
    counted = _SHARE.search(share)
    if counted is None:
        return
    covered, total = int(counted[1]), int(counted[2])
    named = [each.strip() for each in missing.split(",") if each.strip()]
    for each in named:
        yield BranchArm(line, f"line {each}" if each.isdigit() else each, False)
    if covered > 0:
        yield BranchArm(line, SOME_ARM, True)
    if total - covered > len(named):
        yield BranchArm(line, SOME_MISSED_ARM, False)


def _facts(lines: ClassLines) -> FileFacts:
    numbers: array[int] = lines.counts
    arms = [arm for line, share, missing in lines.branches for arm in _arms(line, share, missing)]
    return FileFacts(
        Grain.STATEMENTS, merged_counts(zip(numbers[::2], numbers[1::2], strict=True)), branches=merged_arms(arms)
    )
