"""The patch in the page: one section per file, one table per passage, one row per line.

Most lines of a patch are like their neighbours, so a row is kept short: its status is a word in a button, its shape and
colour come from the style sheet, and what else is known of it lies in a block of data that the page's script reads when
somebody asks. A passage of thousands of lines is cut into tables that the browser lays out when they come into sight.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from html import escape
from itertools import chain
from typing import Final

from linewitness.console import safe
from linewitness.model import Phase
from linewitness.obligation_map import ExemptRow, HunkRow, ObligationMap, PatchRow, Row, Status
from linewitness.reports import View, words
from linewitness.reports.html_details import Details
from linewitness.reports.items import Nearby, describe, open_items
from linewitness.reports.markup import address, prose, text
from linewitness.values import NamedTuple

MOST_LINES: Final = 60_000
"""How many lines a page shows in full; of what lies beyond, only open lines are shown, as many again."""

_ROWS_OF_TABLE: Final = 200
_SIZES: Final = (10, 25, 50, 100, _ROWS_OF_TABLE)
_NO_LIMIT: Final = 1 << 60
_MINUS: Final = "\N{MINUS SIGN}"


class State(StrEnum):
    """The status of a line as the page knows it, the gravest first; also its class in the style sheet."""

    OPEN = "o"
    WAIVED = "w"
    IMPORT = "i"
    RAN = "t"
    EXEMPT = "e"


WORDS: Final = {
    State.OPEN: "open",
    State.WAIVED: "waived",
    State.IMPORT: "import",
    State.RAN: "ran",
    State.EXEMPT: "exempt",
}
_GRAVITY: Final = {state: at for at, state in enumerate(State)}


def state_of(entry: Row | ExemptRow) -> State:
    """The state of one row of the map."""
    if isinstance(entry, ExemptRow):
        return State.EXEMPT
    if entry.status is Status.TRUSTED_HIT:
        return State.IMPORT if entry.phase is Phase.IMPORT else State.RAN
    return State.OPEN if entry.status is Status.UNWITNESSED else State.WAIVED


def anchor(path: str, line: int = 0) -> str:
    """The fragment of a file or a line. No character in it means anything to HTML, and no colon is the path's own."""
    return f"{address(path)}:{line}" if line else address(path)


Entry = Row | ExemptRow


class _File(NamedTuple):
    path: str
    anchor: str
    entries: Mapping[int, list[Entry]]
    patch: PatchRow | None
    counts: Counter[State]


