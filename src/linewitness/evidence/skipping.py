"""Tells from the text of a file on which lines an expression may skip a part of itself.

Runs in the *tested* interpreter (3.9 and later, standard library only), for :mod:`weaving`, which need not look into
the others.
"""

from __future__ import annotations

import re

_SIGN = re.compile(rb"(if|and|or|for|lambda|assert)\b|[<>]|[=!]=|(?:in|is)\b")
_RUN_IN = re.compile(rb"\d\w*?(?:if|and|or|for|lambda|assert|in|is)\b")
_LETTERS = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789")


def lines_with_parts(source: bytes) -> frozenset[int]:
    """The lines that may hold what a statement skips: a later operand, an arm, a message, a loop of an expression.

    Told from their words and signs, which may as well be those of a string or comment. One comparison skips nothing.
    """
    text = source.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    # a number may run into the keyword after it, as in "0xfor 1"
    inside = frozenset() if _RUN_IN.search(text) else _LETTERS
    found, compared = set[int](), 0
    number, at = 1, 0
    for sign in _SIGN.finditer(text):
        begin = sign.start()
        if begin and text[begin] > 0x60 and text[begin - 1] in inside:
            continue
        number += text.count(b"\n", at, begin)
        at = begin
        if sign[1] or compared == number:
            found.add(number)
        else:
            compared = number
    return frozenset(found)
