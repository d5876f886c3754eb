"""SSH signatures: reading them, and having ``ssh-keygen`` make and check them.

Formats: PROTOCOL.sshsig and PROTOCOL.key of OpenSSH, and ssh-keygen(1) under ALLOWED SIGNERS. The program is called by
an absolute path that does not lie in the repository, with everything it reads in a folder of its own, and with UTC as
its time zone, in which it reads dates without one. Neither git's settings nor the environment can name another program,
another list of signers or another day.
"""

from __future__ import annotations

import base64
import binascii
import datetime as dt
import hashlib
import os
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from linewitness.errors import UsageError
from linewitness.values import NamedTuple

NAMESPACE: Final = "git"
"""What git signs under: a signature for a file, a mail or a login is not one for a commit."""

_ARMOR: Final = (b"-----BEGIN SSH SIGNATURE-----", b"-----END SSH SIGNATURE-----")
_PRIVATE: Final = (b"-----BEGIN OPENSSH PRIVATE KEY-----", b"-----END OPENSSH PRIVATE KEY-----")
_FOREIGN: Final = {
    b"-----BEGIN PGP": "an OpenPGP signature",
    b"-----BEGIN SIGNED MESSAGE": "an X.509 signature",
}
_KRL: Final = b"SSHKRL\n\0"
_SIGNER: Final = "approver"
_SECONDS: Final = 60
_SECONDS_FOR_A_PERSON: Final = 600
_HOST_VARIABLES: Final = ("SYSTEMROOT", "TMPDIR", "TEMP", "TMP")
# Where an agent is, and how a passphrase or a touch is asked for: needed to sign, never to verify.
_PERSONAL_VARIABLES: Final = (
    *("HOME", "SSH_AUTH_SOCK", "SSH_SK_PROVIDER", "SSH_ASKPASS", "SSH_ASKPASS_REQUIRE"),
    *("DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "TERM", "PATH"),
)


class Refused(Exception):  # noqa: N818 - a judgement, turned into a finding by whoever asked
    """Why something is no valid signature or key, as a clause whose subject is the commit or the line."""


class Signature(NamedTuple):
    """An SSH signature: its armoured text, and the public key (in the wire format) that it says it was made with."""

    armored: bytes
    key: bytes

    @property
    def fingerprint(self) -> str:
        """The fingerprint of the key."""
        return fingerprint(self.key)


class Trust(NamedTuple):
    """What a signature is checked against.

    ``options`` and ``key`` are those of one line of an allowed-signers file, ``revoked`` is a revocation file
    (``None``: there is none), and ``moment`` is when the key has to be valid, in UTC.
    """

    options: str
    key: bytes
    revoked: bytes | None
    moment: dt.datetime


def fingerprint(key: bytes) -> str:
    """The SHA-256 fingerprint of a public key, as OpenSSH prints it."""
    return "SHA256:" + base64.b64encode(hashlib.sha256(key).digest()).decode().rstrip("=")


def key_type(key: bytes) -> str:
    """The type that a public key in the wire format names. Errors: :class:`Refused`."""
    return _Wire(key).string().decode("ascii", "replace")


def rsa_bits(key: bytes) -> int:
    """The length of an RSA key's modulus. Errors: :class:`Refused`."""
    wire = _Wire(key)
    wire.string(), wire.string()
    return int.from_bytes(wire.string(), "big").bit_length()


def parse_signature(text: bytes, namespace: str = NAMESPACE) -> Signature:
    """The signature in a commit's ``gpgsig`` header. Errors: :class:`Refused` for every other kind."""
    for opening, what in _FOREIGN.items():
        if text.startswith(opening):
            raise Refused(f"carries {what}, and only SSH signatures count as approvals")
    body = _dearmored(text, _ARMOR, "carries a signature that is no SSH signature")
    wire = _Wire(body)
    if wire.take(6) != b"SSHSIG" or wire.take(4) != b"\0\0\0\1":
        raise Refused("carries an SSH signature of an unknown version")
    key, said = wire.string(), wire.string().decode(errors="replace")
    if said != namespace:
        raise Refused(f"carries an SSH signature for the namespace {said!r}, not `{namespace}`")
    return Signature(text, key)


def public_key(data: bytes) -> bytes | None:
    """The public key, in the wire format, that a key file shows without its passphrase; ``None`` when it shows none.

    ``data`` is the line of a ``.pub`` file, or a private key in OpenSSH's own form.
    """
    try:
        if data.startswith(_PRIVATE[0]):
            wire = _Wire(_dearmored(data.strip() + b"\n", _PRIVATE, ""))
            wire.take(len(b"openssh-key-v1\0"))
            for _ in range(3):  # the cipher, the key derivation and its options
                wire.string()
            wire.take(4)
            return wire.string()
        words = data.split()
        key = base64.b64decode(words[1], validate=True)
        return key if key_type(key) == words[0].decode("ascii") else None
    except (Refused, IndexError, ValueError):
        return None


def _dearmored(text: bytes, armor: tuple[bytes, bytes], trouble: str) -> bytes:
    lines = text.rstrip(b"\n").split(b"\n")
    if len(lines) < 3 or (lines[0], lines[-1]) != armor:
        raise Refused(trouble)
    try:
        return base64.b64decode(b"".join(lines[1:-1]), validate=True)
    except (binascii.Error, ValueError):
        raise Refused(trouble) from None


class _Wire:
    """Reads the data types of RFC 4251, section 5."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def take(self, count: int) -> bytes:
        taken = self._data[self._at : self._at + count]
        if len(taken) != count:
            raise Refused("carries a signature or a key that is cut short")
        self._at += count
        return taken

    def string(self) -> bytes:
        return self.take(int.from_bytes(self.take(4), "big"))


# ---------------------------------------------------------------- the program


class SshKeygen:
    """The ``ssh-keygen`` of this machine. Errors: :class:`UsageError` when there is none outside of ``repository``."""

    def __init__(self, repository: Path, namespace: str = NAMESPACE) -> None:
        self.path = _find(repository)
        self._namespace = namespace

    def verify(self, signature: Signature, payload: bytes, trust: Trust) -> None:
        """Check a signature over ``payload``. Errors: :class:`Refused` with the reason unless it is good.

        The list of signers that the program sees has one line, with the one key that is trusted here, so that no
        pattern of names takes part in the answer.
        """
        if signature.key != trust.key:
            raise Refused("was signed with another key")
        with tempfile.TemporaryDirectory(prefix="linewitness-") as name:
            folder = Path(name)
            key = f"{key_type(trust.key)} {base64.b64encode(trust.key).decode()}"
            (folder / "signers").write_text(f"{_SIGNER} {trust.options} {key}\n".replace("  ", " "), encoding="utf-8")
            (folder / "signature").write_bytes(signature.armored)
            said = self._verify(folder, payload, trust.moment, ())
            if said is not None:
                raise Refused(f"carries a signature of a listed key that does not hold: {said}")
            if trust.revoked is None:
                return
            # Lines are C strings to the program: what follows a NUL would revoke nobody.
            sound = trust.revoked.startswith(_KRL) or b"\0" not in trust.revoked
            (folder / "revoked").write_bytes(trust.revoked if sound else b"damaged\n")
            if self._verify(folder, payload, trust.moment, ("-r", str(folder / "revoked"))) is not None:
                raise Refused("was signed with a listed key that was revoked (or the list of revocations is damaged)")

    def _verify(self, folder: Path, payload: bytes, moment: dt.datetime, more: tuple[str, ...]) -> str | None:
        """``None`` when the signature is good, else what the program said."""
        options = ("-Y", "verify", "-n", self._namespace, "-I", _SIGNER, "-O", f"verify-time={moment:%Y%m%d%H%M%S}")
        files = ("-f", str(folder / "signers"), "-s", str(folder / "signature"))
        done = self._run((*options, *files, *more), _host(), payload, _SECONDS)
        good = f'Good "{self._namespace}" signature for {_SIGNER} with'.encode()
        if done.returncode == 0 and done.stdout.startswith(good):
            return None
        lines = done.stderr.decode("utf-8", "replace").replace(str(folder / "signers") + ":1: ", "").splitlines()
        return "; ".join(lines) or f"status {done.returncode}"

    def sign(self, payload: bytes, key_file: Path, environment: Mapping[str, str]) -> bytes:
        """The armoured signature over ``payload``.

        ``key_file`` is a private key, or the public half of one that an agent holds. A passphrase is asked for on the
        terminal, so the three streams are the caller's. Errors: :class:`UsageError` when no signature was made.
        """
        personal = {name: environment[name] for name in _PERSONAL_VARIABLES if name in environment}
        with tempfile.TemporaryDirectory(prefix="linewitness-") as name:
            content = Path(name) / "commit"
            content.write_bytes(payload)
            arguments = ("-Y", "sign", "-n", self._namespace, "-f", str(key_file), str(content))
            done = self._run(arguments, _host() | personal, None, _SECONDS_FOR_A_PERSON)
            made = content.with_name("commit.sig")
            if done.returncode or not made.is_file():
                lines = done.stderr.decode("utf-8", "replace").splitlines()
                said = next((line for line in reversed(lines) if line.strip()), f"status {done.returncode}")
                raise UsageError(f"nothing was signed: ssh-keygen says: {said}", path=str(key_file))
            return made.read_bytes()

    def _run(
        self, arguments: tuple[str, ...], environment: dict[str, str], data: bytes | None, seconds: int
    ) -> subprocess.CompletedProcess[bytes]:
        command = [self.path, *arguments]
        try:
            return subprocess.run(
                command, check=False, env=environment, input=data, capture_output=True, timeout=seconds, cwd="/"
            )
        except subprocess.TimeoutExpired:
            return subprocess.CompletedProcess(command, 1, b"", f"no answer within {seconds} seconds".encode())
        except OSError as error:
            raise UsageError(f"{self.path} cannot be started: {error.strerror or error}") from None


def _host() -> dict[str, str]:
    kept = {name: os.environ[name] for name in _HOST_VARIABLES if name in os.environ}
    return kept | {"LC_ALL": "C", "TZ": "UTC0", "HOME": os.devnull}


def _find(repository: Path) -> str:
    # An empty or relative part of PATH, or one inside of what is judged, would let the patch bring its own program.
    inside = repository.resolve()
    for folder in os.environ.get("PATH", os.defpath).split(os.pathsep):
        found = os.path.join(folder, "ssh-keygen.exe" if os.name == "nt" else "ssh-keygen")
        if not os.path.isabs(folder) or not os.path.isfile(found) or not os.access(found, os.X_OK):
            continue
        if not Path(found).resolve().is_relative_to(inside):
            return found
    raise UsageError("ssh-keygen was not found on PATH: install OpenSSH's client (Debian: openssh-client) 8.8 or later")
