"""JSON exports: the whole text is checked and cut into members once, and afterwards only wanted members are decoded.

While an export is opened its text is in memory, once; what stays are offsets. A decoder in C finds the members, so
that nothing is made of those that nobody asks for.
"""

from __future__ import annotations

import re
from typing import Final, TypeVar

import msgspec

from linewitness.evidence.formats.facts import MAX_COUNT, broken
from linewitness.evidence.formats.source import ExportFile
from linewitness.values import NamedTuple

_T = TypeVar("_T")
_SPACE: Final = re.compile(rb"[ \t\r\n]*")
_LINE: Final = re.compile(rb"[^ \t\r\n][^\n]*")
_SEVERAL: Final = 2
_BETWEEN: Final = re.compile(rb"[ \t\r\n]*,[ \t\r\n]*")
_KEY: Final = re.compile(rb'("(?:[^"\\]|\\.)*")[ \t\r\n]*:[ \t\r\n]*')
_OBJECT: Final = msgspec.json.Decoder(dict[str, msgspec.Raw])
_ARRAY: Final = msgspec.json.Decoder(list[msgspec.Raw])
_CLOSE: Final = ord("}")
#: What msgspec and Python raise for text that is no JSON, no UTF-8, or nested by the thousand.
TROUBLE: Final = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)


class Value(NamedTuple):
    """Where a value of the export stands, in bytes."""

    start: int
    end: int


class JsonText:
    """The text of an export while it is opened."""

    def __init__(self, export: ExportFile, *, by_line: bool = False) -> None:
        """``by_line`` accepts several values, each on lines of its own. Errors: ``EvidenceError`` for no JSON."""
        self._export = export
        self._text = export.whole()
        start = 3 if self._text.startswith(b"\xef\xbb\xbf") else 0
        self.top = Value(start, len(self._text))
        #: The values, in their order; one, unless there may be several.
        self.tops: tuple[Value, ...] = (self.top,)
        try:
            self._check(self.top)
        except TROUBLE as error:
            lines = self._lines() if by_line else []
            if len(lines) < _SEVERAL:
                raise broken(export, str(error)) from error
            self._check_each(lines)
            self.tops = tuple(lines)

    def _check(self, value: Value) -> None:
        msgspec.json.decode(memoryview(self._text)[value.start : value.end], type=msgspec.Raw)

    def _check_each(self, lines: list[Value]) -> None:
        for line in lines:
            try:
                self._check(line)
            except TROUBLE as error:
                raise broken(self._export, str(error), offset=line.start) from error

    def _lines(self) -> list[Value]:
        """The lines that are not blank."""
        return [Value(*match.span()) for match in _LINE.finditer(self._text, self.top.start)]

    def bytes_of(self, value: Value) -> bytes:
        """The text of a value."""
        return self._text[value.start : value.end]

    def decode(self, value: Value, kind: type[_T]) -> _T:
        """A value as a type. Errors: ``EvidenceError`` when it is of another."""
        return decode(self._export, self._text[value.start : value.end], kind)

    def begins(self, value: Value) -> bytes:
        """The first byte of a value, which tells its kind."""
        at = self._skip(_SPACE, value.start)
        return self._text[at : at + 1]

    def members(self, value: Value) -> dict[str, Value]:
        """The members of an object. Errors: ``EvidenceError`` for anything else, and for a key that stands twice."""
        raw = self._parts(value, _OBJECT)
        found: dict[str, Value] = {}
        at = self._skip(_SPACE, value.start) + 1
        for key, part in raw.items():
            at = self._skip(_BETWEEN if found else _SPACE, at)
            spelled = _KEY.match(self._text, at)
            at = spelled.end() if spelled else at
            end = at + len(memoryview(part))
            if spelled is None or _text(spelled[1]) != key or memoryview(self._text)[at:end] != memoryview(part):
                raise broken(self._export, f"the key {key[:80]!r}, or one before it, stands there twice", offset=at)
            found[key] = Value(at, end)
            at = end
        if self._text[self._skip(_SPACE, at)] != _CLOSE:
            raise broken(self._export, "a key stands twice in an object", offset=at)
        return found

    def items(self, value: Value) -> list[Value]:
        """The items of an array. Errors: ``EvidenceError`` for anything else."""
        found: list[Value] = []
        at = self._skip(_SPACE, value.start) + 1
        for part in self._parts(value, _ARRAY):
            at = self._skip(_BETWEEN if found else _SPACE, at)
            found.append(Value(at, at + len(memoryview(part))))
            at = found[-1].end
        return found

    def _parts(self, value: Value, decoder: msgspec.json.Decoder[_T]) -> _T:
        try:
            return decoder.decode(memoryview(self._text)[value.start : value.end])
        except TROUBLE as error:
            raise broken(self._export, str(error), offset=value.start) from error

    def _skip(self, pattern: re.Pattern[bytes], at: int) -> int:
        match = pattern.match(self._text, at)
        return match.end() if match else at


def decode(export: ExportFile, text: bytes, kind: type[_T]) -> _T:
    """A piece of an export as a type. Errors: ``EvidenceError`` when it is of another."""
    try:
        return msgspec.json.decode(text, type=kind)
    except TROUBLE as error:
        raise broken(export, str(error)) from error


def read(export: ExportFile, value: Value, kind: type[_T]) -> _T:
    """A value that was found before, as a type. Errors: ``EvidenceError`` when it is of another."""
    try:
        return msgspec.json.decode(export.read(*value), type=kind)
    except TROUBLE as error:
        raise broken(export, str(error), offset=value.start) from error


def clamped(count: int) -> int:
    """A count within bounds: negative ones are overflows of their writer, and prove nothing."""
    return min(max(count, 0), MAX_COUNT)


def _text(quoted: bytes) -> str:
    return msgspec.json.decode(quoted, type=str)
