"""The line rule for imported evidence: what the lines of an export prove about the tokens of an obligation.

An export knows lines, not expressions. Wherever the line it has may have been run by other code than the token's, the
answer is "not provable", which keeps the gate closed and names the evidence that would settle it (``gate.md`` 4.2).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from linewitness.evidence.formats.facts import Grain
from linewitness.evidence.hits import Hit
from linewitness.evidence.imported_arms import arms_of
from linewitness.evidence.imported_lines import Lines
from linewitness.evidence.line_events import LineEvents
from linewitness.model import Answer, Demand, Function, Phase, Precision, Sighting, Token, Weight
from linewitness.values import NamedTuple

_FINER = "Run `linewitness check`, whose recorder sees expressions"
_RAW = "or pass the .coverage file or a JSON report with contexts, which know lines"
_ENTRIES = "or pass the .coverage file of a run with --branch, which knows entries"
_LAMBDA = "<lambda>"
_ONLY_OUTSIDE = "it ran outside of every test's context, at import, collection or in a fixture"
_WITNESSED = (Answer.RUN, Answer.PARTIAL)
_CLOSEST_FIRST = (Answer.RUN, Answer.PARTIAL, Answer.NOT_PROVABLE, Answer.NOT_RUN, Answer.REMOVED)
_PHASES = (Phase.CALL, Phase.UNKNOWN, Phase.IMPORT)


class Proof(NamedTuple):
    """What was found for one token or function."""

    answer: Answer
    hit: Hit | None = None
    precision: Precision = Precision.STATEMENT
    note: str = ""


class ImportedRule:
    """The rule over one file: its text, and the lines of all exports of one grain."""

    def __init__(self, text: LineEvents, lines: Lines) -> None:
        self._text = text
        self._lines = lines

    def sight(self, demand: Demand, line: int) -> Sighting:
        """The answer for the obligation on ``line``."""
        sighting = self._functions(demand) if demand.functions else self._tokens(demand, line)
        return self._inside(sighting, demand) if demand.inner and sighting.answer in _WITNESSED else sighting

    def _tokens(self, demand: Demand, line: int) -> Sighting:
        proofs = [self.proof(token, at_import=demand.at_import) for token in demand.tokens]
        sighting = _together(proofs)
        if sighting.answer not in _WITNESSED:
            return sighting
        arms = arms_of(demand, demand.substitute or line, self._lines, self.proof)
        for token, proof in zip(demand.tokens, proofs, strict=True):
            if proof.answer is Answer.NOT_PROVABLE:
                note = f"the export cannot tell whether {token.text!r} on this line ran"
                return sighting._replace(note=note, arms=arms)
        return sighting._replace(arms=arms) if arms else sighting

    def proof(self, token: Token, *, at_import: bool) -> Proof:
        """What the lines say of one token. A lambda's body is never run by import alone."""
        at_import = at_import and not token.deferred
        if self._lines.grain is Grain.EVENTS:
            return self._by_event(token, at_import)
        return self._by_statement(token, at_import)

    # ------------------------------------------------------------ raw line events

    def _by_event(self, token: Token, at_import: bool) -> Proof:
        if token.weight is Weight.CLOSER or (token.weight is Weight.KEYWORD and token.leads):
            return self._by_header(token, at_import)
        if token.weight is not Weight.STRONG:
            if token.pivot is None:
                return self._by_header(token, at_import)
            token = token._replace(span=token.pivot, region=self._text.region_around(token.pivot))
        line = token.span.start.line
        hit = self._lines.hit(line, at_import=at_import)
        if hit is not None and self._text.believable(token, line):
            return Proof(Answer.RUN, hit, Precision.LINE)
        literal = self._text.line_of_literal(token) if hit is None else None
        if literal is not None and self._text.believable(token, literal):
            begun = self._lines.hit(literal, at_import=at_import)
            if begun is not None:
                return Proof(Answer.RUN, begun, Precision.LINE)
        if token.region is None:
            for proof in self._text.proofs_of_completion(token):
                later = self._lines.hit(proof, at_import=at_import)
                if later is not None:
                    return Proof(Answer.RUN, later, Precision.STATEMENT)
        return self._unproved_event(token, line, hit)

    def _unproved_event(self, token: Token, line: int, hit: Hit | None) -> Proof:
        if hit is not None:
            return Proof(
                Answer.NOT_PROVABLE,
                note=f"the interpreter touches this line even when {token.text!r} does not run. {_FINER}",
            )
        if self._lines.ran(line):
            return Proof(Answer.NOT_RUN, note=_ONLY_OUTSIDE)
        if self._header_ran(token):
            if token.region is not None:
                return Proof(Answer.NOT_RUN, note=f"the statement ran, but not {token.text!r}, which it may skip")
            return Proof(
                Answer.NOT_PROVABLE,
                note=f"the statement began, but nothing shows that it came as far as {token.text!r}. {_FINER}",
            )
        return Proof(Answer.NOT_RUN, note=self._not_listed(token))

    def _by_header(self, token: Token, at_import: bool) -> Proof:
        header = token.header
        for line in range(header.start.line, header.end.line + 1):
            if line == header.end.line and header.end < token.statement.end and line > header.start.line:
                break
            hit = self._lines.hit(line, at_import=at_import)
            if hit is not None and self._text.believable(token, line):
                return Proof(Answer.RUN, hit, Precision.LINE if line == token.span.start.line else Precision.STATEMENT)
        ran = self._header_ran(token)
        return Proof(Answer.NOT_RUN, note=_ONLY_OUTSIDE if ran else self._not_listed(token))

    def _header_ran(self, token: Token) -> bool:
        return any(map(self._lines.ran, range(token.header.start.line, token.header.end.line + 1)))

    # ------------------------------------------------------------ statements

    def _by_statement(self, token: Token, at_import: bool) -> Proof:
        own = token.span.start.line
        line = own if self._lines.listed(own) else token.header.start.line
        if not self._lines.listed(line):
            if self._lines.excluded(line):
                return Proof(Answer.NOT_PROVABLE, note=self._not_listed(token))
            return Proof(Answer.NOT_RUN, note=self._not_listed(token))
        hit = self._lines.hit(line, at_import=at_import)
        if hit is None:
            return Proof(Answer.NOT_RUN, note=_ONLY_OUTSIDE if self._lines.ran(line) else "the statement did not run")
        if token.region is not None or not self._text.starts_its_line(token.header, line):
            what = f"the export knows whole statements; this one ran, and may have skipped {token.text!r}"
            return Proof(Answer.NOT_PROVABLE, note=f"{what}. {_FINER}, {_RAW}")
        return Proof(Answer.RUN, hit, Precision.STATEMENT)

    def _not_listed(self, token: Token) -> str:
        if self._lines.excluded(token.header.start.line) or self._lines.excluded(token.span.start.line):
            return (
                "the coverage tool was told to exclude this line, which does not excuse it, and the export has no data "
                f"for it. {_FINER}"
            )
        return "no line of this statement ran" if self._lines.grain is Grain.EVENTS else "the export lists no code here"

    # ------------------------------------------------------------ definitions

    def _functions(self, demand: Demand) -> Sighting:
        """Entered means that a line of the body ran: the line of a ``def`` runs when its module is imported."""
        proofs = [self._entry(function) for function in demand.functions]
        if demand.any_function:
            ran = [proof for proof in proofs if proof.answer is Answer.RUN]
            if not ran:
                return Sighting(Answer.NOT_RUN, note="no function of this class was entered by a test")
            return _together(ran)
        failed = [proof for proof in proofs if proof.answer is not Answer.RUN]
        return _together(failed or proofs)

    def _entry(self, function: Function) -> Proof:
        precision = Precision.LINE if self._lines.grain is Grain.EVENTS else Precision.STATEMENT
        body = self._text.lines_of_body(function.body)
        hits = [hit for line in body if (hit := self._lines.hit(line, at_import=False)) is not None]
        if hits:
            return Proof(Answer.RUN, _any_of(hits), precision)
        if any(map(self._lines.ran, body)):
            return Proof(Answer.NOT_RUN, note=f"{function.name} was entered, but {_ONLY_OUTSIDE}")
        hidden = self._lines.grain is Grain.STATEMENTS and not any(map(self._lines.listed, body))
        if not body or hidden:
            note = f"the export has no line that belongs to the body of {function.name} alone. {_FINER}"
            return Proof(Answer.NOT_PROVABLE, note=note)
        return Proof(Answer.NOT_RUN, note=f"{function.name} was never entered")

    def _inside(self, sighting: Sighting, demand: Demand) -> Sighting:
        """A witnessed line, once more: the lambdas and generator expressions on it must have been entered too."""
        proofs = [self._anonymous_entry(each, demand) for each in demand.inner]
        failed = [proof for proof in proofs if proof.answer is not Answer.RUN]
        if failed:
            worst = min(failed, key=lambda proof: proof.answer is not Answer.NOT_RUN)
            return Sighting(worst.answer, arms=sighting.arms, note=worst.note)
        inner = _together(proofs)
        witnesses = tuple(sorted({*sighting.witnesses, *inner.witnesses}))
        return sighting._replace(witnesses=witnesses, phase=_strongest_phase((sighting.phase, inner.phase)))

    def _anonymous_entry(self, function: Function, demand: Demand) -> Proof:
        """Arcs tell entries. Lines tell them for a lambda whose body stands on lines of its own."""
        is_lambda = function.name == _LAMBDA
        at_import = demand.at_import and not is_lambda
        idle = Proof(Answer.NOT_RUN, note=f"made, but not entered in a test's call: {function.text}")
        if self._lines.knows_entries and self._text.sole_code_at(function.line):
            hit = self._lines.entry(function.line, at_import=at_import)
            return idle if hit is None else Proof(Answer.RUN, hit, Precision.LINE)
        body = self._text.lines_of_body(function.body) if is_lambda and self._lines.grain is Grain.EVENTS else ()
        hits = [hit for line in body if (hit := self._lines.hit(line, at_import=at_import)) is not None]
        if hits:
            return Proof(Answer.RUN, _any_of(hits), Precision.LINE)
        if body:
            return idle
        note = f"the export cannot tell whether this was entered: {function.text}. {_FINER}, {_ENTRIES}"
        return Proof(Answer.NOT_PROVABLE, note=note)


