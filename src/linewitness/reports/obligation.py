"""What a map says of one line: ``linewitness explain PATH:LINE``."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import msgspec
from msgspec import UNSET, UnsetType

from linewitness.console import Screen, inert, safe
from linewitness.errors import UsageError
from linewitness.findings import CODES
from linewitness.hints import did_you_mean
from linewitness.model import Kind
from linewitness.obligation_map import ExemptRow, FindingRow, ObligationMap, Row, Status
from linewitness.reports import words
from linewitness.reports.layout import framed, labelled

_MOST_WITNESSES: Final = 20
_MOST_RANGES: Final = 200
_TAKEN: Final[Mapping[bool | UnsetType, str]] = {True: "taken", False: "not taken", UNSET: "unknown"}


def explain_line(artifact: ObligationMap, path: str, line: int, screen: Screen = Screen()) -> str:  # noqa: B008 - frozen
    """Everything that the map holds about ``path:line``, for a screen. Line 0 is the file as a whole.

    Errors: :class:`UsageError` when the map says nothing about that line, with the changed lines that are nearest.
    """
    rows, exempt = _at(artifact, path, line)
    parts: list[str] = []
    for row in rows:
        parts += _obligation(artifact, row, screen)
    for reason in exempt:
        parts += _exempt(reason, line, screen)
    for finding in _findings_at(artifact, path, line, rows):
        parts += labelled(finding.code, safe(finding.message), screen)
    return "\n".join(map(inert, parts)) + "\n"


def as_json(artifact: ObligationMap, path: str, line: int) -> bytes:
    """The same as JSON: the map's own rows, exemptions and findings at that line. Errors: as :func:`explain_line`."""
    rows, exempt = _at(artifact, path, line)
    findings = [finding for finding in artifact.findings if (finding.path, finding.line) == (path, line)]
    value = {"rows": rows, "exempt": exempt, "findings": findings}
    return json.dumps(msgspec.to_builtins(value), indent=2, sort_keys=True).encode() + b"\n"


def _at(artifact: ObligationMap, path: str, line: int) -> tuple[list[Row], list[ExemptRow]]:
    rows = [row for row in artifact.rows if row.path == path and row.line == line]
    exempt = [row for row in artifact.exempt if row.path == path and row.line in {line, 0}]
    if not rows and not exempt:
        raise _unknown(artifact, path, line)
    return rows, exempt


def _obligation(artifact: ObligationMap, row: Row, screen: Screen) -> Iterator[str]:
    where = screen.paint(safe(words.place(row.path, row.line)), "bold")
    yield f"{where}: {row.kind}, {_outcome(row)}"
    if row.kind is not Kind.OPAQUE:
        yield from framed([row], screen, 1)
    yield from labelled("identity", safe(f"{row.hash}{_scope(row)}"), screen)
    first, last = row.statement
    if first != last:
        yield from labelled("part of", f"the statement on lines {first}-{last}", screen)
    match row.status:
        case Status.TRUSTED_HIT:
            yield from _witnesses(row, screen)
        case Status.WAIVED:
            yield from _waiver(row, screen)
        case Status.UNWITNESSED:
            yield from _missing(artifact, row, screen)
    yield from _arms(row, screen)


def _outcome(row: Row) -> str:
    return "unwitnessed: it keeps the gate closed" if row.status is Status.UNWITNESSED else str(row.status)


def _scope(row: Row) -> str:
    if row.kind is Kind.OPAQUE:
        return " (blob id)"
    scope = f"in `{row.scope}`" if row.scope else "at the top of the module"
    return f", {scope}, number {row.occurrence} of its kind there" if row.occurrence > 1 else f", {scope}"


def _witnesses(row: Row, screen: Screen) -> Iterator[str]:
    yield from labelled("ran", words.witnessed_how(row), screen)
    if not row.witnesses:
        yield from labelled("by", "tests that the evidence does not name", screen)
    for witness in row.witnesses[:_MOST_WITNESSES]:
        yield from labelled("by", safe(witness), screen)
    more = row.witness_count - len(row.witnesses[:_MOST_WITNESSES])
    if row.witnesses and more > 0:
        yield from labelled("by", f"{words.plural(more, 'more test')}", screen)
    if row.note:
        yield from labelled("note", safe(row.note), screen)


def _waiver(row: Row, screen: Screen) -> Iterator[str]:
    if row.waiver is not None:
        waiver = row.waiver
        note = f": {waiver.note}" if waiver.note else ""
        yield from labelled(
            "waiver", safe(f"{waiver.reason}, owned by {waiver.owner}, to {waiver.expires}{note}"), screen
        )


def _missing(artifact: ObligationMap, row: Row, screen: Screen) -> Iterator[str]:
    found = words.line_findings(artifact).get((row.path, row.line))
    yield from labelled("missing", safe(found.message if found else row.note or "a witness"), screen)
    *others, last = words.allowed_reasons(row.kind)
    reasons = f"{', '.join(others)} or {last}"
    check = "" if row.kind is Kind.OPAQUE else "a trusted check or accepted relation that passes and runs it; or "
    yield from labelled("would do", f"{check}a live waiver by an owner, with the reason {reasons}", screen)
    if found:
        yield from labelled("next", f"linewitness explain {found.code}", screen)


def _arms(row: Row, screen: Screen) -> Iterator[str]:
    for arm in row.arms:
        yield from labelled("arm", safe(f"{arm.arm}: {_TAKEN[arm.taken]}"), screen)


def _exempt(row: ExemptRow, line: int, screen: Screen) -> Iterator[str]:
    where = screen.paint(safe(words.place(row.path, line)), "bold")
    whole = "the whole file: " if row.line == 0 else ""
    yield f"{where}: owes nothing"
    yield from labelled("because", whole + words.EXEMPT_BECAUSE[row.reason], screen)


def _findings_at(artifact: ObligationMap, path: str, line: int, rows: Sequence[Row]) -> Iterator[FindingRow]:
    """Findings at the line that are not told with its row already."""
    told = words.LINE_CODES if any(row.status is Status.UNWITNESSED for row in rows) else frozenset()
    for finding in artifact.findings:
        if (finding.path, finding.line) == (path, line) and finding.code not in told:
            yield finding


def _unknown(artifact: ObligationMap, path: str, line: int) -> UsageError:
    if not artifact.scored:
        code = artifact.findings[0].code if artifact.findings else ""
        why = f": `linewitness explain {code}` tells why" if code in CODES else ""
        return UsageError(f"no line was judged, as the gate closed before that{why}", path=path)
    places = {(row.path, row.line) for row in artifact.rows} | {(row.path, row.line) for row in artifact.exempt}
    lines = sorted(number for where, number in places if where == path and number)
    if lines:
        shown = words.ranges(lines)
        shown = shown if len(shown) <= _MOST_RANGES else shown[:_MOST_RANGES] + "…"
        return UsageError(
            f"the patch of this map does not change line {line}; its changed lines here: {shown}", path=path
        )
    hint = did_you_mean(path, (where for where, _ in places))
    return UsageError(f"the patch of this map does not change this file{hint}", path=path)
