"""Says for each physical line of a module which marks tell that its code ran.

The strongest kind of text on a line decides, as a person would read it: names and literals before keywords and
operators, these before brackets and commas. A name or literal answers for itself. A keyword, an operator or an opening
bracket answers with the next name, literal or statement; a closing bracket, a comma or a colon with the smallest
expression or statement around it.
"""

from __future__ import annotations

import io
import keyword
import tokenize
from bisect import bisect_left
from collections.abc import Container, Iterable, Iterator, Sequence
from typing import NamedTuple

from .collect import CLOSER, DEFINITION_ONLY, KEYWORD, NAME, OPENER, Collector, Covering, LineMarks, Observation, Place
from .rewrite import NumberedTree

NOTHING = LineMarks("none", ())
CONSTANTS = ("True", "False", "None", "lambda")
PUNCTUATION = {**dict.fromkeys("([{", OPENER), **dict.fromkeys(")]},:;", CLOSER)}


class _Token(NamedTuple):
    place: Place
    end_line: int
    strength: int


IGNORED = {
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.COMMENT,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
    tokenize.ENCODING,
}


def tokens_of(source: bytes) -> Iterator[_Token]:
    for token in tokenize.tokenize(io.BytesIO(source).readline):
        if token.type in IGNORED:
            continue
        column = len(token.line[: token.start[1]].encode()) if token.start[1] else 0
        if token.type == tokenize.OP:
            strength = PUNCTUATION.get(token.string, KEYWORD)
        else:
            strength = KEYWORD if keyword.iskeyword(token.string) and token.string not in CONSTANTS else NAME
        yield _Token((token.start[0], column), token.end[0], strength)


def line_marks(numbered: NumberedTree, source: bytes, wanted: Container[int] | None = None) -> dict[int, LineMarks]:
    """What decides about each physical line that holds a token. Lines that are absent are blank or comments."""
    found = Collector()
    found.block(numbered.tree.body, deferred=False, documented=True)
    found.observations.sort(key=lambda seen: (seen.place, seen.strength))
    own: dict[int, list[Observation]] = {}
    for seen in found.observations:
        if seen.strength > DEFINITION_ONLY:
            own.setdefault(seen.place[0], []).append(seen)
    out = {}
    for line, present in tokens_by_line(source).items():
        if wanted is not None and line not in wanted:
            continue
        if line in found.headers:
            header = found.headers[line]
            out[line] = header._replace(enter=(*header.enter, *found.enter.get(line, ())))
        elif line in found.silent:
            out[line] = NOTHING
        else:
            decides = decisive(own.get(line, ()), present, found)
            out[line] = LineMarks("code", decides, tuple(found.enter.get(line, ())))
    return out


def tokens_by_line(source: bytes) -> dict[int, list[_Token]]:
    tokens: dict[int, list[_Token]] = {}
    for token in tokens_of(source):
        for line in range(token.place[0], token.end_line + 1):
            tokens.setdefault(line, []).append(token)
    return tokens


def decisive(here: Sequence[Observation], tokens: Sequence[_Token], found: Collector) -> tuple[Observation, ...]:
    """The observations of the strongest kind of text on the line."""
    strongest = max((seen.strength for seen in here), default=0)
    if strongest:
        return tuple(seen for seen in here if seen.strength == strongest)
    top = max(token.strength for token in tokens)
    return tuple(answer(token, found) for token in tokens if token.strength == top)


def answer(token: _Token, found: Collector) -> Observation:
    """Who speaks for a keyword, an operator or a bracket that stands on a line without anything stronger."""
    around = smallest(token.place, found.covers)
    if token.strength == CLOSER and around is not None:
        return Observation(token.place, CLOSER, around.maybe, around.surely, around.deferred)
    # At equal places the statement comes before its first name: an ``else:`` asks whether the statement started.
    index = bisect_left(found.observations, token.place, key=lambda seen: seen.place)
    if index < len(found.observations):
        return found.observations[index]
    if around is None:
        raise ValueError(f"nothing speaks for line {token.place[0]}")
    return Observation(token.place, CLOSER, around.maybe, around.surely, around.deferred)


def smallest(place: Place, covers: Iterable[Covering]) -> Covering | None:
    """The smallest range that holds the place. Ranges are nested, so it is the one that starts last and ends first."""
    around = [cover for cover in covers if cover.start <= place < cover.end]
    return max(around, key=lambda cover: (cover.start, -cover.end[0], -cover.end[1]), default=None)
