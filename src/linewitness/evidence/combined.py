"""Several pieces of evidence as one: a line that any of them saw was seen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from linewitness.model import (
    Answer,
    Arm,
    Evidence,
    EvidenceSource,
    FileText,
    Finding,
    Obligation,
    Phase,
    RepoPath,
    Sighting,
)

_NOBODYS: Final = "this file is among the sources of no suite that could have run it"
_BEST_FIRST: Final = (Answer.RUN, Answer.PARTIAL, Answer.NOT_PROVABLE, Answer.NOT_RUN, Answer.REMOVED)
_PHASES: Final = (Phase.CALL, Phase.UNKNOWN, Phase.IMPORT)


class CombinedEvidence:
    """The union of some evidence. Implements :class:`linewitness.model.Evidence`."""

    def __init__(self, parts: Sequence[Evidence]) -> None:
        self._parts = tuple(parts)

    @property
    def sources(self) -> tuple[EvidenceSource, ...]:
        """The sources of all parts, in order."""
        return tuple(source for part in self._parts for source in part.sources)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The findings of all parts, in order."""
        return tuple(finding for part in self._parts for finding in part.findings)

    def sightings(self, text: FileText, obligations: tuple[Obligation, ...]) -> tuple[Sighting, ...]:
        """The best answer of any part for each obligation, with the witnesses and arms of all."""
        if not self._parts:
            return tuple(Sighting(Answer.NOT_RUN, note=_NOBODYS) for _ in obligations)
        answers = [part.sightings(text, obligations) for part in self._parts]
        return tuple(map(best, zip(*answers, strict=True)))


class BoundEvidence:
    """Evidence that may speak about some files only. Implements :class:`linewitness.model.Evidence`."""

    def __init__(self, part: Evidence, speaks_about: Callable[[RepoPath], bool]) -> None:
        self._part = part
        self._speaks_about = speaks_about

    @property
    def sources(self) -> tuple[EvidenceSource, ...]:
        """The sources of the part."""
        return self._part.sources

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The findings of the part."""
        return self._part.findings

    def sightings(self, text: FileText, obligations: tuple[Obligation, ...]) -> tuple[Sighting, ...]:
        """The part's answers, or that nothing ran in a file that is not its business."""
        if self._speaks_about(text.change.path):
            return self._part.sightings(text, obligations)
        return tuple(Sighting(Answer.NOT_RUN, note=_NOBODYS) for _ in obligations)


def combine(parts: Sequence[Evidence]) -> Evidence:
    """Several pieces of evidence as one; none at all is evidence that nothing ran."""
    return parts[0] if len(parts) == 1 else CombinedEvidence(parts)


def best(answers: Sequence[Sighting]) -> Sighting:
    """The strongest of several answers about one line, with everything that the others add to it."""
    strongest = min(answers, key=lambda one: (_BEST_FIRST.index(one.answer), _PHASES.index(one.phase)))
    witnesses = sorted({name for answer in answers for name in answer.witnesses})
    return strongest._replace(witnesses=tuple(witnesses), arms=_arms(answers))


def _arms(answers: Sequence[Sighting]) -> tuple[Arm, ...]:
    """Each arm once; taken when anybody saw it taken, unknown when nobody can rule it out."""
    known: dict[str, list[bool | None]] = {}
    for answer in answers:
        for arm in answer.arms:
            known.setdefault(arm.text, []).append(arm.taken)
    return tuple(Arm(text, _any_taken(states)) for text, states in known.items())


def _any_taken(states: Sequence[bool | None]) -> bool | None:
    if True in states:
        return True
    return None if None in states else False
