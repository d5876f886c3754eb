"""What evidence has to show for each obligation: functions that were entered, or tokens that ran."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tree_sitter import Node

from linewitness.languages.python.arms import arms
from linewitness.languages.python.inner import inner_functions
from linewitness.languages.python.lines import (
    CLAUSE_KINDS,
    TYPE_ALIAS,
    is_bare_annotation,
    is_clause_text,
    is_ellipsis,
)
from linewitness.languages.python.outline import DEFINITIONS, Outline, outline
from linewitness.languages.python.places import definition_node
from linewitness.languages.python.side import Side
from linewitness.languages.python.stubs import is_never_entered, is_overload
from linewitness.languages.python.tokens import Leaf, leaves
from linewitness.languages.source import Source
from linewitness.model import Demand, Function, Kind, Obligation, Pos, Span, Token, Weight
from linewitness.values import NamedTuple

_ORDER = tuple(Weight)


class _Target(NamedTuple):
    """The line whose code answers for an obligation; ``begin`` limits it to the statement that begins there."""

    line: int
    begin: int | None


def demands(head: bytes, obligations: Sequence[Obligation]) -> tuple[Demand, ...]:
    """One demand per obligation of a file, in their order. Opaque obligations (line 0) must not be asked about."""
    side = Side(head)
    root = side.root_for({obligation.line for obligation in obligations})
    if root.has_error:
        return tuple(_whole_line(side.source, obligation.line) for obligation in obligations)
    targets = _targets(side, root, obligations)
    part = outline(side.source, root, {target.line for target in targets})
    asked = _Asked(side, part, {target.line for target in targets})
    return tuple(asked.demand(obligation, target) for obligation, target in zip(obligations, targets, strict=True))


def _targets(side: Side, root: Node, obligations: Iterable[Obligation]) -> list[_Target]:
    """Bare ``else:``, ``finally:`` and ``try:`` have no code: the first statement of their suite answers."""
    lines = [obligation.line for obligation in obligations]
    bare = {line for line in lines if is_clause_text(side.source.line(line))}
    found = [_Target(line, None) for line in lines]
    if bare:
        part = outline(side.source, root, bare)
        owners = part.owners(bare)
        for at, line in enumerate(lines):
            own = owners.get(line, [])
            if line in bare and len(own) == 1 and part.statements[own[0]].kind in CLAUSE_KINDS:
                begin = part.statements[own[0]].header_end
                found[at] = _Target(side.source.line_at(begin), begin)
    return found


class _Asked:
    """The tokens and statements of the lines asked about, found in one pass."""

    def __init__(self, side: Side, part: Outline, lines: set[int]) -> None:
        self._side, self._part = side, part
        self._owners = part.owners(lines)
        self._leaves: dict[int, list[tuple[Leaf, Leaf | None]]] = {}
        self._spans: dict[int, tuple[Span, Span]] = {}
        by_statement: dict[int, list[int]] = {}
        for line, owners in self._owners.items():
            for index in owners:
                by_statement.setdefault(index, []).append(line)
        self._lines_of = by_statement
        self._made: dict[int, dict[int, list[Function]]] = {}
        for index, own in by_statement.items():
            self._add(own, list(leaves(part, index, own)))

    def _add(self, lines: list[int], found: list[Leaf]) -> None:
        wanted, at = set(lines), self._part.source.line_at
        pivot: Leaf | None = None
        for leaf in reversed(found):
            if leaf.weight is Weight.STRONG:
                pivot = leaf
            first, last = at(leaf.start), at(leaf.end - 1)
            for line in range(first, last + 1):
                if line in wanted:
                    self._leaves.setdefault(line, []).append((leaf, None if pivot is leaf else pivot))

    def _tokens(self, line: int, owners: list[int]) -> tuple[Token, ...]:
        """The tokens of the strongest class that is on the line, in order."""
        mine = set(owners)
        found = [pair for pair in self._leaves.get(line, []) if pair[0].statement in mine]
        if not found:
            return ()
        weight = min((leaf.weight for leaf, _ in found), key=_ORDER.index)
        chosen = sorted((pair for pair in found if pair[0].weight is weight), key=lambda pair: pair[0].start)
        return tuple(self._token(leaf, pivot) for leaf, pivot in chosen)

    def _token(self, leaf: Leaf, pivot: Leaf | None) -> Token:
        source, statement = self._part.source, self._part.statements[leaf.statement]
        if leaf.statement not in self._spans:
            start = source.pos(statement.start)
            bounds = Span(start, source.pos(statement.header_end)), Span(start, source.pos(statement.end))
            self._spans[leaf.statement] = bounds
        header, whole = self._spans[leaf.statement]
        return Token(
            text=leaf.text,
            span=source.span(leaf.start, leaf.end),
            weight=leaf.weight,
            header=header,
            statement=whole,
            region=source.span(*leaf.region) if leaf.region else None,
            pivot=source.span(pivot.start, pivot.end) if pivot else None,
            leads=leaf.start == statement.start,
            deferred=leaf.deferred,
        )

    def demand(self, obligation: Obligation, target: _Target) -> Demand:
        owners = self._without_moot([i for i in self._owners.get(target.line, []) if self._answers(i, target)])
        if not owners:
            return _whole_line(self._part.source, obligation.line)
        functions = [] if target.begin is not None else self._functions(owners)
        methods = [] if functions or target.begin is not None else self._methods(owners)
        tokens = self._eager_tokens(target.line, owners)
        if not tokens:
            return _whole_line(self._part.source, obligation.line)
        is_own_text = target.begin is None and obligation.kind is not Kind.DELETION
        return Demand(
            tokens=tokens,
            functions=tuple(functions or methods),
            any_function=bool(methods),
            at_import=not all(made.deferred for made in tokens) and not any(map(self._part.in_function, owners)),
            substitute=target.line if target.line != obligation.line else None,
            arms=tuple(arm for index in owners for arm in arms(self._part, index, target.line)),
            inner=tuple(made for index in owners for made in self._made_in(index, target.line)) if is_own_text else (),
        )

    def _answers(self, index: int, target: _Target) -> bool:
        return target.begin is None or self._part.statements[index].start == target.begin

    def _without_moot(self, owners: list[int]) -> list[int]:
        """Without what owes nothing beside other code: a bare ``...``, a docstring, the body of an overload."""
        return [index for index in owners if not self._is_moot(index)] or owners if len(owners) > 1 else owners

    def _is_moot(self, index: int) -> bool:
        statement = self._part.statements[index]
        if statement.docstring or is_ellipsis(statement):
            return True
        holder = self._part.statements[statement.parent] if statement.parent >= 0 else None
        return holder is not None and holder.kind == "function_definition" and is_overload(self._side, holder)

    def _eager_tokens(self, line: int, owners: list[int]) -> tuple[Token, ...]:
        """The tokens of a line, or its definition's name for text that is evaluated only when asked for (PEP 695)."""
        named = [index for index in owners if self._part.statements[index].kind == TYPE_ALIAS]
        tokens = () if named else self._tokens(line, owners)
        if not tokens:
            named += [index for index in owners if self._part.statements[index].kind in DEFINITIONS]
        return tokens or tuple(map(self._name_token, named))

    def _name_token(self, index: int) -> Token:
        statement = self._part.statements[index]
        node = definition_node(statement.node)
        name = node.child_by_field_name("left" if statement.kind == TYPE_ALIAS else "name") or node
        while name.child_count:
            name = name.children[0]
        text = (name.text or b"").decode("utf-8", "replace")
        return self._token(Leaf(text, name.start_byte, name.end_byte, Weight.STRONG, index, None, deferred=False), None)

    def _functions(self, owners: list[int]) -> list[Function]:
        """The functions whose definition or scope the line is about."""
        found: list[Function] = []
        for index in owners:
            statement = self._part.statements[index]
            if statement.kind == "function_definition" and not is_never_entered(self._side, statement):
                found.append(_function(self._part, index))
            elif statement.kind in ("global_statement", "nonlocal_statement"):
                holder = self._part.definition_of(statement.parent)
                if holder >= 0 and self._part.statements[holder].kind == "function_definition":
                    found.append(_function(self._part, holder))
        return found

    def _made_in(self, index: int, line: int) -> list[Function]:
        """The lambdas and generator expressions on the line; a type alias is there to be read, with what it holds."""
        statement = self._part.statements[index]
        if statement.kind == TYPE_ALIAS:
            return []
        if index not in self._made:
            self._made[index] = inner_functions(self._side, statement, self._lines_of[index])
        return self._made[index].get(line, [])

    def _methods(self, owners: list[int]) -> list[Function]:
        """The functions of the class that the line defines or annotates; any of them may be entered."""
        for index in owners:
            statement = self._part.statements[index]
            holder = index
            if is_bare_annotation(statement):
                holder = self._part.definition_of(statement.parent)
            if holder >= 0 and self._part.statements[holder].kind == "class_definition":
                return self._functions_of_class(holder)
        return []

    def _functions_of_class(self, index: int) -> list[Function]:
        node, source = self._part.statements[index].node, self._part.source
        part = outline(source, node, None)
        found = []
        for at, statement in enumerate(part.statements):
            holder = part.definition_of(statement.parent)
            is_method = statement.kind == "function_definition" and holder == 0
            if is_method and not is_never_entered(self._side, statement):
                found.append(_function(part, at))
        return found


def _whole_line(source: Source, line: int) -> Demand:
    """A demand that the line's text as a whole be covered: for text that belongs to no statement."""
    text = source.line(line)
    span = Span(Pos(line, len(text) - len(text.lstrip())), Pos(line, len(text)))
    shown = text.decode("utf-8", "replace").strip()
    return Demand((Token(shown, span, Weight.STRONG, span, span, None, None, leads=True),))


def _function(part: Outline, index: int) -> Function:
    statement = part.statements[index]
    name = definition_node(statement.node).child_by_field_name("name")
    text = ((name and name.text) or b"").decode("utf-8", "replace")
    return Function(text, statement.first, part.source.span(statement.header_end, statement.end))
