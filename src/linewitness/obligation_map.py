"""The map: the merge artifact that says of every changed line what became of it.

The JSON is canonical: keys sorted, no white space, no floats, no wall-clock time, no absolute path, one line feed at
the end. Identical inputs give identical bytes. Fields are declared in sorted order because msgspec writes them in the
order of declaration.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import Final, Literal

import msgspec
from msgspec import UNSET, Struct, UnsetType

from linewitness.model import Exemption, Kind, Phase, Precision, Reason, Severity

SCHEMA: Final = "urn:linewitness:schemas/map-v1.json"


class Status(StrEnum):
    """What became of an obligation."""

    TRUSTED_HIT = "trusted-hit"
    WAIVED = "waived"
    UNWITNESSED = "unwitnessed"


class CommitRef(Struct, frozen=True):
    """A commit and its tree; empty where there is none, as for a tree that was never committed."""

    commit: str
    tree: str


class ApprovalRow(Struct, frozen=True):
    """The commit whose signature vouches for head's protected content, and the key of base's list that made it."""

    commit: str
    fingerprint: str
    principal: str


class ArmRow(Struct, frozen=True, omit_defaults=True):
    """One way out of a branch. ``taken`` is absent when the evidence cannot tell."""

    arm: str
    taken: bool | UnsetType = UNSET


class WaiverRow(Struct, frozen=True):
    """The waiver that discharged a row."""

    expires: str
    note: str
    owner: str
    reason: Reason


class Row(Struct, frozen=True, gc=False):
    """One obligation and its outcome. ``statement`` is the first and last line of the innermost statement around it."""

    arms: tuple[ArmRow, ...]
    content: str
    executable: Literal[True]
    hash: str
    kind: Kind
    line: int
    note: str
    occurrence: int
    path: str
    phase: Phase | None
    precision: Precision | None
    scope: str
    statement: tuple[int, int]
    status: Status
    waiver: WaiverRow | None
    witness_count: int
    witnesses: tuple[str, ...]


class ExemptRow(Struct, frozen=True, gc=False):
    """One changed line that owes nothing. Line 0 stands for the whole file."""

    line: int
    path: str
    reason: Exemption


class TestCounts(Struct, frozen=True):
    """How the tests of a recorded run ended."""

    failed: int
    passed: int
    skipped: int
    xfailed: int

    __test__ = False


class SandboxRow(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a run was kept from. ``reason`` says why ``kind`` is not ``bubblewrap``; sizes in ``limits`` are MiB.

    ``borrowed`` are folders of the checkout, not of head's tree, that the run saw.
    """

    borrowed: tuple[str, ...] = ()
    kind: Literal["bubblewrap", "landlock", "none"]
    limits: dict[str, int]
    network: Literal["all", "loopback", "none"]
    reason: str = ""


class LeftOutRow(Struct, frozen=True):
    """A trusted file that was not collected. ``by`` are conftest files or ``options``; empty when it is not known."""

    by: str
    path: str


class EvidenceRow(Struct, frozen=True, kw_only=True):
    """One export or one run. ``tests`` is null for exports, which cannot tell; ``sandbox`` is there for our runs.

    ``left_out`` is there when trusted files were left out of a run.
    """

    digest: str
    kind: str
    left_out: tuple[LeftOutRow, ...] | UnsetType = UNSET
    provenance: str
    sandbox: SandboxRow | UnsetType = UNSET
    suite: str
    tests: TestCounts | None


class FindingRow(Struct, frozen=True):
    """One finding. ``path`` is empty and ``line`` 0 when it is about no place in particular."""

    code: str
    line: int
    message: str
    path: str
    severity: Severity


class HunkRow(Struct, frozen=True, gc=False):
    """A passage of the patch, to be read by people.

    ``text`` holds its lines with a mark in front, ``+`` added, ``-`` removed or a space, parted by line feeds; ``base``
    and ``head`` are the numbers that its first line has, or would have, on either side.
    """

    base: int
    head: int
    text: str


