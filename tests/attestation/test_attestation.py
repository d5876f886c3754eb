"""A map that was signed, and everything that must not pass for one. The keys are real; so is ssh-keygen."""

from __future__ import annotations

import base64
import datetime as dt
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from linewitness import attestation
from linewitness.case import Question
from linewitness.errors import EvidenceError
from linewitness.gate import CheckRequest, check
from linewitness.obligation_map import ObligationMap, encode
from linewitness.trust.signatures import SshKeygen
from tests.support.repos import Repo, environment
from tests.support.signing import Key

SOURCE = Path(__file__).resolve().parents[2] / "src"
NOW = dt.datetime(2026, 6, 1, tzinfo=dt.UTC)


class Place:
    """A repository whose base lists one attester, a map about its head, and two keys."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.robot, self.stranger = Key.make(home / "keys", "robot"), Key.make(home / "keys", "stranger")
        self.repo = Repo(home / "repo")
        lines = {".linewitness/attesters": self.robot.line("ci@example.org")}
        self.repo.commit("base", {"shop.py": "x = 1\n", **lines})
        self.repo.tag("base")
        self.repo.commit("head", {"README.md": "# shop\n"})
        self.map = home / "map.json"
        self.artifact = check(CheckRequest(self.repo.root, Question("base", "HEAD")), lambda _: None)
        self.map.write_bytes(b"".join(encode(self.artifact)))
        self.keygen = SshKeygen(self.repo.root, attestation.NAMESPACE)

    def signers(self, options: str = "") -> attestation.Signers:
        return attestation.Signers(self.robot.line("ci@example.org", options).encode(), "attesters")

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "linewitness", *words, "--root", str(self.repo.root)]
        variables = {**environment(), "PYTHONPATH": str(SOURCE), "PATH": os.environ["PATH"]}
        return subprocess.run(command, env=variables, cwd=self.home, check=False, capture_output=True, text=True)

    def attest(self, key: Key) -> Path:
        target = self.home / "attestation.json"
        done = self.run("attest", str(self.map), "--key", str(key.file), "-o", str(target))
        assert done.returncode == 0, done.stderr
        return target


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    return Place(tmp_path_factory.mktemp("place"))


def statement_of(envelope: Path) -> dict[str, Any]:
    said: dict[str, Any] = json.loads(base64.b64decode(json.loads(envelope.read_bytes())["payload"]))
    return said


def test_a_signed_map_is_verified_with_the_list_that_base_holds(place: Place) -> None:
    done = place.run("verify", str(place.map), "--attestation", str(place.attest(place.robot)))
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"attested by ci@example.org with {place.robot.fingerprint}" in done.stdout


def test_the_statement_names_commit_tree_and_all_that_the_verdict_rests_on(place: Place) -> None:
    said = statement_of(place.attest(place.robot))
    commit, tree = place.repo.git("rev-parse", "HEAD", "HEAD^{tree}").split()
    assert said["_type"] == "https://in-toto.io/Statement/v1"
    assert [subject["digest"] for subject in said["subject"]] == [{"gitCommit": commit}, {"gitTree": tree}]
    predicate = said["predicate"]
    assert predicate["verdict"] == "open"
    assert predicate["base"]["commit"] == place.repo.git("rev-parse", "base").strip()
    assert predicate["settings"]["digest"]["sha256"] == place.artifact.settings_digest
    digest = subprocess.run(["sha256sum", place.map], check=True, capture_output=True, text=True).stdout.split()[0]
    assert predicate["map"]["digest"]["sha256"] == digest


def test_openssh_alone_can_check_the_signature(place: Place) -> None:
    said = json.loads(place.attest(place.robot).read_bytes())
    payload = base64.b64decode(said["payload"])
    signature, signers = place.home / "signature", place.home / "signers"
    signature.write_bytes(base64.b64decode(said["signatures"][0]["sig"]))
    signers.write_text(place.robot.line("ci@example.org"), encoding="ascii")
    kind = said["payloadType"]
    signed = f"DSSEv1 {len(kind)} {kind} {len(payload)} ".encode() + payload
    words = ["ssh-keygen", "-Y", "verify", "-n", "linewitness-attestation", "-I", "ci@example.org"]
    subprocess.run([*words, "-f", signers, "-s", signature], input=signed, check=True, capture_output=True)


def test_a_key_that_base_does_not_list_vouches_for_nothing(place: Place) -> None:
    done = place.run("verify", str(place.map), "--attestation", str(place.attest(place.stranger)))
    assert done.returncode == 3
    assert "nobody vouches" in done.stdout
    assert place.stranger.fingerprint in done.stdout


def test_a_list_of_one_s_own_may_be_named(place: Place) -> None:
    signers = place.home / "own signers"
    signers.write_text(place.stranger.line("release@example.org"), encoding="ascii")
    envelope = str(place.attest(place.stranger))
    done = place.run("verify", str(place.map), "--attestation", envelope, "--signers", str(signers))
    assert done.returncode == 0, done.stdout
    assert "attested by release@example.org" in done.stdout


def test_an_attestation_of_another_map_is_refused(place: Place) -> None:
    envelope = place.attest(place.robot)
    other = check(CheckRequest(place.repo.root, Question("base", "HEAD"), today="2026-01-01"), lambda _: None)
    stored = place.home / "other.json"
    stored.write_bytes(b"".join(encode(other)))
    done = place.run("verify", str(stored), "--attestation", str(envelope))
    assert done.returncode == 3
    assert "predicate.map.digest.sha256" in done.stdout


def test_a_map_that_contradicts_itself_is_not_signed(place: Place) -> None:
    forged = place.home / "forged.json"
    forged.write_bytes(place.map.read_bytes().replace(b'"owed":0', b'"owed":3'))
    done = place.run("attest", str(forged), "--key", str(place.robot.file))
    assert done.returncode == 3
    assert "is not signed" in done.stderr
    assert done.stdout == ""


def test_a_map_about_another_tree_is_not_signed(place: Place) -> None:
    done = place.run("attest", str(place.map), "--key", str(place.robot.file), "--head", "base")
    assert done.returncode == 3
    assert "another tree of head" in done.stderr


def test_a_closed_gate_can_be_attested_and_stays_closed(place: Place, tmp_path: Path) -> None:
    repo = place.repo.clone(tmp_path / "clone")
    repo.commit("more", {"shop.py": "x = 2\n"})
    question = Question(place.repo.git("rev-parse", "base").strip(), "HEAD")
    closed = check(CheckRequest(repo.root, question), lambda _: None)
    envelope = attestation.sign(closed, place.keygen, place.robot.file, os.environ)
    assert json.loads(envelope.payload)["predicate"]["verdict"] == "closed"
    assert list(attestation.disagreements(envelope, closed)) == []
    assert attestation.voucher(envelope, place.signers(), place.keygen, NOW).principal == "ci@example.org"


@pytest.mark.parametrize("words", [(), ("--unsigned", "--key", "key")])
def test_the_signer_has_to_be_named(place: Place, words: tuple[str, ...]) -> None:
    done = place.run("attest", str(place.map), *words)
    assert done.returncode == 2
    assert "--unsigned" in done.stderr


def test_the_bare_statement_is_for_other_signers(place: Place) -> None:
    done = place.run("attest", str(place.map), "--unsigned")
    assert done.returncode == 0
    assert json.loads(done.stdout) == statement_of(place.attest(place.robot))


# ---------------------------------------------------------------- what a signature has to hold


def envelope_of(place: Place, artifact: ObligationMap | None = None) -> attestation.Envelope:
    return attestation.sign(artifact or place.artifact, place.keygen, place.robot.file, os.environ)


def refused(place: Place, envelope: attestation.Envelope, signers: attestation.Signers | None = None) -> str:
    with pytest.raises(EvidenceError, match="nobody vouches") as caught:
        attestation.voucher(envelope, signers or place.signers(), place.keygen, NOW)
    return str(caught.value)


def test_a_changed_payload_breaks_the_signature(place: Place) -> None:
    envelope = envelope_of(place)
    changed = envelope._replace(payload=envelope.payload.replace(b'"open"', b'"shut"'))
    assert "does not hold" in refused(place, changed)


def test_a_signature_for_another_purpose_does_not_count(place: Place) -> None:
    payload = attestation.statement(place.artifact)
    commits = SshKeygen(place.repo.root)
    armored = commits.sign(attestation.signing_input(payload), place.robot.file, os.environ)
    envelope = attestation.Envelope(payload, (attestation.Signed(place.robot.fingerprint, armored),))
    assert "namespace 'git'" in refused(place, envelope)


def test_a_signature_over_the_bare_payload_does_not_count(place: Place) -> None:
    payload = attestation.statement(place.artifact)
    armored = place.keygen.sign(payload, place.robot.file, os.environ)
    envelope = attestation.Envelope(payload, (attestation.Signed(place.robot.fingerprint, armored),))
    assert "does not hold" in refused(place, envelope)


def test_the_fingerprint_beside_a_signature_is_not_believed(place: Place) -> None:
    envelope = attestation.sign(place.artifact, place.keygen, place.stranger.file, os.environ)
    (signed,) = envelope.signatures
    lying = envelope._replace(signatures=(signed._replace(keyid=place.robot.fingerprint),))
    assert place.stranger.fingerprint in refused(place, lying)


def test_without_a_signature_nobody_vouches(place: Place) -> None:
    assert "has no signature" in refused(place, envelope_of(place)._replace(signatures=()))


def test_a_key_counts_only_while_it_is_valid(place: Place) -> None:
    late = place.signers('valid-before="20260101Z"')
    assert "does not hold" in refused(place, envelope_of(place), late)


def test_a_revoked_key_does_not_count(place: Place) -> None:
    signers = place.signers()._replace(revoked=f"{place.robot.public}\n".encode())
    assert "revoked" in refused(place, envelope_of(place), signers)


def test_one_good_signature_among_others_is_enough(place: Place) -> None:
    other = attestation.sign(place.artifact, place.keygen, place.stranger.file, os.environ)
    good = envelope_of(place)
    both = good._replace(signatures=(*other.signatures, *good.signatures))
    assert attestation.voucher(both, place.signers(), place.keygen, NOW).fingerprint == place.robot.fingerprint


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"[]",
        b"{}",
        b"null",
        b"\xff",
        b"[" * 100_000,
        b'{"payloadType":"application/vnd.in-toto+json","payload":"e30=","signatures":[{}]}',
        b'{"payloadType":"application/vnd.in-toto+json","payload":"e30=","signatures":3}',
        b'{"payloadType":"application/vnd.in-toto+json","payload":"***","signatures":[]}',
        b'{"payloadType":"text/plain","payload":"e30=","signatures":[]}',
        b'{"payloadType":"application/vnd.in-toto+json","payload":"e30=","payload":"e30=","signatures":[]}',
    ],
)
def test_what_is_no_envelope_is_refused_by_name(data: bytes) -> None:
    with pytest.raises(EvidenceError, match=r"there\.json: is no attestation"):
        attestation.decode_envelope(data, "there.json")


def test_an_envelope_survives_writing_and_reading(place: Place) -> None:
    envelope = envelope_of(place)
    assert attestation.decode_envelope(attestation.encode_envelope(envelope), "x") == envelope


@pytest.mark.parametrize("payload", [b"", b"[]", b"{}", b"null", b'{"predicate":3}'])
def test_a_signed_payload_that_says_something_else_disagrees(place: Place, payload: bytes) -> None:
    assert list(attestation.disagreements(attestation.Envelope(payload, ()), place.artifact))
