"""Comments and attributes that tell a coverage tool to look away.

They have no effect on what owes. Some tools hide such lines from their export, and some report them as run; and a patch
that adds one is worth a reviewer's look.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Final

from linewitness.patch.identity import lines_of
from linewitness.values import NamedTuple

_MARKER: Final = rb"""(?x)
      (?P<python>\#\s*pragma\s*:\s*no\s*(?:cover|branch)\b)
    | (?P<script>\b(?:istanbul|c8|v8|node:coverage)\s+(?:ignore\s+(?:next|if|else|start|stop|file)|disable|enable)\b)
    | (?P<gcov>\b(?:LCOV|GCOV|GCOVR)_EXCL_\w+)
    | (?P<rust>\#!?\[\s*(?:cfg_attr\s*\([^\]]*?)?(?:coverage\s*\(\s*off|tarpaulin::skip|no_coverage)
        |\btarpaulin_include\b)
    | (?P<ruby>:nocov:)
    | (?P<php>@codeCoverageIgnore(?:Start|End)?\b|\#\[\\?(?:\w+\\)*(?:CodeCoverageIgnore
        |Ignore(?:Class|Method|Function)ForCodeCoverage)\b)
    | (?P<net>\[\s*(?:assembly\s*:\s*)?(?:[\w.]+\.)?(?:ExcludeFromCodeCoverage|GeneratedCode)(?:Attribute)?\b)
    | (?P<jvm>@(?:[\w.]+\.)?(?!GeneratedValue\b)\w*Generated\w*
        |@(?:[\w.]+\.)?ExcludeFromCodeCoverage\w*|\$COVERAGE-(?:OFF|ON)\$)
    | (?P<shell>\bLCOV_EXCL\b|\bkcov-ignore(?:-start|-end|-line)?\b)
    """
#: One of these stands in every marker. The pattern tries all its alternatives at each byte, and most patches have none.
_PARTS: Final = (
    b"pragma", b"istanbul", b"c8", b"v8", b"_EXCL", b"overage", b"COVERAGE", b"tarpaulin",
    b":nocov:", b"Generated", b"kcov-ignore",
)  # fmt: skip
#: What a c8 comment hides: the next lines, everything up to the matching stop, or the whole file.
_RANGE: Final = (
    rb"\b(?:c8|v8|istanbul|node:coverage)\s+(?P<verb>ignore|disable|enable)"
    rb"(?:\s+(?P<what>next|if|else|start|stop|file)(?:\s+(?P<count>\d+))?)?"
)


class Marker(NamedTuple):
    """A marker and the line it stands on."""

    line: int
    text: str


def markers(head: bytes, lines: Collection[int]) -> Iterator[Marker]:
    """The markers on some lines of a file. Text inside of strings counts too: tools search by regular expressions."""
    texts = lines_of(head)
    wanted = [line for line in sorted(lines) if 1 <= line <= len(texts)]
    together = b"\n".join([texts[line - 1] for line in wanted])
    if not any(part in together for part in _PARTS):
        return
    for line in wanted:
        text = texts[line - 1]
        found = re.search(_MARKER, text) if any(part in text for part in _PARTS) else None
        if found is not None:
            yield Marker(line, b" ".join(found[0].split()).decode("utf-8", "replace"))


def hidden_lines(head: bytes) -> frozenset[int]:
    """The lines that comments hide from tools of the c8 family, which then report them as run.

    What such a comment reaches is taken at its widest: an unknown form hides the rest of the file.
    """
    hidden: set[int] = set()
    texts = head.split(b"\n")
    start = 0
    for number, text in enumerate(texts, 1):
        for found in re.finditer(_RANGE, text):
            verb, what = found["verb"], found["what"]
            if what == b"file":
                return frozenset(range(1, len(texts) + 1))
            if verb == b"enable" or what == b"stop":
                hidden.update(range(start or 1, number + 1))
                start = 0
            elif verb == b"disable" or what == b"start" or what is None:
                start = start or number
            elif found["count"]:
                hidden.update(range(number, number + int(found["count"][:7]) + 1))
            else:
                hidden.update(_next_statement(texts, number))
    if start:
        hidden.update(range(start, len(texts) + 1))
    return frozenset(line for line in hidden if line <= len(texts))


def _next_statement(texts: list[bytes], number: int) -> range:
    """The lines of what follows a comment, by indentation: up to the first line that is not deeper, it included."""
    following = [line for line in range(number + 1, len(texts) + 1) if texts[line - 1].strip()]
    if not following:
        return range(number, number + 1)
    first = texts[following[0] - 1]
    indent = len(first) - len(first.lstrip())
    for line in following[1:]:
        text = texts[line - 1]
        if len(text) - len(text.lstrip()) <= indent:
            return range(number, line + 1)
    return range(number, len(texts) + 1)
