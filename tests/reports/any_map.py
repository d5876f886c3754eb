"""Hypothesis strategies for maps in which every text is anything: controls, markup, half characters, line ends."""

from __future__ import annotations

from hypothesis import strategies as st

from linewitness.findings import CODES
from linewitness.model import Exemption, Kind, Phase, Precision, Reason, Severity
from linewitness.obligation_map import (
    ArmRow,
    ExemptRow,
    FindingRow,
    HunkRow,
    ObligationMap,
    PatchRow,
    Row,
    Status,
    WaiverRow,
)
from tests.reports import samples

NASTY = (
    "<script>alert(1)</script>",
    "</script><!--",
    "]]>",
    "--> ::error::x",
    "::stop-commands::x",
    "x ::error::y",
    "##[error]x ##vso[task.complete]",
    "a|b`c`|",
    "```",
    "[x](http://evil.example)",
    "@someone #1 https://evil.example www.evil.example",
    "\x1b[31m\x9b31m\x07",
    "\u202e\u2066\u200b",
    "\r\n\n",
    "\udcff\ud800",
    "\x00\ufffe\uffff",
    "%0A,:",
    "' onfocus='alert(1)",
    '" onfocus="alert(1)',
    "&amp;&#60;",
    "{{7*7}} ${7*7}",
)
nasty = st.sampled_from(NASTY)
texts = st.one_of(nasty, st.text(max_size=12), st.tuples(st.text(max_size=4), nasty).map("".join))
# git has no empty name, and a name that begins with a slash is none in a repository
paths = texts.map(lambda text: text.lstrip("/") or "a.py")
lines = st.integers(0, 12)


@st.composite
def rows(draw: st.DrawFn) -> Row:
    """One sound row: a hit has a phase, a waived line its waiver."""
    status = draw(st.sampled_from(Status))
    waiver = WaiverRow(expires="2026-12-16", note=draw(texts), owner=draw(texts), reason=draw(st.sampled_from(Reason)))
    hit = status is Status.TRUSTED_HIT
    witnesses = tuple(draw(st.lists(texts, max_size=2))) if hit else ()
    return samples.row(
        draw(paths),
        draw(lines),
        draw(texts),
        status,
        arms=tuple(ArmRow(text, True) for text in draw(st.lists(texts, max_size=1))),
        kind=draw(st.sampled_from(Kind)),
        note=draw(texts),
        scope=draw(texts),
        phase=draw(st.sampled_from(Phase)) if hit else None,
        precision=draw(st.sampled_from(Precision)) if hit else None,
        waiver=waiver if status is Status.WAIVED else None,
        witnesses=witnesses,
        witness_count=len(witnesses),
    )


findings = st.builds(
    FindingRow,
    code=st.one_of(st.sampled_from(sorted(CODES)), texts),
    line=lines,
    message=texts,
    path=st.one_of(st.just(""), paths),
    severity=st.sampled_from(Severity),
)
passages = st.lists(st.tuples(st.sampled_from(" +-"), texts), min_size=1, max_size=4).map(
    lambda made: "\n".join(mark + text.replace("\n", "") for mark, text in made)
)
patches = st.builds(
    PatchRow,
    base_path=st.one_of(st.just(""), paths),
    cut=st.integers(0, 3),
    hunks=st.lists(st.builds(HunkRow, st.integers(1, 9), st.integers(1, 9), passages), max_size=2).map(tuple),
    path=paths,
)


@st.composite
def maps(draw: st.DrawFn) -> ObligationMap:
    """A map; every open row has its finding, as the gate writes it."""
    owed = draw(st.lists(rows(), max_size=5))
    owed.sort(key=lambda row: (row.path, row.line))
    open_rows = [row for row in owed if row.status is Status.UNWITNESSED]
    found = [samples.unwitnessed(row, "LW101", draw(texts)) for row in open_rows] + draw(st.lists(findings, max_size=3))
    exempt = draw(st.lists(st.builds(ExemptRow, lines, paths, st.sampled_from(Exemption)), max_size=3))
    patch = draw(st.lists(patches, max_size=2, unique_by=lambda row: row.path))
    changes: dict[str, object] = {"patch": tuple(patch)} if patch else {}
    return samples.build(owed, found, exempt, **changes)
