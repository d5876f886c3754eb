"""Cobertura XML about the changed lines only, from which GitLab colours the diff of a merge request.

A line is drawn as run when a witness ran it, as not run when it keeps the gate closed, and not at all when a waiver
discharges it or it owes nothing. The format demands rates; the gate knows none, so each is 1 where nothing is open and
else 0. Made for ``coverage-04.dtd``. See https://docs.gitlab.com/ci/testing/code_coverage/cobertura/
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Final

from linewitness.obligation_map import ObligationMap, Row, Status
from linewitness.reports import View, words
from linewitness.reports.markup import text

LARGEST: Final = 10 * 1024 * 1024
"""The most bytes that GitLab reads."""

_DTD: Final = "http://cobertura.sourceforge.net/xml/coverage-04.dtd"
_ROOM_FOR_END: Final = 400


def render(artifact: ObligationMap, view: View) -> Iterable[bytes]:  # noqa: ARG001 - a file for a machine has one look
    """One document, UTF-8; files that do not fit any more are counted in a comment at its end."""
    classes = [_class(path, lines) for path, lines in _lines_by_path(artifact.rows)]
    head = _head(artifact)
    room = LARGEST - len(head) - _ROOM_FOR_END
    yield head
    left_out = 0
    for data in classes:
        if left_out or len(data) > room:
            left_out += 1
            continue
        room -= len(data)
        yield data
    yield b"      </classes>\n    </package>\n  </packages>\n</coverage>\n"
    if left_out:
        yield f"<!-- {words.plural(left_out, 'file')} left out: no more is read than {LARGEST} bytes -->\n".encode()


def _lines_by_path(rows: Iterable[Row]) -> Iterator[tuple[str, dict[int, bool]]]:
    """Whether each owed line ran, waived ones aside; of several obligations on one line the open one decides."""
    for path, group in groupby(rows, key=lambda row: row.path):
        lines: dict[int, bool] = {}
        for row in group:
            if row.line and row.status is not Status.WAIVED:
                ran = row.status is Status.TRUSTED_HIT
                lines[row.line] = lines.get(row.line, True) and ran
        if lines:
            yield path, lines


def _head(artifact: ObligationMap) -> bytes:
    counted = [ran for _, lines in _lines_by_path(artifact.rows) for ran in lines.values()]
    rate = _rate(counted)
    counts = f'lines-covered="{sum(counted)}" lines-valid="{len(counted)}" branches-covered="0" branches-valid="0"'
    version = text(artifact.tool.version)
    return (
        f'<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE coverage SYSTEM "{_DTD}">\n'
        f'<coverage {rate} {counts} complexity="0" version="linewitness {version}" timestamp="0">\n'
        "  <sources>\n    <source>.</source>\n  </sources>\n"
        f'  <packages>\n    <package name="patch" {rate} complexity="0">\n      <classes>\n'
    ).encode()


def _class(path: str, lines: dict[int, bool]) -> bytes:
    name = text(path)
    rows = "".join(f'            <line number="{at}" hits="{int(lines[at])}"/>\n' for at in sorted(lines))
    rate = _rate(list(lines.values()))
    return (
        f'        <class name="{name}" filename="{name}" {rate} complexity="0">\n          <methods/>\n'
        f"          <lines>\n{rows}          </lines>\n        </class>\n"
    ).encode()


def _rate(ran: Sequence[bool]) -> str:
    rate = int(all(ran))
    return f'line-rate="{rate}" branch-rate="{rate}"'
