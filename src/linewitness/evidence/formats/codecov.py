"""Codecov's own JSON, as cargo-llvm-cov (``--codecov``) and adapters of other tools write it.

``{"coverage": {path: {line: hit}}}``, or an array of hits whose index 0 stands for no line (docs.codecov.com, "Codecov
Custom Coverage Format"). A hit is a count, ``null`` for no code, ``true`` for a line that ran in part, or a share like
``"2/3"``: of the branches or, as cargo-llvm-cov has it, of the regions that touch the line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from linewitness.evidence.formats.facts import ByFile, FileFacts, Grain, broken
from linewitness.evidence.formats.json_text import JsonText, Value, clamped, read
from linewitness.evidence.formats.numbers import line_number
from linewitness.evidence.formats.source import ExportFile

_SHARE: Final = re.compile(r"(\d{1,9})/(\d{1,9})")

_Hit = int | str | None


class Report(ByFile[Value]):
    """An opened export: where the lines of each file are."""

    def __init__(self, export: ExportFile) -> None:
        super().__init__(export)
        text = JsonText(export)
        top = text.members(text.top)
        if "coverage" not in top:
            raise broken(export, "there is no coverage in it, as Codecov's format has")
        files = text.members(top["coverage"])
        self._places = {name: [value] for name, value in files.items()}
        self._arrays = frozenset(value for value in files.values() if text.begins(value) == b"[")
        if not files:
            raise broken(export, "there is no file in it: nothing was measured, or everything was left out")
        first = next(iter(files.values()))
        for key in () if first in self._arrays else text.members(first):
            self._line(key)

    def _decode(self, place: Value) -> FileFacts:
        """A line that ran in part has no count: nothing tells which part it was."""
        counts: dict[int, int] = {}
        partly: set[int] = set()
        for line, hit in self._hits(place):
            if isinstance(hit, bool):
                partly.add(line)
            elif isinstance(hit, int):
                counts[line] = clamped(hit)
            else:
                ran, total = self._share(line, hit)
                if 0 < ran < total:
                    partly.add(line)
                else:
                    # all regions of the line ran, which is not all of its code: arguments of macros have none
                    counts[line] = ran
        return FileFacts(Grain.TOUCHED, counts, uncounted=frozenset(partly))

    def _hits(self, place: Value) -> Iterator[tuple[int, int | str]]:
        """Lines with what is said of them, without those that are no code."""
        if place in self._arrays:
            pairs = [(str(line), hit) for line, hit in enumerate(read(self._export, place, list[_Hit | bool])) if line]
        else:
            pairs = list(read(self._export, place, dict[str, _Hit | bool]).items())
        for text, hit in pairs:
            line = self._line(text)
            if hit is not None:
                yield line, hit

    def _line(self, text: str) -> int:
        line = line_number(text)
        if line is None:
            raise broken(self._export, f"{text[:40]!r} is no line number")
        return line

    def _share(self, line: int, hit: str) -> tuple[int, int]:
        share = _SHARE.fullmatch(hit)
        if share is None or int(share[1]) > int(share[2]):
            raise broken(self._export, f"{hit[:40]!r} at line {line} is no hit")
        return int(share[1]), int(share[2])
