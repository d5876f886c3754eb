"""What the map tells of the relations that a trusted run watched."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import UNSET

from linewitness.model import EvidenceSource, RelationRun
from linewitness.obligation_map import CaseCounts, CorpusRef, RelationRow


def relation_rows(sources: Iterable[EvidenceSource]) -> Iterator[RelationRow]:
    """One row for each relation of each run, in the order of the runs and of their node ids."""
    for source in sources:
        for run in source.relations:
            yield _row(run, source.suite)


def _row(run: RelationRun, suite: str) -> RelationRow:
    counts = run.counts
    return RelationRow(
        assertions=run.assertions,
        cases=None if counts is None else CaseCounts(counts.at_least, counts.checked, counts.skipped, counts.tried),
        corpora=tuple(CorpusRef(digest, path) for path, digest in run.corpora),
        node=run.node,
        seed=UNSET if run.seed is None else run.seed,
        suite=suite,
        vacuous=run.vacuous or UNSET,
    )
