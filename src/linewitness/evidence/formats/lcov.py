"""LCOV tracefiles, 1.x and 2.x, as geninfo, coverage.py, Istanbul, gcovr and LLVM write them (geninfo(1), "FILES").

A tracefile is a list of records from ``SF:`` to ``end_of_record``; nothing outside the wanted records is looked at.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Collection, Iterator
from typing import Annotated, Final

import msgspec

from linewitness.evidence.formats.facts import (
    MAX_COUNT,
    MAX_LINE,
    BranchArm,
    FileFacts,
    Grain,
    broken,
    combine,
    merged_arms,
    merged_conditions,
    merged_counts,
)
from linewitness.evidence.formats.lcov_details import conditions, functions
from linewitness.evidence.formats.numbers import hit_count, line_number, stands_nowhere
from linewitness.evidence.formats.source import ExportFile

_MAX_NAME: Final = 1 << 16
_HEAD: Final = b"\nSF:"
_END: Final = b"\nend_of_record"
_TAIL: Final = re.compile(rb"^end_of_record[ \t]*\r?$", re.MULTILINE)
_LINES: Final = re.compile(rb"^DA:([^,\r\n]*)(?:,([^,\r\n]*)(?:,([^\r\n]*))?)?\r?$", re.MULTILINE)
_ARMS: Final = re.compile(rb"^BRDA:([^,\r\n]*),([^,\r\n]*),([^\r\n]*),([^,\r\n]*)\r?$", re.MULTILINE)
_IGNORED_ARM: Final = re.compile(rb"f?[eU]")
_VERSION: Final = re.compile(rb"^VER:([0-9a-fA-F]{32})\r?$", re.MULTILINE)
_REST: Final = re.compile(rb"(?:\s|[A-Z]+:[^\n]*|#[^\n]*)*")
_JUMP: Final = re.compile(r"jump to line (\d+)$")
_COUNTS: Final = msgspec.json.Decoder(
    dict[Annotated[int, msgspec.Meta(ge=1, le=MAX_LINE)], Annotated[int, msgspec.Meta(ge=0, le=MAX_COUNT)]]
)


class Tracefile:
    """An opened tracefile: where the records of each source file are."""

    bases: tuple[str, ...] = ()

    def __init__(self, export: ExportFile) -> None:
        self._export = export
        starts = list(_record_starts(export))
        if not starts:
            raise broken(export, "there is no SF: record in it")
        self._records: dict[str, list[tuple[int, int]]] = {}
        for start, end in zip(starts, [*starts[1:], export.size], strict=True):
            self._records.setdefault(self._name_at(start), []).append((start, end))
        self._check_end(starts[-1])

    @property
    def names(self) -> Collection[str]:
        """The ``SF:`` paths, as written."""
        return self._records.keys()

    def context_names(self) -> Collection[str]:
        """Tracefiles have none; ``TN:`` names a whole run and no test."""
        return ()

    def facts(self, name: str) -> FileFacts:
        """The union of all records of one path. Errors: ``EvidenceError`` for a line that cannot be read."""
        return combine(*(self._decode(start, end) for start, end in self._records[name]))

    def _check_end(self, last: int) -> None:
        """Nothing but lines of the format, which then belong to no file, may follow the last record."""
        start = max(last, self._export.size - _MAX_NAME)
        tail = self._export.read(start, self._export.size)
        ends = next(reversed(list(_TAIL.finditer(tail))), None)
        if ends is None:
            raise broken(self._export, "its last record has no end_of_record: the file is cut off", offset=last)
        if not _REST.fullmatch(tail, ends.end()):
            raise broken(self._export, "something else than records follows the last one", offset=start + ends.end())

    def _name_at(self, start: int) -> str:
        head = self._export.read(start, min(start + 512, self._export.size))
        if b"\n" not in head:
            head = self._export.read(start, min(start + _MAX_NAME, self._export.size))
        line, newline, _rest = head.partition(b"\n")
        if not newline:
            raise broken(self._export, "a path that does not end", offset=start)
        return line[3:].removesuffix(b"\r").decode("utf-8", "surrogateescape")

    def _decode(self, start: int, end: int) -> FileFacts:
        text = self._export.read(start, end)
        end = text.find(_END)
        tail = _TAIL.search(text, end + 1) if end >= 0 else None
        if tail is None:
            raise broken(self._export, "a record without end_of_record", offset=start)
        record = text[: tail.start()]
        plain = _plain_counts(record)
        counts, checksums = (plain, {}) if plain is not None else self._careful_counts(record, start)
        return FileFacts(
            grain=Grain.STATEMENTS,
            counts=counts,
            branches=self._arms(record, start),
            checksums=checksums,
            digests=_digests(record),
            functions=tuple(functions(record)) if b"\nFN" in record else (),
            conditions=merged_conditions(conditions(record)) if b"\nMCDC:" in record else (),
        )

    def _careful_counts(self, record: bytes, start: int) -> tuple[dict[int, int], dict[int, str]]:
        """Every ``DA:`` line by the book: duplicates, checksums, odd numbers."""
        pairs: list[tuple[int, int]] = []
        checksums: dict[int, str] = {}
        for match in self._every(_LINES, b"\nDA:", record, start):
            number = line_number(match[1])
            count = hit_count(match[2]) if match[2] is not None else None
            if count is not None and stands_nowhere(match[1]):
                continue
            if number is None or count is None:
                raise self._bad_line(match, start)
            pairs.append((number, count))
            checksum = _md5(match[3]) if match[3] else None
            if checksum is not None:
                checksums[number] = checksum
        return merged_counts(pairs), checksums

    def _arms(self, record: bytes, start: int) -> tuple[BranchArm, ...]:
        arms = []
        for match in self._every(_ARMS, b"\nBRDA:", record, start):
            number, taken = line_number(match[1]), hit_count(match[4])
            if taken is not None and stands_nowhere(match[1]):
                continue
            if number is None or taken is None:
                raise self._bad_line(match, start)
            if _IGNORED_ARM.match(match[2]):
                # the way that an exception takes, and code that cannot be reached: neither stands in the source
                continue
            arms.append(BranchArm(number, _arm_text(match[2], match[3]), taken > 0))
        return merged_arms(arms)

    def _every(self, pattern: re.Pattern[bytes], head: bytes, record: bytes, start: int) -> Iterator[re.Match[bytes]]:
        """All lines that begin with ``head``; one that does not fit the pattern is an error, not a line to skip."""
        at = record.find(head)
        while at >= 0:
            match = pattern.match(record, at + 1)
            if match is None:
                raise broken(self._export, f"a {head[1:].decode()} line that is not one", offset=start + at + 1)
            yield match
            at = record.find(head, match.end())

    def _bad_line(self, match: re.Match[bytes], start: int) -> Exception:
        shown = match[0].decode("utf-8", "replace").strip()[:80]
        return broken(self._export, f"{shown!r} is no line of a tracefile", offset=start + match.start())


def _record_starts(export: ExportFile) -> Iterator[int]:
    """The offset of every ``SF:`` that begins a line."""
    for window in export.windows(len(_HEAD) - 1):
        if window.start == 0:
            head = window.data.removeprefix(b"\xef\xbb\xbf")
            if head.startswith(_HEAD[1:]):
                yield len(window.data) - len(head)
        at = window.data.find(_HEAD)
        while at >= 0:
            yield window.start + at + 1
            at = window.data.find(_HEAD, at + 1)


def _plain_counts(record: bytes) -> dict[int, int] | None:
    """The counts of a record whose ``DA:`` lines stand in one block and hold two whole numbers each, else ``None``.

    The block becomes a JSON object, which a decoder in C checks and reads ten times faster than a loop over its lines.
    """
    first = record.find(b"\nDA:")
    if first < 0:
        return {}
    last = record.rfind(b"\nDA:")
    block = record[first + 4 : record.find(b"\n", last + 1)]
    try:
        counts = _COUNTS.decode(b'{"' + block.replace(b",", b'":').replace(b"\nDA:", b',"') + b"}")
    except (msgspec.DecodeError, RecursionError):
        return None
    # a line named twice, whose counts have to be added up, is there once only
    return counts if len(counts) == block.count(b"\nDA:") + 1 else None


def _arm_text(block: bytes, branch: bytes) -> str:
    """The arm in words: coverage.py spells it out, the others number blocks and branches."""
    text = branch.decode("utf-8", "replace")
    jump = _JUMP.match(text)
    if jump:
        return f"line {jump[1]}"
    return text if not text.isdigit() else f"block {block.decode('utf-8', 'replace')}, branch {text}"


def _digests(record: bytes) -> frozenset[str]:
    if b"\nVER:" not in record:
        return frozenset()
    return frozenset(each.decode().lower() for each in _VERSION.findall(record))


def _md5(text: bytes) -> str | None:
    """A checksum as 32 hexadecimal digits: gcovr writes these, geninfo and coverage.py base64. ``None`` for others."""
    text = text.strip()
    if len(text) == 32:
        return text.decode("ascii", "replace").lower()
    if len(text) not in (22, 24):
        return None
    try:
        return base64.b64decode(text.rstrip(b"=") + b"==", validate=True).hex()
    except (binascii.Error, ValueError):
        return None
