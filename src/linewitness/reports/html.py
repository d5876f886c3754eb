"""One page to read offline: the verdict, what closes the gate, and the patch with the status of each of its lines.

The page is one file. Its policy lets nothing run or load but the one script and the one style sheet whose digests it
names, so even markup that slipped through could do nothing; and none slips through, as every piece of text that came
with a patch goes through :mod:`linewitness.reports.markup`. There is no template engine: the rows of a big patch are
the whole cost, and they are one expression each.
"""

from __future__ import annotations

import base64
import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pkgutil import get_data
from typing import Final

from linewitness.console import clip
from linewitness.findings import CODES
from linewitness.model import Severity
from linewitness.obligation_map import FindingRow, ObligationMap
from linewitness.reports import View, words
from linewitness.reports.comparison import basis
from linewitness.reports.html_files import Files, State, anchor
from linewitness.reports.items import describe, open_items
from linewitness.reports.markup import prose, text

_MOST_FINDINGS: Final = 200
_MOST_UNFOLDED: Final = 3
_MOST_LINES_ON_TOP: Final = 8
_MOST_ITEMS_ON_TOP: Final = 8
_LONGEST_SOURCE: Final = 160
_TILES: Final = (
    (State.OPEN, "open", "without a witness: they keep the gate closed"),
    (State.RAN, "ran", "run by a trusted check or an accepted relation that passed"),
    (State.WAIVED, "waived", "discharged by a live waiver"),
    (State.EXEMPT, "exempt", "changed, and owing nothing"),
)


def render(artifact: ObligationMap, view: View) -> Iterable[bytes]:
    """The page, in UTF-8, file by file."""
    script, style = _asset("page.js"), _asset("page.css")
    files = Files(artifact, view)
    yield "".join(_head(artifact, script, style)).encode()
    yield "".join(_summary(artifact, files.counts)).encode()
    yield b"<main>"
    yield "".join(_findings(artifact, files)).encode()
    yield "".join(_toolbar(hidden=not files.counts)).encode()
    yield "".join(_contents(files)).encode()
    for piece in files.sections():
        yield piece.encode()
    yield "".join(_compared(artifact)).encode()
    yield b"</main>\n"
    yield _HELP.encode()
    yield b'<script type="application/json" id="$data">' + files.data() + b"</script>\n"
    yield b"<script>" + script + b"</script>\n</body></html>\n"


def _asset(name: str) -> bytes:
    data = get_data(__name__, name)
    if data is None:
        raise FileNotFoundError(name)
    return data


def _digest(data: bytes) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(data).digest()).decode()


def _head(artifact: ObligationMap, script: bytes, style: bytes) -> Iterator[str]:
    policy = (
        f"default-src 'none'; script-src '{_digest(script)}'; style-src '{_digest(style)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'"
    )
    yield '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">\n'
    yield f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
    yield '<meta name="color-scheme" content="light dark"><meta name="referrer" content="no-referrer">\n'
    yield f'<link rel="icon" href="data:,">\n<title>{text(words.verdict(artifact))}</title>\n'
    yield f"<style>{style.decode()}</style></head>\n"
    yield f'<body class="{artifact.verdict}"><a class="skip" href="#$patch">Skip to the patch</a>\n'


def _summary(artifact: ObligationMap, counts: Counter[State]) -> Iterator[str]:
    _, _, reason = words.verdict(artifact).partition(": ")
    yield f'<header><div class="verdict"><span class="mark" aria-hidden="true"></span><div><h1>Gate {artifact.verdict}'
    yield f"</h1><p>{text(reason[:1].upper() + reason[1:])}</p></div></div>\n"
    if artifact.scored:
        yield from _tiles(artifact, counts)
    yield f'<p class="sum">{text(words.sum_line(artifact))} <span>· {text(words.exit_line(artifact))}</span></p>\n'
    wanted = {"compared", "approved", "evidence", "relation"}
    lines = [f"{label}: {value}" for label, value in basis(artifact) if label in wanted]
    yield f'<p class="sum muted">{"<br>".join(map(text, lines[:_MOST_LINES_ON_TOP]))}</p></header>\n'


def _tiles(artifact: ObligationMap, counts: Counter[State]) -> Iterator[str]:
    numbers = {
        State.OPEN: artifact.unwitnessed,
        State.RAN: artifact.trusted_hit,
        State.WAIVED: artifact.waived,
        State.EXEMPT: counts[State.EXEMPT],
    }
    yield '<div class="tiles" role="group" aria-label="Show only the lines that are">'
    for state, word, meaning in _TILES:
        yield (
            f'<button type="button" class="tile {state}" data-state="{state}" aria-pressed="false">'
            f"<b>{numbers[state]}</b><i>{word}</i><small>{meaning}</small></button>"
        )
    yield "</div>\n"
    owed = max(artifact.owed, 1)
    yield '<svg class="bar" viewBox="0 0 1000 10" preserveAspectRatio="none" aria-hidden="true">'
    at = 0.0
    for state, _, _ in _TILES[:-1]:
        width = 1000 * numbers[state] / owed
        yield f'<rect class="{state}" x="{at:.1f}" y="0" width="{width:.1f}" height="10"/>'
        at += width
    yield "</svg>\n"


