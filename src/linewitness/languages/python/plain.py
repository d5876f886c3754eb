"""Plain lines: a short cut for big patches of simple module-level statements, as generated tables are.

Parsing costs a few microseconds a line of the *file*, so a patch over a thousand files is settled from text where
that is exact.
A regular expression reads the file as logical lines (the Python reference, section 2.1); it knows strings, brackets,
comments and continuation lines, and stops at what it does not know (a nested quotation of an f-string, say). Before
that place it is known where each logical line begins. A changed line that is a whole logical line in column 0 and one
plain assignment or call is a statement of the module; whatever is less simple sends the whole file to the full rule.
"""

from __future__ import annotations

import keyword
import re
from bisect import bisect_left
from collections.abc import Collection, Sequence
from functools import cache
from itertools import chain
from typing import Final

from linewitness.languages.naming import obligations
from linewitness.languages.python.reformatted import words
from linewitness.model import Exempt, Exemption, FileClasses, FileText, Kind
from linewitness.patch.hunks import added_lines
from linewitness.patch.identity import lines_of
from linewitness.patterns import late


def _strings(quote: bytes, newline: bytes) -> bytes:
    """A regular expression for strings in one sort of quotation marks, triple ones only where lines may end inside.

    A replacement field of a formatted string may hold quotations of its own since 3.12; one that does is not read here.
    """
    field = rb"\{\{|\}\}|\{[^{}\"'\\\n#]*+\}"
    formatted = rb"(?<=[fFtT])|(?<=[fFtT][rR])"
    triple = quote * 3 + b"(?:[^%(q)s\\\\%(b)s]|\\\\[\\s\\S]|%(q)s(?!%(q)s%(q)s)%(f)s)*+" + quote * 3
    single = b"(?!" + quote * 3 + b")" + quote + b"(?:[^%(q)s\\\\\n%(b)s]|\\\\[^\n]%(f)s)*+" + quote
    shapes = [triple, single] if newline else [single]
    plain = [shape % {b"q": quote, b"b": b"", b"f": b""} for shape in shapes]
    fields = [shape % {b"q": quote, b"b": b"{}", b"f": b"|" + field} for shape in shapes]
    return b"(?!%s)(?:%s)|(?:%s)(?:%s)" % (formatted, b"|".join(plain), formatted, b"|".join(fields))


def _logical_line(newline: bytes) -> bytes:
    """A regular expression for one logical line; ``newline`` is what may stand for a line end inside of it."""
    string = b"|".join(_strings(quote, newline) for quote in (b'"', b"'"))
    plain = rb"[^\n\"'()\[\]{}\\#]++"
    inside = b"|".join(filter(None, (plain, string, newline and rb"\\\n|#[^\n]*+|\n")))
    group = rb"[(\[{](?:" + inside + rb")*+[)\]}]"
    for _ in range(3):
        group = rb"[(\[{](?:" + inside + b"|" + group + rb")*+[)\]}]"
    top = b"|".join(filter(None, (plain, string, group, newline and rb"\\\n")))
    return b"(?:" + top + rb")*+(?:#[^\n]*+)?+\n"


_EASY: Final = rb"[^\n\"'()\[\]{}\\#]*+\n"
_NOT_PLAIN: Final = late(rb"[:;@\\`]|\b(?:if|else|and|or|not|in|is|for|lambda|yield|await|async)\b|:=|type:")
_KEYWORDS: Final = frozenset(word.encode() for word in (*keyword.kwlist, *keyword.softkwlist, "print", "exec"))
_WORDS: Final = late(rb"\w+")
_FIRST_WORDS: Final = late(rb"^\w+", re.MULTILINE)
_STATEMENT: Final = rb"[A-Za-z_]\w*+[\w., \t]*+(?:[-+*/%&|^<>]{0,2}=(?!=)|\(|\[)[^\n]*+"
_STATEMENTS: Final = late(_STATEMENT + b"(?:\n" + _STATEMENT + b")*+")
_NO_WORD: Final = bytes(byte for byte in range(128) if not (chr(byte).isalnum() or byte == ord("_")))
_BLANKS: Final = b" \t\f\r"


