"""On which line of a TOML document each key stands, which ``tomllib`` does not tell.

Only for documents that ``tomllib`` has accepted, and only for messages: what is found decides nothing. Grammar:
https://toml.io/en/v1.0.0 (tables, arrays of tables, dotted and quoted keys, inline tables, arrays).
"""

from __future__ import annotations

import re
import tomllib
from bisect import bisect_left
from collections.abc import Mapping
from typing import Final

KeyPath = tuple[str | int, ...]

_BLANK: Final = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_STRING: Final = re.compile(
    r"""
    \"{3} (?: \\. | [^\\] )*? \"{3,5}  # basic, over several lines; up to two quotes may stand before the end
    | '{3} .*? '{3,5}                # literal, over several lines
    | \" (?: \\. | [^"\\\n] )* \"   # basic
    | ' [^'\n]* '                    # literal
    """,
    re.DOTALL | re.VERBOSE,
)
_BARE_KEY: Final = re.compile(r"[A-Za-z0-9_-]+")
_BARE_VALUE: Final = re.compile(r"[^,\]}#\n]*")
_DEEPEST: Final = 6


def key_lines(text: str) -> Mapping[KeyPath, int]:
    """Map the path of every key and array element, such as ``("suite", 0, "timeout")``, to its line (1-based)."""
    return _Scanner(text).document()


def line_of(lines: Mapping[KeyPath, int], path: KeyPath) -> int:
    """The line of ``path``, or of the nearest enclosing key that has one; 0 when there is none."""
    while path:
        if path in lines:
            return lines[path]
        path = path[:-1]
    return 0


class _Scanner:
    def __init__(self, text: str) -> None:
        # CRLF is one line end to TOML; the offsets of "\n" alone count lines either way.
        self._text = text
        self._at = 0
        self._breaks = [match.start() for match in re.finditer("\n", text)]
        self._lines: dict[KeyPath, int] = {}
        self._tables: dict[KeyPath, int] = {}

    def document(self) -> Mapping[KeyPath, int]:
        prefix: KeyPath = ()
        self._skip_blank()
        while self._at < len(self._text):
            if self._text[self._at] == "[":
                prefix = self._header()
            else:
                self._pair(prefix, 0)
            self._skip_blank()
        return self._lines

    def _header(self) -> KeyPath:
        """``[a.b]`` or ``[[a.b]]``. Every name of an array of tables means the array's latest element."""
        doubled = self._text.startswith("[[", self._at)
        self._at += 2 if doubled else 1
        line = self._line()
        keys = self._key()
        self._at += 2 if doubled else 1
        path = (*self._resolve(keys[:-1]), keys[-1])
        if doubled:
            self._tables[path] = self._tables.get(path, 0) + 1
            self._lines.setdefault(path, line)
        path = self._resolve_last(path)
        self._lines.setdefault(path, line)
        return path

    def _resolve(self, keys: tuple[str, ...]) -> KeyPath:
        path: KeyPath = ()
        for key in keys:
            path = self._resolve_last((*path, key))
        return path

    def _resolve_last(self, path: KeyPath) -> KeyPath:
        return (*path, self._tables[path] - 1) if path in self._tables else path

    def _pair(self, prefix: KeyPath, depth: int) -> None:
        line = self._line()
        path = prefix
        for key in self._key():
            path = (*path, key)
            self._lines.setdefault(path, line)
        self._at += 1  # the equals sign
        self._skip_blank()
        self._value(path, depth)

    def _key(self) -> tuple[str, ...]:
        """A dotted key; the place after it is its ``=`` or ``]``."""
        parts = []
        while True:
            self._skip_blank()
            bare = _BARE_KEY.match(self._text, self._at)
            if bare:
                parts.append(bare.group())
                self._at = bare.end()
            else:
                parts.append(str(tomllib.loads(f"key = {self._string()}")["key"]))
            self._skip_blank()
            if not self._text.startswith(".", self._at):
                return tuple(parts)
            self._at += 1

    def _value(self, path: KeyPath, depth: int) -> None:
        first = self._text[self._at]
        if first in "\"'":
            self._string()
        elif first in "[{" and depth >= _DEEPEST:
            self._skip_brackets()
        elif first == "[":
            self._members("]", path, depth)
        elif first == "{":
            self._members("}", path, depth)
        else:
            self._at = self._match_end(_BARE_VALUE)

    def _members(self, closer: str, path: KeyPath, depth: int) -> None:
        self._at += 1
        index = 0
        self._skip_blank()
        while not self._text.startswith(closer, self._at):
            if closer == "]":
                self._lines.setdefault((*path, index), self._line())
                self._value((*path, index), depth + 1)
            else:
                self._pair(path, depth + 1)
            index += 1
            self._skip_blank()
            if self._text.startswith(",", self._at):
                self._at += 1
                self._skip_blank()
        self._at += 1

    def _skip_brackets(self) -> None:
        """Pass over a value that is nested deeper than any key of interest, without recursion."""
        open_brackets = 0
        while True:
            self._skip_blank()
            char = self._text[self._at]
            if char in "\"'":
                self._string()
                continue
            self._at += 1
            open_brackets += (char in "[{") - (char in "]}")
            if not open_brackets:
                return

    def _string(self) -> str:
        start = self._at
        self._at = self._match_end(_STRING)
        return self._text[start : self._at]

    def _skip_blank(self) -> None:
        self._at = self._match_end(_BLANK)

    def _match_end(self, pattern: re.Pattern[str]) -> int:
        match = pattern.match(self._text, self._at)
        if match is None:
            raise AssertionError("the document was not accepted by tomllib")
        return match.end()

    def _line(self) -> int:
        return bisect_left(self._breaks, self._at) + 1
