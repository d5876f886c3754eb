"""A short cut for obligations that an export settles by themselves: plain statements of the module on one line.

Asking what a line demands costs a parse, and big patches consist of such lines. The answers are those of the full rule.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from linewitness.evidence.formats.facts import Grain
from linewitness.evidence.imported_lines import Lines
from linewitness.model import Answer, Kind, Obligation, Phase, Precision, Sighting

#: Words and signs by which a statement may skip a part of itself, hold another code object, or be more than one.
_MAY_SKIP: Final = re.compile(r"[:;@\\]|\b(?:if|else|and|or|not|in|is|for|lambda|await|yield|assert)\b")

_RUN: Final = Sighting(Answer.RUN, (), Phase.IMPORT, Precision.STATEMENT)
_NOT_RUN: Final = Sighting(Answer.NOT_RUN, note="the statement did not run")


def settle(obligations: Sequence[Obligation], lines: Lines) -> list[Sighting | None]:
    """What an export of statements says of each obligation; ``None`` where the full rule has to be asked."""
    if lines.grain is not Grain.STATEMENTS:
        return [None] * len(obligations)
    counts = lines.bare_counts
    if counts is not None:
        return _settled_by_counts(obligations, counts)
    runs: dict[tuple[str, ...], Sighting] = {}
    return [_settled(obligation, lines, runs) if _is_plain(obligation) else None for obligation in obligations]


def _settled_by_counts(obligations: Sequence[Obligation], counts: Mapping[int, int]) -> list[Sighting | None]:
    """The answers of bare counts. This runs for every line of a patch, and so calls as little as it can."""
    hit_of = counts.get
    statement = Kind.STATEMENT
    answers = [
        (_RUN if hit > 0 else _NOT_RUN)
        if kind is statement and not scope and first == last and (hit := hit_of(line)) is not None
        else None
        for _, line, _, _, kind, scope, _, (first, last), _ in obligations
    ]
    texts = [owed[3] for owed in obligations]
    firsts = "".join([text[:1] for text in texts])
    if firsts.split() == [firsts] and _MAY_SKIP.search("\n".join(texts)) is None:
        return answers
    return [answer if _is_plain(owed) else None for answer, owed in zip(answers, obligations, strict=True)]


def _is_plain(obligation: Obligation) -> bool:
    """Whether an obligation is a statement of the module that stands on one line and runs whole or not at all."""
    return _is_lone(obligation) and _MAY_SKIP.search(obligation.content) is None


def _is_lone(obligation: Obligation) -> bool:
    _, _, _, content, kind, scope, _, (first, last), _ = obligation
    return first == last and kind is Kind.STATEMENT and not scope and content[:1] > " "


def _settled(obligation: Obligation, lines: Lines, runs: dict[tuple[str, ...], Sighting]) -> Sighting | None:
    """The answer for a plain line. ``runs`` keeps one value for all lines that the same tests ran."""
    line = obligation.line
    if not lines.listed(line) or lines.arms(line):
        return None
    hit = lines.hit(line, at_import=True)
    if hit is None:
        return _NOT_RUN
    known = runs.get(hit.witnesses)
    if known is None:
        known = runs[hit.witnesses] = Sighting(Answer.RUN, hit.witnesses, hit.phase, Precision.STATEMENT)
    return known
