"""Which waiver discharges which line.

One waiver stands for one decision about one line, so it discharges one obligation or none. It matches on the path and
on the hash of the line (or the blob of an opaque file), narrowed by scope and occurrence where the record has them. A
record without them is good only for a line that its file holds once: otherwise the decision about one line would
cover the next equal line that somebody adds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping

from linewitness.model import Blob, Finding, Kind, Obligation, RepoPath, Severity, Waiver
from linewitness.patch.identity import line_hash, sha1_12, split_lines
from linewitness.policy import OUTSIDE_THE_RUNNER
from linewitness.values import NamedTuple


class Head(NamedTuple):
    """The tree that is judged: its files, and how to read a regular one."""

    tree: Mapping[RepoPath, Blob]
    read: Callable[[Blob], bytes]


class Ambiguous(NamedTuple):
    """A waiver that could mean several lines: the obligations among them, and how often its file holds such a line."""

    waiver: Waiver
    candidates: tuple[Obligation, ...]
    equal_lines: int


class Matches(NamedTuple):
    """What became of every live waiver.

    ``discharges`` gives each obligation its waiver, also one whose reason is not allowed for a branch: the decision
    table judges that. ``stale`` waivers have no line in the tree. Waivers whose line stands in the tree while this
    patch does not owe it appear nowhere.
    """

    discharges: Mapping[Obligation, Waiver]
    ambiguous: tuple[Ambiguous, ...]
    stale: tuple[Waiver, ...]

    def findings(self, path: str, unwitnessed: Container[Obligation] | None = None) -> tuple[Finding, ...]:
        """``LW204`` and ``LW206`` (a warning) about the waiver file at ``path``, by line.

        A line with a witness needs no waiver, so an ambiguous waiver closes the gate only when one of its candidates is
        in ``unwitnessed``; ``None`` stands for all of them.
        """
        found = [
            Finding("LW204", path, doubt.waiver.at, _several(doubt))
            for doubt in self.ambiguous
            if unwitnessed is None or any(candidate in unwitnessed for candidate in doubt.candidates)
        ]
        found += (Finding("LW206", path, waiver.at, _gone(waiver), Severity.WARNING) for waiver in self.stale)
        return tuple(sorted(found, key=lambda finding: (finding.line, finding.code)))


def match(waivers: Iterable[Waiver], obligations: Iterable[Obligation], head: Head | None = None) -> Matches:
    """Match live waivers with what a patch owes.

    ``head`` is asked about the files that waivers name: how often a line occurs there, and whether a waiver that no
    obligation needs is stale. Without it, every such one is stale. Errors: those of ``head.read``.
    """
    candidates: dict[Waiver, list[Obligation]] = {waiver: [] for waiver in waivers}
    by_path: dict[RepoPath, dict[str, list[Waiver]]] = {}
    for waiver in candidates:
        by_path.setdefault(waiver.path, {}).setdefault(waiver.line_hash or waiver.blob or "", []).append(waiver)
    for obligation in obligations:
        wanted = by_path.get(obligation.path)
        for name in _names(obligation) if wanted else ():
            for waiver in wanted.get(name, ()) if wanted else ():
                if _is_narrow_enough(waiver, obligation):
                    candidates[waiver].append(obligation)
    return _settle(candidates, Presence(head))


class Presence:
    """How often the lines of waivers stand in the files of a tree; each file is read once, and only for its lines."""

    def __init__(self, head: Head | None) -> None:
        self._head = head
        self._lines: dict[Blob, Counter[str]] = {}

    def count(self, waiver: Waiver) -> int:
        """How many lines of the waiver's file have its hash, scope and occurrence aside; for a blob, 1 or 0."""
        blob = self._head.tree.get(waiver.path) if self._head else None
        if self._head is None or blob is None:
            return 0
        if waiver.line_hash is None:
            return int(waiver.blob == blob.oid)
        if not blob.is_regular:
            return 0
        if blob not in self._lines:
            lines = split_lines(self._head.read(blob))
            self._lines[blob] = Counter(name for line in lines for name in (line_hash(line), sha1_12(line)))
        return self._lines[blob][waiver.line_hash]


def _names(obligation: Obligation) -> tuple[str, ...]:
    if obligation.kind is Kind.OPAQUE:
        return (obligation.hash,)
    line = obligation.content.encode("utf-8", "surrogateescape")
    return line_hash(line), sha1_12(line)


def _is_narrow_enough(waiver: Waiver, obligation: Obligation) -> bool:
    return waiver.scope in {None, obligation.scope} and waiver.occurrence in {None, obligation.occurrence}


def _settle(candidates: Mapping[Waiver, list[Obligation]], presence: Presence) -> Matches:
    discharges: dict[Obligation, Waiver] = {}
    ambiguous: list[Ambiguous] = []
    stale: list[Waiver] = []
    for waiver, owed in candidates.items():
        present = presence.count(waiver)
        if not owed:
            if not present:
                stale.append(waiver)
        elif len(owed) > 1 or _is_vague(waiver, owed[0], present):
            ambiguous.append(Ambiguous(waiver, tuple(owed), max(present, len(owed))))
        elif _is_better(waiver, discharges.get(owed[0])):
            discharges[owed[0]] = waiver
    return Matches(discharges, tuple(ambiguous), tuple(stale))


def _is_vague(waiver: Waiver, obligation: Obligation, present: int) -> bool:
    """Whether other lines answer to the record too, although this patch does not owe them."""
    return (waiver.scope is None and present > 1) or (waiver.occurrence is None and obligation.occurrence > 1)


def _is_better(waiver: Waiver, rival: Waiver | None) -> bool:
    """Of several records for one line, one that would also discharge a branch is preferred."""
    return rival is None or (waiver.reason in OUTSIDE_THE_RUNNER and rival.reason not in OUTSIDE_THE_RUNNER)


def _several(doubt: Ambiguous) -> str:
    waiver = doubt.waiver
    places = ", ".join(_place(obligation) for obligation in doubt.candidates)
    return (
        f"the waiver for {waiver.path} describes {max(doubt.equal_lines, 2)} lines and so discharges none; "
        f"owed here: {places}. Name the one it means with {' and '.join(_missing(waiver))}"
    )


def _missing(waiver: Waiver) -> Iterator[str]:
    if waiver.scope is None:
        yield "`scope`"
    if waiver.occurrence is None:
        yield "`occurrence`"


def _place(obligation: Obligation) -> str:
    scope = f"scope {obligation.scope}" if obligation.scope else 'scope ""'
    return f"line {obligation.line} ({scope}, occurrence {obligation.occurrence})"


def _gone(waiver: Waiver) -> str:
    what = "no version of the file with this blob id" if waiver.blob else "no line with this hash"
    return (
        f"the waiver matches nothing: there is {what} at {waiver.path}; "
        "`linewitness waivers prune` removes records that are not needed any more"
    )
