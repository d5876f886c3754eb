r"""Source text with line starts, as all languages read it.

Offsets are bytes of :attr:`Source.data`, in which a byte order mark is dropped and ``\r\n`` is ``\n``, so that lines
and byte columns are those of CPython's ``co_positions``.
"""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate
from typing import TYPE_CHECKING

from linewitness.model import Pos, Span
from linewitness.values import NamedTuple

if TYPE_CHECKING:
    from tree_sitter import Node

_MARK = b"\xef\xbb\xbf"


class Source(NamedTuple):
    """One side of a file. Line ``n`` begins at offset ``starts[n - 1]``; the last entry is the end of the text."""

    data: bytes
    starts: tuple[int, ...]

    @property
    def line_count(self) -> int:
        """How many lines there are, an unterminated last one included."""
        return len(self.starts) - 1

    def line_at(self, offset: int) -> int:
        """The 1-based line that holds the byte at ``offset``."""
        line = bisect_right(self.starts, offset)
        return line if line < len(self.starts) else len(self.starts) - 1

    def line(self, number: int) -> bytes:
        """The bytes of a line without its terminator."""
        return self.data[self.starts[number - 1] : self.starts[number]].removesuffix(b"\n")

    def text(self, node: Node) -> bytes:
        """The text of a node of the syntax tree. The tree may have been shown another one (:class:`.Table`)."""
        return self.data[node.start_byte : node.end_byte]

    def pos(self, offset: int) -> Pos:
        """The place of an offset as line and byte column."""
        line = self.line_at(offset)
        return Pos(line, offset - self.starts[line - 1])

    def span(self, start: int, end: int) -> Span:
        """The text from ``start`` up to, not including, ``end``."""
        return Span(self.pos(start), self.pos(end))


def read(raw: bytes) -> Source:
    """The text of a blob that :mod:`linewitness.languages` has found readable (UTF-8, no bare carriage return)."""
    data = raw.removeprefix(_MARK).replace(b"\r\n", b"\n").removesuffix(b"\r")
    starts = [0, *accumulate([len(line) + 1 for line in data.split(b"\n")])]
    starts[-1] = len(data)
    if not raw or raw.endswith(b"\n"):
        starts.pop()
    return Source(data, tuple(starts))
