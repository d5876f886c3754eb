"""Counts the hits of a judged run: which site ran, in which phase, for which passing tests."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from linewitness.evidence.hits import Hit
from linewitness.evidence.records import ChildHit, FileHits, Files, ForeignRow, ImportRow, Journals, Outcome, TestRow
from linewitness.evidence.vacuity import Judged
from linewitness.model import Phase, RepoPath

Witnesses = tuple[str, ...] | set[str]
"""Nobody, or one test, in a tuple that all places of the test share; a set of several."""


def loaded_files(journals: Journals) -> frozenset[RepoPath]:
    """Files of the export that any process of the run loaded or ran."""
    return frozenset(RepoPath(path) for row in journals.rows() if isinstance(row, Files) for path in row.paths)


def foreign_idents(journals: Journals) -> dict[RepoPath, frozenset[int]]:
    """By file, what ran on threads that outlived the test which started them."""
    found: dict[RepoPath, frozenset[int]] = {}
    for row in journals.rows():
        for file, idents in row.hits if isinstance(row, ForeignRow) else ():
            found[RepoPath(file)] = found.get(RepoPath(file), frozenset()).union(idents)
    return found


class _Tally:
    """Who hit what first, file by file. Most places share their witnesses with many others: each set is kept once."""

    def __init__(self, bodies: Mapping[RepoPath, frozenset[int]]) -> None:
        self._bodies = bodies
        self._hits: dict[RepoPath, dict[int, Witnesses]] = {}

    def add(self, file: str, idents: Sequence[int], witness: str | None) -> None:
        """Count hits for ``witness``; without one only what runs where it is defined counts, as imported."""
        path = RepoPath(file)
        if witness is None:
            # A module that a skipped test imports first is imported once: its body ran, for no test in particular.
            self._import(path, self._bodies.get(path, frozenset()).intersection(idents))
            return
        known, alone = self._hits.setdefault(path, {}), (witness,)
        again = {ident: known[ident] for ident in known.keys() & idents if known[ident]}
        known.update(dict.fromkeys(idents, alone))
        for ident, others in again.items():
            if isinstance(others, set):
                others.add(witness)
            known[ident] = others if isinstance(others, set) or others == alone else {*others, witness}

    def add_import(self, hits: FileHits) -> None:
        """Count what ran at import or collection."""
        for file, idents in hits:
            self._import(RepoPath(file), idents)

    def _import(self, path: RepoPath, idents: Iterable[int]) -> None:
        known = self._hits.setdefault(path, {})
        for ident in idents:
            known.setdefault(ident, ())

    def result(self) -> dict[RepoPath, dict[int, Hit]]:
        """One hit per ident, a test's before an import's. Equal hits are one object."""
        made: dict[tuple[str, ...], Hit] = {(): Hit(Phase.IMPORT, ())}

        def hit(names: Witnesses) -> Hit:
            witnesses = names if isinstance(names, tuple) else tuple(sorted(names))
            return made.get(witnesses) or made.setdefault(witnesses, Hit(Phase.CALL, witnesses))

        return {
            path: {ident: hit(idents[ident]) for ident in sorted(idents)} for path, idents in sorted(self._hits.items())
        }


def count_hits(
    journals: Journals, tests: tuple[Judged, ...], bodies: Mapping[RepoPath, frozenset[int]]
) -> dict[RepoPath, dict[int, Hit]]:
    """The hits of passing tests, of import, and of children while the passing test that they inherited was running."""
    tally = _Tally(bodies)
    running: dict[str, TestRow] = {}
    for test in tests:
        passed = test.outcome is Outcome.PASSED
        if passed:
            running[_inherited(test.row.nodeid)] = test.row
        for file, idents in test.row.hits:
            tally.add(file, idents, test.row.nodeid if passed else None)
    for row in journals.rows():
        if isinstance(row, ImportRow):
            tally.add_import(row.hits)
        elif isinstance(row, ChildHit):
            parent = running.get(_inherited(row.test or ""))
            # A server that outlives its test still bears that test's name.
            in_time = parent is not None and parent.since <= row.at <= parent.until
            tally.add(row.file, [row.ident], parent.nodeid if parent is not None and in_time else None)
    return tally.result()


def _inherited(nodeid: str) -> str:
    """A node id as the environment can hold it."""
    return nodeid.replace("\0", "(null)")
