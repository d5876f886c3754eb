"""The line rule for exports of other languages than Python: what their facts prove about an obligation.

The finest fact decides: the count of the stretch of text around a token, else the branch that the token is an arm of,
else the line. Where code that the line's or the statement's count does not speak for may be meant, the answer is "not
provable": it keeps the gate closed and names what is missing (``gate.md`` 4.2).
"""

from __future__ import annotations

from collections.abc import Sequence

from linewitness.evidence.exported_lines import LineProofs
from linewitness.evidence.formats.facts import FileFacts, Grain
from linewitness.evidence.formats.regions import Part, Piece, Regions, Scope
from linewitness.model import Answer, Arm, Demand, Function, Phase, Precision, Sighting, Span, Token
from linewitness.values import NamedTuple

_WITNESSED = (Answer.RUN, Answer.PARTIAL)
_CLOSEST_FIRST = (Answer.RUN, Answer.PARTIAL, Answer.NOT_PROVABLE, Answer.NOT_RUN, Answer.REMOVED)
_PARTS = {**{part.value: part for part in Part}, "late": Part.FUNCTION}


class Proof(NamedTuple):
    """What was found for one token or function."""

    answer: Answer
    precision: Precision = Precision.STATEMENT
    note: str = ""


class ExportedRule:
    """The rule over one file: the facts of one export, placed in the text of head."""

    def __init__(self, head: bytes, facts: FileFacts) -> None:
        self._facts = facts
        self._regions = facts.regions
        self._lines = LineProofs(head, facts)

    def sight(self, demand: Demand) -> Sighting:
        """The answer to one demand."""
        proofs = (
            [self._entry(function) for function in demand.functions]
            if demand.functions
            else [self.proof(token) for token in demand.tokens]
        )
        if demand.functions and not demand.any_function:
            proofs = [proof for proof in proofs if proof.answer is not Answer.RUN] or proofs
        sighting = _together(proofs)
        arms = tuple(Arm(text, self._taken(demand.tokens[0], span)) for text, span in demand.arms)
        sighting = sighting._replace(arms=arms)
        return self._inside(sighting, demand) if sighting.answer in _WITNESSED else sighting

    def proof(self, token: Token) -> Proof:
        """What the facts say of one token."""
        if self._facts.grain is Grain.PHYSICAL and self._facts.counts:
            by_line = Proof(*self._lines.of(token._replace(region=None)))
            if by_line.answer is not Answer.RUN:
                return by_line
        if self._regions is not None:
            found = self._by_region(self._regions, token)
            if found is not None:
                return found
        return Proof(*self._lines.of(token))

    # ------------------------------------------------------------ stretches of text

    def _by_region(self, regions: Regions, token: Token) -> Proof | None:
        """The proof by the stretch around a token; ``None`` when no stretch speaks for it."""
        piece = regions.at(token.span.start)
        if piece is not None and token.text == "?" and piece.region == token.span:
            # rustc counts how often a `?` returned; that it was reached is what the text in front of it says
            piece = regions.at(token.span.start._replace(col=token.span.start.col - 1))
        if piece is not None and piece.hits == 0:
            return Proof(Answer.NOT_RUN, Precision.EXPRESSION, f"{token.text!r} did not run")
        if piece is not None and piece.hits is not None and _speaks_for(regions, piece, token):
            return Proof(Answer.RUN, Precision.EXPRESSION)
        if piece is not None and piece.hits is not None and token.region is not None and _is_own(regions, piece, token):
            inside = self._inside_region(regions, token.region)
            if inside is None and token.part != "late" and self._facts.complete.get(token.span.start.line):
                return Proof(Answer.RUN, Precision.LINE)
            return inside or Proof(
                Answer.NOT_PROVABLE,
                note=f"the statement ran, and may have skipped {token.text!r}, which this export does not count apart",
            )
        return self._nearest(regions, token)

    def _inside_region(self, regions: Regions, region: Span) -> Proof | None:
        """The count of a stretch that lies inside of a part which may be skipped: all of the part ran, or none."""
        within = [each for each in regions.within(region) if _lies_in(each.region, region) and each.hits is not None]
        if not within:
            return None
        first = min(within, key=lambda each: each.region)
        return Proof(Answer.RUN if first.hits else Answer.NOT_RUN, Precision.STATEMENT)

    def _nearest(self, regions: Regions, token: Token) -> Proof | None:
        """Text outside of all stretches goes with the first stretch of its statement, or of the part it stands in."""
        if token.region is not None:
            return self._inside_region(regions, token.region)
        if regions.scope is Scope.ARMS:
            return None
        within = [each for each in regions.within(token.header) if each.hits is not None]
        own = [each for each in within if each.region.start >= token.statement.start]
        if not own:
            return None
        count = own[0].hits
        if count:
            return Proof(Answer.RUN, Precision.STATEMENT)
        return Proof(Answer.NOT_RUN, Precision.STATEMENT, "the statement did not run")

    # ------------------------------------------------------------ functions

    def _entry(self, function: Function) -> Proof:
        """Whether a function was entered: by its own count, else by what its body counts."""
        whole = function.whole or function.body
        begins = range(whole.start.line, function.body.start.line + 1)
        hits = [
            hit
            for hit in self._facts.functions
            if hit.line in begins and (hit.end is None or hit.end <= whole.end.line)
        ]
        if hits and function.text == function.name:
            return _entered(function, any(hit.hits for hit in hits))
        if len(hits) == 1 and not (function.shared and hits[0].hits):
            return _entered(function, hits[0].hits > 0)
        counted = self._body_count(function, whole)
        if counted is not None:
            return _entered(function, counted)
        return Proof(*self._lines.entry(function))

    def _body_count(self, function: Function, whole: Span) -> bool | None:
        """Whether any stretch that belongs to the function ran, ``None`` when it has none of its own."""
        if self._regions is None or self._regions.scope is Scope.ARMS:
            return None
        own = [
            each
            for each in self._regions.within(function.body)
            if each.hits is not None and _lies_in(each.region, whole)
        ]
        if not own:
            piece = self._regions.at(function.body.start)
            if self._regions.scope is Scope.BLOCKS and piece is not None and piece.hits == 0:
                return False
            return None
        return any(each.hits for each in own)

    def _inside(self, sighting: Sighting, demand: Demand) -> Sighting:
        """A witnessed line, once more: the closures on it must have been entered too, as far as the export tells."""
        proofs = {each: self._entry(each) for each in demand.inner}
        failed = [proof for proof in proofs.values() if proof.answer is not Answer.RUN]
        if not failed:
            return sighting
        worst = min(failed, key=lambda proof: proof.answer is not Answer.NOT_RUN)
        answer = worst.answer
        if answer is Answer.NOT_RUN:
            idle = [each.body for each, proof in proofs.items() if proof.answer is Answer.NOT_RUN]
            outside = [each for each in demand.tokens if not any(_lies_in(each.span, body) for body in idle)]
            answer = Answer.PARTIAL if demand.functions or outside else Answer.NOT_RUN
        return sighting._replace(answer=answer, note=worst.note)

    def _taken(self, sample: Token, span: Span | None) -> bool | None:
        """Whether an arm was taken; ``None`` when the facts cannot tell."""
        if span is None:
            return None
        is_part = span.start < sample.header.end
        token = sample._replace(
            text="", span=span, header=sample.header if is_part else span,
            statement=sample.statement if is_part else span, region=span if is_part else None,
        )  # fmt: skip
        answer = self.proof(token).answer
        return {Answer.RUN: True, Answer.NOT_RUN: False}.get(answer)


