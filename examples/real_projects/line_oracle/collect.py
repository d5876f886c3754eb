"""Walks a module and gathers, for every name, literal and statement, the marks that tell that it ran."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from functools import singledispatchmethod
from typing import NamedTuple

from .rewrite import BEGUN, ENDED, ENTERED, FUNCTIONS, LEAVES, SUITES, first_line, is_docstring, is_marked_value, mark

DEFINITION_ONLY, CLOSER, OPENER, KEYWORD, NAME = range(5)
"""How much a piece of text says about its line, weakest first. ``DEFINITION_ONLY`` answers for an ``else:`` in front
of a definition, never for its own line."""

Marks = tuple[int, ...]
Place = tuple[int, int]


class Observation(NamedTuple):
    """Something on a line that can be seen to run.

    It ran for certain when one of ``surely`` is set, and did not when none of ``maybe`` is. Between the two lies code
    that was reached but not finished (a bracket around something that raised). ``deferred`` code belongs to a function
    body and counts only inside a test; other code runs once, at import.
    """

    place: Place
    strength: int
    maybe: Marks
    surely: Marks
    deferred: bool


class Covering(NamedTuple):
    """The range of an expression or statement, for brackets inside it that have nothing of their own to say."""

    start: Place
    end: Place
    maybe: Marks
    surely: Marks
    deferred: bool


class Entry(NamedTuple):
    """The start of a code object. A generator expression at module level may start at import, a function may not."""

    keys: Marks
    deferred: bool


class LineMarks(NamedTuple):
    """What decides about one physical line. ``kind`` is ``code``, ``definition``, ``class``, ``stub`` or ``none``.

    ``enter`` are the starts of all code objects that begin on the line: for a definition they alone decide.
    """

    kind: str
    observations: tuple[Observation, ...]
    enter: tuple[Entry, ...] = ()


def begun(node: ast.AST) -> Marks:
    """Marks of which one is set as soon as evaluation of the expression starts."""
    first: ast.AST | None = None
    match node:
        case ast.BoolOp(values=[first, *_]) | ast.IfExp(test=first) | ast.Starred(value=first):
            pass
        case ast.Compare(ops=[_, _, *_], left=first):
            pass
        case ast.Slice(lower=lower, upper=upper, step=step):
            first = lower or upper or step
            return begun(first) if first else ()
        case ast.Tuple(elts=[first, *_]) if not is_marked_value(node):
            pass
        case _:
            return (mark(node, BEGUN),)
    return begun(first)


def ended(node: ast.AST) -> Marks:
    """Marks of which one is set when the expression has a value."""
    last: Sequence[ast.expr | None]
    match node:
        case ast.BoolOp(values=last):
            pass
        case ast.Compare(ops=[_, _, *_], comparators=last):
            pass
        case ast.IfExp(body=body, orelse=orelse):
            last = [body, orelse]
        case ast.Starred(value=value):
            last = [value]
        case ast.Tuple(elts=[*_, value]) if not is_marked_value(node):
            last = [value]
        case ast.Slice(lower=lower, upper=upper, step=step):
            last = [step or upper or lower]
        case _:
            return (mark(node, BEGUN if isinstance(node, LEAVES) else ENDED),)
    return tuple(key for part in last if part for key in ended(part))


class Collector:
    """Walks a module once and gathers observations, covering ranges and definition headers."""

    def __init__(self) -> None:
        self.observations: list[Observation] = []
        self.covers: list[Covering] = []
        self.headers: dict[int, LineMarks] = {}
        self.enter: dict[int, list[Entry]] = {}
        self.silent: set[int] = set()
        self.holder: ast.stmt | None = None

    @property
    def in_class(self) -> bool:
        """Whether the innermost definition is a class."""
        return isinstance(self.holder, ast.ClassDef)

    def see(self, place: Place, maybe: Marks, surely: Marks, deferred: bool, strength: int = NAME) -> None:
        """Something at a place that can be seen to run."""
        self.observations.append(Observation(place, strength, maybe, surely, deferred))

    # ------------------------------------------------------------ statements

    def block(self, statements: Sequence[ast.stmt], deferred: bool, documented: bool = False) -> None:
        """The statements of one suite."""
        for index, statement in enumerate(statements):
            if index == 0 and documented and is_docstring(statement):
                self.silent.update(span(statement))
                continue
            self.statement(statement, deferred)

    def statement(self, node: ast.stmt, deferred: bool) -> None:
        """One statement with everything below it."""
        here: Marks = (mark(node, BEGUN),)
        if isinstance(node, (ast.Global, ast.Nonlocal)):
            self.scope_declaration(node)
            return
        if isinstance(node, ast.AnnAssign) and deferred and not self.in_class and is_bare(node):
            self.silent.update(span(node))
            return
        start = (first_line(node), -1)
        if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            self.see(start, here, here, deferred, DEFINITION_ONLY)
            self.definition(node, here)
            self.lambdas(node)
            outer, self.holder = self.holder, node
            self.block(node.body, deferred or not self.in_class, documented=True)
            self.holder = outer
            return
        self.see((node.lineno, node.col_offset), here, here, deferred, KEYWORD)
        self.covers.append(Covering(*bounds(node), here, here, deferred))
        self.header(node, deferred)
        for name in SUITES:
            self.block(getattr(node, name, ()), deferred)
        for handler in getattr(node, "handlers", ()):
            self.handler(handler, deferred)
        for case in getattr(node, "cases", ()):
            self.case(case, deferred)

    def definition(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef, here: Marks) -> None:
        """The header of a function or class: its entry decides about every line of it."""
        executed = Observation((node.lineno, 0), NAME, here, here, deferred=False)
        last = max(node.lineno, first_line(node.body[0]) - 1)
        if isinstance(node, ast.ClassDef):
            inside = tuple(mark(part, ENTERED) for part in functions_to_enter(node))
            decides = LineMarks(
                "class", () if inside else (executed,), (Entry(inside, deferred=True),) if inside else ()
            )
        elif is_stub(node, self.holder):
            decides = LineMarks("stub", (executed,))
            # The `...` behind the header's last line says no more than the header.
            last = max(last, first_line(node.body[0])) if is_ellipsis(node.body[0]) else last
        else:
            decides = LineMarks("definition", (), (Entry((mark(node, ENTERED),), deferred=True),))
        self.headers.update(dict.fromkeys(range(first_line(node), last + 1), decides))

    def lambdas(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> None:
        """The lambdas of a header (defaults, decorators, bases): a line of it wants them entered too."""
        around = [*node.bases, *node.keywords] if isinstance(node, ast.ClassDef) else [node.args]
        for part in [*node.decorator_list, *around]:
            for each in ast.walk(part):
                if isinstance(each, ast.Lambda):
                    self.enter.setdefault(each.lineno, []).append(Entry(begun(each.body), deferred=True))

    def scope_declaration(self, node: ast.Global | ast.Nonlocal) -> None:
        """``global`` and ``nonlocal`` have no code; they are part of what their function is."""
        if isinstance(self.holder, FUNCTIONS):
            decides = LineMarks("definition", (), (Entry((mark(self.holder, ENTERED),), deferred=True),))
            self.headers.update(dict.fromkeys(span(node), decides))
        else:
            self.silent.update(span(node))

    def handler(self, node: ast.ExceptHandler, deferred: bool) -> None:
        """An ``except`` clause: comparing the exception's type is what its line does."""
        inside = (mark(node.body[0], BEGUN),)
        here = begun(node.type) if node.type else inside
        self.see((node.lineno, node.col_offset), here, here, deferred, KEYWORD)
        if node.type:
            self.expression(node.type, deferred)
        self.block(node.body, deferred)

    def case(self, node: ast.match_case, deferred: bool) -> None:
        """A pattern's first line was tried or not; of its further lines nothing is known unless it matched."""
        tried, matched = (mark(node, BEGUN),), (mark(node.body[0], BEGUN),)
        first = node.pattern.lineno
        for line in range(first, (node.pattern.end_lineno or first) + 1):
            self.see((line, 0), tried, tried if line == first else matched, deferred)
        if node.guard:
            self.expression(node.guard, deferred)
        self.block(node.body, deferred)

    # ------------------------------------------------------------ the own parts of statements

    @singledispatchmethod
    def header(self, node: ast.stmt, deferred: bool) -> None:
        """The expressions and names of a statement's own part."""
        for name, value in ast.iter_fields(node):
            if name not in {*SUITES, "handlers", "cases", "type_params"}:
                self.parts(value, deferred)

    @header.register
    def _(self, node: ast.Assign, deferred: bool) -> None:
        self.expression(node.value, deferred)
        for target in node.targets:
            self.target(target, (mark(node, BEGUN),), ended(node.value), deferred)

    @header.register
    def _(self, node: ast.AnnAssign, deferred: bool) -> None:
        here = (mark(node, BEGUN),)
        self.target(node.target, here, ended(node.value) if node.value else here, deferred)
        for line in span(node.annotation):
            self.see((line, 0), here, here, deferred, KEYWORD)
        self.parts(node.value, deferred)

    @header.register
    def _(self, node: ast.AugAssign, deferred: bool) -> None:
        here = (mark(node, BEGUN),)
        self.target(node.target, here, here, deferred)
        self.expression(node.value, deferred)

    @header.register
    def _(self, node: ast.For | ast.AsyncFor, deferred: bool) -> None:
        inside = (mark(node.body[0], BEGUN),)
        self.target(node.target, (mark(node, BEGUN), *inside), inside, deferred)
        self.expression(node.iter, deferred)

    @header.register
    def _(self, node: ast.With | ast.AsyncWith, deferred: bool) -> None:
        for item in node.items:
            self.expression(item.context_expr, deferred)
            if item.optional_vars:
                self.target(item.optional_vars, ended(item.context_expr), (mark(node.body[0], BEGUN),), deferred)

    @header.register
    def _(self, node: ast.Delete, deferred: bool) -> None:
        here = (mark(node, BEGUN),)
        for target in node.targets:
            self.target(target, here, here, deferred)

    @header.register
    def _(self, node: ast.Import | ast.ImportFrom, deferred: bool) -> None:
        here = (mark(node, BEGUN),)
        for alias in node.names:
            self.see((alias.lineno, alias.col_offset), here, here, deferred)

    def parts(self, value: object, deferred: bool) -> None:
        """The expressions among the values of a field."""
        for part in value if isinstance(value, list) else [value]:
            if isinstance(part, ast.expr):
                self.expression(part, deferred)

    # ------------------------------------------------------------ expressions

    def target(self, node: ast.expr, maybe: Marks, surely: Marks, deferred: bool) -> None:
        """Names that are bound or deleted: surely when the value is there, perhaps as soon as the statement started."""
        match node:
            case ast.Name():
                self.see((node.lineno, node.col_offset), maybe, surely, deferred)
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                self.covers.append(Covering(*bounds(node), maybe, surely, deferred))
                for part in parts:
                    self.target(part, maybe, surely, deferred)
            case ast.Starred(value=value):
                self.target(value, maybe, surely, deferred)
            case _:
                self.expression(node, deferred, (maybe, surely))

    def expression(self, node: ast.expr, deferred: bool, store: tuple[Marks, Marks] | None = None) -> None:
        """One expression. ``store`` stands for the marks of an attribute or item that is bound, not read."""
        own = (begun(node), ended(node)) if store is None else store
        self.covers.append(Covering(*bounds(node), *own, deferred))
        self.inside(node, deferred)

    @singledispatchmethod
    def inside(self, node: ast.expr, deferred: bool) -> None:
        """What an expression shows of itself, and its parts."""
        for _, value in ast.iter_fields(node):
            self.parts(value, deferred)

    @inside.register
    def _(self, node: ast.Constant, deferred: bool) -> None:
        for line in span(node):
            self.see((line, node.col_offset if line == node.lineno else 0), begun(node), ended(node), deferred)

    @inside.register
    def _(self, node: ast.Name, deferred: bool) -> None:
        self.see((node.lineno, node.col_offset), begun(node), begun(node), deferred)

    @inside.register
    def _(self, node: ast.Attribute, deferred: bool) -> None:
        self.expression(node.value, deferred)
        line, column = bounds(node)[1]
        there = ended(node.value)
        self.see((line, column - len(node.attr.encode())), there, there, deferred)

    @inside.register
    def _(self, node: ast.Lambda, deferred: bool) -> None:
        self.see((node.lineno, node.col_offset), begun(node), ended(node), deferred)
        self.enter.setdefault(node.lineno, []).append(Entry(begun(node.body), deferred=True))
        self.parts([*node.args.defaults, *node.args.kw_defaults], deferred)
        self.expression(node.body, deferred=True)

    @inside.register
    def _(self, node: ast.NamedExpr, deferred: bool) -> None:
        self.expression(node.value, deferred)
        self.target(node.target, begun(node.value), ended(node.value), deferred)

    @inside.register
    def _(self, node: ast.Call, deferred: bool) -> None:
        self.parts([node.func, *node.args], deferred)
        for argument in node.keywords:
            if argument.arg:
                given = begun(argument.value)
                self.see((argument.lineno, argument.col_offset), given, given, deferred)
            self.expression(argument.value, deferred)

    @inside.register
    def _(self, node: ast.JoinedStr, deferred: bool) -> None:
        # Its text speaks for the whole; its fields speak for themselves where they can be placed (not always in 3.11).
        for line in text_lines(node):
            self.see((line, node.col_offset if line == node.lineno else 0), begun(node), ended(node), deferred)
        for field in node.values:
            if isinstance(field, ast.FormattedValue) and field.value.lineno in span(node):
                self.expression(field.value, deferred)

    @inside.register
    def _(self, node: ast.DictComp, deferred: bool) -> None:
        self.clauses(node.generators, (node.key, node.value), deferred)

    @inside.register
    def _(self, node: ast.ListComp | ast.SetComp, deferred: bool) -> None:
        self.clauses(node.generators, (node.elt,), deferred)

    @inside.register
    def _(self, node: ast.GeneratorExp, deferred: bool) -> None:
        if not node.generators[0].is_async:
            self.enter.setdefault(node.lineno, []).append(Entry((mark(node, ENTERED),), deferred))
        self.clauses(node.generators, (node.elt,), deferred)

    def clauses(self, clauses: Sequence[ast.comprehension], elements: Sequence[ast.expr], deferred: bool) -> None:
        """The clauses of a comprehension: its targets were bound when whatever comes next was evaluated."""
        steps = [*clauses[1:], None]
        for clause, following in zip(clauses, steps, strict=True):
            after = clause.ifs[0] if clause.ifs else following.iter if following else elements[0]
            self.expression(clause.iter, deferred)
            self.target(clause.target, begun(after), begun(after), deferred)
            self.parts(clause.ifs, deferred)
        self.parts(list(elements), deferred)


