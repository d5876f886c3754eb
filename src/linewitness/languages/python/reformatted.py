"""Which definitions have the same syntax tree on both sides."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from tree_sitter import Node

from linewitness.languages.python.normal_form import equal
from linewitness.languages.python.places import Key, with_decorators
from linewitness.languages.python.side import Side

_WORD = re.compile(rb"\w+")


class Twins:
    """Compares definitions at the same place of base and head. Answers are kept: many lines ask about one."""

    def __init__(self, base: Side | None, head: Side) -> None:
        self._base, self._head = base, head
        self._same: dict[Key | None, bool] = {}

    def same(self, side: Side, definition: Node | None) -> bool:
        """Whether the definition of one side (``None``: its module) is proved to be the other side's, laid out anew."""
        if self._base is None or self._base.broken or self._head.broken:
            return False
        key = None if definition is None else side.places.key(definition)
        if definition is not None and key is None:
            return False
        if key not in self._same:
            self._same[key] = self._compare(self._base, key)
        return self._same[key]

    def _compare(self, base: Side, key: Key | None) -> bool:
        if key is None:
            return equal(base.root, self._head.root)
        one, other = base.places.definition(key), self._head.places.definition(key)
        if one is None or other is None:
            return False
        return equal(with_decorators(one), with_decorators(other))


def words(lines: Iterable[bytes]) -> Counter[bytes]:
    """The words of lines, up to a comment. A reformatted line has none that no removed line had: a cheap first test."""
    text = b"\n".join(lines)
    if b"#" in text:
        text = b"\n".join([line.partition(b"#")[0] for line in text.split(b"\n")])
    return Counter(_WORD.findall(text))
