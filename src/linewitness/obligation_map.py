"""The map: the merge artifact that says of every changed line what became of it.

The JSON is canonical: keys sorted, no white space, no floats, no wall-clock time, no absolute path, one line feed at
the end. Identical inputs give identical bytes. Fields are declared in sorted order because msgspec writes them in the
order of declaration.
"""

from __future__ import annotations

import hashlib
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


class EvidenceRow(Struct, frozen=True):
    """One export or one recorded run. ``tests`` is null for imported evidence, which cannot tell."""

    digest: str
    kind: str
    provenance: str
    suite: str
    tests: TestCounts | None


class FindingRow(Struct, frozen=True):
    """One finding. ``path`` is empty and ``line`` 0 when it is about no place in particular."""

    code: str
    line: int
    message: str
    path: str
    severity: Severity


class Tool(Struct, frozen=True):
    """What wrote the map."""

    name: str
    version: str


class ObligationMap(Struct, frozen=True, kw_only=True):
    """The whole artifact. ``owed`` is always ``trusted_hit + waived + unwitnessed``.

    ``scored`` is false when the gate closed before any line was judged; the rows are then empty. ``today`` is present
    only when the date was given by hand instead of read from the host's clock.
    """

    base: CommitRef
    command: Literal["check", "map"]
    evidence: tuple[EvidenceRow, ...]
    exempt: tuple[ExemptRow, ...]
    exit: int
    findings: tuple[FindingRow, ...]
    head: CommitRef
    line_hash: Literal["sha256-16", "sha1-12"]
    owed: int
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
    long_lists = {"rows": artifact.rows, "exempt": artifact.exempt}
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
    state = hashlib.sha256()
    for piece in pieces:
        state.update(piece)
    return state.hexdigest()
