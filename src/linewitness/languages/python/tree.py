"""The syntax tree of a Python source.

The front end is tree-sitter-python: its answer does not depend on the Python that runs the tool, and it reads the
syntax of 3.9 to 3.14.
"""

from __future__ import annotations

import re
from functools import lru_cache

import tree_sitter_python
from tree_sitter import Language, Node, Parser, Query, QueryCursor, Tree

from linewitness.patterns import late

_TREES_KEPT = 4
_TYPE_PARAMETERS = late(rb"\b(?:def|class|type)[ \t\f]+\w+[ \t\f]*\[")
_PARAMETER_TOKEN = late(
    rb"""(?P<string>[A-Za-z]{0,2}(?:\"{3}(?:[^\\]|\\.)*?\"{3}|'{3}(?:[^\\]|\\.)*?'{3}|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'))"""
    rb"|(?P<comment>#[^\n]*)|(?P<open>[(\[{])|(?P<close>[)\]}])|(?P<skip>[=!<>:]=)|(?P<default>=)|(?P<comma>,)",
    re.DOTALL,
)


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
