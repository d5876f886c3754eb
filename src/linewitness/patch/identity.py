r"""What a line is, and the name by which waivers and maps know it.

One rule for the whole package: ``\n`` ends a line, a carriage return right before it belongs to the terminator, and
nothing else ends a line. At the end of a file a terminator may be missing. Lines whose bytes differ only in the
terminator are the same line.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from linewitness.digests import hexdigest, sha256, sha256_of_each

_HASH_DIGITS = 16
_EARLY_HASH_DIGITS = 12


def line_hash(line: bytes) -> str:
    """The identity of a line: the first 16 hex digits of SHA-256 over its bytes without the terminator."""
    return hash_of_text(without_terminator(line))


def hash_of_text(text: bytes) -> str:
    """The identity of a line whose terminator is already off, as :func:`split_lines` leaves it."""
    return sha256(text)[:_HASH_DIGITS]


def hashes_of(texts: Iterable[bytes]) -> list[str]:
    """:func:`hash_of_text` of many lines: big patches have so many that a call for each is felt."""
    return [digest[:_HASH_DIGITS] for digest in sha256_of_each(texts)]


def sha1_12(line: bytes) -> str:
    """The identity that early adopters wrote: the first 12 hex digits of SHA-1 over the line without the terminator."""
    return hexdigest("sha1", without_terminator(line))[:_EARLY_HASH_DIGITS]


def without_terminator(line: bytes) -> bytes:
    r"""The line without its ``\n``, ``\r\n`` or, at the end of a file, ``\r``. Only one of each is taken."""
    return line.removesuffix(b"\n").removesuffix(b"\r")


def split_lines(text: bytes) -> list[bytes]:
    """The lines of a file without their terminators; line ``n`` is element ``n - 1``."""
    lines = text.replace(b"\r\n", b"\n").split(b"\n")
    if not lines[-1]:
        lines.pop()
    elif lines[-1].endswith(b"\r"):
        lines[-1] = lines[-1][:-1]
    return lines


@lru_cache(maxsize=4)
def lines_of(text: bytes) -> tuple[bytes, ...]:
    """The lines as :func:`split_lines` gives them, kept for a while, as every step asks for those of the same texts."""
    return tuple(split_lines(text))


def decode_lines(lines: Iterable[bytes]) -> list[str]:
    """The texts of lines whose terminators are off; as :func:`decode_line`, for many."""
    # a line feed neither begins nor continues a character, so that an incomplete one before it stays alone
    return b"\n".join(lines).decode("utf-8", "surrogateescape").split("\n")


def decode_line(line: bytes) -> str:
    """The line's text without the terminator; bytes that are not UTF-8 survive as surrogate escapes."""
    return without_terminator(line).decode("utf-8", "surrogateescape")
