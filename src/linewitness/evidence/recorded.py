"""Evidence that the gate recorded itself: the line rule applied to the sites that a trusted run hit."""

from __future__ import annotations

from collections.abc import Callable

from linewitness.evidence.hits import RunRecord
from linewitness.evidence.rule import FileRule
from linewitness.model import Answer, Demand, EvidenceSource, FileText, Finding, Obligation, Sighting

Demands = Callable[[FileText, tuple[Obligation, ...]], tuple[Demand, ...]]


class RecordedEvidence:
    """A complete trusted run, as an answer to the question who saw what. Implements :class:`linewitness.model.Evidence`."""

    def __init__(self, record: RunRecord, demands: Demands) -> None:
        self._record = record
        self._demands = demands

    @property
    def sources(self) -> tuple[EvidenceSource, ...]:
        """The run."""
        return (self._record.source,)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What went wrong in the run."""
        return self._record.findings

    def sightings(self, text: FileText, obligations: tuple[Obligation, ...]) -> tuple[Sighting, ...]:
        """One answer per obligation of one file. A file in which the run could see nothing was not run."""
        path = text.change.path
        sites = self._record.sites.get(path)
        if sites is None:
            note = "the tests' interpreter could not compile this file, so nothing in it can be witnessed"
            return tuple(Sighting(Answer.NOT_RUN, note=note) for _ in obligations)
        rule = FileRule(sites, self._record.hits.get(path, {}))
        return tuple(map(rule.sight, self._demands(text, obligations)))
