"""What an import binds, and where from."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from tree_sitter import Node

from linewitness.languages.grammar.leaves import Import
from linewitness.languages.source import Source

_WORDS: Final = re.compile(rb"[\w$]+")


def imports_of(node: Node, marks: Mapping[int, set[str]], unit: int, side: Source) -> Iterator[Import]:
    """The items of one import. Without a ``@bound`` inside, the import binds what its last word names."""
    bound, source, effect = list[Node](), b"", "effect" in marks[node.id]
    todo = list(node.children)
    while todo:
        each = todo.pop()
        own = marks.get(each.id, ())
        if "source" in own:
            source = _squeezed(side.text(each))
        if "bound" in own:
            bound.append(each)
            effect = effect or "effect" in own
        else:
            todo.extend(each.children)
    if not bound:
        whole = side.text(node)
        yield Import(_squeezed(whole), b"" if effect else _last_word(whole), node.start_byte, node.end_byte, unit)
    bound.sort(key=lambda item: item.start_byte)
    if bound and not source:
        source = _squeezed(side.data[node.start_byte : bound[0].start_byte])
    for each in bound:
        own_effect = "effect" in marks[each.id]
        name = b"" if own_effect else _last_word(side.text(each))
        yield Import(source + b" " + _squeezed(side.text(each)), name, each.start_byte, each.end_byte, unit)


def _squeezed(text: bytes) -> bytes:
    return b" ".join(text.split())


def _last_word(text: bytes) -> bytes:
    words = _WORDS.findall(text)
    return words[-1] if words else b""
