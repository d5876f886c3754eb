"""The top-level statements around some lines, with everything else of the file blanked.

Parsing is most of the work on a big file with few changes, and a statement at module level means the same whatever
stands before it. An excerpt is only made when the borders between statements are certain; otherwise the whole file is
parsed, which is always right. The borders are found with C-speed string operations, not by visiting every token.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection

from linewitness.languages.source import Source
from linewitness.patterns import late

_WORTH_IT = 4096
_ENOUGH = 0.6
# What no top-level statement begins with: blanks, a comment, a closing bracket, a clause of the statement before.
_NO_BEGIN = frozenset(b" \t\f#)]}")
_MAY_BE_CLAUSE = frozenset(b"ef")
_CLAUSE = late(rb"(?:else|elif|except|finally)\b")
_OPEN, _DEAD, _TUPLE = b"\x01", b"\x02", b"\x03"
_TEXT = late(
    rb"""\"{3}[^"\\]*(?:(?:\\.|"(?!""))[^"\\]*)*\"{3} | '{3}[^'\\]*(?:(?:\\.|'(?!''))[^'\\]*)*'{3}
    | "(?!"")[^"\\\n]*(?:\\.[^"\\\n]*)*" | '(?!'')[^'\\\n]*(?:\\.[^'\\\n]*)*' | \#[^\n]*""",
    re.DOTALL | re.VERBOSE,
)
_PREFIX = late(rb"(?<![A-Za-z0-9_])[A-Za-z]{1,2}\Z")
# The grammar takes a tuple that ends with a comma, and the assignment after it, for one statement.
_AFTER_COMMA = late(rb",[ \t\f\n]*" + _OPEN)
_DOUBTFUL = late(rb"[\"'#\\]")
_SIGNS = b"()[]{}" + _OPEN + _DEAD + _TUPLE
_OTHERS = bytes(byte for byte in range(256) if byte not in _SIGNS)
_HIDDEN = bytes(byte if byte == 0x0A else 0x20 for byte in range(256))


class _UncertainError(Exception):
    """The borders cannot be told without a parser."""


def excerpt(source: Source, lines: Collection[int]) -> bytes | None:
    """The file with all bytes but those of the wanted top-level statements (and the first one) blanked, line ends kept.

    ``None`` when that is not worth it or not certain: then the file has to be parsed whole.
    """
    data = source.data
    if len(data) < _WORTH_IT or any(sign in data for sign in (_OPEN, _DEAD, _TUPLE)):
        return None
    texts = data.split(b"\n")
    begins = [bool(text) and text[0] not in _NO_BEGIN and not _is_clause(text) for text in texts]
    borders = [start for start, is_one in zip(source.starts, begins, strict=False) if is_one]
    if not borders or _size(_stretches(source, borders, lines)) > _ENOUGH * len(data):
        return None
    marked = b"\n".join([_OPEN + text if is_one else text for text, is_one in zip(texts, begins, strict=True)])
    try:
        alive = _alive(marked)
    except _UncertainError:
        return None
    borders = _statements(data, [border for border, is_one in zip(borders, alive, strict=True) if is_one])
    stretches = _stretches(source, borders, lines)
    return None if _size(stretches) > _ENOUGH * len(data) else _only(data, stretches)


def _is_clause(text: bytes) -> bool:
    return text[0] in _MAY_BE_CLAUSE and _CLAUSE.match(text) is not None


def _stretches(source: Source, borders: list[int], lines: Collection[int]) -> list[tuple[int, int]]:
    """From border to border, the stretches that hold the lines, and the first of all."""
    wanted = {0} | {max(bisect_right(borders, source.starts[line - 1]) - 1, 0) for line in lines}
    ends = [*borders[1:], len(source.data)]
    return [(borders[at] if at else 0, ends[at]) for at in sorted(wanted)]


def _size(stretches: list[tuple[int, int]]) -> int:
    return sum(end - start for start, end in stretches)


def _alive(marked: bytes) -> list[bool]:
    """For each border marked in a text, in order, whether it is outside of strings, brackets and joined lines."""
    text = _TEXT.sub(_without_text, marked)
    text = text.replace(b"\\\n" + _OPEN, _DEAD).replace(b"\\\n", b"")
    text = _AFTER_COMMA.sub(_TUPLE, text)
    if _DOUBTFUL.search(text):
        raise _UncertainError
    text, size = text.translate(None, _OTHERS), -1
    while size != len(text):
        size = len(text)
        text = text.replace(b"()", b"").replace(b"[]", b"").replace(b"{}", b"")
    depth, alive = 0, list[bool]()
    for sign in text:
        if sign in _TUPLE and depth == 0:
            raise _UncertainError
        if sign in _OPEN or sign in _DEAD or sign in _TUPLE:
            alive.append(sign in _OPEN and depth == 0)
        else:
            depth += 1 if sign in b"([{" else -1
        if depth < 0:
            raise _UncertainError
    if depth:
        raise _UncertainError
    return alive


def _without_text(match: re.Match[bytes]) -> bytes:
    """Nothing in the place of a string or comment but the marks in it, which are no borders.

    From 3.12 on the fields of f-strings may hold quotes and comments (PEP 701). Where they might, the end of the
    literal is not certain.
    """
    text = match[0]
    if b"{" in text and not text.startswith(b"#") and _is_formatted(match):
        size = 3 if len(text) > 5 and text[0] == text[1] == text[2] else 1
        body = text[size:-size]
        if _DOUBTFUL.search(body) or not _fields_closed(body):
            raise _UncertainError
    return _DEAD * text.count(_OPEN)


def _is_formatted(match: re.Match[bytes]) -> bool:
    before = match.string[max(match.start() - 3, 0) : match.start()]
    prefix = _PREFIX.search(before)
    return prefix is not None and any(letter in b"ftFT" for letter in prefix[0])


def _fields_closed(body: bytes) -> bool:
    depth = 0
    for brace in re.finditer(rb"\{\{|\}\}|[{}]", body):
        text = brace[0]
        if depth or len(text) == 1:
            depth += len(text) if text.startswith(b"{") else -len(text)
        if depth < 0:
            return False
    return depth == 0


def _statements(data: bytes, borders: list[int]) -> list[int]:
    """The borders without those between a decorator and what it decorates."""
    return [at for before, at in zip([-1, *borders], borders, strict=False) if before < 0 or data[before] != ord("@")]


def _only(data: bytes, stretches: list[tuple[int, int]]) -> bytes:
    parts: list[bytes] = []
    last = 0
    for start, end in stretches:
        parts += [data[last:start].translate(_HIDDEN), data[start:end]]
        last = end
    parts.append(data[last:].translate(_HIDDEN))
    return b"".join(parts)
