"""Which tests of somebody else's run may witness: relations that people accepted, and no generated tests."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from linewitness.globs import Globs
from linewitness.model import Finding, RepoPath
from linewitness.values import NamedTuple

_JUDGE = "let a reviewer land the relation on the target branch, then rebase the patch and collect the export again"


class Acceptance(NamedTuple):
    """What counts as accepted. ``tree`` are the paths of the judged tree; ``brought`` those that the patch changes.

    ``brought`` is empty where protected content was judged before: then all that is in the tree is accepted.
    """

    relations: Globs
    generated: Globs
    tree: Collection[RepoPath]
    brought: frozenset[RepoPath] = frozenset()

    def draft(self, test: str) -> RepoPath | None:
        """The file of a relation that nobody accepted, when ``test`` (a node id or a dotted name) is one."""
        paths = tuple(_paths(test))
        if any(path in self.tree and path not in self.brought for path in paths):
            return None
        return next((path for path in paths if self.relations.match(path) and not self.generated.match(path)), None)

    def is_generated(self, test: str) -> bool:
        """Whether the test is one that agents write."""
        paths = tuple(_paths(test))
        known = [path for path in paths if path in self.tree] or paths
        return any(map(self.generated.match, known))

    def drafts_of(self, tests: Iterable[str]) -> dict[str, RepoPath]:
        """The tests that are drafts, with their files."""
        return {test: path for test in tests if (path := self.draft(test)) is not None}

    def inseparable(self) -> tuple[Finding, ...]:
        """One LW404 for each relation that the patch brings, for an export that does not tell who ran what."""
        brought = sorted(path for path in self.brought if path.endswith(".py") and self.relations.match(path))
        return tuple(
            Finding(
                "LW404",
                path,
                0,
                f"the patch brings this relation along, and the export does not tell what it ran: {_JUDGE}.",
            )
            for path in brought
        )


def drafts_found(drafts: Iterable[RepoPath]) -> tuple[Finding, ...]:
    """One LW404 for each file of relations whose hits were left out."""
    return tuple(
        Finding("LW404", path, 0, f"this relation ran and nobody accepted it, so its hits are left out: {_JUDGE}.")
        for path in sorted(set(drafts))
    )


def _paths(test: str) -> Iterator[RepoPath]:
    """The files that a node id, or a dotted name of a function, may mean."""
    if "::" in test:
        yield RepoPath(test.partition("::")[0])
        return
    parts = test.split(".")
    yield from (RepoPath("/".join(parts[:depth]) + ".py") for depth in range(len(parts) - 1, 0, -1))
