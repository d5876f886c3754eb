"""Open rows put together as people see them: passages, what is in them, and which checks ran near by."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from linewitness.console import safe
from linewitness.model import Kind
from linewitness.obligation_map import FindingRow, ObligationMap, Row, Status
from linewitness.reports import words

_PLURALS: Final = {
    Kind.STATEMENT: "statements",
    Kind.BRANCH: "branches",
    Kind.DEFINITION: "definitions",
    Kind.DELETION: "deletions",
    Kind.OPAQUE: "opaque changes",
}


def open_items(artifact: ObligationMap, findings: Mapping[tuple[str, int], FindingRow]) -> Iterator[list[Row]]:
    """Open rows, with neighbours that miss the same thing in the same definition put together.

    ``findings`` are those of :func:`linewitness.reports.words.line_findings`.
    """
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


def _same(last: Row, row: Row, findings: Mapping[tuple[str, int], FindingRow]) -> bool:
    ours, theirs = findings.get((last.path, last.line)), findings.get((row.path, row.line))
    if ours is None or theirs is None or last.scope != row.scope:
        return False
    return (ours.code, last.note) == (theirs.code, row.note)


def describe(rows: Sequence[Row]) -> str:
    """What an item is, in a few safe words: ``branch in price_order``, ``2 statements to line 4``."""
    first = rows[0]
    scope = f" in `{safe(first.scope)}`" if first.scope else ""
    if first.kind is Kind.OPAQUE:
        return f"blob {safe(words.short(first.hash))}"
    if len(rows) == 1:
        return f"{first.kind}{scope}"
    kinds = Counter(row.kind for row in rows)
    counts = ", ".join(words.plural(count, kind, _PLURALS[kind]) for kind, count in kinds.items())
    return f"{counts} to line {rows[-1].line}{scope}"


class Nearby:
    """The checks that ran nearest to a line, of all that a map names."""

    def __init__(self, rows: Iterable[Row]) -> None:
        by_path: defaultdict[str, list[Row]] = defaultdict(list)
        by_scope: defaultdict[tuple[str, str], list[Row]] = defaultdict(list)
        for row in rows:
            if row.status is Status.TRUSTED_HIT and row.witnesses:
                by_path[row.path].append(row)
                by_scope[row.path, row.scope].append(row)
        self._by_path, self._by_scope = dict(by_path), dict(by_scope)

    def to(self, row: Row) -> str:
        """Witnesses of the nearest witnessed line of the same file, those of the same definition preferred."""
        same = self._by_scope.get((row.path, row.scope)) or self._by_path.get(row.path)
        if same is None:
            return ""
        at = bisect_left(same, row.line, key=lambda hit: hit.line)
        nearest = min(same[max(at - 1, 0) : at + 1], key=lambda hit: abs(hit.line - row.line))
        more = f" and {nearest.witness_count - 1} more" if nearest.witness_count > 1 else ""
        return f"{safe(nearest.witnesses[0])}{more} ran line {nearest.line}"