class PatchRow(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """The passages of a file, its path before it moved, and how many changed lines were left out."""

    base_path: str = ""
    cut: int = 0
    hunks: tuple[HunkRow, ...]
    path: str


class CorpusRef(Struct, frozen=True):
    """A file or folder of a frozen corpus, with its SHA-256."""

    digest: str
    path: str


class CaseCounts(Struct, frozen=True):
    """How many distinct cases a relation tried, checked and left out, and how many it declares at least."""

    at_least: int
    checked: int
    skipped: int
    tried: int


class RelationRow(Struct, frozen=True, kw_only=True):
    """One relation of a run of ours. ``cases`` is null for a plain test, whose cases nobody counts.

    ``assertions`` tells how often an assertion was reached and held. ``seed`` is there when something was drawn with
    it, ``vacuous`` when the relation witnesses nothing, with the reason.
    """

    assertions: int
    cases: CaseCounts | None
    corpora: tuple[CorpusRef, ...]
    node: str
    seed: int | UnsetType = UNSET
    suite: str
    vacuous: str | UnsetType = UNSET


class Tool(Struct, frozen=True):
    """What wrote the map."""

    name: str
    version: str


class ObligationMap(Struct, frozen=True, kw_only=True):
    """The whole artifact. ``owed`` is always ``trusted_hit + waived + unwitnessed``.

    ``approval`` is present only when head's protected content differs from base's and somebody vouches for it.
    ``scored`` is false when the gate closed before any line was judged; the rows are then empty. ``today`` is present
    only when the date was given by hand instead of read from the host's clock. ``merge`` is present when head is what a
    merge into base would give, and is the commit that would be merged. ``patch`` is the text of the patch for
    people to read, up to a bound; older maps have none.
    """

    approval: ApprovalRow | UnsetType = UNSET
    base: CommitRef
    command: Literal["check", "map"]
    evidence: tuple[EvidenceRow, ...]
    exempt: tuple[ExemptRow, ...]
    exit: int
    findings: tuple[FindingRow, ...]
    head: CommitRef
    line_hash: Literal["sha256-16", "sha1-12"]
    merge: CommitRef | UnsetType = UNSET
    owed: int
    patch: tuple[PatchRow, ...] | UnsetType = UNSET
    relations: tuple[RelationRow, ...] | UnsetType = UNSET
    rows: tuple[Row, ...]
    schema: str
    scored: bool
    settings_digest: str
    today: str | UnsetType = UNSET
    tool: Tool
    trusted_hit: int
    unwitnessed: int
    verdict: Literal["open", "closed"]
    waived: int
    waivers_digest: str


_BATCH = 2000


def encode(artifact: ObligationMap) -> Iterator[bytes]:
    """Yield the canonical JSON in pieces, so that a map of a million rows is never held twice."""
    encoder = msgspec.json.Encoder()
    passages = artifact.patch if isinstance(artifact.patch, tuple) else ()
    long_lists = {"rows": artifact.rows, "exempt": artifact.exempt, "patch": passages}
    opening = b"{"
    for name in artifact.__struct_fields__:
        value = getattr(artifact, name)
        if value is UNSET:
            continue
        yield opening + encoder.encode(name) + b":"
        opening = b","
        if name in long_lists:
            yield from _encode_list(encoder, long_lists[name])
        else:
            yield _encode_value(encoder, value)
    yield b"}\n"


def _encode_list(encoder: msgspec.json.Encoder, values: tuple[Struct, ...]) -> Iterator[bytes]:
    yield b"["
    for start in range(0, len(values), _BATCH):
        batch = _encode_value(encoder, values[start : start + _BATCH])
        yield (b"," if start else b"") + batch[1:-1]
    yield b"]"


def _encode_value(encoder: msgspec.json.Encoder, value: object) -> bytes:
    try:
        return encoder.encode(value)
    except UnicodeEncodeError:
        # A name that is not UTF-8 travels as surrogate escapes, which only the escaped form of JSON can carry.
        plain = msgspec.to_builtins(value)
        return json.dumps(plain, sort_keys=True, separators=(",", ":")).encode()


def decode(data: bytes) -> ObligationMap:
    """Read a map. Errors: ``msgspec.DecodeError`` (or ``ValidationError``) when the bytes are not a version 1 map."""
    try:
        return msgspec.json.decode(data, type=ObligationMap)
    except msgspec.ValidationError:
        raise
    except msgspec.DecodeError as error:
        try:
            plain = json.loads(data)
        except (ValueError, RecursionError):
            raise error from None
        return msgspec.convert(plain, ObligationMap)


def digest(pieces: Iterable[bytes]) -> str:
    """SHA-256, in hexadecimal, over the concatenated pieces."""
    import hashlib  # A check of a small patch has no use for it.

    state = hashlib.sha256()
    for piece in pieces:
        state.update(piece)
    return state.hexdigest()
