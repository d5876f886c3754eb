"""A signed statement about a map, for whoever did not see the gate run: a merge queue, a release, an audit.

The statement is an in-toto Statement (version 1) whose subjects are the commit and the tree of head; the predicate is
the verdict, with the digests of everything that it rests on. It travels in a DSSE envelope, signed by an SSH key, the
kind of key that the approvers have already. Sources: the in-toto attestation framework, ``spec/v1/statement.md`` and
``digest_set.md``; DSSE 1.0, ``protocol.md`` and ``envelope.md``; OpenSSH, PROTOCOL.sshsig.

A signature says who vouches for the map. What makes the map true is that they ran the gate on a machine which the
author of the patch does not control.
"""

from __future__ import annotations

import base64
import binascii
import datetime as dt
import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from msgspec import UNSET

from linewitness.errors import EvidenceError
from linewitness.obligation_map import ObligationMap, encode
from linewitness.obligation_map import digest as digest_of
from linewitness.trust import approvers
from linewitness.trust.approvers import Approvers
from linewitness.trust.signatures import Refused, SshKeygen, Trust, parse_signature
from linewitness.values import NamedTuple

STATEMENT_TYPE: Final = "https://in-toto.io/Statement/v1"
PREDICATE_TYPE: Final = "urn:linewitness:predicates/verdict-v1"
PAYLOAD_TYPE: Final = "application/vnd.in-toto+json"
NAMESPACE: Final = "linewitness-attestation"
"""What is signed under: a signature of a commit or a file is none of an attestation."""

_LARGEST: Final = 8 << 20


class Signed(NamedTuple):
    """One signature of an envelope: the key's fingerprint as it says itself, and the armoured SSH signature."""

    keyid: str
    signature: bytes


class Envelope(NamedTuple):
    """The statement's bytes as they were signed, and the signatures."""

    payload: bytes
    signatures: tuple[Signed, ...]


def statement(artifact: ObligationMap) -> bytes:
    """The statement about a map, in canonical JSON: sorted keys, no white space."""
    subject = [
        {"name": name, "digest": {algorithm: value}}
        for name, algorithm, value in (
            ("commit", "gitCommit", artifact.head.commit),
            ("tree", "gitTree", artifact.head.tree),
        )
        if value
    ]
    if artifact.merge is not UNSET:
        subject.append({"name": "merged commit", "digest": {"gitCommit": artifact.merge.commit}})
    said = {
        "_type": STATEMENT_TYPE,
        "predicate": _predicate(artifact),
        "predicateType": PREDICATE_TYPE,
        "subject": subject,
    }
    return json.dumps(said, sort_keys=True, separators=(",", ":")).encode()


def _predicate(artifact: ObligationMap) -> dict[str, Any]:
    relations = () if artifact.relations is UNSET else artifact.relations
    corpora = [
        {"digest": {"sha256": value}, "name": name}
        for name, value in sorted({(corpus.path, corpus.digest) for row in relations for corpus in row.corpora})
    ]
    return {
        "base": {"commit": artifact.base.commit, "tree": artifact.base.tree},
        "command": artifact.command,
        "corpora": corpora,
        "counts": {
            "owed": artifact.owed,
            "trustedHit": artifact.trusted_hit,
            "unwitnessed": artifact.unwitnessed,
            "waived": artifact.waived,
        },
        "evidence": [
            {"digest": {"sha256": row.digest}, "kind": row.kind, "provenance": row.provenance, "suite": row.suite}
            for row in artifact.evidence
        ],
        "exit": artifact.exit,
        "map": {"digest": {"sha256": digest_of(encode(artifact))}, "schema": artifact.schema},
        "settings": {"digest": {"sha256": artifact.settings_digest}},
        "tool": {"name": artifact.tool.name, "version": artifact.tool.version},
        "verdict": artifact.verdict,
        "waivers": {"digest": {"sha256": artifact.waivers_digest}} if artifact.waivers_digest else None,
    }


def signing_input(payload: bytes) -> bytes:
    """What is signed: DSSE's pre-authentication encoding of type and payload."""
    kind = PAYLOAD_TYPE.encode()
    return b"DSSEv1 %d %s %d %s" % (len(kind), kind, len(payload), payload)


def encode_envelope(envelope: Envelope) -> bytes:
    """The envelope as JSON, with a line feed at the end."""
    said = {
        "payload": base64.b64encode(envelope.payload).decode(),
        "payloadType": PAYLOAD_TYPE,
        "signatures": [
            {"keyid": signed.keyid, "sig": base64.b64encode(signed.signature).decode()}
            for signed in envelope.signatures
        ],
    }
    return json.dumps(said, sort_keys=True, separators=(",", ":")).encode() + b"\n"


