r"""Source text with line starts, and its syntax tree.

The front end is tree-sitter-python: its answer does not depend on the Python that runs the tool, and it reads the
syntax of 3.9 to 3.14. Offsets are bytes of :attr:`Source.data`, in which a byte order mark is dropped and ``\r\n`` is
``\n``, so that lines and byte columns are those of CPython's ``co_positions``.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import lru_cache
from itertools import accumulate
from typing import NamedTuple

import tree_sitter_python
from tree_sitter import Language, Node, Parser, Query, QueryCursor, Tree

from linewitness.model import Pos, Span

_MARK = b"\xef\xbb\xbf"
_TREES_KEPT = 4
_TYPE_PARAMETERS = re.compile(rb"\b(?:def|class|type)[ \t\f]+\w+[ \t\f]*\[")
_PARAMETER_TOKEN = re.compile(
    rb"""(?P<string>[A-Za-z]{0,2}(?:\"{3}(?:[^\\]|\\.)*?\"{3}|'{3}(?:[^\\]|\\.)*?'{3}|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'))"""
    rb"|(?P<comment>#[^\n]*)|(?P<open>[(\[{])|(?P<close>[)\]}])|(?P<skip>[=!<>:]=)|(?P<default>=)|(?P<comma>,)",
    re.DOTALL,
)


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


@lru_cache(maxsize=1)
def _language() -> Language:
    return Language(tree_sitter_python.language())


@lru_cache(maxsize=16)
def _query(pattern: str) -> Query:
    return Query(_language(), pattern)


def find(pattern: str, node: Node, within: tuple[int, int] | None = None) -> list[Node]:
    """All nodes below ``node`` that the query captures, in the order of the text. Runs in C: use it to find needles."""
    cursor = QueryCursor(_query(pattern))
    if within:
        cursor.set_byte_range(*within)
    nodes = [found for group in cursor.captures(node).values() for found in group]
    nodes.sort(key=lambda found: (found.start_byte, -found.end_byte))
    return nodes


@lru_cache(maxsize=_TREES_KEPT)
def parse(data: bytes) -> Tree:
    """The syntax tree of ``Source.data``; ask its root for ``has_error``. The last few trees are kept.

    Defaults in type parameter lists (PEP 696) are unknown to the grammar. When a text does not parse they are blanked,
    byte for byte, and it is parsed again: such a default is part of a definition's header, which owes as a whole.
    """
    tree = Parser(_language()).parse(data)
    if tree.root_node.has_error:
        blanked = _without_parameter_defaults(data)
        if blanked != data:
            return Parser(_language()).parse(blanked)
    return tree


def _without_parameter_defaults(data: bytes) -> bytes:
    text = bytearray(data)
    for head in _TYPE_PARAMETERS.finditer(data):
        for start, end in _defaults(data, head.end()):
            text[start:end] = re.sub(rb"[^\n]", b" ", data[start:end])
    return bytes(text)


def _defaults(data: bytes, at: int) -> list[tuple[int, int]]:
    """The stretches ``= default`` of the list that was opened just before ``at``; none when it is never closed."""
    depth, begun, found = 0, -1, list[tuple[int, int]]()
    for token in _PARAMETER_TOKEN.finditer(data, at):
        kind = token.lastgroup
        if kind == "open":
            depth += 1
        elif kind in ("close", "comma") and depth == 0:
            if begun >= 0:
                found.append((begun, token.start()))
                begun = -1
            if kind == "close":
                return found
        elif kind == "close":
            depth -= 1
        elif kind == "default" and depth == 0 and begun < 0:
            begun = token.start()
    return []
