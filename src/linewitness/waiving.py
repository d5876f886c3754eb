"""Waivers brought to bear on one changed file after the other, so that no step has to hold all lines of a patch."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from linewitness.model import Blob, Finding, Obligation, RepoPath, Waiver
from linewitness.obligation_map import Row, Status
from linewitness.obligations import FileLedger
from linewitness.trust.matching import Head, Matches, match


class Waiving:
    """The live waivers of the file at ``path`` at work. Each names one path: matching file by file loses nothing."""

    def __init__(self, waivers: Iterable[Waiver], path: str) -> None:
        self._path = path
        self._by_path: dict[RepoPath, list[Waiver]] = {}
        for waiver in waivers:
            self._by_path.setdefault(waiver.path, []).append(waiver)

    def match(self, ledger: FileLedger) -> Matches:
        """Match the waivers of a changed file. Each file is asked about once."""
        change, head = ledger.text.change, ledger.text.head
        waivers = self._by_path.pop(change.path, [])
        if not waivers:
            return Matches({}, (), ())
        tree: dict[RepoPath, Blob] = {} if change.head is None or head is None else {change.path: change.head}
        return match(waivers, ledger.classes.obligations, Head(tree, lambda _: head or b""))

    def findings(self, matches: Matches, obligations: Sequence[Obligation], rows: Sequence[Row]) -> tuple[Finding, ...]:
        """What is wrong with the waivers of one file, given the outcome (``rows``) of each of its obligations."""
        if not matches.ambiguous and not matches.stale:
            return ()
        judged = zip(obligations, rows, strict=True)
        unwitnessed = {obligation for obligation, row in judged if row.status is not Status.TRUSTED_HIT}
        return matches.findings(self._path, unwitnessed)

    def leftovers(self, head: Head) -> tuple[Finding, ...]:
        """Warnings about waivers of unchanged files whose line does not stand in head any more."""
        rest = [waiver for waivers in self._by_path.values() for waiver in waivers]
        return match(rest, (), head).findings(self._path)
