"""The screen: verdict and reason first, then each open item with what is missing and what to do next."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Final

from linewitness.console import safe, wrap
from linewitness.findings import CODES
from linewitness.model import Kind, Phase, Precision, Severity
from linewitness.obligation_map import FindingRow, ObligationMap, Row, Status
from linewitness.reports import View, words
from linewitness.reports.layout import framed, labelled

_MOST_ITEMS: Final = 10
_MOST_WARNINGS: Final = 5
_MOST_LINES_OF_ITEM: Final = 8
_MOST_FILES: Final = 10
_NO_LIMIT: Final = 1 << 60


def render(artifact: ObligationMap, view: View) -> Iterable[bytes]:
    """The report in the view's encoding; what the encoding lacks is shown as escapes."""
    for line in _Page(artifact, view).lines():
        yield f"{line}\n".encode(view.encoding, "backslashreplace")


class _Page:
    def __init__(self, artifact: ObligationMap, view: View) -> None:
        self._map = artifact
        self._view = view
        self._screen = view.screen
        self._most = _NO_LIMIT if view.verbose else _MOST_ITEMS
        self._findings = words.line_findings(artifact)
        self._hits = _hits_by_path(artifact.rows)

    def lines(self) -> Iterator[str]:
        """Everything, in the order in which it is read."""
        color = "green" if self._map.verdict == "open" else "red"
        for line in wrap(words.verdict(self._map), self._screen.width):
            yield self._screen.paint(line, "bold", color)
        yield ""
        errors, warnings = words.other_findings(self._map)
        yield from self._other_findings(errors, _MOST_ITEMS)
        yield from self._open_items()
        yield from self._other_findings(warnings, _MOST_WARNINGS)
        if self._map.scored and not self._map.owed:
            yield from self._why_nothing_owes()
        if self._view.verbose:
            yield from self._waived()
        yield from self._what_was_compared()
        yield from wrap(words.sum_line(self._map), self._screen.width)
        yield from wrap(words.exit_line(self._map), self._screen.width)

    # ------------------------------------------------------------ open obligations

    def _open_items(self) -> Iterator[str]:
        items = _items(self._map, self._findings)
        shown = list(islice(items, self._most))
        for item in shown:
            yield from self._item(item)
            yield ""
        rest = Counter[str]()
        for item in items:
            rest[item[0].path] += len(item)
        if rest:
            yield from self._cut(rest)
            yield ""

    def _cut(self, rest: Counter[str]) -> Iterator[str]:
        """What was left out, counted truly, and how to see it."""
        total = sum(rest.values())
        yield f"… and {words.plural(total, 'more open line')} in {words.plural(len(rest), 'file')}"
        for path, count in rest.most_common(_MOST_FILES):
            yield f"  {safe(path)}: {count}"
        if len(rest) > _MOST_FILES:
            yield f"  … and {words.plural(len(rest) - _MOST_FILES, 'more file')}"
        yield from self._next(self._show_all())

    def _item(self, rows: list[Row]) -> Iterator[str]:
        first = rows[0]
        finding = self._findings.get((first.path, first.line))
        code = finding.code if finding else "LW101"
        yield self._head(first.path, first.line, code, f"{words.title(code)} ({_describe(rows)})")
        if first.kind is not Kind.OPAQUE:
            yield from framed(rows, self._screen, _MOST_LINES_OF_ITEM)
        yield from labelled("missing", safe(finding.message if finding else first.note), self._screen)
        near = self._nearby(first)
        if near:
            yield from labelled("nearby", near, self._screen)
        yield from self._next(words.next_command(first, finding, self._view.map_file))

    def _head(self, path: str, line: int, code: str, text: str) -> str:
        where = self._screen.paint(safe(words.place(path, line)) or "(the whole patch)", "bold")
        return f"{where}: {self._screen.paint(code, 'red')} {text}"

    def _next(self, command: str) -> Iterator[str]:
        # A command is never wrapped: it is there to be pasted.
        if command:
            yield f"  {'next:':<10}{self._screen.paint(command, 'cyan')}"

    def _show_all(self) -> str:
        return words.show_all_command(self._view.map_file)

    def _nearby(self, row: Row) -> str:
        """Witnesses of the nearest witnessed line of the same file, those of the same definition preferred."""
        rows = self._hits.get(row.path, [])
        same = [hit for hit in rows if hit.scope == row.scope] or rows
        if not same:
            return ""
        at = bisect_left(same, row.line, key=lambda hit: hit.line)
        nearest = min(same[max(at - 1, 0) : at + 1], key=lambda hit: abs(hit.line - row.line))
        more = f" and {nearest.witness_count - 1} more" if nearest.witness_count > 1 else ""
        return f"{safe(nearest.witnesses[0])}{more} ran line {nearest.line}"

    # ------------------------------------------------------------ everything else

    def _other_findings(self, findings: Sequence[FindingRow], most: int) -> Iterator[str]:
        most = _NO_LIMIT if self._view.verbose else most
        for finding in findings[:most]:
            yield from self._finding(finding)
            yield ""
        rest = Counter(finding.code for finding in findings[most:])
        if rest:
            counts = ", ".join(f"{count} x {safe(code)}" for code, count in sorted(rest.items()))
            yield f"… and {words.plural(sum(rest.values()), 'more finding')}: {counts}"
            yield from self._next(self._show_all())
            yield ""

    def _finding(self, finding: FindingRow) -> Iterator[str]:
        warning = "warning, " if finding.severity is Severity.WARNING else ""
        yield self._head(finding.path, finding.line, safe(finding.code), f"{warning}{words.title(finding.code)}")
        for line in wrap(safe(finding.message), self._screen.width - 2):
            yield f"  {line}"
        if finding.code in CODES:
            yield from self._next(f"linewitness explain {finding.code}")

    def _why_nothing_owes(self) -> Iterator[str]:
        if not self._map.exempt:
            yield "the patch changes no line"
            yield ""
            return
        by_path: defaultdict[str, list[int]] = defaultdict(list)
        for row in self._map.exempt:
            by_path[row.path].append(row.line)
        for path, lines in islice(by_path.items(), self._most):
            numbers = [line for line in lines if line]
            yield f"  {safe(path)}: {words.ranges(numbers) if numbers else 'the whole file'}"
        if len(by_path) > self._most:
            yield f"  … and {words.plural(len(by_path) - self._most, 'more file')}"
            yield from self._next(self._show_all())
        yield ""

    def _waived(self) -> Iterator[str]:
        for row in self._map.rows:
            if row.waiver is not None:
                waiver = row.waiver
                text = f"waived, {waiver.reason}, by {waiver.owner} until {waiver.expires}"
                note = f": {waiver.note}" if waiver.note else ""
                yield f"{safe(words.place(row.path, row.line))}: {safe(text + note)}"
        if self._map.waived:
            yield ""

    def _what_was_compared(self) -> Iterator[str]:
        yield from labelled("compared", words.compared(self._map), self._screen, 0)
        for source in self._map.evidence:
            yield from labelled("evidence", safe(words.evidence_line(source)), self._screen, 0)
        if not self._map.evidence:
            yield from labelled("evidence", "none was collected", self._screen, 0)
        weaker = _weaker(self._map.rows)
        if weaker:
            yield from labelled("weaker", weaker, self._screen, 0)
        exempt = words.exempt_counts(self._map.exempt)
        if exempt:
            counts = ", ".join(f"{count} {reason}" for reason, count in exempt)
            total = words.plural(len(self._map.exempt), "change owes nothing", "changes owe nothing")
            yield from labelled("exempt", f"{total}: {counts}", self._screen, 0)
        if isinstance(self._map.today, str):
            yield from labelled("today", f"{safe(self._map.today)}, given by hand", self._screen, 0)
        yield ""


