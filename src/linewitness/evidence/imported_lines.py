"""The lines of one file as all exports together know them: did it run, in which phase, for which tests."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

from linewitness.evidence.contexts import Contexts
from linewitness.evidence.formats.facts import BranchArm, FileFacts, Grain, merged_arms
from linewitness.evidence.hits import Hit
from linewitness.model import Phase
from linewitness.values import NamedTuple


class Known(NamedTuple):
    """What one export says of the file, and how to read its contexts (``None``: they tell nothing)."""

    facts: FileFacts
    contexts: Contexts | None


class Lines:
    """Exports of one grain, seen as one: a hit in any of them is a hit."""

    def __init__(self, grain: Grain, known: Iterable[Known]) -> None:
        self.grain = grain
        self._known = tuple(known)
        self._counts = [each.facts.counts for each in self._known]

    def listed(self, line: int) -> bool:
        """Whether any export has an entry for the line, be it zero."""
        return any(line in counts for counts in self._counts)

    def ran(self, line: int) -> bool:
        """Whether the line ran at all, whoever ran it."""
        return max([counts.get(line, 0) for counts in self._counts]) > 0

    def excluded(self, line: int) -> bool:
        """Whether a coverage tool was told to hide the line."""
        return any(line in each.facts.excluded for each in self._known)

    def hit(self, line: int, *, at_import: bool) -> Hit | None:
        """Who ran the line. Code that can run only at import counts when anything ran it, other code when a test did.

        Exports without contexts cannot tell; what ran is then believed, and the phase is unknown.
        """
        if not self.ran(line):
            return None
        ran = [(each.contexts, each.facts.contexts) for each in self._known if each.facts.counts.get(line, 0) > 0]
        return _hit(line, ran, at_import=at_import)

    @property
    def knows_entries(self) -> bool:
        """Whether every export tells which code objects were entered."""
        return all(each.facts.entries is not None for each in self._known)

    def entry(self, line: int, *, at_import: bool) -> Hit | None:
        """Who entered a code object that begins on the line; to be read like :meth:`hit`."""
        entered = [(each.contexts, each.facts.entries) for each in self._known if line in (each.facts.entries or ())]
        return _hit(line, entered, at_import=at_import) if entered else None

    @property
    def bare_counts(self) -> Mapping[int, int] | None:
        """The counts by line when they are all there is to know: one export, without contexts and branches."""
        if len(self._known) != 1:
            return None
        facts, contexts = self._known[0]
        untold = contexts is None or facts.contexts is None
        return facts.counts if untold and not facts.branches else None

    def arms(self, line: int) -> tuple[BranchArm, ...]:
        """The arms of the branch on a line."""
        return self._arms.get(line, ())

    @cached_property
    def _arms(self) -> dict[int, tuple[BranchArm, ...]]:
        by_line: dict[int, list[BranchArm]] = {}
        for arm in merged_arms(arm for each in self._known for arm in each.facts.branches):
            by_line.setdefault(arm.line, []).append(arm)
        return {line: tuple(arms) for line, arms in by_line.items()}


_Seen = tuple[Contexts | None, Mapping[int, tuple[str, ...]] | None]


def _hit(line: int, seen: Sequence[_Seen], *, at_import: bool) -> Hit | None:
    tests: set[str] = set()
    untold = False
    for contexts, names in seen:
        if contexts is None or names is None:
            untold = True
        else:
            tests.update(contexts.tests(names.get(line, ())))
    if at_import:
        return Hit(Phase.IMPORT, tuple(sorted(tests)))
    if tests:
        return Hit(Phase.CALL, tuple(sorted(tests)))
    return Hit(Phase.UNKNOWN, ()) if untold else None
