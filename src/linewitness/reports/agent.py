"""For coding agents: one line per item, stable words, no colour, and never more than a fixed number of bytes.

The first line is the verdict with its counts, and a second one says who approved changed protected content, if anybody
did. Then comes one line per open line or finding, errors before warnings; then the command that tells more about the
first of them; and when not all fit, a last line that says how many were left out and where they are. Nothing here tells
how to do without a witness: that is for the people who own the line.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, islice
from typing import Final

from linewitness.console import clip, inert, safe
from linewitness.obligation_map import ApprovalRow, FindingRow, ObligationMap, Row, Status
from linewitness.reports import View, words
from linewitness.reports.relations import relation_lines

LARGEST: Final = 16_384
"""The most bytes that a report has, its last line included."""

_LONGEST_LINE: Final = 400
_LONGEST_SOURCE: Final = 120
_MOST_RELATIONS: Final = 5


def render(artifact: ObligationMap, view: View) -> Iterable[bytes]:
    """The report, in UTF-8."""
    head = _encode(_head(artifact))
    room = LARGEST - len(head) - 2 * _LONGEST_LINE
    yield head
    if isinstance(artifact.approval, ApprovalRow):
        approved = _encode(f"approved: protected content: {safe(words.approved(artifact.approval))}")
        room -= len(approved)
        yield approved
    findings = words.line_findings(artifact)
    left_out, items = _items(artifact, findings)
    for item in items:
        data = _encode(item)
        if len(data) > room:
            # Once something was left out everything after it is, so that the count at the end means "the rest".
            break
        room -= len(data)
        left_out -= 1
        yield data
    first = next((row for row in artifact.rows if row.status is Status.UNWITNESSED), None)
    if first:
        finding = findings.get((first.path, first.line))
        yield _encode(f"next: {words.next_command(first, finding, view.map_file)}")
    if left_out:
        command = words.show_all_command(view.map_file)
        where = f"; all of them: {command}" if command else ""
        yield _encode(f"more: {words.plural(left_out, 'item')} left out{where}")


def _encode(line: str) -> bytes:
    """At most ``_LONGEST_LINE`` bytes, whole characters, with a line feed."""
    data = inert(line).encode("utf-8", "backslashreplace")
    if len(data) >= _LONGEST_LINE:
        data = data[: _LONGEST_LINE - 5].decode("utf-8", "ignore").encode() + b"..."
    return data + b"\n"


def _head(artifact: ObligationMap) -> str:
    return (
        f"{artifact.verdict} exit={artifact.exit} owed={artifact.owed} trusted-hit={artifact.trusted_hit} "
        f"waived={artifact.waived} unwitnessed={artifact.unwitnessed}: {words.verdict(artifact)}"
    )


def _items(artifact: ObligationMap, findings: Mapping[tuple[str, int], FindingRow]) -> tuple[int, Iterator[str]]:
    """How many items there are, and their texts: of a big patch all but the first are only counted."""
    errors, warnings = words.other_findings(artifact)
    rows = [row for row in artifact.rows if row.status is Status.UNWITNESSED]
    relations = list(islice(relation_lines(artifact), _MOST_RELATIONS))
    texts = chain(
        (_finding(finding.code, finding) for finding in errors),
        (_open(row, findings.get((row.path, row.line))) for row in rows),
        (_finding(f"{finding.code} warning", finding) for finding in warnings),
        map("relation {}".format, relations),
    )
    return len(errors) + len(rows) + len(warnings) + len(relations), texts


def _open(row: Row, found: FindingRow | None) -> str:
    code, message = (found.code, found.message) if found else ("LW101", row.note)
    scope = f" in `{safe(row.scope)}`" if row.scope else ""
    source = clip(safe(row.content.strip()), _LONGEST_SOURCE)
    return f"{safe(words.place(row.path, row.line))}: {code} {row.kind}{scope}: {safe(message)} | {source}".rstrip(" |")


def _finding(code: str, finding: FindingRow) -> str:
    where = f"{safe(words.place(finding.path, finding.line))}: " if finding.path else ""
    return f"{where}{safe(code)}: {safe(finding.message)}"
