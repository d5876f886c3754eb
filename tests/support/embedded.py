"""The same change in a file so big that only an excerpt of it is parsed: that may change nothing.

An excerpt's tree is another tree than the file's; whoever mixes their nodes up answers for small files only.
"""

from __future__ import annotations

from unittest import mock

from linewitness.languages import classify
from linewitness.languages.python import PythonRule, side
from linewitness.languages.python.tree import parse
from linewitness.languages.source import read
from linewitness.model import Demand, FileClasses, FileText, Hunk, LineOptions

BULK = b"".join(b"def bulk%d(): return %d\n" % (number, number) for number in range(300))
# Bigger texts are excerpts of themselves, and far too slow to be parsed again and again.
_SMALL = 20_000


def disagreement(text: FileText, options: LineOptions) -> str:
    """How the answers from an excerpt differ from those from the whole file, empty when they do not.

    Looks at the change with many small functions before it, and with many behind it. Text that does not parse has no
    statements to take an excerpt of: it cannot run, whatever its lines are taken for.
    """
    base, head = text.base, text.head or b""
    if parse(read(head).data).root_node.has_error:
        return ""
    if max(len(base or b""), len(head)) > _SMALL or not head.endswith(b"\n") or not (base or b"\n").endswith(b"\n"):
        return ""
    for before, after in ((BULK, b""), (b"", BULK)):
        shift = before.count(b"\n")
        big = text._replace(
            base=None if base is None else before + base + after,
            head=before + head + after,
            hunks=tuple(_moved(hunk, 0 if base is None else shift, shift) for hunk in text.hunks),
        )
        excerpted = _answers(big, options)
        with mock.patch.object(side, "excerpt", return_value=None):
            whole = _answers(big, options)
        if excerpted != whole:
            return f"an excerpt says\n{excerpted}\nand the whole file says\n{whole}"
    return ""


def _moved(hunk: Hunk, base: int, head: int) -> Hunk:
    return hunk._replace(base_start=hunk.base_start + base, head_start=hunk.head_start + head)


def _answers(text: FileText, options: LineOptions) -> tuple[FileClasses, tuple[Demand, ...]]:
    found = classify(text, options, lambda _: False)
    opaque = any(owed.line == 0 for owed in found.obligations)
    return found, () if opaque else PythonRule().demands(text.head or b"", found.obligations)
