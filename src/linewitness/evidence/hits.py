"""What a recorded run says, in the terms that the line rule asks about: sites, entries and hits.

A *site* is the smallest thing whose execution a recorder can tell apart: an instruction (3.12 and later) or a probe
around a piece of the syntax tree (3.9 to 3.11). Sites are listed by the tested interpreter from head's bytes, before
anything of the patch runs; a run then only names sites.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from linewitness.evidence.influence import Used
from linewitness.model import EvidenceSource, Finding, Phase, RepoPath, Span
from linewitness.values import NamedTuple


class Site(NamedTuple):
    """One observable place.

    ``weak`` sites (jumps, loop and stack bookkeeping) are evidence only where nothing else is; ``lazy`` sites belong to
    annotations that 3.14 evaluates only when somebody asks.
    """

    ident: int
    span: Span
    weak: bool
    lazy: bool


class Entry(NamedTuple):
    """The start of one code object: its name and the line that the compiler calls its first."""

    ident: int
    name: str
    line: int


class FileSites(NamedTuple):
    """All sites and entries of one file that bear on its changed lines. An ``ident`` is unique over both."""

    path: RepoPath
    sites: tuple[Site, ...]
    entries: tuple[Entry, ...]


class Hit(NamedTuple):
    """When a site first ran for the benefit of a passing test, and for which (sorted node ids; empty at import)."""

    phase: Phase
    witnesses: tuple[str, ...]


LEFT_OUT = "left out"


class Silent(NamedTuple):
    """A check that neither passed nor failed: a test, or a module that was left out while tests were collected.

    ``outcome`` is ``skipped``, ``xfailed`` or :data:`LEFT_OUT`; ``reason`` is what was said, and may be cut.
    """

    nodeid: str
    outcome: str
    reason: str

    @property
    def path(self) -> RepoPath:
        """The file in which it is."""
        return RepoPath(self.nodeid.partition("::")[0])

    @property
    def function(self) -> str:
        """The node id without parameters."""
        return self.nodeid.partition("[")[0]

    def covers(self, nodeid: str) -> bool:
        """Whether an answer of ``nodeid`` is one that this check would have given."""
        if "::" not in self.nodeid:
            return nodeid.startswith(f"{self.nodeid}::")
        is_empty = "got empty parameter set" in self.reason
        return nodeid == self.nodeid or (is_empty and nodeid.partition("[")[0] == self.function)


class RunRecord(NamedTuple):
    """The outcome of one complete trusted run. Only tests that passed in every phase appear in the hits.

    ``loaded`` are the files of the export that any process of the run imported or ran; ``used`` tells beside them what
    was read. ``asked`` are the node ids of all tests, ``passed`` of those that passed, ``silent`` gave no answer.
    ``unchosen`` are those, without parameters, that an option left out. ``foreign`` are the idents of what ran for
    nobody, on threads that outlived the test which started them.
    """

    source: EvidenceSource
    sites: Mapping[RepoPath, FileSites]
    hits: Mapping[RepoPath, Mapping[int, Hit]]
    findings: tuple[Finding, ...]
    loaded: frozenset[RepoPath] = frozenset()
    used: Used = Used()
    asked: frozenset[str] = frozenset()
    passed: frozenset[str] = frozenset()
    silent: tuple[Silent, ...] = ()
    unchosen: frozenset[str] = frozenset()
    foreign: Mapping[RepoPath, frozenset[int]] = MappingProxyType({})
