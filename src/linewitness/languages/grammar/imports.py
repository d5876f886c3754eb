"""What an import binds, and where from."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from tree_sitter import Node

from linewitness.languages.grammar.leaves import Import

_WORDS: Final = re.compile(rb"[\w$]+")


def imports_of(node: Node, marks: Mapping[int, set[str]], unit: int) -> Iterator[Import]:
    """The items of one import. Without a ``@bound`` inside, the import binds what its last word names."""
    bound, source, effect = list[Node](), b"", "effect" in marks[node.id]
    todo = list(node.children)
    while todo:
        each = todo.pop()
        own = marks.get(each.id, ())
        if "source" in own:
            source = _squeezed(each)
        if "bound" in own:
            bound.append(each)
            effect = effect or "effect" in own
        else:
            todo.extend(each.children)
    if not bound:
        yield Import(_squeezed(node), b"" if effect else _last_word(node), node.start_byte, node.end_byte, unit)
    bound.sort(key=lambda item: item.start_byte)
    if bound and not source:
        source = b" ".join((node.text or b"")[: bound[0].start_byte - node.start_byte].split())
    for each in bound:
        own_effect = "effect" in marks[each.id]
        name = b"" if own_effect else _last_word(each)
        yield Import(source + b" " + _squeezed(each), name, each.start_byte, each.end_byte, unit)


def _squeezed(node: Node) -> bytes:
    return b" ".join((node.text or b"").split())


def _last_word(node: Node) -> bytes:
    words = _WORDS.findall(node.text or b"")
    return words[-1] if words else b""
