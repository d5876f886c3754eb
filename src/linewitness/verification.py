"""Whether a stored map is sound: everything in it that can be derived is derived again and compared.

A sound map is one that this version could have written. That says nothing about who wrote it: only a run of the gate
on a machine that the author of the patch does not control does.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final

from msgspec import UNSET

from linewitness import settings
from linewitness.errors import Exit, PatchError
from linewitness.findings import exit_of
from linewitness.model import Finding, Kind, ObjectId, RepoPath, Severity
from linewitness.obligation_map import ObligationMap, Row, Status, encode
from linewitness.patch.merging import merged
from linewitness.patch.repository import Repository
from linewitness.policy import decide
from linewitness.values import NamedTuple

_MOST_OF_A_SORT: Final = 20
_FULL_ID: Final = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


class Present(NamedTuple):
    """What a map is compared with: the trees of its commits, the head at hand, and digests of the files at hand."""

    head_tree: str
    settings_digest: str
    waivers_digest: str


def unsound(artifact: ObligationMap, data: bytes) -> Iterator[str]:
    """Every contradiction inside the map that was decoded from ``data``, one sentence each."""
    if b"".join(encode(artifact)) != data:
        yield "the bytes are not the canonical form of what they say"
    yield from _counts(artifact)
    yield from _some(_rows(artifact))
    yield from _verdict(artifact)


def _some(troubles: Iterable[str]) -> Iterator[str]:
    for count, trouble in enumerate(troubles):
        if count == _MOST_OF_A_SORT:
            yield "and more of the same"
            return
        yield trouble


def _counts(artifact: ObligationMap) -> Iterator[str]:
    counted = Counter(row.status for row in artifact.rows)
    said = {
        Status.TRUSTED_HIT: artifact.trusted_hit,
        Status.WAIVED: artifact.waived,
        Status.UNWITNESSED: artifact.unwitnessed,
    }
    for status, number in said.items():
        if counted[status] != number:
            yield f"{number} lines are said to be {status}, and {counted[status]} are"
    if artifact.owed != sum(said.values()):
        yield f"{artifact.owed} lines are said to be owed, and the parts add up to {sum(said.values())}"
    if artifact.owed and not artifact.scored:
        yield "lines are judged in a map that says that none was"


def _rows(artifact: ObligationMap) -> Iterator[str]:
    accused = {(row.path, row.line) for row in artifact.findings if row.severity is Severity.ERROR}
    for row in artifact.rows:
        trouble = _row(row)
        if trouble:
            yield f"{row.path}:{row.line}: {trouble}"
        if row.status is Status.UNWITNESSED and (row.path, row.line) not in accused:
            yield f"{row.path}:{row.line}: open, and no finding says so"
    owing = {(row.path, row.line) for row in artifact.rows if row.kind is not Kind.DELETION}
    for path, line in sorted(owing & {(row.path, row.line) for row in artifact.exempt}):
        yield f"{path}:{line}: owes and does not owe"


def _row(row: Row) -> str:
    """What the decision table says against a row, or nothing."""
    if row.waiver is not None and row.status is not Status.WAIVED:
        return "a waiver that waives nothing"
    if row.witness_count < len(row.witnesses):
        return "more witnesses are named than counted"
    match row.status:
        case Status.TRUSTED_HIT:
            seen = row.phase is not None and row.precision is not None and row.kind is not Kind.OPAQUE
            return "" if seen else "a hit that no evidence can have shown"
        case Status.WAIVED:
            if row.waiver is None:
                return "waived without a waiver"
            allowed = decide(row.kind, False, row.waiver.reason).status is Status.WAIVED
            return "" if allowed else f"waived as {row.waiver.reason}, which the rules do not allow for a {row.kind}"
        case Status.UNWITNESSED:
            return ""


def _verdict(artifact: ObligationMap) -> Iterator[str]:
    findings = (Finding(row.code, row.path, row.line, row.message, row.severity) for row in artifact.findings)
    status = exit_of(findings)
    if artifact.exit != status:
        yield f"the exit status is said to be {artifact.exit}, and the findings imply {status.value}"
    if (artifact.verdict == "open") != (artifact.exit == Exit.OPEN):
        yield f"the gate is said to be {artifact.verdict}, with exit status {artifact.exit}"
    if artifact.exit == Exit.OPEN and artifact.unwitnessed:
        yield f"the gate is said to be open, with {artifact.unwitnessed} open lines"
    if artifact.exit == Exit.OPEN and not artifact.scored:
        yield "the gate is said to be open, and no line was judged"


def present(repository: Repository, head: str, artifact: ObligationMap) -> Present:
    """Read what the map is about from the repository at hand: the tree of ``head``, the settings of the map's base.

    Errors: :class:`PatchError` when the map names no base, or one that this repository does not have.
    """
    if not _FULL_ID.fullmatch(artifact.base.tree):
        raise PatchError("the map names no base tree, so it cannot be compared with a repository")
    tree = _tree_of(repository, head, artifact)
    loaded = settings.load(lambda path: _read(repository, ObjectId(artifact.base.tree), path))
    waivers = _read(repository, tree, loaded.settings.waivers)
    return Present(tree, loaded.digest, "" if waivers is None else hashlib.sha256(waivers).hexdigest())


def read_base(repository: Repository, artifact: ObligationMap, path: str) -> bytes | None:
    """The bytes of a regular file in the tree of the map's base. Errors: :class:`PatchError` when it has no base."""
    if not _FULL_ID.fullmatch(artifact.base.tree):
        raise PatchError("the map names no base tree, so nothing can be read from it")
    return _read(repository, ObjectId(artifact.base.tree), path)


def _tree_of(repository: Repository, head: str, artifact: ObligationMap) -> ObjectId:
    """The tree of ``head``, or that of its merge into base when the map is about a merge."""
    commit = repository.resolve(head)
    if artifact.merge is UNSET:
        return commit.tree
    return merged(repository, repository.resolve(artifact.base.commit), commit).tree


def _read(repository: Repository, tree: ObjectId, path: str) -> bytes | None:
    blob = repository.find(tree, RepoPath(path))
    return repository.read(blob.oid) if blob is not None and blob.is_regular else None


def differences(artifact: ObligationMap, here: Present) -> Iterator[str]:
    """What the map is about and what is here, where they are not the same; one sentence each."""
    compared = (
        ("another tree of head", artifact.head.tree, here.head_tree),
        ("other settings", artifact.settings_digest, here.settings_digest),
        ("other waivers", artifact.waivers_digest, here.waivers_digest),
    )
    for what, said, found in compared:
        if said != found:
            yield f"the map is about {what}: {said[:12] or 'none'} there, {found[:12] or 'none'} here"