def _speaks_for(regions: Regions, piece: Piece, token: Token) -> bool:
    """Whether the count of a stretch is that of a token inside of it."""
    if not _is_own(regions, piece, token):
        return False
    if token.region is None:
        return True
    return _PARTS.get(token.part) in regions.counted or _lies_in(piece.region, token.region)


def _is_own(regions: Regions, piece: Piece, token: Token) -> bool:
    """Whether a stretch is about the token's statement, and not only about one around it."""
    if regions.scope is Scope.BLOCKS:
        return True
    if regions.scope is Scope.STATEMENTS:
        return piece.region.start >= token.statement.start
    return token.region is not None and _lies_in(piece.region, token.region)


def _lies_in(inner: Span, outer: Span) -> bool:
    return inner.start >= outer.start and inner.end <= outer.end


def _entered(function: Function, ran: bool) -> Proof:
    if ran:
        return Proof(Answer.RUN, Precision.STATEMENT)
    return Proof(Answer.NOT_RUN, Precision.STATEMENT, f"never entered: {function.text or function.name}")


def best_of(sightings: Sequence[Sighting]) -> Sighting:
    """The answer of several exports for the same obligation: the one closest to a witness."""
    return min(sightings, key=lambda each: _CLOSEST_FIRST.index(each.answer))


def _together(proofs: Sequence[Proof]) -> Sighting:
    """One line from its tokens: it ran when one of them did, and partly when another is known not to have run."""
    ran = [proof for proof in proofs if proof.answer is Answer.RUN]
    if not ran:
        first = min(proofs, key=lambda proof: _CLOSEST_FIRST.index(proof.answer))
        return Sighting(first.answer, note=first.note)
    whole = all(proof.answer is not Answer.NOT_RUN for proof in proofs)
    untold = next((proof.note for proof in proofs if proof.answer is Answer.NOT_PROVABLE), "")
    precision = min((proof.precision for proof in ran), key=list(Precision).index)
    return Sighting(Answer.RUN if whole else Answer.PARTIAL, phase=Phase.UNKNOWN, precision=precision, note=untold)
