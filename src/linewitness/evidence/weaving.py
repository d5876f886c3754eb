"""Weaves probes into the syntax tree of a changed file, for tested interpreters from 3.9 to 3.11.

Runs in the *tested* interpreter (standard library only), in the process that lists what can be observed. A probe is
``MARKS[number]``, see :mod:`probes`. What gets one:

======================  ==========================================================================================
probe                   where
======================  ==========================================================================================
statement               before each statement whose header touches a wanted line: "it was reached"
skippable expression    around every part that its statement may skip (later operands, arms, filters, elements,
                        bodies of lambdas, messages of ``assert``): ``MARKS[n] or part``
expression on its line  around the outermost expression that starts on a wanted line below the one its statement
                        (or the probed expression around it) starts on, so that an argument after a raising one is
                        told apart
attribute on its line   after the value of ``value.attribute`` when the name stands on a line of its own
``case``                a ``case _ if MARKS[n]`` before it, which never matches: "this case was tried"
entry                   first in each function, lambda, class body and module that touches a wanted line
======================  ==========================================================================================

Annotations, patterns, ``global`` and ``nonlocal`` are left alone, and of the inside of f-strings all but entries: their
meaning or their positions would change. Their lines are answered for by the statement.
"""

from __future__ import annotations

import ast
import marshal
import sys
import warnings
from base64 import b64encode
from functools import partial
from typing import Any, Protocol

from . import codekey
from .probes import BASE, placeholder, probes_of
from .skipping import lines_with_parts


class Wanted(Protocol):
    """The lines that matter."""

    def __contains__(self, line: int) -> bool: ...

    def touch(self, first: int, last: int) -> bool:
        """Whether any line of the inclusive range matters."""


def listing(source: bytes, path: str, wanted: Wanted) -> dict[str, Any]:
    """Sites, entries and the probed compilation of one file, and whether Python has nothing to say about it.

    Changes the process's filters for warnings while it works. Errors: what ``compile`` raises.
    """
    stands = placeholder(source)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        tree = ast.parse(source, path)
        weaver = Weaver(wanted, stands, lines_with_parts(source))
        weaver.module(tree)
        code, is_flat = _compiled(tree, path)
    alive = {ident for inner in codekey.walk(code) for ident in probes_of(inner, stands).values()}
    return {
        "sites": [site for site in weaver.sites if site[0] in alive],
        "entries": [entry for entry in weaver.entries if entry[0] in alive],
        "bodies": sorted(weaver.bodies & alive),
        "code": b64encode(marshal.dumps(code)).decode("ascii"),
        "placeholder": stands,
        "silent": is_flat and not said,
    }


def _compiled(tree: ast.Module, path: str) -> tuple[Any, bool]:
    """The code of a tree, and whether it is so flat that any process could have compiled it."""
    limit = sys.getrecursionlimit()
    if limit <= _FLAT:
        return compile(tree, path, "exec", dont_inherit=True), False
    try:
        sys.setrecursionlimit(_FLAT)
        return compile(tree, path, "exec", dont_inherit=True), True
    except RecursionError:
        sys.setrecursionlimit(limit)
        return compile(tree, path, "exec", dont_inherit=True), False
    finally:
        sys.setrecursionlimit(limit)


# Half of what Python starts with: a module may be imported by one that is imported by another.
_FLAT = 500


