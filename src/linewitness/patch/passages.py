"""The patch as reviewers know it, for the map: hunks with a few lines around them, and the lines that were removed.

This is for people to read and decides nothing. So it may leave something out, always counted, and its lines are made
printable text: a byte that is not UTF-8 is shown as an escape, an endless line is cut.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from linewitness.model import FileText, Hunk
from linewitness.obligation_map import HunkRow, PatchRow
from linewitness.patch.identity import lines_of

CONTEXT: Final = 3
"""Unchanged lines shown on either side of a change, as by every diff viewer."""

MOST_LINES: Final = 50_000
"""How many lines of text one map carries: nobody reads more, and the gate has better things to do."""

MOST_LINES_OF_FREE_FILE: Final = 400
"""How many of them may come from one file that owes nothing, such as a lock file."""

_LONGEST_LINE: Final = 2_000
_LOOKED_AT: Final = 8_000


class Passages:
    """The text of a patch in the making, file by file, with a bound on the whole."""

    def __init__(self, most: int = MOST_LINES) -> None:
        self._room = most
        self._rows: list[PatchRow] = []

    def add(self, text: FileText, *, owes: bool) -> None:
        """Take what changed in one file, unless that is no text. ``owes`` tells whether any of its lines owes."""
        if not text.hunks or _is_binary(text.base) or _is_binary(text.head):
            return
        hunks, cut = self._taken(text, self._room if owes else min(self._room, MOST_LINES_OF_FREE_FILE))
        change = text.change
        moved_from = change.base_path if change.base_path != change.path else ""
        self._rows.append(PatchRow(base_path=moved_from, cut=cut, hunks=tuple(hunks), path=change.path))

    def _taken(self, text: FileText, most: int) -> tuple[list[HunkRow], int]:
        """Passages of at most ``most`` changed lines together, and how many changed lines are in the others."""
        taken: list[HunkRow] = []
        cut = 0
        if most <= 0:
            return taken, sum(hunk.base_count + hunk.head_count for hunk in text.hunks)
        for group in _groups(text.hunks):
            size = sum(hunk.base_count + hunk.head_count for hunk in group)
            if cut or size > most:
                cut += size
                continue
            row = _hunk_row(group, lines_of(text.base or b""), lines_of(text.head or b""))
            lines = row.text.count("\n") + 1
            most -= lines
            self._room -= lines
            taken.append(row)
        return taken, cut

    @property
    def rows(self) -> tuple[PatchRow, ...]:
        """What was taken so far, in the order in which it came."""
        return tuple(self._rows)


def _is_binary(data: bytes | None) -> bool:
    """As git has it: whether there is a null byte near the beginning."""
    return data is not None and b"\0" in data[:_LOOKED_AT]


def _groups(hunks: Sequence[Hunk]) -> Iterator[list[Hunk]]:
    """Hunks whose surroundings touch, together."""
    group: list[Hunk] = []
    for hunk in hunks:
        if group and hunk.head_start - (group[-1].head_start + group[-1].head_count) > 2 * CONTEXT:
            yield group
            group = []
        group.append(hunk)
    if group:
        yield group


def _hunk_row(group: Sequence[Hunk], base: Sequence[bytes], head: Sequence[bytes]) -> HunkRow:
    first = group[0]
    before = min(CONTEXT, first.head_start - 1, first.base_start - 1)
    at = first.head_start - 1 - before
    lines: list[bytes] = []
    for base_start, base_count, head_start, head_count in group:
        lines += [b" " + line for line in head[at : head_start - 1]]
        at = head_start - 1 + head_count
        lines += [b"-" + line for line in base[base_start - 1 : base_start - 1 + base_count]]
        lines += [b"+" + line for line in head[head_start - 1 : at]]
    lines += [b" " + line for line in head[at : at + CONTEXT]]
    if max(map(len, lines), default=0) > _LONGEST_LINE:
        lines = [line if len(line) <= _LONGEST_LINE else _cut(line) for line in lines]
    text = b"\n".join(lines)
    return HunkRow(
        base=first.base_start - before, head=first.head_start - before, text=text.decode("utf-8", "backslashreplace")
    )


def _cut(line: bytes) -> bytes:
    kept = line[:_LONGEST_LINE].decode("utf-8", "ignore").encode()
    return kept + f" … {len(line) - len(kept)} more bytes".encode()