def decode_envelope(data: bytes, name: str) -> Envelope:
    """Read an envelope. Errors: :class:`EvidenceError` naming the file ``name`` for anything else."""
    if len(data) > _LARGEST:
        raise EvidenceError(f"is no attestation: it has {len(data)} bytes, and {_LARGEST} are the most", path=name)
    try:
        said = json.loads(data, object_pairs_hook=_without_twins)
        kind = said["payloadType"]
        signatures = tuple(Signed(_text(entry["keyid"]), _bytes(entry["sig"])) for entry in said["signatures"])
        envelope = Envelope(_bytes(said["payload"]), signatures)
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        reason = f"it has no {error}" if isinstance(error, KeyError) else str(error)
        raise EvidenceError(f"is no attestation: {reason}", path=name) from error
    if kind != PAYLOAD_TYPE:
        raise EvidenceError(f"is no attestation: its payload is {kind!r}, not {PAYLOAD_TYPE}", path=name)
    return envelope


def _without_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("one key stands twice in an object")
    return found


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError("a text is missing")  # noqa: TRY004 - like every other defect of the file
    return value


def _bytes(value: object) -> bytes:
    try:
        return base64.b64decode(_text(value), validate=True)
    except binascii.Error as error:
        raise ValueError(f"it holds what is no base64: {error}") from error


def disagreements(envelope: Envelope, artifact: ObligationMap) -> Iterator[str]:
    """Where the signed statement does not say what the map says, one sentence each; none when it is about this map."""
    if envelope.payload == statement(artifact):
        return
    try:
        said = json.loads(envelope.payload, object_pairs_hook=_without_twins)
    except (ValueError, RecursionError):
        yield "the signed payload is no JSON"
        return
    if not isinstance(said, dict):
        yield "the signed payload is no statement"
        return
    expected = json.loads(statement(artifact))
    yield from _different("", said, expected)


def _different(where: str, said: Mapping[str, Any], expected: Mapping[str, Any]) -> Iterator[str]:
    for name in sorted(said.keys() | expected.keys()):
        one, other = said.get(name), expected.get(name)
        place = f"{where}.{name}" if where else name
        if one == other:
            continue
        if isinstance(one, dict) and isinstance(other, dict):
            yield from _different(place, one, other)
        else:
            yield f"the attestation says {place} = {_shown(one)}, and the map {_shown(other)}"


def _shown(value: object) -> str:
    text = json.dumps(value, sort_keys=True)
    return text if len(text) <= 80 else f"sha256 {hashlib.sha256(text.encode()).hexdigest()[:12]}"


# ---------------------------------------------------------------- whose signature it is


class Signers(NamedTuple):
    """Whose attestations count: an allowed-signers file (its text and name), and the revocations beside it."""

    data: bytes
    name: str
    revoked: bytes | None = None


class Vouched(NamedTuple):
    """A key that signed, and whose it is by the list of signers."""

    principal: str
    fingerprint: str


def sign(artifact: ObligationMap, keygen: SshKeygen, key_file: Path, environment: Mapping[str, str]) -> Envelope:
    """A signed envelope about a map. Errors: :class:`UsageError` when no signature was made."""
    payload = statement(artifact)
    armored = keygen.sign(signing_input(payload), key_file, environment)
    return Envelope(payload, (Signed(parse_signature(armored, NAMESPACE).fingerprint, armored),))


def voucher(envelope: Envelope, signers: Signers, keygen: SshKeygen, moment: dt.datetime) -> Vouched:
    """Who vouches for an envelope: the first good signature of a listed key.

    Errors: :class:`EvidenceError` that says of each signature why it does not count.
    """
    listed = approvers.parse(signers.data, signers.name, signers.revoked)
    refusals = [f"{finding.path}:{finding.line}: {finding.message}" for finding in listed.findings]
    for signed in envelope.signatures:
        try:
            return _judge(signed, envelope, listed, (signers, keygen, moment))
        except Refused as refusal:
            refusals.append(f"a signature {refusal}")
    raise EvidenceError("nobody vouches for this: " + ("; ".join(refusals) or "it has no signature"))


def _judge(
    signed: Signed, envelope: Envelope, listed: Approvers, by: tuple[Signers, SshKeygen, dt.datetime]
) -> Vouched:
    """Whose good signature this is. Errors: :class:`Refused`."""
    signers, keygen, moment = by
    signature = parse_signature(signed.signature, NAMESPACE)
    refusal = Refused(f"is of the key {signature.fingerprint}, which {signers.name} does not list")
    for signer in listed.with_key(signature.key):
        trust = Trust(signer.options, signer.key, signers.revoked, moment)
        try:
            keygen.verify(signature, signing_input(envelope.payload), trust)
        except Refused as reason:
            refusal = reason
        else:
            return Vouched(signer.principal, signature.fingerprint)
    raise refusal
