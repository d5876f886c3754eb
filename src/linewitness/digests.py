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

_LONG = 1 << 18
"""Bytes from which on loading OpenSSL is cheaper than doing without."""
_DIRECT = {"sha1": _sha1, "sha256": _sha256}


def hexdigest(algorithm: str, *parts: bytes) -> str:
    """The digest of the concatenated parts. ``algorithm`` is ``sha1`` or ``sha256``. Errors: KeyError for another."""
    make = _DIRECT[algorithm]
    if sum(map(len, parts)) >= _LONG:
        import hashlib

        state = hashlib.new(algorithm, usedforsecurity=False)
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
