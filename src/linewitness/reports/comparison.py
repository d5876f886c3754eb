"""What a verdict rests on, as labelled lines that every format for people shows in the same words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from linewitness.model import Phase, Precision
from linewitness.obligation_map import ApprovalRow, ObligationMap, Row, Status
from linewitness.reports import words
from linewitness.reports.relations import relation_lines

_MOST_RELATIONS: Final = 20


def basis(artifact: ObligationMap) -> Iterator[tuple[str, str]]:
    """Label and text of each line; the texts may hold what came with a patch, and are not yet safe."""
    yield "compared", words.compared(artifact)
    if isinstance(artifact.approval, ApprovalRow):
        yield "approved", words.approved(artifact.approval)
    for source in artifact.evidence:
        yield "evidence", words.evidence_line(source)
    if not artifact.evidence:
        yield "evidence", "none was collected"
    relations = list(relation_lines(artifact))
    for line in relations[:_MOST_RELATIONS]:
        yield "relation", line
    if len(relations) > _MOST_RELATIONS:
        yield "relation", f"and {len(relations) - _MOST_RELATIONS} more"
    weaker = _weaker(artifact.rows)
    if weaker:
        yield "weaker", weaker
    exempt = words.exempt_counts(artifact.exempt)
    if exempt:
        counts = ", ".join(f"{count} {reason}" for reason, count in exempt)
        total = words.plural(len(artifact.exempt), "change owes nothing", "changes owe nothing")
        yield "exempt", f"{total}: {counts}"
    if isinstance(artifact.today, str):
        yield "today", f"{artifact.today}, given by hand"


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