def is_bare(node: ast.AnnAssign) -> bool:
    """Whether this is ``name: annotation`` without a value: in a function the compiler makes no code of it."""
    return node.value is None and isinstance(node.target, ast.Name)


Function = ast.FunctionDef | ast.AsyncFunctionDef


def functions_to_enter(node: ast.ClassDef) -> list[Function]:
    """The functions inside a class, whatever lies between, that are more than stubs."""
    found: list[Function] = []

    def search(parent: ast.AST, holder: ast.stmt) -> None:
        for child in ast.iter_child_nodes(parent):
            if isinstance(child, FUNCTIONS) and not is_stub(child, holder):
                found.append(child)
            search(child, child if isinstance(child, (*FUNCTIONS, ast.ClassDef)) else holder)

    search(node, node)
    return found


def is_stub(node: Function, holder: ast.stmt | None) -> bool:
    """Whether a function is for type checkers and never entered: an overload, or an empty method of a protocol."""
    if any(last_name(decorator) == "overload" for decorator in node.decorator_list):
        return True
    bases = holder.bases if isinstance(holder, ast.ClassDef) else []
    plain = [base.value if isinstance(base, ast.Subscript) else base for base in bases]
    return any(last_name(base) == "Protocol" for base in plain) and says_nothing(node.body)


