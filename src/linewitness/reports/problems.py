"""Everything that keeps the gate closed, and every warning, as the flat list that machine formats are made from.

One problem per open line is what tools that compare two runs want: its fingerprint is made from the line's identity,
never from its number, so that a rebase keeps it. One per passage is what people want to read.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from linewitness.console import safe
from linewitness.errors import Exit
from linewitness.findings import CODES
from linewitness.model import Kind, Severity
from linewitness.obligation_map import FindingRow, ObligationMap, Row, Status
from linewitness.reports import words
from linewitness.reports.items import describe, open_items
from linewitness.values import NamedTuple

WHOLE_PATCH: Final = "."
"""The path of a problem that is about no file in particular, for formats that cannot do without one."""

_DIGITS: Final = 32
_UNKNOWN_CODE: Final = "LW101"


class Problem(NamedTuple):
    """One thing to look at.

    ``path`` is as in the map, not yet safe, and empty when it is about no file. ``line`` is 0 for a whole file.
    ``message`` is one safe line. ``fingerprint`` is unique in a map and has no line number in it.
    """

    code: str
    severity: Severity
    path: str
    line: int
    last: int
    message: str
    scope: str
    content: str
    fingerprint: str

    @property
    def exit(self) -> int:
        """The exit status that an error of this code leads to."""
        return CODES[self.code].exit if self.code in CODES else Exit.CLOSED

    @property
    def title(self) -> str:
        """The phrase for the code."""
        return words.title(self.code)

    @property
    def shown_path(self) -> str:
        """The path as text that any format can hold."""
        return safe(self.path) or WHOLE_PATCH


def by_line(artifact: ObligationMap) -> list[Problem]:
    """One problem per open line and per other finding, the most important first."""
    findings = words.line_findings(artifact)
    marks = _Fingerprints()
    open_rows = [[row] for row in artifact.rows if row.status is Status.UNWITNESSED]
    return _ranked(_all(artifact, (_of_item(item, findings, marks) for item in open_rows), marks))


def by_passage(artifact: ObligationMap) -> list[Problem]:
    """One problem per passage of open lines and per other finding, the most important first."""
    findings = words.line_findings(artifact)
    marks = _Fingerprints()
    items = open_items(artifact, findings)
    return _ranked(_all(artifact, (_of_item(item, findings, marks) for item in items), marks))


def _all(artifact: ObligationMap, of_rows: Iterable[Problem], marks: _Fingerprints) -> Iterator[Problem]:
    errors, warnings = words.other_findings(artifact)
    yield from of_rows
    for finding in (*errors, *warnings):
        mark = marks.of(finding.code, finding.path)
        message = safe(finding.message)
        yield Problem(finding.code, finding.severity, finding.path, finding.line, finding.line, message, "", "", mark)


def _of_item(rows: Sequence[Row], findings: dict[tuple[str, int], FindingRow], marks: _Fingerprints) -> Problem:
    first = rows[0]
    finding = findings.get((first.path, first.line))
    code = finding.code if finding else _UNKNOWN_CODE
    message = safe(finding.message if finding else first.note)
    if len(rows) > 1:
        message = f"{message} ({describe(rows)})"
    content = "\n".join(safe(row.content) for row in rows)
    return Problem(
        code,
        Severity.ERROR,
        first.path,
        first.line,
        rows[-1].line,
        message,
        first.scope,
        content,
        marks.of_row(code, first),
    )


def _ranked(found: Iterable[Problem]) -> list[Problem]:
    """Errors before warnings, those of the higher exit status first, and else as they come in the map."""
    return sorted(found, key=lambda problem: (problem.severity is not Severity.ERROR, -problem.exit))


class _Fingerprints:
    """Digests that stay the same while lines move, told apart by a count where nothing else does."""

    def __init__(self) -> None:
        self._seen: Counter[str] = Counter()

    def of_row(self, code: str, row: Row) -> str:
        # not the map's hash of the line, of which there are two forms
        identity = row.hash if row.kind is Kind.OPAQUE else row.content
        return self.of(code, row.path, row.scope, row.kind, identity, str(row.occurrence))

    def of(self, *parts: str) -> str:
        text = "\0".join(parts).encode("utf-8", "surrogatepass")
        first = hashlib.sha256(text).hexdigest()[:_DIGITS]
        self._seen[first] += 1
        count = self._seen[first]
        return first if count == 1 else hashlib.sha256(f"{first}\0{count}".encode()).hexdigest()[:_DIGITS]
