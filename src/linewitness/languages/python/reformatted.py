"""Which definitions have the same syntax tree on both sides."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property

from tree_sitter import Node

from linewitness.languages.python.normal_form import equal
from linewitness.languages.python.places import Key, with_decorators
from linewitness.languages.python.side import Side
from linewitness.patterns import late

_WORD = late(rb"\w+")
# Signs of which layout adds and drops some, and the beginning of a string or comment.
_SIGN = late(rb"""[A-Za-z]*["']|[()\[\]{},;\\#\n]""")
_TELLING = 3
_FIRST = 3
# A number may run into the keyword after it, and is two words then.
_RUN_IN = late(rb"\b\d\w*?(?:if|else|and|or|not|in|is|for)\b")


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


class Wording:
    """Cheap tests of whether lines of head may be lines of base, laid out anew: comparing syntax trees is dear.

    ``removed`` is the text that the patch removed from ``base``.
    """

    def __init__(self, removed: bytes, base: bytes) -> None:
        self._removed = words((removed,))
        self._base = base

    def may_be(self, lines: Sequence[bytes], codes: Iterable[bytes]) -> bool:
        """Whether no word of the lines is new, nor used more often than it was removed, nor in another order.

        ``codes`` are parts of the lines that begin with a statement.
        """
        # a new word is mostly among the first, and there are many definitions
        if any(word not in self._removed for word in _WORD.findall(_without_comments(b"\n".join(lines[:_FIRST])))):
            return False
        new = _WORD.findall(_without_comments(b"\n".join(lines)))
        if not self._removed.keys() >= set(new) or not self._may_be_in_order(codes):
            return False
        return Counter(new) <= self._removed

    def _may_be_in_order(self, codes: Iterable[bytes]) -> bool:
        """Whether the words of the first telling code stand one after the other in base too.

        Layout puts nothing but blanks, backslashes and parentheses between words, as long as no sign is passed that
        comes and goes with layout itself, and no string.
        """
        said = (_WORD.findall(_SIGN.split(code, maxsplit=1)[0]) for code in codes)
        telling = next((stretch for stretch in said if len(stretch) >= _TELLING), None)
        return telling is None or not self._order or b" %b " % b" ".join(telling) in self._order

    @cached_property
    def _order(self) -> bytes:
        """All words of base, each between two blanks; nothing when what comes between words is not certain."""
        if b"#" in self._base or _RUN_IN.search(self._base):
            return b""
        return b" " + b" ".join(_WORD.findall(self._base)) + b" "


def words(lines: Iterable[bytes]) -> Counter[bytes]:
    """The words of lines, up to a comment. A reformatted line has none that no removed line had: a cheap first test."""
    return Counter(_WORD.findall(_without_comments(b"\n".join(lines))))


def _without_comments(text: bytes) -> bytes:
    return b"\n".join([line.partition(b"#")[0] for line in text.split(b"\n")]) if b"#" in text else text
