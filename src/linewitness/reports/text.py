"""The screen: verdict and reason first, then each open item with what is missing and what to do next."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Final

from linewitness.console import columns, inert, safe, wrap
from linewitness.findings import CODES
from linewitness.model import Kind, Severity
from linewitness.obligation_map import FindingRow, ObligationMap, Row
from linewitness.reports import View, words
from linewitness.reports.comparison import basis
from linewitness.reports.items import Nearby, describe, open_items
from linewitness.reports.layout import framed, labelled, wrapped

_MOST_ITEMS: Final = 10
_MOST_WARNINGS: Final = 5
_MOST_LINES_OF_ITEM: Final = 8
_MOST_FILES: Final = 10
_NO_LIMIT: Final = 1 << 60


def render(artifact: ObligationMap, view: View) -> Iterable[bytes]:
    """The report in the view's encoding; what the encoding lacks is shown as escapes."""
    for line in _Page(artifact, view).lines():
        yield f"{inert(line)}\n".encode(view.encoding, "backslashreplace")


class _Page:
    def __init__(self, artifact: ObligationMap, view: View) -> None:
        self._map = artifact
        self._view = view
        self._screen = view.screen
        self._most = _NO_LIMIT if view.verbose else _MOST_ITEMS
        self._findings = words.line_findings(artifact)
        self._nearby = Nearby(artifact.rows)

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
        items = open_items(self._map, self._findings)
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
        yield from self._head(first.path, first.line, code, f"{words.title(code)} ({describe(rows)})")
        if first.kind is not Kind.OPAQUE:
            yield from framed(rows, self._screen, _MOST_LINES_OF_ITEM)
        yield from labelled("missing", safe(finding.message if finding else first.note), self._screen)
        near = self._nearby.to(first)
        if near:
            yield from labelled("nearby", near, self._screen)
        yield from self._next(words.next_command(first, finding, self._view.map_file))

    def _head(self, path: str, line: int, code: str, text: str) -> Iterator[str]:
        """The place, in one piece for terminals that open it on a click, then the code and what it says."""
        where = safe(words.place(path, line)) or "(the whole patch)"
        head = f"{self._screen.paint(where, 'bold')}: {self._screen.paint(code, 'red')}"
        taken = columns(f"{where}: {code}")
        width = self._screen.width
        room = width if taken + 1 + columns(text) <= width else width - 2
        first, *more = wrapped(f"{'-' * taken} {text}", room)
        yield f"{head}{first[taken:]}"
        yield from (f"  {line}" for line in more)

    def _next(self, command: str) -> Iterator[str]:
        # A command is never wrapped: it is there to be pasted.
        if command:
            yield f"  {'next:':<10}{self._screen.paint(command, 'cyan')}"

    def _show_all(self) -> str:
        return words.show_all_command(self._view.map_file)

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
        yield from self._head(finding.path, finding.line, safe(finding.code), f"{warning}{words.title(finding.code)}")
        for part in finding.message.split("\n"):
            for line in wrapped(safe(part), self._screen.width - 2):
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
                yield f"{safe(words.place(row.path, row.line))}: {safe(words.waiver_line(row))}"
        if self._map.waived:
            yield ""

    def _what_was_compared(self) -> Iterator[str]:
        for label, text in basis(self._map):
            yield from labelled(label, safe(text), self._screen, 0)
        yield ""
