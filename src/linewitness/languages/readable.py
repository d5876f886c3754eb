"""Whether git, the compiler and a reader see the same lines in a text. If in doubt, they do not."""

from __future__ import annotations

import re
from collections.abc import Iterable

from linewitness.patterns import late

# Patterns that few texts need are compiled when one does, which is when ``re`` is first asked about them.
_BARE_RETURN = late(rb"\r(?!\n|\Z)")
_COOKIE = late(rb"[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
_UTF8_NAMES = late(rb"(?:utf[-_]?8(?:[-_](?:sig|unix|dos|mac))?|u8|utf)\Z", re.IGNORECASE)
_ASCII_NAMES = late(rb"(?:us[-_])?ascii\Z", re.IGNORECASE)
# Unicode standard annex 9 (bidirectional controls), and format characters without a width. Joiners that scripts
# need inside words (U+200C, U+200D) are among them: in code they change what a name is and cannot be seen.
_HIDDEN = "[\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff\u00ad\U000e0001\U000e0020-\U000e007f]"
# No line ends for git or for CPython, but for editors and for str.splitlines(): a reviewer would see other lines.
_OTHER_ENDS = "[\x0b\x1c-\x1e\x85\u2028\u2029]"


def why_unreadable(head: bytes, changed: Iterable[int]) -> str:
    """Why the lines of this text cannot be judged, as half a sentence; empty when they can.

    ``changed`` are the 1-based lines of head that the patch adds: hidden characters elsewhere are not its doing.
    """
    if b"\0" in head:
        return "it is a binary file"
    try:
        head.decode("utf-8")
    except UnicodeDecodeError as error:
        line = head.count(b"\n", 0, error.start) + 1
        return f"line {line} is not valid UTF-8"
    found = _BARE_RETURN.search(head)
    if found:
        line = head.count(b"\n", 0, found.start()) + 1
        return f"line {line} holds a carriage return outside of a line end, which the compiler takes for a line end"
    return _hidden(head, changed)


def _hidden(head: bytes, changed: Iterable[int]) -> str:
    if head.isascii() and not any(end in head for end in (b"\x0b", b"\x1c", b"\x1d", b"\x1e")):
        return ""
    lines = head.split(b"\n")
    for number in changed:
        text = lines[number - 1].decode("utf-8")
        if number == 1:
            text = text.removeprefix("\ufeff")
        found = re.search(_HIDDEN, text) or re.search(_OTHER_ENDS, text)
        if found:
            what = (
                "an invisible or bidirectional control"
                if re.match(_HIDDEN, found[0])
                else "a character that editors take for a line end"
            )
            return f"line {number} holds {what} (U+{ord(found[0]):04X}); write it as an escape"
    return ""


def why_other_lines(head: bytes) -> str:
    """Why ECMAScript counts other lines than git does in this text, as half a sentence; empty when it does not.

    U+2028 and U+2029 end lines there, also inside of a comment (ECMA-262, 12.3), wherever they stand.
    """
    found = re.search(b"\xe2\x80[\xa8\xa9]", head)
    if found is None:
        return ""
    line = head.count(b"\n", 0, found.start()) + 1
    return f"line {line} holds U+{ord(found[0].decode()):04X}, which ends a line for the engine and not for git"


def why_not_utf8_source(head: bytes) -> str:
    """Why Python would not read this source as UTF-8 (PEP 263), as half a sentence; empty when it would.

    Both of the first two lines are looked at, also where CPython would look at the first only.
    """
    for number, line in enumerate(head.split(b"\n", 2)[:2], 1):
        cookie = _COOKIE.match(line.removeprefix(b"\xef\xbb\xbf"))
        if cookie is None or _UTF8_NAMES.match(cookie[1]) or (_ASCII_NAMES.match(cookie[1]) and head.isascii()):
            continue
        return f"line {number} declares the encoding {cookie[1].decode('ascii', 'replace')}; only UTF-8 is read"
    return ""
