"""Both sides of a changed file from two strings, with the hunks that a line diff of them gives."""

from __future__ import annotations

import difflib
import re

from linewitness.languages import classify
from linewitness.model import Blob, Exemption, FileChange, FileText, Hunk, Kind, LineOptions, ObjectId, RepoPath
from tests.support.embedded import disagreement

REGULAR, EXECUTABLE, SYMLINK, SUBMODULE = 0o100644, 0o100755, 0o120000, 0o160000
_HUNK = re.compile(r"^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@", re.MULTILINE)


def blob(raw: bytes, mode: int = REGULAR) -> Blob:
    return Blob(mode, ObjectId(f"{hash(raw) & 0xFFFFFFFFFFFFFFFF:040x}"))


def hunks(base: bytes, head: bytes) -> tuple[Hunk, ...]:
    old, new = (text.split(b"\n") if not text.endswith(b"\n") else text[:-1].split(b"\n") for text in (base, head))
    old, new = old if base else [], new if head else []
    codes = difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    return tuple(Hunk(a + 1, b - a, c + 1, d - c) for tag, a, b, c, d in codes if tag != "equal")


def change(base: str | bytes | None, head: str | bytes | None, path: str = "src/app.py", *, was: str = "") -> FileText:
    """A change of one file. ``None`` for a side that is absent."""
    old = base.encode() if isinstance(base, str) else base
    new = head.encode() if isinstance(head, str) else head
    place = FileChange(
        RepoPath(path),
        RepoPath(was or path),
        None if old is None else blob(old),
        None if new is None else blob(new),
    )
    return FileText(place, old, new, hunks(old or b"", new or b""))


def from_diff(diff: str, base: bytes | None, head: bytes, path: str) -> FileText:
    """A change whose hunks are those of a unified diff without context, for one file."""
    found = []
    for match in _HUNK.finditer(diff):
        a, b, c, d = (int(number) if number is not None else 1 for number in match.groups())
        found.append(Hunk(a + (b == 0), b, c + (d == 0), d))
    text = change(base, head, path)
    return text._replace(hunks=tuple(found))


def classes(text: FileText, options: LineOptions | None = None) -> dict[int, str]:
    """Each line with its kind or its exemption, as the tool's words; a line in two classes fails here.

    So does a text about which an excerpt of a big file says anything else than the whole file does.
    """
    assert not disagreement(text, options or LineOptions())
    found = classify(text, options or LineOptions(), lambda _: False)
    rows: list[tuple[int, Kind | Exemption]] = [(owed.line, owed.kind) for owed in found.obligations]
    rows += [(free.line, free.reason) for free in found.exempt]
    assert len({line for line, _ in rows}) == len(rows), "a line is in two classes"
    return {line: str(reason) for line, reason in sorted(rows)}


def marked(base: str, head: str, options: LineOptions | None = None) -> list[str]:
    """The lines of head that are in a class, each as ``class: text``."""
    text = change(base, head)
    lines = head.split("\n")
    return [f"{reason}: {lines[line - 1].strip()}" for line, reason in classes(text, options).items()]
