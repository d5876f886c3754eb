"""What reports say of relations: over which corpus, on how many cases, with which seed."""

from __future__ import annotations

from collections.abc import Iterator

from linewitness.console import safe
from linewitness.obligation_map import ObligationMap, RelationRow
from linewitness.reports import words


def relation_lines(artifact: ObligationMap) -> Iterator[str]:
    """One line for each relation of the map, safe to print."""
    rows = artifact.relations if isinstance(artifact.relations, tuple) else ()
    for row in rows:
        yield safe(f"{row.node}: {_counts(row)}{_corpora(row)}{_seed(row)}")


def _counts(row: RelationRow) -> str:
    if isinstance(row.vacuous, str):
        return "vacuous"
    cases = row.cases
    if cases is None:
        return words.plural(row.assertions, "assertion") + " reached"
    skipped = f", {cases.skipped} skipped" if cases.skipped else ""
    return f"{cases.checked} of {words.plural(cases.tried, 'distinct case')} checked{skipped}"


def _corpora(row: RelationRow) -> str:
    named = ", ".join(f"{corpus.path} ({words.short(corpus.digest)})" for corpus in row.corpora)
    return f"; corpus {named}" if named else "; no corpus"


def _seed(row: RelationRow) -> str:
    return f"; seed {row.seed}" if isinstance(row.seed, int) else ""
