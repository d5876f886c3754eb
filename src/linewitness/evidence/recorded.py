"""Evidence that the gate recorded itself: the line rule applied to the sites that a trusted run hit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from linewitness.evidence.hits import RunRecord
from linewitness.evidence.rule import FileRule
from linewitness.languages import files
from linewitness.model import Answer, Demand, EvidenceSource, FileText, Finding, Kind, Obligation, Sighting

_NO_RUN: Final = "no trusted check was run to its end, so nothing is witnessed"
_NOT_COMPILED: Final = "the tests' interpreter could not compile this file, so nothing in it can be witnessed"
_NOT_PYTHON: Final = "the recorder sees Python only: a suite with a command and an export can witness this file"
_UNTOUCHED: Final = Sighting(Answer.NOT_RUN, note="no passing check ran anything of this file")

Demands = Callable[[FileText, tuple[Obligation, ...]], tuple[Demand, ...]]


class RecordedEvidence:
    """A trusted run, as an answer to the question who saw what. Implements :class:`linewitness.model.Evidence`."""

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
        if self._record.source.tests is None:
            return tuple(Sighting(Answer.NOT_RUN, note=_NO_RUN) for _ in obligations)
        path = text.change.path
        sites = self._record.sites.get(path)
        if sites is None:
            python = files.language(path, text.head or b"") == "python"
            note = _NOT_COMPILED if python else _NOT_PYTHON
            return tuple(Sighting(Answer.NOT_RUN, note=note) for _ in obligations)
        hits = self._record.hits.get(path)
        if not hits:
            # whatever each of them demands, none of it happened
            return (_UNTOUCHED,) * len(obligations)
        rule = FileRule(sites, hits)
        # a statement whose line ran whole needs no parsing; other kinds may demand more than their own line
        settled = [rule.settled(owed.line) if owed.kind is Kind.STATEMENT else None for owed in obligations]
        rest = tuple(owed for owed, answer in zip(obligations, settled, strict=True) if answer is None)
        answers = map(rule.sight, self._demands(text, rest) if rest else ())
        return tuple(next(answers) if answer is None else answer for answer in settled)
