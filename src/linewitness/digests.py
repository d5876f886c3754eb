"""SHA-1 and SHA-256 in hexadecimal, of short texts without OpenSSL: loading it takes longer than a small check hashes.

CPython brings hash functions of its own, which are as fast for short texts and a sixth as fast for long ones.
"""

from __future__ import annotations

from collections.abc import Iterable

try:
    from _sha1 import sha1 as _sha1  # type: ignore[import-not-found, unused-ignore]
except ImportError:
    from hashlib import sha1 as _sha1  # type: ignore[assignment, unused-ignore]
try:
    from _sha2 import sha256 as _sha256  # type: ignore[import-not-found, unused-ignore]
except ImportError:
    try:  # 3.11
        from _sha256 import sha256 as _sha256  # type: ignore[import-not-found, no-redef, unused-ignore]
    except ImportError:
        from hashlib import sha256 as _sha256

_DIRECT = {"sha1": _sha1, "sha256": _sha256}
_MUCH = 1 << 19
"""Bytes that have to be hashed before loading OpenSSL is cheaper than doing without."""
_SHORT = 1 << 10
"""Bytes up to which OpenSSL is no faster."""
_hashed = 0


def hexdigest(algorithm: str, *parts: bytes) -> str:
    """The digest of the concatenated parts. ``algorithm`` is ``sha1`` or ``sha256``. Errors: KeyError for another."""
    global _hashed  # noqa: PLW0603 - how much this process has hashed is a fact about the process
    make = _DIRECT[algorithm]
    length = sum(map(len, parts))
    _hashed += length
    if length > _SHORT and _hashed > _MUCH:
        import hashlib

        state = getattr(hashlib, algorithm)(usedforsecurity=False)
    else:
        state = make()
    for part in parts:
        state.update(part)
    return str(state.hexdigest())


def sha256(*parts: bytes) -> str:
    """SHA-256 of the concatenated parts: 64 hex digits."""
    return hexdigest("sha256", *parts)


def sha256_of_each(texts: Iterable[bytes]) -> list[str]:
    """SHA-256 of each of many short texts: big patches have so many lines that a call for each is felt."""
    return [_sha256(text).hexdigest() for text in texts]