def _items(artifact: ObligationMap, findings: dict[tuple[str, int], FindingRow]) -> Iterator[list[Row]]:
    """Open rows, with neighbours that miss the same thing in the same definition put together."""
    exempt = frozenset((row.path, row.line) for row in artifact.exempt)
    item: list[Row] = []
    for row in artifact.rows:
        joins = bool(item) and _continues(item[-1], row, exempt) and _same(item[-1], row, findings)
        if row.status is Status.UNWITNESSED and joins:
            item.append(row)
            continue
        if item:
            yield item
        item = [row] if row.status is Status.UNWITNESSED else []
    if item:
        yield item


def _continues(last: Row, row: Row, exempt: frozenset[tuple[str, int]]) -> bool:
    """Whether only changed lines that owe nothing lie between two rows, so that they are one passage of the patch."""
    if last.path != row.path or last.line == row.line or not last.line:
        return False
    return all((row.path, between) in exempt for between in range(last.line + 1, row.line))


def _same(last: Row, row: Row, findings: dict[tuple[str, int], FindingRow]) -> bool:
    ours, theirs = findings.get((last.path, last.line)), findings.get((row.path, row.line))
    if ours is None or theirs is None or last.scope != row.scope:
        return False
    return (ours.code, last.note) == (theirs.code, row.note)


def _describe(rows: Sequence[Row]) -> str:
    first = rows[0]
    scope = f" in {safe(first.scope)}" if first.scope else ""
    if first.kind is Kind.OPAQUE:
        return f"blob {safe(words.short(first.hash))}"
    if len(rows) == 1:
        return f"{first.kind}{scope}"
    kinds = Counter(row.kind for row in rows)
    counts = ", ".join(words.plural(count, kind, _PLURALS[kind]) for kind, count in kinds.items())
    return f"{counts} to line {rows[-1].line}{scope}"


_PLURALS: Final = {
    Kind.STATEMENT: "statements",
    Kind.BRANCH: "branches",
    Kind.DEFINITION: "definitions",
    Kind.DELETION: "deletions",
    Kind.OPAQUE: "opaque changes",
}


def _hits_by_path(rows: Iterable[Row]) -> dict[str, list[Row]]:
    found: defaultdict[str, list[Row]] = defaultdict(list)
    for row in rows:
        if row.status is Status.TRUSTED_HIT and row.witnesses:
            found[row.path].append(row)
    return dict(found)


def _weaker(rows: Iterable[Row]) -> str:
    """Hits that a reviewer should know to be weak, counted."""
    hits = [row for row in rows if row.status is Status.TRUSTED_HIT]
    at_import = sum(row.phase is Phase.IMPORT for row in hits)
    by_statement = sum(row.precision is Precision.STATEMENT for row in hits)
    parts = []
    if at_import:
        parts.append(f"{words.plural(at_import, 'line')} ran only at import")
    if by_statement:
        parts.append(f"{words.plural(by_statement, 'line')} judged by the whole statement, the evidence is no finer")
    return "; ".join(parts)