def best_of(sightings: Sequence[Sighting]) -> Sighting:
    """The answer of several kinds of exports for the same obligation: the closest to a witness, with all witnesses."""
    if len(sightings) == 1:
        return sightings[0]
    ordered = sorted(sightings, key=lambda each: _CLOSEST_FIRST.index(each.answer))
    best = ordered[0]
    if best.answer not in _WITNESSED:
        return best
    seen = [each for each in ordered if each.answer in _WITNESSED]
    witnesses = tuple(sorted({name for each in seen for name in each.witnesses}))
    return best._replace(witnesses=witnesses, phase=_strongest_phase(each.phase for each in seen))


def _together(proofs: Sequence[Proof]) -> Sighting:
    """One line from its tokens: it ran when one of them did, and partly when another is known not to have run."""
    ran = [proof for proof in proofs if proof.answer is Answer.RUN]
    if not ran:
        first = min(proofs, key=lambda proof: _CLOSEST_FIRST.index(proof.answer))
        return Sighting(first.answer, note=first.note)
    if len(proofs) == 1 and ran[0].hit is not None:
        return Sighting(Answer.RUN, ran[0].hit.witnesses, ran[0].hit.phase, ran[0].precision)
    whole = all(proof.answer is not Answer.NOT_RUN for proof in proofs)
    hit = _any_of([proof.hit for proof in ran if proof.hit is not None])
    precision = Precision.LINE if any(p.precision is Precision.LINE for p in ran) else Precision.STATEMENT
    return Sighting(Answer.RUN if whole else Answer.PARTIAL, hit.witnesses, hit.phase, precision)


def _any_of(hits: Sequence[Hit]) -> Hit:
    if len(hits) == 1:
        return hits[0]
    witnesses = tuple(sorted({name for hit in hits for name in hit.witnesses}))
    return Hit(_strongest_phase(hit.phase for hit in hits), witnesses)


def _strongest_phase(phases: Iterable[Phase]) -> Phase:
    return min(phases, key=_PHASES.index)
