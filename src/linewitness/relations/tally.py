"""Counts what one relation really did, and knows in which surroundings it runs.

There is one tally at a time in a process, as there is one test at a time.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, ClassVar, NamedTuple, NoReturn

from .trouble import RelationError

SEED_VARIABLE = "LINEWITNESS_SEED"
BASE_VARIABLE = "LINEWITNESS_BASE"
DEFAULT_SEED = 20260916
_REASONS = 5


class Base(NamedTuple):
    """The base tree as files: its root, and the folders in it from which its modules are imported."""

    root: str
    roots: tuple[str, ...]


class Surroundings(NamedTuple):
    """What the run provides. ``in_gate`` tells that assertions report themselves, as they do in a trusted run.

    ``root`` is the folder in which isolated subjects start (empty: the present one), ``owned`` are the project's own
    top-level names, where they are known, and ``closed`` the files that isolated subjects do not see. ``environ`` are
    the variables with which base's interpreter starts, as they were before anything of the project ran.
    """

    seed: int = DEFAULT_SEED
    root: str = ""
    base: Base | None = None
    owned: tuple[str, ...] = ()
    in_gate: bool = False
    closed: tuple[str, ...] = ()
    environ: Mapping[str, str] | None = None

    @classmethod
    def of_environment(cls) -> Surroundings:
        """Outside of the gate. Errors: :class:`RelationError` when a variable is set to nonsense."""
        seed = os.environ.get(SEED_VARIABLE, "")
        if seed and not (seed.isascii() and seed.isdigit()):
            raise RelationError(f"{SEED_VARIABLE} is {seed!r} and has to be a number")
        folder = os.environ.get(BASE_VARIABLE, "")
        if folder and not os.path.isdir(folder):
            raise RelationError(f"{BASE_VARIABLE} is {folder!r}, and there is no such folder")
        base = Base(os.path.abspath(folder), _roots(os.path.abspath(folder))) if folder else None
        return cls(int(seed) if seed else DEFAULT_SEED, base=base)


def _roots(folder: str) -> tuple[str, ...]:
    places = (folder, os.path.join(folder, "src"))
    return tuple(place for place in places if os.path.isdir(place))


class NotApplicable(Exception):  # noqa: N818 - it is no error, it is an answer
    """The relation says nothing about this case."""


def not_applicable(reason: str) -> NoReturn:
    """Leave this case out, and say why: it counts as skipped, not as checked.

    Only the relation may say so. When code under test is on the way, the case fails instead.
    """
    raise NotApplicable(reason)


class Tally:
    """What one test did: distinct cases tried, checked and skipped, and how often an assertion was reached."""

    # Marked assertions have to find it, and nobody can hand it to them.
    current: ClassVar[Tally | None] = None

    def __init__(self, surroundings: Surroundings | None = None) -> None:
        self.surroundings = surroundings
        self.declared = False
        self.tried = 0
        self.checked = 0
        self.skipped = 0
        self.repeated = 0
        self.least = 0
        self.reached = 0
        self.lines: Counter[int] = Counter()
        self.reasons: Counter[str] = Counter()
        self.corpora: dict[str, str] = {}
        self.seeded = False
        self.scope = ""
        self.subjects: list[Any] = []
        self.first: dict[str, Any] = {}
        self.telling: dict[str, bool] = {}

    @property
    def world(self) -> Surroundings:
        """The surroundings: the gate's, or those of the environment. Errors: :class:`RelationError`."""
        if self.surroundings is None:
            self.surroundings = Surroundings.of_environment()
        return self.surroundings

    def begin(self, corpus: str, digest: str, least: int, scope: str) -> None:
        """A relation goes over its corpus: what one counted before, in the same test, is not counted for it."""
        self.declared, self.least, self.scope = True, least, scope
        self.corpora[corpus] = digest
        self.tried = self.checked = self.skipped = self.repeated = 0
        self.first, self.telling = {}, {}

    def skip(self, reason: str, cases: int = 1) -> None:
        """So many cases are left out."""
        self.skipped += cases
        if len(self.reasons) < 100 or reason in self.reasons:
            self.reasons[reason] += cases

    def skip_untelling(self) -> None:
        """Leave all cases out when every law that was asked would have held whatever the subject gives."""
        if self.checked > 1 and self.telling and not any(self.telling.values()):
            self.skip(
                f"all cases came to the same, so that these hold for a constant: {', '.join(self.telling)}",
                self.checked,
            )
            self.checked = 0

    def why_skipped(self) -> str:
        """The commonest reasons for which cases were left out, with their numbers."""
        return "; ".join(f"{reason} ({count})" for reason, count in self.reasons.most_common(_REASONS))

    def close(self) -> None:
        """End the interpreters that were started for this test."""
        subjects, self.subjects = self.subjects, []
        for subject in subjects:
            subject.close()


def reached(line: int = 0) -> None:
    """An assertion was reached and held."""
    tally = Tally.current
    if tally is not None:
        tally.reached += 1
        tally.lines[line] += 1


@contextmanager
def counting(tally: Tally) -> Iterator[Tally]:
    """Make ``tally`` the current one, and end what it started."""
    before, Tally.current = Tally.current, tally
    try:
        yield tally
    finally:
        Tally.current = before
        tally.close()