class Weaver:
    """Puts probes into a syntax tree, in place, and keeps the list of them.

    ``parts`` are the lines on which an expression may have a part that is skipped while the rest of it runs.
    """

    def __init__(self, wanted: Wanted, stands: str, parts: frozenset[int]) -> None:
        self._stands = stands
        self._parts = parts
        self.sites: list[list[Any]] = []
        self.entries: list[list[Any]] = []
        self.bodies: set[int] = set()
        self._wanted = wanted
        self._count = 0
        self._in_body = True

    # ------------------------------------------------------------ probes

    def _number(self) -> int:
        ident, self._count = self._count, self._count + 1
        if self._in_body:
            self.bodies.add(ident)
        return ident

    def _site(self, start: tuple[int, int], end: tuple[int, int]) -> int:
        ident = self._number()
        self.sites.append([ident, (start, end), False, False])
        return ident

    def _entry(self, node: Any, name: str) -> int | None:
        first = _start(node)[0]
        if not self._wanted.touch(first, node.end_lineno):
            return None
        ident = self._number()
        self.entries.append([ident, name, first])
        return ident

    def _mark(self, ident: int, at: tuple[int, int]) -> Any:
        place = _place(at)
        marks, number, mark = _CONSTANT(), _CONSTANT(), _SUBSCRIPT()
        marks.__dict__ = {"value": self._stands, **place}
        number.__dict__ = {"value": BASE + ident, **place}
        mark.__dict__ = {"value": marks, "slice": number, "ctx": _LOAD, **place}
        return mark

    def _probe(self, ident: int, at: tuple[int, int]) -> ast.stmt:
        probe: ast.stmt = _EXPRESSION()
        probe.__dict__ = {"value": self._mark(ident, at), **_place(at)}
        return probe

    def _before(self, ident: int, node: ast.expr) -> ast.expr:
        """``MARKS[ident] or node``: marks, then is exactly ``node``."""
        mark = self._mark(ident, (node.lineno, node.col_offset))
        return ast.copy_location(ast.BoolOp(ast.Or(), [mark, node]), node)

    def _after(self, ident: int, node: ast.expr) -> ast.expr:
        """``(node, MARKS[ident])[0]``: is ``node``, then marks."""
        at = (node.end_lineno or node.lineno, node.end_col_offset or 0)
        pair = ast.copy_location(ast.Tuple([node, self._mark(ident, at)], ast.Load()), node)
        first = ast.copy_location(ast.Constant(0), node)
        return ast.copy_location(ast.Subscript(pair, first, ast.Load()), node)

    # ------------------------------------------------------------ statements

    def module(self, tree: ast.Module) -> None:
        """Weave a whole file."""
        first, last = (1, max([1, *(s.end_lineno or 1 for s in tree.body)]))
        entry = None
        if self._wanted.touch(first, last):
            entry = self._number()
            self.entries.append([entry, "<module>", 1])
        tree.body = self._suite(tree.body, entry=entry, documented=True)

    def _suite(self, body: list[ast.stmt], *, entry: int | None = None, documented: bool = False) -> list[ast.stmt]:
        woven: list[ast.stmt] = []
        # What no probe may stand before (a ``__future__`` import) has run once the probe after it has.
        due = [] if entry is None else [entry]
        for position, statement in enumerate(body):
            if type(statement) in _PLAIN and position:
                self._plain(statement, woven, due)
                due = []
                continue
            start, header_end = _start(statement), _header_end(statement)
            is_wanted, is_future = self._wanted.touch(start[0], header_end), _is_future(statement)
            if is_future and is_wanted:
                due.append(self._site(start, _end(statement)))
            if is_future or (documented and position == 0 and _is_docstring(statement)):
                woven.append(statement)
                continue
            if due:
                woven += [self._probe(ident, start) for ident in due]
                due = []
            if is_wanted and not _is_declaration(statement):
                woven.append(self._probe(self._site(start, _clause_end(statement)), start))
            woven.append(statement)
            if type(statement) in _COMPOUND:
                # nothing is woven into what touches no wanted line
                if self._wanted.touch(start[0], statement.end_lineno or header_end):
                    self._statement(statement, start[0])
            elif start[0] != header_end or header_end in self._parts:
                self._statement(statement, start[0])
        return woven + [self._probe(ident, _end(woven[-1]) if woven else (1, 0)) for ident in due]

    def _plain(self, statement: Any, woven: list[ast.stmt], due: list[int]) -> None:
        """One of the statements that are most of them: simple, and nothing special."""
        first, last = statement.lineno, statement.end_lineno
        start = (first, statement.col_offset)
        woven += [self._probe(ident, start) for ident in due]
        if self._wanted.touch(first, last):
            woven.append(self._probe(self._site(start, (last, statement.end_col_offset)), start))
        woven.append(statement)
        if first != last or last in self._parts:
            self._simple(statement, first)

    def _statement(self, node: ast.stmt, first: int) -> None:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            self._function(node, first)
        elif isinstance(node, ast.ClassDef):
            self._class(node, first)
        elif hasattr(ast, "Match") and isinstance(node, ast.Match):
            node.subject = self._expression(node.subject, first)
            node.cases = [woven for case in node.cases for woven in self._case(case)]
        else:
            self._simple(node, first)

    def _simple(self, node: ast.stmt, first: int) -> None:
        if isinstance(node, ast.If) and _has_elif(node):
            # Its own `else` is no part of an `elif` clause, though the tree hangs it there.
            node.orelse[0].clause_end = _end(node.orelse[0].body[-1])  # type: ignore[attr-defined]
        for name, value in ast.iter_fields(node):
            if name == "annotation":
                continue
            if isinstance(node, ast.Assert) and name == "msg" and value is not None:
                node.msg = self._expression(value, first, skippable=True)
            elif isinstance(value, ast.expr):
                setattr(node, name, self._expression(value, first))
            elif isinstance(value, list) and value:
                setattr(node, name, self._list(value, first))

    def _list(self, values: list[Any], first: int) -> list[Any]:
        if isinstance(values[0], ast.stmt):
            return self._suite(values)
        if isinstance(values[0], ast.expr):
            return [self._expression(value, first) for value in values]
        for value in values:
            if isinstance(value, ast.ExceptHandler):
                self._handler(value)
            elif isinstance(value, ast.withitem):
                value.context_expr = self._expression(value.context_expr, first)
                if value.optional_vars is not None:
                    self._children(value.optional_vars, first)
        return values

    def _function(self, node: Any, first: int) -> None:
        node.decorator_list = [self._expression(d, first) for d in node.decorator_list]
        self._defaults(node.args, first)
        outer, self._in_body = self._in_body, False
        node.body = self._suite(node.body, entry=self._entry(node, node.name), documented=True)
        self._in_body = outer

    def _defaults(self, args: ast.arguments, first: int) -> None:
        args.defaults = [self._expression(d, first) for d in args.defaults]
        args.kw_defaults = [d and self._expression(d, first) for d in args.kw_defaults]

    def _class(self, node: ast.ClassDef, first: int) -> None:
        node.decorator_list = [self._expression(d, first) for d in node.decorator_list]
        node.bases = [self._expression(b, first) for b in node.bases]
        for keyword in node.keywords:
            self._keyword(keyword, first)
        node.body = self._suite(node.body, entry=self._entry(node, node.name), documented=True)

    def _handler(self, node: ast.ExceptHandler) -> None:
        start = (node.lineno, node.col_offset)
        last = max(node.lineno, node.body[0].lineno - 1)
        here = self._wanted.touch(node.lineno, last)
        if node.type is not None:
            node.type = self._expression(node.type, node.lineno)
        node_body = self._suite(node.body)
        if here:
            # The whole clause is the span: its header is what the rule looks at, and no other probe covers it.
            ident = self._site(start, _end(node))
            if node.type is not None:
                node.type = self._before(ident, node.type)
            else:
                node_body.insert(0, self._probe(ident, start))
        node.body = node_body

    def _case(self, node: Any) -> list[Any]:
        pattern = node.pattern
        start = (pattern.lineno, pattern.col_offset)
        woven = []
        if self._wanted.touch(pattern.lineno, max(pattern.lineno, node.body[0].lineno - 1)):
            tried = self._mark(self._site(start, _end(node.body[-1])), start)
            anything = _at(ast.MatchAs(), start)  # type: ignore[attr-defined, unused-ignore]
            nothing = ast.copy_location(ast.Pass(), tried)
            woven.append(ast.match_case(anything, tried, [nothing]))  # type: ignore[attr-defined, unused-ignore]
        if node.guard is not None:
            node.guard = self._expression(node.guard, pattern.lineno, skippable=True)
        self._matched(node)
        node.body = self._suite(node.body)
        return [*woven, node]

    def _matched(self, node: Any) -> None:
        """The further lines of a pattern count once the pattern matched: nothing can be woven into its middle."""
        pattern = node.pattern
        if pattern.end_lineno == pattern.lineno or not self._wanted.touch(pattern.lineno + 1, pattern.end_lineno):
            return
        ident = self._site((pattern.lineno + 1, 0), _end(pattern))
        guard = node.guard or ast.copy_location(ast.Constant(True), pattern)
        node.guard = self._before(ident, guard)

    # ------------------------------------------------------------ expressions

    def _expression(
        self, node: Any, owner: int, *, skippable: bool = False, start: tuple[int, int] | None = None
    ) -> Any:
        """``node`` with its probes. ``owner`` is the line on which the innermost probe around it starts."""
        if node.end_lineno == owner and not skippable and owner not in self._parts:
            return node
        if isinstance(node, ast.Starred):
            node.value = self._expression(node.value, owner, skippable=skippable)
            return node
        if not isinstance(getattr(node, "ctx", None), (ast.Store, ast.Del)) and _is_wrappable(node):
            begin = start or (node.lineno, node.col_offset)
            wanted = self._wanted.touch(begin[0], node.end_lineno) if skippable else begin[0] in self._wanted
            if wanted and (skippable or begin[0] != owner):
                ident = self._site(begin, _end(node))
                self._children(node, begin[0])
                return self._before(ident, node)
        self._children(node, owner)
        return node

    def _children(self, node: Any, owner: int) -> None:
        special = _SPECIAL.get(type(node))
        if special is not None:
            getattr(self, special)(node, owner)
            return
        for name in node._fields:
            value = getattr(node, name, None)
            if isinstance(value, ast.expr):
                setattr(node, name, self._expression(value, owner))
            elif isinstance(value, list):
                setattr(node, name, [self._item(item, owner) for item in value])

    def _item(self, item: Any, owner: int) -> Any:
        if isinstance(item, ast.keyword):
            self._keyword(item, owner)
        elif isinstance(item, ast.expr):
            return self._expression(item, owner)
        return item

    def _keyword(self, node: ast.keyword, owner: int) -> None:
        node.value = self._expression(node.value, owner, start=(node.lineno, node.col_offset))

    def _bool_op(self, node: ast.BoolOp, owner: int) -> None:
        first, *rest = node.values
        node.values = [self._expression(first, owner), *(self._expression(v, owner, skippable=True) for v in rest)]

    def _if_exp(self, node: ast.IfExp, owner: int) -> None:
        node.test = self._expression(node.test, owner)
        node.body = self._expression(node.body, owner, skippable=True)
        node.orelse = self._expression(node.orelse, owner, skippable=True)

    def _compare(self, node: ast.Compare, owner: int) -> None:
        node.left = self._expression(node.left, owner)
        first, *rest = node.comparators
        woven = [self._expression(first, owner), *(self._expression(c, owner, skippable=True) for c in rest)]
        node.comparators = woven

    def _lambda(self, node: ast.Lambda, owner: int) -> None:
        self._defaults(node.args, owner)
        outer, self._in_body = self._in_body, False
        entry = self._entry(node, "<lambda>")
        node.body = self._expression(node.body, owner, skippable=True)
        if entry is not None:
            node.body = self._before(entry, node.body)
        self._in_body = outer

    def _comprehension(self, node: Any, owner: int) -> None:
        outer = self._in_body
        first, *rest = node.generators
        first.iter = self._expression(first.iter, owner)
        if isinstance(node, ast.GeneratorExp):
            self._in_body = False
        for generator in rest:
            generator.iter = self._expression(generator.iter, owner, skippable=True)
        for generator in node.generators:
            generator.ifs = [self._expression(i, owner, skippable=True) for i in generator.ifs]
        for part in ("key", "value", "elt"):
            if hasattr(node, part):
                setattr(node, part, self._expression(getattr(node, part), owner, skippable=True))
        self._in_body = outer

    def _attribute(self, node: ast.Attribute, owner: int) -> None:
        value, line = node.value, node.end_lineno or node.lineno
        node.value = self._expression(value, owner)
        if line in self._wanted and line not in {owner, value.lineno}:
            ident = self._site(_end(value), _end(node))
            node.value = self._after(ident, node.value)

    def _formatted(self, node: ast.JoinedStr, _owner: int) -> None:
        """Only entries: before 3.12 the inside of an f-string has no positions to be trusted, but code objects."""
        outer, self._in_body = self._in_body, False
        for inner in list(ast.walk(node)):
            if isinstance(inner, ast.Lambda):
                entry = self._entry(inner, "<lambda>")
                inner.body = inner.body if entry is None else self._before(entry, inner.body)
            elif isinstance(inner, ast.GeneratorExp):
                self._begun(inner)
        self._in_body = outer

    def _begun(self, node: ast.GeneratorExp) -> None:
        """Mark the first part that the generator evaluates when there is anything to loop over."""
        entry = self._entry(node, "<genexpr>")
        first, *rest = node.generators
        if entry is None:
            return
        if first.ifs:
            first.ifs[0] = self._before(entry, first.ifs[0])
        elif rest:
            rest[0].iter = self._before(entry, rest[0].iter)
        else:
            node.elt = self._before(entry, node.elt)


