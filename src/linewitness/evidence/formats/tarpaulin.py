"""cargo-tarpaulin's own JSON (Rust): a list of files, each with its path in parts, its text, and counts by line.

The text is that which was measured, so that an export of another version is known by it. A line that tarpaulin holds
for code and could not set a counter on has the count zero, as one that did not run.
"""

from __future__ import annotations

import hashlib
from typing import Annotated

import msgspec

from linewitness.evidence.formats.facts import MAX_LINE, ByFile, FileFacts, Grain, broken, merged_counts
from linewitness.evidence.formats.json_text import JsonText, Value, clamped, read
from linewitness.evidence.formats.source import ExportFile

_Line = Annotated[int, msgspec.Meta(ge=1, le=MAX_LINE)]


class _Stats(msgspec.Struct, rename="pascal"):
    """A count, or what became of a branch or a condition, which no release writes."""

    line: int | None = None


class _Trace(msgspec.Struct):
    line: _Line
    stats: _Stats


class _File(msgspec.Struct):
    traces: list[_Trace]
    content: str | None = None


class Report(ByFile[Value]):
    """An opened export: where the entry of each file is."""

    def __init__(self, export: ExportFile) -> None:
        super().__init__(export)
        text = JsonText(export)
        top = text.members(text.top)
        for value in text.items(top["files"]) if "files" in top else ():
            members = text.members(value)
            if "path" not in members:
                raise broken(export, "a file without path", offset=value.start)
            self._places.setdefault(_joined(text.decode(members["path"], list[str])), []).append(value)
        if not self._places:
            raise broken(export, "there is no file in it: nothing was measured, or everything was left out")

    def _decode(self, place: Value) -> FileFacts:
        file = read(self._export, place, _File)
        counts = [(each.line, clamped(each.stats.line)) for each in file.traces if each.stats.line is not None]
        digests = () if file.content is None else _digests(file.content)
        return FileFacts(Grain.TOUCHED, merged_counts(counts), digests=frozenset(digests))


def _joined(parts: list[str]) -> str:
    """A path from its parts, of which the first may be a root, or a drive and then a root."""
    names = [part.rstrip("\\/") for part in parts]
    return "/".join(name for at, name in enumerate(names) if name or not at)


def _digests(content: str) -> tuple[str, ...]:
    """Of the text, and of the same with the line ends that git may give it in another checkout."""
    unix = content.replace("\r\n", "\n")
    spelled = (content, unix, unix.replace("\n", "\r\n"))
    texts = [each.encode("utf-8", "surrogateescape") for each in spelled]
    return tuple(hashlib.md5(text, usedforsecurity=False).hexdigest() for text in texts)
