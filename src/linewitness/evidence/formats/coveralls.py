"""What is sent to Coveralls, as gcovr, grcov and many adapters write it (docs.coveralls.io, "API Reference").

``source_files`` are a list; each has ``coverage``, an array whose index 0 is line 1, of counts and ``null``, and mostly
``source_digest``, the MD5 of the file.
"""

from __future__ import annotations

import msgspec

from linewitness.evidence.formats.facts import ByFile, FileFacts, Grain, broken
from linewitness.evidence.formats.json_text import JsonText, Value, clamped, read
from linewitness.evidence.formats.numbers import md5_digits
from linewitness.evidence.formats.source import ExportFile


class _File(msgspec.Struct):
    name: str
    coverage: list[int | None]
    source_digest: str | None = None


class Report(ByFile[Value]):
    """An opened export: where the entries of each file are."""

    def __init__(self, export: ExportFile) -> None:
        super().__init__(export)
        text = JsonText(export)
        top = text.members(text.top)
        if "source_files" not in top:
            raise broken(export, "there are no source_files in it, as Coveralls takes them")
        for value in text.items(top["source_files"]):
            members = text.members(value)
            if "name" not in members:
                raise broken(export, "a file without name", offset=value.start)
            self._places.setdefault(text.decode(members["name"], str), []).append(value)
        if not self._places:
            raise broken(export, "there is no file in it: nothing was measured, or everything was left out")

    def _decode(self, place: Value) -> FileFacts:
        file = read(self._export, place, _File)
        digest = md5_digits(file.source_digest or "")
        return FileFacts(
            Grain.STATEMENTS,
            {line: clamped(count) for line, count in enumerate(file.coverage, 1) if count is not None},
            digests=frozenset({digest} if digest else ()),
        )