def is_ellipsis(statement: ast.stmt) -> bool:
    """Whether this is a bare ``...``."""
    return (
        isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant) and statement.value.value is ...
    )


def says_nothing(body: Sequence[ast.stmt]) -> bool:
    """Whether a suite is nothing but ``...`` and bare text."""
    return all(is_ellipsis(statement) or is_docstring(statement) for statement in body)


def last_name(node: ast.expr) -> str:
    """``a.b`` is ``b``; empty for anything that is no name."""
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def span(node: ast.AST) -> range:
    (first, _), (last, _) = bounds(node)
    return range(first, last + 1)


def text_lines(node: ast.JoinedStr) -> set[int]:
    """The lines with literal text of a format string, and its first one."""
    lines = {node.lineno}
    for part in node.values:
        if isinstance(part, ast.Constant):
            *whole, last = span(part)
            lines.update(whole)
            # Blanks in front of a field are no text of their line.
            if not whole or str(part.value).rpartition("\n")[2].strip():
                lines.add(last)
    return lines


def bounds(node: ast.AST) -> tuple[Place, Place]:
    """Start and end (behind the last byte) of a node: 1-based lines, 0-based byte columns."""
    values = [getattr(node, name) for name in ("lineno", "col_offset", "end_lineno", "end_col_offset")]
    return (values[0], values[1]), (values[2], values[3])
