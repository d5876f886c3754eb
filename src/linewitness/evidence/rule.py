"""The line rule over recorded sites: did what a demand asks for happen, and who saw it.

Pure, and the same for every recorder: sites say where code is, hits say which of it ran. The rule is the one of the
design page "Evidence: who saw it run"; in short, the witness of a token is the smallest stretch of code that covers
it inside its statement's header, or inside the part of the header that the statement may skip.

Known strictness: a changed ``class`` line is witnessed by the entry of one of its functions. Making an instance or a
subclass of it in a test's call would do as well (``gate.md`` 4.3), but runs no code of the class: no site can show it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from linewitness.evidence.hits import FileSites, Hit
from linewitness.evidence.spans import Spans, Stretch
from linewitness.model import Answer, Arm, Demand, Function, Phase, Sighting, Span, Token, Weight
from linewitness.values import NamedTuple

_NOWHERE = "the evidence knows no code in this file"
_REMOVED = "the compiler made no code for this line, so no run can witness it: delete it or waive it"
_WITHOUT_CODE = frozenset({Weight.KEYWORD, Weight.OPENER})
_LAMBDA = "<lambda>"
_NAMELESS = (_LAMBDA, "<genexpr>")
_WITNESSED = (Answer.RUN, Answer.PARTIAL)
_NOT_ENTERED = "made, but not entered in a test's call: "
_HIDDEN = (
    "nothing that was recorded tells whether each of these was entered; put each on a line of its own, and outside of"
    " f-strings, into which no recorder sees before Python 3.12: "
)
_ONLY_IMPORT = "it ran only while its module was imported, not in a test's call"


class _Found(NamedTuple):
    """What is known of one token: nothing to run (``None``), or whether its code ran, and whose hits these are."""

    token: Token
    stretch: Stretch | None
    hits: tuple[Hit, ...]

    @property
    def ran(self) -> bool:
        return bool(self.hits)


class _Inner(NamedTuple):
    """A function inside of the line's code. It was entered when each group of sites was hit; no groups: nobody knows.

    ``is_constant`` tells that its body has no code of its own in the text, so that its entry stands for the body too.
    """

    function: Function
    groups: tuple[tuple[int, ...], ...]
    is_constant: bool

    @property
    def idents(self) -> tuple[int, ...]:
        return tuple(ident for group in self.groups for ident in group)


_Bodies = Mapping[Span, tuple[int, ...]]


class FileRule:
    """The rule over one file's sites and hits. Build it once per file; answers come from an index."""

    def __init__(self, sites: FileSites, hits: Mapping[int, Hit]) -> None:
        self._hits = hits
        self._sites = sites.sites
        self._entries: dict[tuple[str, int], list[int]] = {}
        for entry in sites.entries:
            self._entries.setdefault((entry.name, entry.line), []).append(entry.ident)
        self._empty = not sites.sites and not sites.entries
        self._seen: dict[tuple[str, ...], Sighting] = {}

    @cached_property
    def _spans(self) -> Spans:
        return Spans(self._sites)

    @cached_property
    def _values(self) -> dict[int, list[int]]:
        """By line the value code that begins there, and the functions without a name beside it."""
        found: dict[int, list[int]] = {}
        for ident, ((line, _), _), weak, lazy in self._sites:
            if not weak and not lazy:
                found.setdefault(line, []).append(ident)
        for (name, line), idents in self._entries.items():
            if name in _NAMELESS and line in found:
                found[line] += idents
        return found

    @cached_property
    def _lines(self) -> dict[int, list[Stretch]]:
        found: dict[int, list[Stretch]] = {}
        for stretch in self._spans.values():
            found.setdefault(stretch.span.start.line, []).append(stretch)
        return found

    def settled(self, line: int) -> Sighting | None:
        """The fast path: an answer without a demand; ``None`` means "ask :meth:`sight`".

        Given when every stretch of value code that begins on the line ran in a test's call, and so did each function
        without a name: before 3.12 those inside of an f-string have an entry and no stretch.

        Good for statements and branches, with one exception: where arms decide, a line of which the compiler
        removed a part would pass for whole. Never for definitions and deletion points, which ask for more.
        """
        idents = self._values.get(line)
        if not idents:
            return None
        hits = [self._hits.get(ident) for ident in idents]
        # equal hits are mostly one object
        if hits.count(hits[0]) == len(hits):
            return self._run(hits[0].witnesses) if hits[0] is not None and hits[0].phase is Phase.CALL else None
        return self._settled_with_copies(line)

    def _run(self, witnesses: tuple[str, ...]) -> Sighting:
        return self._seen.get(witnesses) or self._seen.setdefault(
            witnesses, Sighting(Answer.RUN, witnesses, Phase.CALL)
        )

    def _settled_with_copies(self, line: int) -> Sighting | None:
        """The same where code of the line has several hits: of code that the compiler copied one copy is enough."""
        witnesses: set[str] = set()
        nameless = (self._entries.get((name, line), ()) for name in _NAMELESS)
        code = (stretch.idents for stretch in self._lines[line])
        for idents in (*code, *((ident,) for each in nameless for ident in each)):
            calls = [hit for hit in self._hits_of(idents) if hit.phase is Phase.CALL]
            if not calls:
                return None
            witnesses.update(*(hit.witnesses for hit in calls))
        return self._run(tuple(sorted(witnesses)))

    def sight(self, demand: Demand) -> Sighting:
        """The answer to one demand: run, partial, not run, or removed by the compiler."""
        if self._empty:
            return Sighting(Answer.NOT_RUN, note=_NOWHERE)
        asked = [_Inner(function, *self._code_of(function, demand)) for function in demand.inner]
        bodies = {inner.function.body: inner.idents for inner in asked if inner.is_constant}
        sighting = self._entered(demand, bodies) if demand.functions else self._tokens(demand, bodies)
        return self._inside(sighting, demand, asked) if asked and sighting.answer in _WITNESSED else sighting

    def _inside(self, sighting: Sighting, demand: Demand, asked: Sequence[_Inner]) -> Sighting:
        """A witnessed line, once more: the lambdas and generator expressions on it must have been entered too."""
        hits: list[Hit] = []
        hidden, idle = list[str](), list[str]()
        for inner in asked:
            # A lambda's body is not run by import alone.
            at_import = demand.at_import and inner.function.name != _LAMBDA
            own = [self._counting(self._hits_of(copies), at_import) for copies in inner.groups]
            hits.extend(hit for each in own for hit in each)
            if not own:
                hidden.append(inner.function.text)
            elif not all(own):
                idle.append(inner.function.text)
        if idle:
            return Sighting(Answer.NOT_RUN, arms=sighting.arms, note=_NOT_ENTERED + ", ".join(idle))
        if hidden:
            return Sighting(Answer.NOT_PROVABLE, arms=sighting.arms, note=_HIDDEN + ", ".join(hidden))
        phase = Phase.CALL if any(hit.phase is Phase.CALL for hit in hits) else sighting.phase
        return sighting._replace(witnesses=tuple(sorted({*sighting.witnesses, *_witnesses(hits)})), phase=phase)

    def _code_of(self, function: Function, demand: Demand) -> tuple[tuple[tuple[int, ...], ...], bool]:
        """The groups of sites of which each has to be hit for it to be entered, and whether these are mere entries."""
        stretch = self._spans.begun(function.body, function.body)
        if stretch is not None:
            return (stretch.idents,), False
        # A constant body may have no place in the text. Entries of one name and line look the same: all must be hit.
        idents = self._entries.get((function.name, function.line), [])
        alike = sum(other[:2] == function[:2] for other in demand.inner)
        return tuple((ident,) for ident in idents) if len(idents) >= alike else (), True

    def _entered(self, demand: Demand, bodies: _Bodies) -> Sighting:
        asked = [(function, self._entry_hits(function)) for function in demand.functions]
        known = [(function, hits) for function, hits in asked if hits is not None]
        entered = [(function, hits) for function, hits in known if hits]
        witnesses = _witnesses(hit for _, hits in entered for hit in hits)
        if not known:
            return Sighting(Answer.REMOVED, note=_REMOVED)
        if len(entered) == len(asked) or (demand.any_function and entered):
            return Sighting(Answer.RUN, witnesses, Phase.CALL, arms=self._arms(demand, bodies))
        missing = ", ".join(sorted({function.name for function, hits in asked if not hits}))
        word = (
            "no function of the class was entered"
            if demand.any_function
            else f"not entered in a test's call: {missing}"
        )
        return Sighting(Answer.NOT_RUN, arms=self._arms(demand, bodies), note=word)

    def _entry_hits(self, function: Function) -> list[Hit] | None:
        """The calls that entered a function, ``None`` when no code object of that name begins on its line."""
        idents = self._entries.get((function.name, function.line))
        if idents is None:
            return None
        return [hit for hit in self._hits_of(idents) if hit.phase is Phase.CALL]

    def _tokens(self, demand: Demand, bodies: _Bodies) -> Sighting:
        weight = min((token.weight for token in demand.tokens), key=list(Weight).index)
        found = [self._find(token, demand, bodies) for token in demand.tokens if token.weight is weight]
        asked = [item for item in found if item.stretch is None or not item.stretch.lazy]
        if not asked:
            return self._lazy(demand)
        ran = [item for item in asked if item.ran]
        arms = self._arms(demand, bodies)
        if not ran:
            if all(item.stretch is None for item in asked):
                return Sighting(Answer.REMOVED, arms=arms, note=_REMOVED)
            return Sighting(Answer.NOT_RUN, arms=arms, note=self._why_not(asked))
        hits = [hit for item in ran for hit in item.hits]
        phase = Phase.CALL if any(hit.phase is Phase.CALL for hit in hits) else Phase.IMPORT
        idle = [item.token.text for item in asked if not item.ran]
        if not idle:
            return Sighting(Answer.RUN, _witnesses(hits), phase, arms=arms)
        return Sighting(Answer.PARTIAL, _witnesses(hits), phase, arms=arms, note="did not run: " + ", ".join(idle))

    def _lazy(self, demand: Demand) -> Sighting:
        """Annotations evaluated only on demand: their statement decides, or its module when it has no other code."""
        stretches = [self._spans.begun(token.header, token.statement, lazy=False) for token in demand.tokens]
        idents = [ident for stretch in stretches if stretch for ident in stretch.idents]
        hits = self._counting(self._hits_of(idents) if idents else self._hits.values(), demand.at_import)
        if hits:
            phase = Phase.CALL if any(hit.phase is Phase.CALL for hit in hits) else Phase.IMPORT
            note = "an annotation, evaluated only when asked for"
            return Sighting(
                Answer.RUN, _witnesses(hits) if idents else (), phase if idents else Phase.IMPORT, note=note
            )
        return Sighting(Answer.NOT_RUN, note="the definition around this annotation did not run")

    def _find(self, token: Token, demand: Demand, bodies: _Bodies) -> _Found:
        stretch = self._witness(token)
        if stretch is None and token.region is not None and token.region in bodies:
            stretch = Stretch(token.region, bodies[token.region], weak=False, lazy=False)
        hits = self._hits_of(stretch.idents) if stretch else ()
        return _Found(token, stretch, self._counting(hits, demand.at_import and not token.deferred))

    def _counting(self, hits: Iterable[Hit], at_import: bool) -> tuple[Hit, ...]:
        """The hits that count: those of a test's call, and others only for code that nothing but an import can run."""
        return tuple(hit for hit in hits if hit.phase is Phase.CALL or at_import)

    def _witness(self, token: Token) -> Stretch | None:
        """The code that stands for a token."""
        spans, bound = self._spans, token.region or token.header
        within = token.region or token.statement
        if token.weight in _WITHOUT_CODE:
            if token.leads:
                return spans.begun(bound, within)
            return self._beside(token, bound, within) or spans.begun(bound, within)
        return spans.covering(token.span, bound, within) or spans.begun(bound, within)

    def _beside(self, token: Token, bound: Span, within: Span) -> Stretch | None:
        """The code for a keyword or an opening bracket: what begins with it, or the next name or literal."""
        own = self._spans.covering(token.span, bound, within)
        if token.pivot is None:
            return own
        nearest = self._spans.covering(token.pivot, bound, within)
        if nearest is None or own is None or own.span.start != token.span.start or own.weak:
            return nearest or own
        return nearest._replace(idents=(*own.idents, *nearest.idents))

    def _arms(self, demand: Demand, bodies: _Bodies) -> tuple[Arm, ...]:
        return tuple(Arm(text, None if span is None else self._taken(span, bodies)) for text, span in demand.arms)

    def _taken(self, span: Span, bodies: _Bodies) -> bool | None:
        """Whether code of an arm ran in a test's call; ``None`` when the arm has no code that could tell."""
        stretch = self._spans.begun(span, span)
        idents = stretch.idents if stretch is not None else bodies.get(span)
        return None if not idents else any(hit.phase is Phase.CALL for hit in self._hits_of(idents))

    def _why_not(self, asked: Iterable[_Found]) -> str:
        idents = [ident for item in asked if item.stretch for ident in item.stretch.idents]
        return _ONLY_IMPORT if any(True for _ in self._hits_of(idents)) else "no passing check ran it"

    def _hits_of(self, idents: Iterable[int]) -> Iterator[Hit]:
        hits = self._hits
        return (hits[ident] for ident in idents if ident in hits)


