"""Numbers as exports write them: parsed strictly, for whatever cannot be read must not count as zero."""

from __future__ import annotations

import math
import re
from typing import Final

from linewitness.evidence.formats.facts import MAX_COUNT, MAX_LINE

_MAX_DIGITS: Final = 24
#: The lines of code that stands in no text: what writers put there, and what .NET's compilers do.
_NOWHERE: Final = frozenset({0, 0xF00F00, 0xFEEFEE})
_MD5: Final = re.compile(r"[0-9a-fA-F]{32}")


def line_number(text: bytes | str) -> int | None:
    """A 1-based line, or ``None`` when the text is none."""
    text = text.strip()
    if not text.isdigit() or not text.isascii() or len(text) > _MAX_DIGITS:
        return None
    number = int(text)
    return number if 1 <= number <= MAX_LINE else None


def stands_nowhere(text: bytes | str) -> bool:
    """Whether a text is the line of code that stands in no file, which an export may count and nobody can change."""
    text = text.strip()
    return text.isdigit() and text.isascii() and len(text) <= _MAX_DIGITS and int(text) in _NOWHERE


def md5_digits(text: str) -> str | None:
    """An MD5 in 32 hexadecimal digits, in lower case, or ``None`` when the text is none."""
    return text.lower() if _MD5.fullmatch(text) else None


def hit_count(text: bytes | str) -> int | None:
    """How often something ran, or ``None`` when the text does not say.

    geninfo can be told to keep negative counts, which are overflows of its own: they prove nothing and read as zero.
    Some writers use a float, and ``-`` stands for "never reached".
    """
    plain = (text if isinstance(text, str) else text.decode("ascii", "replace")).strip()
    if plain == "-":
        return 0
    if len(plain) > _MAX_DIGITS and not plain.lstrip("+-").isdigit():
        return None
    if plain.isascii() and plain.isdigit():
        return min(int(plain), MAX_COUNT) if len(plain) <= _MAX_DIGITS else MAX_COUNT
    try:
        value = float(plain)
    except ValueError:
        return None
    if not math.isfinite(value):
        return None
    return min(max(0, math.ceil(value)), MAX_COUNT)
