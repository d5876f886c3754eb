"""The list of people whose signature approves changes of protected content.

The file has git's allowed-signers format (ssh-keygen(1), ALLOWED SIGNERS): names, options, key type, key, comment. A
line lists a *key*; the names before it say for people whose key that is, and nobody is recognised by a name, because
whoever makes a commit chooses the names in it. Beside it may lie a file called ``revoked``: a key revocation list, or
public keys one a line, as ``gpg.ssh.revocationFile`` takes them.

A line that means something else, or nothing, lists nobody; the other lines still count.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator
from typing import Final

from linewitness.model import Finding
from linewitness.trust.signatures import Refused, fingerprint, key_type, rsa_bits
from linewitness.values import NamedTuple

_LARGEST: Final = 1 << 20
_TYPES: Final = frozenset(
    {
        *("ssh-ed25519", "ssh-rsa", "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384", "ecdsa-sha2-nistp521"),
        *("sk-ssh-ed25519@openssh.com", "sk-ecdsa-sha2-nistp256@openssh.com"),
    }
)
_LEAST_RSA_BITS: Final = 2048
# A quotation mark opens and closes anywhere in a word, and white space inside of quotes belongs to the word.
_WORD: Final = re.compile(r'(?:[^\s"]|"[^"]*")+')
_DATE: Final = r'"[0-9]{8}(?:[0-9]{4}(?:[0-9]{2})?)?Z?"'
_OPTION: Final = re.compile(rf'(?:namespaces="[^"\\]*"|valid-(?:after|before)={_DATE})', re.IGNORECASE)
_SPLIT: Final = re.compile(r'(?:[^,"]|"[^"]*")+')
_KEY_TYPES: Final = ("ssh-", "ecdsa-", "sk-")


class Approver(NamedTuple):
    """One line: ``principal`` is whose key it is, ``options`` are as written, ``key`` is in the wire format."""

    principal: str
    options: str
    key: bytes
    line: int

    @property
    def fingerprint(self) -> str:
        """The fingerprint of the key."""
        return fingerprint(self.key)


class Approvers(NamedTuple):
    """The lines that list somebody, the revocations beside them (``None``: no such file), and what cannot be used."""

    listed: tuple[Approver, ...]
    revoked: bytes | None
    findings: tuple[Finding, ...]

    def with_key(self, key: bytes) -> tuple[Approver, ...]:
        """The lines with this key. Several may list it, each under its own options."""
        return tuple(approver for approver in self.listed if approver.key == key)


def parse(data: bytes, path: str, revoked: bytes | None = None) -> Approvers:
    """Read an approvers file. Never raises: what lists nobody is an ``LW304`` with its line."""
    if len(data) > _LARGEST:
        return Approvers(
            (), revoked, (_finding(path, 0, f"has {len(data)} bytes, and lists nobody beyond {_LARGEST}"),)
        )
    listed: list[Approver] = []
    findings: list[Finding] = []
    for number, raw in enumerate(data.split(b"\n"), 1):
        try:
            text = raw.removesuffix(b"\r").decode("utf-8").strip()
            if text and not text.startswith("#"):
                listed.append(_approver(text, number))
        except UnicodeDecodeError:
            findings.append(_finding(path, number, "is not UTF-8"))
        except Refused as trouble:
            findings.append(_finding(path, number, str(trouble)))
    return Approvers(tuple(listed), revoked, tuple(findings))


def _finding(path: str, line: int, trouble: str) -> Finding:
    return Finding("LW304", path, line, f"this line of the approvers file lists nobody: it {trouble}")


def _approver(text: str, line: int) -> Approver:
    if not text.replace("\t", " ").isprintable():
        raise Refused("holds a character that cannot be seen")
    principal, rest = _word(text)
    word, after = _word(rest)
    options, rest = ("", rest) if word.startswith(_KEY_TYPES) else (word, after)
    if len(rest.split()) < 2:
        raise Refused("needs a name, then options if there are any, then the type of a key and the key")
    principal = principal.strip('"')
    _check_principal(principal)
    _check_options(options)
    return Approver(principal, options, _key(*rest.split()[:2]), line)


def _word(text: str) -> tuple[str, str]:
    """The first word of a line, and the rest of it."""
    match = _WORD.match(text)
    end = match.end() if match else 0
    if end < len(text) and not text[end].isspace():
        raise Refused("has a quotation mark that is never closed")
    return text[:end], text[end:].lstrip()


def _check_principal(principal: str) -> None:
    names = principal.split(",")
    if not all(name.strip() for name in names) or all(name.startswith("!") for name in names):
        raise Refused("names nobody before the key")


def _check_options(options: str) -> None:
    given: list[str] = []
    for option in _options(options):
        name = option.partition("=")[0].lower()
        if name == "cert-authority":
            raise Refused("lists an authority for certificates; list each person's own key instead")
        if not _OPTION.fullmatch(option):
            raise Refused(f'has the option `{option}`; known are namespaces="…", valid-after="…" and valid-before="…"')
        given.append(name)
    if len(given) != len(set(given)):
        raise Refused("gives one option twice")


def _options(text: str) -> Iterator[str]:
    parts = _SPLIT.findall(text)
    if ",".join(parts) != text:
        raise Refused(f"has options that cannot be told apart: `{text}`")
    yield from parts


def _key(name: str, text: str) -> bytes:
    if name not in _TYPES:
        raise Refused(f"has a key of the type `{name}`, which is not accepted")
    try:
        key = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise Refused("has a key that is not base64") from None
    try:
        said, bits = key_type(key), rsa_bits(key) if name == "ssh-rsa" else _LEAST_RSA_BITS
    except Refused:
        raise Refused("has a key that is cut short") from None
    if said != name:
        raise Refused(f"calls a key `{name}` that is `{said}`")
    if bits < _LEAST_RSA_BITS:
        raise Refused(f"has an RSA key of {bits} bits; {_LEAST_RSA_BITS} are the least")
    return key
