"""Evidence that the gate recorded itself: the line rule applied to the sites that a trusted run hit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from linewitness.evidence.hits import FileSites, Hit, RunRecord
from linewitness.evidence.rule import FileRule
from linewitness.languages import files
from linewitness.model import Answer, Demand, EvidenceSource, FileText, Finding, Kind, Obligation, Phase, Sighting

_NO_RUN: Final = "no trusted check was run to its end, so nothing is witnessed"
_NOT_COMPILED: Final = "the tests' interpreter could not compile this file, so nothing in it can be witnessed"
_NOT_PYTHON: Final = "the recorder sees Python only: a suite with a command and an export can witness this file"
_FOREIGN: Final = "it ran only on a thread that outlived the test which started it, where nothing tells for which check"
_UNTOUCHED: Final = Sighting(Answer.NOT_RUN, note="no passing check ran anything of this file")

_MOST: Final = 5000

Demands = Callable[[FileText, tuple[Obligation, ...]], tuple[Demand, ...]]


class Remembered:
    """What lines demand, asked once for each: which lines to watch depends on it, and so do the answers.

    Of a big patch only the first thousands are kept.
    """

    def __init__(self, demands: Demands) -> None:
        self._demands = demands
        self._known: dict[Obligation, Demand] = {}

    def __call__(self, text: FileText, obligations: tuple[Obligation, ...]) -> tuple[Demand, ...]:
        """One demand per obligation of one file, in their order. Errors: those of the rule of its language."""
        if len(self._known) > _MOST:
            return self._demands(text, obligations)
        news = tuple(owed for owed in obligations if owed not in self._known)
        if news:
            self._known.update(zip(news, self._demands(text, news), strict=True))
        return tuple(self._known[owed] for owed in obligations)


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
        hits, foreign = self._record.hits.get(path), self._record.foreign.get(path)
        if foreign:
            return self._beside_threads(sites, foreign, text, obligations)
        if not hits:
            # whatever each of them demands, none of it happened
            return (_UNTOUCHED,) * len(obligations)
        rule = FileRule(sites, hits)
        # a statement whose line ran whole needs no parsing; other kinds may demand more than their own line
        settled = [rule.settled(owed.line) if owed.kind is Kind.STATEMENT else None for owed in obligations]
        rest = tuple(owed for owed, answer in zip(obligations, settled, strict=True) if answer is None)
        answers = map(rule.sight, self._demands(text, rest) if rest else ())
        return tuple(next(answers) if answer is None else answer for answer in settled)

    def _beside_threads(
        self, sites: FileSites, foreign: frozenset[int], text: FileText, obligations: tuple[Obligation, ...]
    ) -> tuple[Sighting, ...]:
        """The answers about a file of which some ran on threads of nobody, so that an open line can tell why it is."""
        rule = FileRule(sites, self._record.hits.get(text.change.path, {}))
        elsewhere = FileRule(sites, dict.fromkeys(foreign, Hit(Phase.CALL, ("",))))
        found = []
        for demand in self._demands(text, obligations):
            answer = rule.sight(demand)
            if answer.answer is Answer.NOT_RUN and elsewhere.sight(demand).answer is not Answer.NOT_RUN:
                answer = answer._replace(note=_FOREIGN)
            found.append(answer)
        return tuple(found)
