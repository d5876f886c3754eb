"""Markdown for GitHub, GitLab and alike: a step summary, or a comment on a pull request that later runs replace.

A comment may have 65,536 characters, and so has this, counted in bytes to be on the safe side. With everything asked
for (``-v``) it may have what a step summary may: one mebibyte, above which GitHub shows nothing at all. Whatever does
not fit is counted. The first line is a comment that nobody sees, by which a job finds the comment of its last run.

What came with the patch stands in ``<code>`` with every character that could mean something written as an entity, which
CommonMark never takes for markup, and GitHub makes no mention of a person and no link in it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from linewitness.console import clip, safe
from linewitness.findings import CODES
from linewitness.model import Kind
from linewitness.obligation_map import FindingRow, ObligationMap, Row
from linewitness.reports import View, words
from linewitness.reports.comparison import basis
from linewitness.reports.items import Nearby, describe, open_items

MARKER: Final = "<!-- linewitness -->"
"""The first line, by which a comment is found again."""

MOST_IN_COMMENT: Final = 65_000
MOST_IN_SUMMARY: Final = 1_000_000
_ROOM_FOR_COUNTS: Final = 8_000
_LONGEST_SOURCE: Final = 160
_LONGEST_MESSAGE: Final = 600
_MOST_FILES: Final = 10
_MOST_DETAILS: Final = 40

# Punctuation of CommonMark and of GitHub's additions; the last three mean something in one place only.
_MEANINGFUL: Final = re.compile(r"""[]\\`*_{}()<>#!|&~:@$"'^[]|^[-+=]|(?<=\d)\.(?=\s)|(?<=www)\.""", re.IGNORECASE)
_TICKS: Final = re.compile(r"`([^`]*)`")


def render(artifact: ObligationMap, view: View) -> Iterable[bytes]:
    """The report, in UTF-8, within the limit."""
    page = _Page(artifact, view)
    yield from page.head()
    yield from page.body()
    yield from page.foot()


def text(value: str) -> str:
    """``value`` as plain text of a paragraph or a table's cell: nothing in it is markup, a mention or a link."""
    return _MEANINGFUL.sub(_entity, safe(value))


def code(value: str, longest: int = _LONGEST_SOURCE) -> str:
    """``value`` as code."""
    return f"<code>{text(clip(value, longest))}</code>" if value.strip() else ""


def prose(value: str) -> str:
    """A message of ours, in which what stands between backticks may come from the patch, and names may anywhere."""
    parts = _TICKS.split(clip(safe(value), _LONGEST_MESSAGE))
    return "".join(code(part) if at % 2 else _unlinked(part) for at, part in enumerate(parts))


def _entity(found: re.Match[str]) -> str:
    return f"&#{ord(found[0])};"


def _unlinked(value: str) -> str:
    # mentions and references are looked for in the finished text, so an entity alone would not do
    return re.sub(r"&#(?:64|35);", lambda found: f"<span>{found[0]}</span>", text(value))


class _Page:
    def __init__(self, artifact: ObligationMap, view: View) -> None:
        self._map = artifact
        self._view = view
        self._room = (MOST_IN_SUMMARY if view.verbose else MOST_IN_COMMENT) - _ROOM_FOR_COUNTS
        self._findings = words.line_findings(artifact)
        self._errors, self._warnings = words.other_findings(artifact)

    def head(self) -> Iterator[bytes]:
        """Marker, verdict and the sum."""
        mark = "✅" if self._map.verdict == "open" else "❌"
        verdict = words.verdict(self._map)
        yield from self._always(f"{MARKER}\n### {mark} {_unlinked(verdict[:1].upper() + verdict[1:])}\n\n")
        yield from self._always(f"{text(words.sum_line(self._map))}  \n{text(words.exit_line(self._map))}\n")

    def body(self) -> Iterator[bytes]:
        """Findings, open lines, warnings: each as long as there is room, then the count of the rest."""
        yield from self._table("What closes the gate", self._errors)
        yield from self._open_lines()
        yield from self._table("Warnings", self._warnings)

    def foot(self) -> Iterator[bytes]:
        """What was compared, for who wants to know."""
        yield b"\n<details><summary>What was compared</summary>\n\n"
        lines = [f"{label}: {value}" for label, value in basis(self._map)]
        if len(lines) > _MOST_DETAILS:
            lines[_MOST_DETAILS:] = [f"and {len(lines) - _MOST_DETAILS} more"]
        for line in lines:
            yield f"- {text(clip(line, _LONGEST_MESSAGE))}\n".encode()
        yield b"\n</details>\n"

    def _always(self, piece: str) -> Iterator[bytes]:
        data = piece.encode("utf-8", "backslashreplace")
        self._room -= len(data)
        yield data

    def _fits(self, piece: str) -> bytes | None:
        """The piece, if there is room for it; after the first that does not fit, none does."""
        data = piece.encode("utf-8", "backslashreplace")
        if len(data) > self._room:
            self._room = 0
            return None
        self._room -= len(data)
        return data

    def _table(self, title: str, findings: Sequence[FindingRow]) -> Iterator[bytes]:
        if not findings:
            return
        yield from self._always(f"\n#### {title}\n\n| where | code | what |\n|---|---|---|\n")
        for at, finding in enumerate(findings):
            row = f"| {_place(finding.path, finding.line)} | {_code_name(finding.code)} | {prose(finding.message)} |\n"
            data = self._fits(row)
            if data is None:
                left = words.plural(len(findings) - at, "more finding")
                yield f"\n… and {left}{self._where_the_rest_is()}\n".encode()
                return
            yield data

    def _open_lines(self) -> Iterator[bytes]:
        items = list(open_items(self._map, self._findings))
        if not items:
            return
        nearby = Nearby(self._map.rows)
        yield from self._always(
            "\n#### Lines without a witness\n\n| where | code | line | missing |\n|---|---|---|---|\n"
        )
        for at, item in enumerate(items):
            data = self._fits(self._item(item, nearby))
            if data is None:
                yield self._rest(items[at:])
                return
            yield data

    def _item(self, rows: Sequence[Row], nearby: Nearby) -> str:
        first = rows[0]
        finding = self._findings.get((first.path, first.line))
        where = _place(first.path, first.line, rows[-1].line)
        source = "" if first.kind is Kind.OPAQUE else code(first.content.strip())
        more = f" … {len(rows) - 1} more" if len(rows) > 1 else ""
        near = nearby.to(first)
        hint = f"<br>nearby: {code(near, _LONGEST_MESSAGE)}" if near else ""
        missing = f"{prose(finding.message if finding else first.note)} ({prose(describe(rows))}){hint}"
        return f"| {where} | {_code_name(finding.code if finding else 'LW101')} | {source}{more} | {missing} |\n"

    def _rest(self, items: Sequence[Sequence[Row]]) -> bytes:
        left: Counter[str] = Counter()
        for item in items:
            left[item[0].path] += len(item)
        total = words.plural(sum(left.values()), "more open line")
        lines = [f"\n… and {total} in {words.plural(len(left), 'file')}{self._where_the_rest_is()}\n\n"]
        lines += [f"- {code(path)}: {count}\n" for path, count in left.most_common(_MOST_FILES)]
        if len(left) > _MOST_FILES:
            lines.append(f"- … and {words.plural(len(left) - _MOST_FILES, 'more file')}\n")
        return "".join(lines).encode()

    def _where_the_rest_is(self) -> str:
        command = words.show_all_command(self._view.map_file)
        return f"; all of them: {code(command)}" if command else ""


def _place(path: str, line: int, last: int = 0) -> str:
    where = words.place(path, line) + (f"-{last}" if last > line else "")
    return code(where) or "the whole patch"


def _code_name(name: str) -> str:
    known = CODES.get(name)
    if known is None:
        return text(name)
    return f"{name} {text(known.title)}"