class Files:
    """The files of a map in the order of their paths, and the data about their lines."""

    def __init__(self, artifact: ObligationMap, view: View) -> None:
        self._details = Details(view)
        self._limited = not view.verbose
        self._room = _NO_LIMIT if view.verbose else MOST_LINES
        self._files = _files(artifact)
        self._findings = words.line_findings(artifact)
        self._nearby = Nearby(artifact.rows)
        self._items = {(item[-1].path, item[-1].line): item for item in open_items(artifact, self._findings)}
        self._view = view
        self.counts: Counter[State] = sum((file.counts for file in self._files), Counter[State]())

    def anchor_of(self, path: str, line: int) -> str:
        """The fragment of a line, of its file where the line did not change, or empty where neither is in the page."""
        found = next((file for file in self._files if file.path == path), None)
        return "" if found is None else anchor(path, line if line in found.entries else 0)

    def contents(self) -> list[str]:
        """One list item per file."""
        return [f'<li><a href="#{file.anchor}">{text(file.path)}</a> {_counts(file.counts)}' for file in self._files]

    def sections(self) -> Iterator[str]:
        """One piece of the page per file."""
        for number, file in enumerate(self._files):
            yield "".join(self._section(number, file))

    def data(self) -> bytes:
        """What the script tells of each line that was shown, as JSON that can stand in a page."""
        return self._details.encode()

    def _section(self, number: int, file: _File) -> Iterator[str]:
        states = "".join(f' data-{state}="{count}"' for state, count in file.counts.items())
        yield f'<section class="f" id="{file.anchor}" aria-labelledby="$f{number}"{states}>'
        folded = set(file.counts) <= {State.EXEMPT} and self.counts.total() > self.counts[State.EXEMPT]
        title = f'<h2 id="$f{number}">{text(file.path)}</h2> {_counts(file.counts)}'
        yield f"<details{'' if folded else ' open'}><summary>{title}</summary>\n"
        if file.patch is not None and file.patch.base_path:
            yield f'<p class="at">moved from {text(file.patch.base_path)}</p>'
        self._details.begin(file.path)
        left = dict(file.entries)
        yield from self._whole_file(file, left.pop(0, []))
        for hunk in file.patch.hunks if file.patch is not None and self._room > 0 else ():
            yield from self._hunk(file, hunk, left)
        yield from self._alone(file, left)
        if file.patch is not None and file.patch.cut and self._room > 0:
            yield f'<p class="at">The map carries no text for {words.plural(file.patch.cut, "changed line")} here.</p>'
        yield "</details></section>\n"

    def _whole_file(self, file: _File, entries: Sequence[Entry]) -> Iterator[str]:
        if entries:
            yield f'<div class="h"><table aria-label="{text(file.path)}, as a whole">'
            yield self._row(
                file, 0, entries, f'<td class="whole" colspan="4"><em>the whole file</em>{_because(entries)}'
            )
            yield from self._after(file, 0)
            yield "</table></div>\n"

    def _hunk(self, file: _File, hunk: HunkRow, left: dict[int, list[Entry]]) -> Iterator[str]:
        rows = list(self._hunk_rows(file, hunk, left))
        self._room -= len(rows)
        for start in range(0, len(rows), _ROWS_OF_TABLE):
            part = rows[start : start + _ROWS_OF_TABLE]
            yield _table(f"{text(file.path)}, passage at line {hunk.head}", part, first=start == 0, hunk=hunk)

    def _hunk_rows(self, file: _File, hunk: HunkRow, left: dict[int, list[Entry]]) -> Iterator[str]:
        base, head = hunk.base, hunk.head
        for mark, line in _lines(hunk.text):
            if mark == "-":
                yield f'<tr class="r"><td><td>{base}<td><td>{_MINUS}<td>{line}'
                base += 1
                continue
            before = base if mark == " " else ""
            base += mark == " "
            entries = left.pop(head, None)
            if entries is None:
                yield f"<tr><td><td>{before}<td>{head}<td>{'' if mark == ' ' else '+'}<td>{line}"
            else:
                sign = "" if mark == " " else "+"
                row = self._row(file, head, entries, f"<td>{before}<td>{_link(file, head)}<td>{sign}<td>{line}")
                yield "".join((row, *self._after(file, head))) if _open(entries) else row
            head += 1

    def _alone(self, file: _File, left: Mapping[int, list[Entry]]) -> Iterator[str]:
        """Lines of which the map has no passage, each by itself."""
        shown: list[str] = []
        hidden: Counter[State] = Counter()
        for line in sorted(left):
            entries = left[line]
            state = _gravest(entries)
            if self._room <= (-MOST_LINES if state is State.OPEN else 0):
                hidden[state] += 1
                continue
            self._room -= 1
            row = self._row(file, line, entries, f"<td><td>{_link(file, line)}<td>+<td>{_content(entries)}")
            shown.append("".join((row, *self._after(file, line))) if state is State.OPEN else row)
        for start in range(0, len(shown), _ROWS_OF_TABLE):
            yield _table(f"{text(file.path)}, lines", shown[start : start + _ROWS_OF_TABLE])
        if hidden:
            counts = ", ".join(f"{count} {WORDS[state]}" for state, count in sorted(hidden.items()))
            total = words.plural(sum(hidden.values()), "more line")
            command = words.show_all_command(self._view.map_file)
            how = f"; <code>{text(f'{command} --format html')}</code> shows all" if command else ""
            yield f'<p class="at">{total} of this file not shown on a page of this size: {counts}{how}</p>'

    def _row(self, file: _File, line: int, entries: Sequence[Entry], cells: str) -> str:
        state = state_of(entries[0]) if len(entries) == 1 else _gravest(entries)
        self._details.add(line, entries)
        mark = f' id="{file.anchor}:{line}"' if line else " data-whole"
        return f'<tr class="{state}"{mark}><td><button type="button">{WORDS[state]}</button>{cells}'

    def _after(self, file: _File, line: int) -> Iterator[str]:
        """What is missing, below the last line of an open passage."""
        item = self._items.get((file.path, line))
        if item is None:
            return
        finding = self._findings.get((item[0].path, item[0].line))
        code = finding.code if finding else "LW101"
        near = self._nearby.to(item[0])
        hint = f"<br>nearby: <code>{escape(near)}</code>" if near else ""
        message = prose(finding.message if finding else item[0].note)
        yield (
            f'<tr class="m"><td><td colspan="4"><b>{text(code)} {text(words.title(code))}</b> '
            f"({prose(describe(item))})<br>{message}{hint}"
        )