_LOAD = ast.Load()
_CONSTANT = partial(ast.Constant.__new__, ast.Constant)
_SUBSCRIPT = partial(ast.Subscript.__new__, ast.Subscript)
_EXPRESSION = partial(ast.Expr.__new__, ast.Expr)
_PLAIN = frozenset((ast.Expr, ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Return, ast.Raise, ast.Assert, ast.Import))
_DEFINITIONS = frozenset((ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
# The statements that hold others. A simple one on a line without parts that may be skipped needs no further look.
_COMPOUND = frozenset((
    *_DEFINITIONS, ast.If, ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith, ast.Try,
    *(getattr(ast, name) for name in ("Match", "TryStar") if hasattr(ast, name)),
))  # fmt: skip
# Which parts of an expression may be skipped, or must be left alone, by the name of the weaver's method for it.
_SPECIAL: dict[type, str] = {
    ast.BoolOp: "_bool_op",
    ast.IfExp: "_if_exp",
    ast.Compare: "_compare",
    ast.Lambda: "_lambda",
    ast.ListComp: "_comprehension",
    ast.SetComp: "_comprehension",
    ast.DictComp: "_comprehension",
    ast.GeneratorExp: "_comprehension",
    ast.Attribute: "_attribute",
    ast.JoinedStr: "_formatted",
}


def _place(at: tuple[int, int]) -> dict[str, Any]:
    """The attributes of a node at one place. Of all at once, as to set them one by one takes twice the time."""
    line, column = at
    return {"lineno": line, "col_offset": column, "end_lineno": line, "end_col_offset": column}


def _at(node: Any, at: tuple[int, int]) -> Any:
    """``node`` as an empty range of text at one place: it is nothing that the file says."""
    node.lineno, node.col_offset = node.end_lineno, node.end_col_offset = at
    return node


def _start(node: Any) -> tuple[int, int]:
    decorators = node.decorator_list if type(node) in _DEFINITIONS else None
    if decorators:
        # The sign itself has no node; it stands before the first decorator, on its line.
        return decorators[0].lineno, min(decorators[0].col_offset, node.col_offset)
    return node.lineno, node.col_offset


def _end(node: Any) -> tuple[int, int]:
    return node.end_lineno, node.end_col_offset


def _clause_end(node: Any) -> tuple[int, int]:
    end: tuple[int, int] = getattr(node, "clause_end", _end(node))
    return end


def _has_elif(node: ast.If) -> bool:
    following = node.orelse[0] if len(node.orelse) == 1 else None
    return isinstance(following, ast.If) and following.col_offset == node.col_offset


def _header_end(node: Any) -> int:
    """Last line before the first statement of the suite, or of the statement."""
    if type(node) not in _COMPOUND:
        return int(node.end_lineno)
    suites = [getattr(node, name, None) for name in ("body", "cases")]
    inner = next((suite[0] for suite in suites if isinstance(suite, list) and suite), None)
    if inner is None:
        return int(node.end_lineno)
    line = inner.pattern.lineno if hasattr(inner, "pattern") else _start(inner)[0]
    return max(int(node.lineno), line - 1)


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _is_future(node: ast.stmt) -> bool:
    return isinstance(node, ast.ImportFrom) and node.module == "__future__" and not node.level


def _is_declaration(node: ast.stmt) -> bool:
    return isinstance(node, (ast.Global, ast.Nonlocal))


def _is_wrappable(node: Any) -> bool:
    if isinstance(node, ast.Slice):
        return False
    if isinstance(node, ast.Tuple):
        return not any(isinstance(item, ast.Slice) for item in node.elts)
    return True