def _open_lines(artifact: ObligationMap) -> Iterator[str]:
    """The first open passages, so that who opens the page sees what is the matter."""
    findings = words.line_findings(artifact)
    items = list(open_items(artifact, findings))
    if not items:
        return
    yield '<section class="findings lines"><h2>Without a witness</h2><ul>'
    for rows in items[:_MOST_ITEMS_ON_TOP]:
        first = rows[0]
        finding = findings.get((first.path, first.line))
        source = text(clip(first.content.strip(), _LONGEST_SOURCE))
        more = f" and {words.plural(len(rows) - 1, 'more line')}" if len(rows) > 1 else ""
        title = text(words.title(finding.code if finding else "LW101"))
        yield (
            f'<li><a href="#{anchor(first.path, first.line)}">{text(words.place(first.path, first.line))}</a> '
            f"<b>{title}</b> ({prose(describe(rows))})" + (f"<br><code>{source}</code>{more}" if source else "")
        )
    rest = sum(map(len, items[_MOST_ITEMS_ON_TOP:]))
    if rest:
        yield f"<li>… and {words.plural(rest, 'more line')} below: <kbd>j</kbd> goes from one to the next"
    yield "</ul></section>\n"


def _findings(artifact: ObligationMap, files: Files) -> Iterator[str]:
    """What closes the gate, in the order of the other reports for people, then what else there is to know."""
    errors, warnings = words.other_findings(artifact)
    yield from _list("What closes the gate", "errors", errors, files)
    yield from _open_lines(artifact)
    kind = "warnings" if len(warnings) <= _MOST_UNFOLDED else "warnings folded"
    yield from _list("Warnings", kind, warnings, files)
    codes = sorted({row.code for row in artifact.findings if row.severity is Severity.ERROR} & set(CODES))
    if codes:
        yield '<details class="todo"><summary>What to do about it</summary><dl>'
        for code in codes:
            yield f"<dt>{code} {text(CODES[code].title)}<dd>{prose(CODES[code].todo)}"
        yield "</dl></details>\n"


def _list(title: str, kind: str, findings: Sequence[FindingRow], files: Files) -> Iterator[str]:
    if not findings:
        return
    yield f'<section class="findings {kind}"><h2>{title}</h2><ul>'
    yield from (_finding(finding, files) for finding in findings[:_MOST_FINDINGS])
    if len(findings) > _MOST_FINDINGS:
        yield f"<li>… and {len(findings) - _MOST_FINDINGS} more, all of them in the map"
    yield "</ul></section>\n"


def _finding(finding: FindingRow, files: Files) -> str:
    place = text(words.place(finding.path, finding.line))
    there = files.anchor_of(finding.path, finding.line)
    link = f'<a href="#{there}">{place}</a>: ' if there else f"{place}: " if place else ""
    title = text(f"{finding.code} {words.title(finding.code)}")
    return f"<li>{link}<b>{title}</b><br>{prose(finding.message)}"


def _toolbar(*, hidden: bool) -> Iterator[str]:
    off = " hidden" if hidden else ""
    yield f'<div class="toolbar" id="$patch" role="group" aria-label="Move through the patch"{off}>'
    yield '<button type="button" data-do="next"><kbd>j</kbd> next open</button>'
    yield '<button type="button" data-do="previous"><kbd>k</kbd> previous</button>'
    yield '<label class="search"><kbd>/</kbd> <span class="v">Find in names and lines</span>'
    yield '<input id="$search" type="search" placeholder="find in names and lines" autocomplete="off" '
    yield 'spellcheck="false"></label><button type="button" data-do="all" hidden>show everything</button>'
    yield '<span id="$status" role="status"></span>'
    yield '<button type="button" data-do="help" aria-haspopup="dialog"><kbd>?</kbd> help</button></div>\n'
    yield "<noscript><p>Filters and details need scripts; the patch and what is missing do not.</p></noscript>\n"


def _contents(files: Files) -> Iterator[str]:
    entries = files.contents()
    if len(entries) < 2:
        return
    yield f'<nav aria-label="Files"><details{" open" if len(entries) <= 12 else ""}>'
    yield f"<summary>{words.plural(len(entries), 'changed file')}</summary><ol>"
    yield from entries
    yield "</ol></details></nav>\n"


def _compared(artifact: ObligationMap) -> Iterator[str]:
    tool = f"{artifact.tool.name} {artifact.tool.version}, {artifact.command}"
    yield '<section class="compared"><h2>What was compared</h2><dl>'
    yield from _definitions([*basis(artifact), ("written by", tool)])
    yield "</dl></section>\n"


def _definitions(lines: Sequence[tuple[str, str]]) -> Iterator[str]:
    last = ""
    for label, value in lines:
        yield f"<dt>{label}" if label != last else ""
        yield f"<dd>{text(value)}"
        last = label


_HELP: Final = """\
<dialog id="$help" aria-labelledby="$help-title"><h2 id="$help-title">How to read this page</h2>
<dl class="keys"><dt><kbd>j</kbd> <kbd>k</kbd><dd>next and previous open line
<dt><kbd>Enter</kbd><dd>who ran the line, which waiver it has, or what is missing
<dt><kbd>/</kbd><dd>find in names and lines; <kbd>Esc</kbd> ends it
<dt><kbd>1</kbd> … <kbd>4</kbd><dd>only lines that are open, ran, waived or exempt; <kbd>0</kbd> shows everything
<dt><kbd>?</kbd><dd>this help</dl>
<p>A line's number is a link to it: <code>#path:line</code>.</p>
<dl class="legend"><dt class="o">open<dd>no check or relation that people own, and that passed, ran the line
<dt class="t">ran<dd>one did, during a test's call
<dt class="i">import<dd>it ran only while its module was imported, which is weaker
<dt class="w">waived<dd>a live waiver with an owner and a last day discharges it
<dt class="e">exempt<dd>it owes nothing: blank, comment, proved to be reformatted, …</dl>
<form method="dialog"><button>Close</button></form></dialog>
"""