@cache
def _run() -> re.Pattern[bytes]:
    """Logical lines, one after the other, that are physical lines. Compiled when first used: it takes milliseconds."""
    return re.compile(b"(?:" + _EASY + b"|" + _logical_line(b"") + b")++")


@cache
def _long() -> re.Pattern[bytes]:
    """A logical line that may have several physical lines."""
    return re.compile(_logical_line(b"\n"))


def classify(text: FileText) -> FileClasses | None:
    """The classes of a file whose changed lines are all plain, or ``None`` when the full rule has to look."""
    head = text.head or b""
    changed = added_lines(text.hunks)
    if not changed:
        return None
    lines = lines_of(head)
    new = [lines[number - 1] for number in changed]
    kinds: dict[int, Kind] = {}
    exempt: list[Exempt] = []
    if _are_plain(b"\n".join(new)):
        kinds = dict.fromkeys(changed, Kind.STATEMENT)
    else:
        for number, line in zip(changed, new, strict=True):
            reason = _exemption(line)
            if reason is not None:
                exempt.append(Exempt(text.change.path, number, reason))
            elif _are_plain(line):
                kinds[number] = Kind.STATEMENT
            else:
                return None
    if not _replaced(text, kinds) or _may_be_reformatted(text, lines, kinds):
        return None
    if not _stand_alone(head, lines, kinds, changed):
        return None
    ranges = {number: (number, number) for number in kinds}
    return FileClasses(obligations(text, kinds, ranges, lambda _: ""), tuple(exempt))


def _exemption(line: bytes) -> Exemption | None:
    bare = line.strip(_BLANKS)
    if not bare:
        return Exemption.BLANK
    return Exemption.COMMENT if bare.startswith(b"#") and b"type:" not in bare else None


def _are_plain(lines: bytes) -> bool:
    """Whether each line reads as one assignment or call in column 0 that skips no part of itself."""
    if _STATEMENTS.fullmatch(lines) is None or _NOT_PLAIN.search(lines):
        return False
    return _KEYWORDS.isdisjoint(_FIRST_WORDS.findall(lines))


def _replaced(text: FileText, kinds: dict[int, Kind]) -> bool:
    """Whether every hunk that removed lines put a statement in their place, so that nothing was only deleted."""
    # one that begins with a statement is the usual one
    bare = [hunk for hunk in text.hunks if hunk[1] and not (hunk[3] and hunk[2] in kinds)]
    return all(any(line in kinds for line in range(start, start + count)) for _, _, start, count in bare)


def _may_be_reformatted(text: FileText, lines: Sequence[bytes], kinds: dict[int, Kind]) -> bool:
    """Whether the module's tree might be base's after all: then every word of the new lines was in a removed one."""
    if text.base is None or not kinds:
        return False
    new = [lines[number - 1] for number in kinds]
    first = new[0].partition(b"#")[0]
    if any(word not in text.base for word in _WORDS.findall(first)):
        return False
    before = lines_of(text.base)
    removed = list(chain.from_iterable([before[start - 1 : start - 1 + count] for start, count, _, _ in text.hunks]))
    # more letters than were removed cannot be the same words; what a comment says is no part of them
    added = b"".join(new)
    if b"#" not in added and len(added.translate(None, _NO_WORD)) > len(b"".join(removed).translate(None, _NO_WORD)):
        return False
    old_words, new_words = words(removed), words(new)
    return new_words.keys() <= old_words.keys() and new_words <= old_words


def _stand_alone(head: bytes, lines: Sequence[bytes], kinds: Collection[int], changed: list[int]) -> bool:
    """Whether each changed line is a logical line of its own, and no line equal to an owing one lies in a longer."""
    equal = {lines[number - 1] for number in kinds}
    position, line = 0, 1
    data = head if head.endswith(b"\n") else head + b"\n"
    index = 0
    while position < len(data):
        run = _run().match(data, position)
        if run is not None:
            if run.end() == len(data):
                return True
            position, line = run.end(), line + data.count(b"\n", position, run.end())
            index = bisect_left(changed, line, index)
            continue
        longer = _long().match(data, position)
        if longer is None:
            return False
        end = line + data.count(b"\n", position, longer.end())
        if index < len(changed) and changed[index] < end:
            return False
        if any(lines[number - 1] in equal for number in range(line, end)):
            return False
        position, line = longer.end(), end
    return True