def sight(demand: Demand, sites: FileSites, hits: Mapping[int, Hit]) -> Sighting:
    """One answer for one demand. For many demands of one file build a :class:`FileRule` once."""
    return FileRule(sites, hits).sight(demand)


def lines_needed(demands: Iterable[Demand]) -> tuple[tuple[int, int], ...]:
    """The lines whose sites and entries the demands may ask about, as sorted inclusive ranges that do not touch.

    More than the obligations' own lines: the headers around them, the suites that show an arm, the heads of functions.
    A recorder that lists less makes answers poorer, never wrong in favour of the patch.
    """
    spans = set[tuple[int, int]]()
    for demand in demands:
        for token in demand.tokens:
            spans.add((token.header.start.line, token.header.end.line))
        functions = (*demand.functions, *demand.inner)
        for span in (*(arm for _, arm in demand.arms), *(function.body for function in functions)):
            if span is not None:
                spans.add((span.start.line, span.start.line))
        spans.update((function.line, function.line) for function in functions)
    merged: list[tuple[int, int]] = []
    for first, last in sorted(spans):
        if merged and first <= merged[-1][1] + 1:
            merged[-1] = merged[-1][0], max(merged[-1][1], last)
        else:
            merged.append((first, last))
    return tuple(merged)


def _witnesses(hits: Iterable[Hit]) -> tuple[str, ...]:
    return tuple(sorted({name for hit in hits for name in hit.witnesses}))
