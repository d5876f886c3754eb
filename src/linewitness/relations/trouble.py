"""What can go wrong in a relation. All of it fails the test; only the first two say something about the product."""

from __future__ import annotations

from typing import Any


class RelationFailed(AssertionError):  # noqa: N818 - it is a finding about the product
    """The relation does not hold: the report names the smallest case of the corpus for which it fails."""


class LawBroken(AssertionError):  # noqa: N818 - as above
    """One law does not hold for one case. ``facts`` are pairs of a label and a value, in the order of telling."""

    def __init__(self, law: str, facts: tuple[tuple[str, Any], ...]) -> None:
        super().__init__(law)
        self.law = law
        self.facts = facts


class VacuousRelation(AssertionError):  # noqa: N818 - it is a finding about the relation
    """Fewer distinct cases were checked than the relation declares, so it says nothing."""


class RelationError(Exception):
    """The relation itself is written in a way that cannot mean what its author hoped."""


class CorpusError(RelationError):
    """The corpus is not what its manifest says, or a file of it cannot be read as cases."""


class SubjectError(Exception):
    """The subject, in an interpreter of its own, raised, crashed, took too long or gave something that is no data."""
