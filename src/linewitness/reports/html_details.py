"""What the page tells of a line when it is asked: a block of JSON in which every text occurs once.

``texts`` holds the texts that the rest refers to by index. ``files`` has an entry per file: its path, the halves of the
command that explains a line, and its lines: number, and a list for each obligation or exemption. That of an
exemption is the reason alone. That of an obligation is status, kind, scope, hash, occurrence, first and last line of
the statement, phase, precision, note, waiver, the number of its witnesses, the arms with what became of them, and the
witnesses.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

from msgspec import UNSET

from linewitness.console import safe
from linewitness.obligation_map import ExemptRow, Row
from linewitness.reports import View, words

_MOST_WITNESSES: Final = 20
_TAKEN: Final = {True: "taken", False: "not taken", UNSET: "unknown"}


class Details:
    """The block in the making; files and lines are added in the order of the page."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._texts: dict[str, int] = {}
        self._files: list[list[Any]] = []

    def begin(self, path: str) -> None:
        """Begin with a file."""
        command = words.explain_command(path, 0, self._view.map_file) if self._view.map_file != "" else ""
        before, _, after = command.rpartition(":0")
        self._files.append([safe(path), before, after, []])

    def add(self, line: int, entries: Sequence[Row | ExemptRow]) -> None:
        """Add a line of the file that was begun last."""
        self._files[-1][3].append([line, [self._entry(entry) for entry in entries]])

    def encode(self) -> bytes:
        """The block; no character of it could end the element in which it stands."""
        value = {"texts": list(map(safe, self._texts)), "files": self._files}
        data = json.dumps(value, ensure_ascii=True, separators=(",", ":"))
        return data.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026").encode()

    def _entry(self, entry: Row | ExemptRow) -> list[Any]:
        at = self._at
        if isinstance(entry, ExemptRow):
            return [at(words.EXEMPT_BECAUSE[entry.reason])]
        return [
            at(entry.status),
            at(entry.kind),
            at(entry.scope),
            entry.hash,
            entry.occurrence,
            *entry.statement,
            at(words.witnessed_how(entry)) if entry.phase is not None else 0,
            at(entry.precision or ""),
            at(entry.note),
            at(words.waiver_line(entry)),
            entry.witness_count,
            [[at(arm.arm), at(_TAKEN[arm.taken])] for arm in entry.arms],
            [at(witness) for witness in entry.witnesses[:_MOST_WITNESSES]],
        ]

    def _at(self, value: str) -> int:
        # the first text is the empty one, so that 0 means "none"
        known = self._texts
        if not known:
            known[""] = 0
        return known.setdefault(value, len(known))
