"""How text is set on a screen: hanging labels, source lines with a caret."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from linewitness.console import Screen, clip, columns, safe, wrap
from linewitness.obligation_map import Row
from linewitness.values import NamedTuple

_TAB: Final = 4
_LABEL: Final = 10
_QUOTED: Final = re.compile(r"`([^`]+)`")


def labelled(label: str, text: str, screen: Screen, indent: int = 2) -> Iterator[str]:
    """``label`` in a column of its own with ``text`` wrapped beside it. ``text`` must be safe already."""
    column = indent + _LABEL
    for index, line in enumerate(wrap(text, screen.width - column)):
        head = f"{'':{indent}}{label + ':':<{_LABEL}}" if index == 0 else f"{'':{column}}"
        yield f"{head}{line}"


def wrapped(text: str, width: int) -> Iterator[str]:
    """``text`` in lines of at most ``width`` cells; what stands between backquotes, a command to paste, stays whole."""
    kept = _QUOTED.sub(lambda quoted: quoted[0].replace(" ", "\0"), text)
    yield from (line.replace("\0", " ") for line in wrap(kept, width))


class Excerpt(NamedTuple):
    """One source line as it is shown, and which of its cells a caret points at (from, to; half open)."""

    text: str
    caret: tuple[int, int]


def excerpt(row: Row, width: int) -> Excerpt:
    """The line of an obligation in at most ``width`` cells, with a caret under the part that owes.

    That part is the one that the note quotes, or an untaken arm, when it is found once in the line; else all of it.
    """
    content = row.content.expandtabs(_TAB)
    part = _owing_part(content, row)
    before = len(content) - len(content.lstrip()) if part is None else content.index(part)
    length = len(content.strip()) if part is None else len(part)
    lead, owing, rest = content[:before], content[before : before + length], content[before + length :]
    return _fitted(safe(lead), safe(owing), safe(rest), width)


def _fitted(lead: str, owing: str, rest: str, width: int) -> Excerpt:
    """Clip a line at its end, and also at its start when the owing part would be out of sight."""
    if columns(lead) + columns(owing) >= width and lead.strip():
        lead = lead[-width:]
        while lead and columns(lead) + columns(owing) + 2 > width:
            lead = lead[1:]
        lead = "…" + lead
    shown = clip(lead + owing + rest, width)
    start = min(columns(lead), width - 1)
    return Excerpt(shown, (start, max(start + 1, min(start + columns(owing), columns(shown)))))


def _owing_part(content: str, row: Row) -> str | None:
    quoted = _QUOTED.findall(row.note) + [arm.arm for arm in row.arms if arm.taken is False]
    found = [part.expandtabs(_TAB) for part in quoted]
    return next((part for part in found if part.strip() and content.count(part) == 1), None)


def framed(rows: list[Row], screen: Screen, most: int) -> Iterator[str]:
    """Source lines behind a gutter of line numbers; a single one has its caret, more than ``most`` are cut short."""
    gutter = len(str(rows[-1].line)) + 4
    shown = rows if len(rows) <= most else rows[: most - 1]
    width, edge = screen.width - gutter - 3, screen.paint("|", "dim")
    if len(rows) == 1:
        view = excerpt(rows[0], width)
        start, end = view.caret
        yield f"{rows[0].line:>{gutter}} {edge} {view.text}"
        yield f"{'':{gutter}} {edge} {'':{start}}{screen.paint('^' * (end - start), 'red')}"
        return
    for row in shown:
        # all from their first column, so that they stand below each other as in the file
        yield f"{row.line:>{gutter}} {edge} {clip(safe(row.content.expandtabs(_TAB)), width)}"
    if len(shown) < len(rows):
        yield f"{'':{gutter}} {edge} … {len(rows) - len(shown)} more, to line {rows[-1].line}"
