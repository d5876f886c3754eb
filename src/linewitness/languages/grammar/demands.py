"""What evidence has to show for each obligation: functions that were entered, or tokens that ran."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from linewitness.languages.grammar.leaves import LUMP, Definition, Extent, Leaf, Role, Unit
from linewitness.languages.grammar.looks import Look, Shape, look
from linewitness.languages.grammar.outline import CROWDED
from linewitness.languages.grammar.side import Side, head_side
from linewitness.languages.grammar.table import Table
from linewitness.model import Demand, Function, Kind, Obligation, Pos, Span, Token, Weight

_ORDER: Final = tuple(Weight)
#: What exports call a function without a name, for people.
CLOSURE: Final = "<lambda>"
_SHOWN: Final = 40
#: Suites may be long, and nested ones are told one by one: only this many bytes of each are looked at.
_LOOKED_AT: Final = 400


def demands(table: Table, path: str, head: bytes, obligations: Sequence[Obligation]) -> tuple[Demand, ...]:
    """One demand per obligation of a file, in their order. Opaque obligations (line 0) must not be asked about."""
    asked = _Asked(head_side(head, path, table))
    return tuple(asked.demand(obligation) for obligation in obligations)


class _Asked:
    def __init__(self, side: Side) -> None:
        self._side, self._part = side, side.outline
        self._spans: dict[int, tuple[Span, Span]] = {}

    def demand(self, obligation: Obligation) -> Demand:
        line = obligation.line
        if line in self._part.broken:
            return self._whole_line(line)
        each = look(self._side, line)
        if each.shape in (Shape.HEADER, Shape.CLASS):
            return self._definition(each)
        if each.shape is Shape.IMPORT or self._is_constant(each):
            return self._uses(each, line) or self._tokens(each.leaves, line, obligation.kind)
        if each.shape in (Shape.BRACES, Shape.CLAUSE, Shape.CONDITIONAL):
            return self._suite(each, line)
        return self._tokens(each.leaves, line, obligation.kind) if each.leaves else self._whole_line(line)

    # ------------------------------------------------------------ tokens

    def _tokens(self, leaves: Sequence[Leaf], line: int, kind: Kind, *, at: int | None = None) -> Demand:
        """The tokens of the strongest class on the line. ``at`` is the line asked for when it is another one."""
        weight = min((leaf.weight for leaf in leaves), key=_ORDER.index)
        chosen = [leaf for leaf in leaves if leaf.weight is weight]
        is_own = at is None and kind is not Kind.DELETION
        return Demand(
            tokens=self._listed(chosen),
            at_import=all(self._part.function_of(leaf.holder) < 0 for leaf in chosen),
            substitute=at,
            arms=self._arms_of(leaves, line),
            inner=tuple(self._closures(line)) if is_own else (),
        )

    def _listed(self, leaves: Sequence[Leaf]) -> tuple[Token, ...]:
        """One token for each leaf. The rest of a line of very many is one token, of which no count can speak."""
        many = next((at for at, leaf in enumerate(leaves[:CROWDED]) if leaf.type == LUMP), CROWDED)
        tokens = tuple(map(self._token, leaves[:many]))
        if len(leaves) <= many:
            return tokens
        rest = self._token(leaves[many]._replace(end=leaves[-1].end))
        start = rest.span.start
        return (*tokens, rest._replace(region=Span(start, start._replace(col=start.col + 1)), part="", leads=False))

    def _token(self, leaf: Leaf) -> Token:
        source, unit = self._part.source, self._part.units[leaf.unit] if leaf.unit >= 0 else None
        whole, header = self._extents(leaf.unit) if unit else (source.span(leaf.start, leaf.end),) * 2
        return Token(
            text=self._shown(leaf.start, leaf.end),
            span=source.span(leaf.start, leaf.end),
            weight=leaf.weight,
            header=header,
            statement=whole,
            region=source.span(*leaf.region) if leaf.region else None,
            pivot=None,
            leads=unit is not None and leaf.start == unit.start,
            deferred=self._part.function_of(leaf.holder) >= 0,
            part=leaf.part,
        )

    def _extents(self, unit: int) -> tuple[Span, Span]:
        """The whole of a unit and its header. A line of a minified file has many tokens of each unit."""
        known = self._spans.get(unit)
        if known is None:
            source, each = self._part.source, self._part.units[unit]
            header = source.span(each.start, max(self._part.headers[unit], each.start + 1))
            known = self._spans[unit] = (source.span(each.start, each.end), header)
        return known

    def _shown(self, start: int, end: int) -> str:
        cut = min(end, start + _LOOKED_AT)
        text = b" ".join(self._part.source.data[start:cut].split()).decode("utf-8", "replace")
        return text if len(text) <= _SHOWN and cut == end else text[: _SHOWN - 1] + "…"

    def _arms_of(self, leaves: Sequence[Leaf], line: int) -> tuple[tuple[str, Span | None], ...]:
        """The parts that a branch on the line may skip, and the suites of its statement, as ways out of it."""
        units = {leaf.unit for leaf in leaves if leaf.branch and leaf.unit >= 0}
        if not units:
            return ()
        side, part = self._side, self._part
        found: dict[Extent, str] = {}
        for unit in sorted(units):
            for leaf in side.leaves_of[unit]:
                if leaf.region is not None and leaf.part != "late" and leaf.region not in found:
                    found[leaf.region] = self._shown(*leaf.region)
        own = [(text, part.source.span(*region)) for region, text in found.items() if self._begins(region, line)]
        suites = [
            (self._shown(part.units[index].start, part.units[index].end), self._span_of(index))
            for unit in sorted(units)
            if part.units[unit].branch
            for index in self._leaders(unit)
        ]
        return (*own, *suites)

    def _span_of(self, unit: int) -> Span:
        each = self._part.units[unit]
        return self._part.source.span(each.start, each.end)

    def _begins(self, region: Extent, line: int) -> bool:
        at = self._part.source.line_at
        return at(region[0]) == line

    def _leaders(self, unit: int) -> Iterator[int]:
        """The first unit of each suite of a statement: those with a brace, or a word such as ``else``, in front."""
        part, last = self._part, self._part.headers[unit]
        for index in self._side.inner_units.get(unit, ()):
            each = part.units[index]
            if each.start < part.headers[unit]:
                continue
            between = part.source.data[last : each.start]
            if last == part.headers[unit] or b"{" in between or b"else" in between:
                yield index
            last = max(last, each.end)

    # ------------------------------------------------------------ definitions

    def _definition(self, each: Look) -> Demand:
        part = self._part
        holder = each.holder
        found = part.definitions[holder]
        functions = [found] if found.role is Role.HEADER else self._functions_in(holder)
        tokens = tuple(map(self._token, each.leaves))
        return Demand(
            tokens=tokens,
            functions=tuple(map(self._function, functions)),
            any_function=found.role is not Role.HEADER,
            at_import=part.function_of(found.parent) < 0,
            substitute=None,
        )

    def _functions_in(self, holder: int) -> list[Definition]:
        """The functions of a class, those of classes inside of it left out."""
        return [
            each for each in self._part.definitions
            if each.parent == holder and each.role is Role.HEADER and not each.is_closure
        ]  # fmt: skip

    def _function(self, each: Definition) -> Function:
        source = self._part.source
        body = each.body or (each.start, each.end)
        shown = self._shown(each.start, each.end) if each.is_closure else each.name
        return Function(each.name or CLOSURE, each.first, source.span(*body), shown, source.span(each.start, each.end))

    def _closures(self, line: int) -> Iterable[Function]:
        """The functions whose whole body stands on a line: nothing else asks whether they were entered."""
        for each in map(self._function, self._side.closures_on.get(line, ())):
            begins = range(each.whole.start.line if each.whole else each.line, each.body.start.line + 1)
            yield each._replace(shared=any(self._side.beginnings[line] > 1 for line in begins))

    # ------------------------------------------------------------ lines that others answer for

    def _is_constant(self, each: Look) -> bool:
        return each.unit >= 0 and self._part.units[each.unit].is_constant

    def _uses(self, each: Look, line: int) -> Demand | None:
        """An import, or a constant that compilers inline, has no code of its own: the code that uses it answers."""
        names = self._bound(each, line)
        for name in names:
            for leaf in self._side.uses.get(name, ()):
                if (
                    leaf.role is Role.CODE
                    and leaf.type != LUMP
                    and leaf.unit != each.unit
                    and self._part.function_of(leaf.holder) >= 0
                ):
                    return self._tokens([leaf], leaf.first, Kind.STATEMENT, at=leaf.first)
        return None

    def _bound(self, each: Look, line: int) -> list[bytes]:
        part = self._part
        if each.shape is not Shape.IMPORT:
            return part.constants.get(each.unit, [])
        items = self._side.imports_on(line, (leaf.unit for leaf in each.leaves))
        return [item.name for item in items if item.name]

    def _suite(self, each: Look, line: int) -> Demand:
        """``else``, ``try`` and braces have no code: the nearest statement of their suite answers."""
        leaf = each.leaves[-1]
        unit = self._next_in_suite(leaf) if leaf.weight is not Weight.CLOSER else self._last_before(leaf)
        if unit < 0:
            return self._whole_line(line)
        first = self._part.units[unit].first
        own = [other for other in self._side.code_on(first) if other.unit == unit]
        words = [other for other in own if other.weight in (Weight.STRONG, Weight.KEYWORD)] or own
        if not words:
            return self._whole_line(line)
        return self._tokens(words, first, Kind.DELETION, at=first)

    def _next_in_suite(self, leaf: Leaf) -> int:
        """The first statement behind a word or an opening brace that lies in the same statement; -1 for none."""
        units = self._part.units
        around = units[leaf.unit] if leaf.unit >= 0 else None
        end = None if around is None or around.role is Role.CONDITIONAL else around.end
        for index in range(bisect_left(units, leaf.end, key=_start), len(units)):
            if end is not None and units[index].start >= end:
                break
            if units[index].role is Role.CODE:
                return index
        return -1

    def _last_before(self, leaf: Leaf) -> int:
        """The last statement in front of a closing brace, in the same suite; -1 for none."""
        units = self._part.units
        inner = self._side.inner_units.get(leaf.unit, ())
        return next((n for n in reversed(inner) if units[n].end <= leaf.start and units[n].role is Role.CODE), -1)

    def _whole_line(self, line: int) -> Demand:
        """A demand that the line's text as a whole be covered: for text that belongs to no statement."""
        text = self._part.source.line(line)
        span = Span(Pos(line, len(text) - len(text.lstrip())), Pos(line, len(text)))
        shown = text.decode("utf-8", "replace").strip()
        return Demand((Token(shown, span, Weight.STRONG, span, span, None, None, leads=True),))


def _start(unit: Unit) -> int:
    return unit.start