def _files(artifact: ObligationMap) -> list[_File]:
    entries: defaultdict[str, dict[int, list[Entry]]] = defaultdict(dict)
    counts: defaultdict[str, Counter[State]] = defaultdict(Counter)
    for row in chain[Entry](artifact.rows, artifact.exempt):
        entries[row.path].setdefault(row.line, []).append(row)
        counts[row.path][state_of(row)] += 1
    patches = {row.path: row for row in artifact.patch} if isinstance(artifact.patch, tuple) else {}
    return [
        _File(path, anchor(path), entries[path], patches.get(path), counts[path])
        for path in sorted({*entries, *patches})
    ]


def _counts(counts: Counter[State]) -> str:
    known = ((state, counts[state]) for state in State if counts[state])
    return " ".join(f'<span class="n {state}">{count} {WORDS[state]}</span>' for state, count in known)


def _gravest(entries: Iterable[Entry]) -> State:
    return min(map(state_of, entries), key=_GRAVITY.__getitem__)


def _open(entries: Iterable[Entry]) -> bool:
    return any(isinstance(entry, Row) and entry.status is Status.UNWITNESSED for entry in entries)


def _because(entries: Iterable[Entry]) -> str:
    reasons = [words.EXEMPT_BECAUSE[entry.reason] if isinstance(entry, ExemptRow) else entry.note for entry in entries]
    return "".join(f" · {text(reason)}" for reason in reasons if reason)


def _content(entries: Iterable[Entry]) -> str:
    """The text of a line of which there is no passage; the map keeps none of lines that owe nothing."""
    for entry in entries:
        if isinstance(entry, Row):
            return _source(entry.content)
    return _because(entries).removeprefix(" · ")


def _link(file: _File, line: int) -> str:
    return f'<a href="#{file.anchor}:{line}">{line}</a>'


def _table(label: str, rows: Sequence[str], *, first: bool = False, hunk: HunkRow | None = None) -> str:
    size = next(size for size in _SIZES if len(rows) <= size)
    head = f'<p class="at">line {hunk.head}</p>' if first and hunk is not None else ""
    return f'<div class="h n{size}">{head}<table aria-label="{label}">{"".join(rows)}</table></div>\n'


def _lines(passage: str) -> Iterator[tuple[str, str]]:
    """Mark and escaped text of each line."""
    if passage.replace("\n", "").replace("\t", "").isprintable():
        for line in escape(passage, quote=False).split("\n"):
            yield line[:1], line[1:]
        return
    for line in passage.split("\n"):
        yield line[:1], _source(line[1:])


def _source(line: str) -> str:
    """A source line with its tabs, and with what cannot be seen marked."""
    if line.isprintable():
        return escape(line, quote=False)
    return "\t".join("".join(map(_character, part)) for part in line.split("\t"))


def _character(char: str) -> str:
    shown = safe(char)
    return escape(char, quote=False) if shown == char else f"<mark>{escape(shown, quote=False)}</mark>"
