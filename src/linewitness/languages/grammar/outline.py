"""One walk over a syntax tree: its leaves, units and definitions, as the marks of the language's table call them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from tree_sitter import Node

from linewitness.languages.grammar.imports import imports_of
from linewitness.languages.grammar.leaves import Definition, Extent, Import, Leaf, Role, Unit
from linewitness.languages.grammar.table import Table
from linewitness.languages.python.source import Source
from linewitness.model import Weight

_NOTHING: Final = frozenset[str]()
_PARTS: Final = ("operand", "default", "chain", "assigned", "late")
_DEFINITIONS: Final = ("function", "closure", "class", "namespace")
#: A child of a block with one of these marks is no statement by the rule for blocks.
_NO_STATEMENT: Final = frozenset({
    "comment", "declaration", "data", "import", "function", "class", "namespace", "block", "statement", "clause",
    "plain", "type", "members", "name", "label", "conditional", "continued", "heritage", "value",
})  # fmt: skip
_READ_WELL: Final = frozenset({"function", "class", "comment", "import"})
_OPENERS: Final = frozenset({"(", "[", "{", "${", "#{", "@[", "?[", "(("})
_CLOSERS: Final = frozenset({")", "]", "}", ",", ";", ":", "))", ";;", "=>", "->"})
_ROLES: Final = {"function": Role.HEADER, "closure": Role.HEADER, "class": Role.CLASS, "namespace": Role.DECLARATION}


class Outline(NamedTuple):
    """All of a file. ``headers`` gives for each unit where its own text ends: at its suite, or at its end.

    ``constants`` are the names that units declare which have no code of their own. ``broken`` are the lines in and
    beside text that the grammar could not read.
    """

    source: Source
    leaves: tuple[Leaf, ...]
    units: tuple[Unit, ...]
    headers: tuple[int, ...]
    definitions: tuple[Definition, ...]
    imports: tuple[Import, ...]
    constants: Mapping[int, list[bytes]]
    broken: frozenset[int]

    def function_of(self, holder: int) -> int:
        """The innermost function or closure that is, or holds, a definition; -1 for none."""
        while holder >= 0 and self.definitions[holder].role is not Role.HEADER:
            holder = self.definitions[holder].parent
        return holder

    def text(self, leaf: Leaf) -> bytes:
        """The text of a leaf."""
        return self.source.data[leaf.start : leaf.end]


class _Context(NamedTuple):
    """What is around a node.

    ``is_container``: its named children are statements. ``in_closure``: inside of one, and not yet in its body.
    """

    role: Role = Role.CODE
    unit: int = -1
    holder: int = -1
    region: Extent | None = None
    part: str = ""
    branch: bool = False
    is_test: bool = False
    in_closure: bool = False
    is_container: bool = False
    path: int = 0


def outline(source: Source, root: Node, marks: Mapping[int, set[str]], table: Table) -> Outline:
    """Walk a tree once."""
    return _Walk(source, marks, table).over(root)


class _Walk:
    def __init__(self, source: Source, marks: Mapping[int, set[str]], table: Table) -> None:
        self._source, self._marks, self._table = source, marks, table
        self._leaves: list[Leaf] = []
        self._units: list[Unit] = []
        self._headers: list[int] = []
        self._definitions: list[Definition] = []
        self._imports: list[Import] = []
        self._constants: dict[int, list[bytes]] = {}
        self._heredocs: list[_Context] = []
        self._broken: set[int] = set()

    def over(self, root: Node) -> Outline:
        todo = [(root, _Context())]
        while todo:
            node, around = todo.pop()
            if node.is_error or node.is_missing:
                self._break(node)
            own = self._marks.get(node.id, _NOTHING)
            context = self._enter(node, own, around) if own or around.is_container else around
            children = node.children
            if not children or "text" in own or "comment" in own:
                self._add(node, context)
                continue
            context = context._replace(path=hash((context.path, node.type)))
            todo.extend((child, context) for child in reversed(children))
        return Outline(
            self._source,
            tuple(self._leaves),
            tuple(self._units),
            tuple(self._headers),
            tuple(self._definitions),
            tuple(self._imports),
            self._constants,
            frozenset(self._broken),
        )

    def _lines(self, node: Node) -> tuple[int, int]:
        at = self._source.line_at
        return at(node.start_byte), at(max(node.start_byte, node.end_byte - 1))

    def _break(self, node: Node) -> None:
        """Lines in and beside what the grammar could not read; whole definitions inside of it were read well."""
        if node.is_missing or not node.children:
            first, last = self._lines(node)
            self._broken.update(range(first - 1, last + 2))
        for child in node.children:
            if not self._marks.get(child.id, _NOTHING) & _READ_WELL or child.has_error:
                first, last = self._lines(child)
                self._broken.update(range(first - 1, last + 2))

    def _add(self, node: Node, context: _Context) -> None:
        if node.start_byte == node.end_byte:
            return
        first, last = self._lines(node)
        self._leaves.append(
            Leaf(
                node.start_byte,
                node.end_byte,
                first,
                last,
                node.type,
                self._weight(node),
                context.role,
                context.unit,
                context.holder,
                context.region,
                context.part,
                context.branch,
                context.is_test,
                context.path,
            )
        )

    def _weight(self, node: Node) -> Weight:
        if node.is_named:
            return Weight.KEYWORD if node.type in self._table.clauses else Weight.STRONG
        if node.type in _OPENERS:
            return Weight.OPENER
        return Weight.CLOSER if node.type in _CLOSERS or node.type in self._table.closers else Weight.KEYWORD

    # ------------------------------------------------------------ what a node makes of the context

    def _enter(self, node: Node, own: frozenset[str] | set[str], around: _Context) -> _Context:
        context = around._replace(is_container=False)
        if "comment" in own and "text" not in own:
            if self._table.is_directive(node.text or b""):
                return self._new_unit(node, Role.CODE, context)
            return context._replace(role=Role.COMMENT)
        if "continued" in own and self._heredocs:
            return self._heredocs.pop(0)._replace(path=around.path)
        if around.is_container and "plain" in own:
            return context._replace(role=Role.NEUTRAL, is_container=True)
        if "body" in own or "expression" in own:
            context = self._suite(node, own, context)
        context = self._unit(node, own, around, context)
        context = _marked(own, context)
        if "name" in own and context.holder >= 0:
            self._definitions[context.holder] = self._definitions[context.holder]._replace(name=_text(node))
        if "bound" in own and context.unit >= 0 and self._units[context.unit].is_constant:
            self._constants.setdefault(context.unit, []).append(node.text or b"")
        context = self._part(node, own, context)
        if "heredoc" in own:
            self._heredocs.append(context)
        return self._inside(node, own, context) if "block" in own or "members" in own else context

    def _suite(self, node: Node, own: frozenset[str] | set[str], context: _Context) -> _Context:
        """The suite of a statement ends its header; the body of a function is where it is entered."""
        extent = node.start_byte, node.end_byte
        if context.role is Role.HEADER and context.holder >= 0:
            self._definitions[context.holder] = self._definitions[context.holder]._replace(body=extent)
        if context.in_closure:
            if "block" in own:
                return context
            closure = self._definitions[context.holder]
            region = closure.start, closure.end
            return context._replace(role=Role.CODE, region=region, part="late", branch=False)
        if self._is_suite_of(node, context.unit):
            self._cut(context.unit, node)
        elif "block" not in own:
            return context._replace(region=extent, part="operand")
        return context

    def _is_suite_of(self, node: Node, unit: int) -> bool:
        """Whether a suite belongs to a statement itself, and not to an expression inside of it."""
        if unit < 0 or node.parent is None or self._units[unit].role is Role.HEADER:
            return True
        return node.parent.start_byte <= self._units[unit].start

    def _cut(self, unit: int, node: Node) -> None:
        if unit >= 0:
            self._headers[unit] = min(self._headers[unit], node.start_byte)

    def _unit(self, node: Node, own: frozenset[str] | set[str], around: _Context, context: _Context) -> _Context:
        is_suite = ("body" in own or "expression" in own) and not context.in_closure
        in_suite = around.is_container or (is_suite and self._is_suite_of(node, context.unit))
        plain_statement = in_suite and node.is_named and not own & _NO_STATEMENT
        if around.is_container and around.role is Role.CODE and (plain_statement or "block" in own):
            self._cut(context.unit, node)
        branch, constant = "branch" in own, "constant" in own
        kind = next((kind for kind in _DEFINITIONS if kind in own), "")
        is_statement = "statement" in own or "clause" in own
        if "conditional" in own:
            return self._new_unit(node, Role.CONDITIONAL, context)
        if ("declaration" in own or "data" in own) and not (is_statement or kind):
            return self._new_unit(node, Role.DECLARATION, context, is_constant=constant)
        if "import" in own:
            context = self._new_unit(node, Role.IMPORT, context)
            self._imports.extend(imports_of(node, self._marks, context.unit))
        elif plain_statement or is_statement:
            context = self._new_unit(node, Role.CODE, context, is_branch=branch, is_constant=constant)
        return self._definition(node, kind, context) if kind else context

    def _definition(self, node: Node, kind: str, context: _Context) -> _Context:
        is_closure, index, role = kind == "closure", len(self._definitions), _ROLES[kind]
        first, last = self._lines(node)
        name = node.child_by_field_name("name")
        found = Definition(
            name=_text(name) if name is not None else "",
            role=role,
            start=node.start_byte,
            end=node.end_byte,
            first=first,
            last=last,
            parent=context.holder,
            unit=context.unit,
            body=(node.start_byte, node.end_byte) if is_closure else None,
            is_closure=is_closure,
        )
        self._definitions.append(found)
        context = context._replace(holder=index, in_closure=is_closure, role=role, branch=False)
        return context if is_closure else self._new_unit(node, role, context)

    def _part(self, node: Node, own: frozenset[str] | set[str], context: _Context) -> _Context:
        part = next((part for part in _PARTS if part in own), "")
        if not part:
            return context
        if part == "default":
            context = self._new_unit(node, Role.CODE, context)
        return context._replace(region=(node.start_byte, node.end_byte), part=part)

    def _inside(self, node: Node, own: frozenset[str] | set[str], context: _Context) -> _Context:
        """Braces are neither code nor header; what they hold says for itself what it is."""
        if "members" in own and context.role is Role.CLASS:
            self._cut(context.unit, node)
        if "clause" in own or "conditional" in own:
            return context._replace(is_container=True)
        return context._replace(role=Role.NEUTRAL, is_container=True, branch=False, region=None, part="")

    def _new_unit(
        self, node: Node, role: Role, context: _Context, *, is_branch: bool = False, is_constant: bool = False
    ) -> _Context:
        self._units.append(
            Unit(
                kind=node.type,
                role=role,
                start=node.start_byte,
                end=node.end_byte,
                first=self._lines(node)[0],
                parent=context.unit,
                holder=context.holder,
                branch=is_branch,
                is_test=context.is_test,
                is_constant=is_constant,
            )
        )
        self._headers.append(node.end_byte)
        unit = len(self._units) - 1
        return context._replace(role=role, unit=unit, region=None, part="", branch=is_branch, in_closure=False)


def _text(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")


def _marked(own: frozenset[str] | set[str], context: _Context) -> _Context:
    """What marks say of the part that a node plays inside of its unit."""
    if "type" in own:
        context = context._replace(role=Role.DECLARATION)
    if "heritage" in own:
        context = context._replace(role=Role.CLASS)
    if "value" in own:
        context = context._replace(role=Role.CODE)
    return context._replace(branch=context.branch or "branch" in own, is_test=context.is_test or "test" in own)
