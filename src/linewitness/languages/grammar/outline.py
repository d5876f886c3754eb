"""One walk over a syntax tree: its leaves, units and definitions, as the marks of the language's table call them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

from tree_sitter import Node

from linewitness.languages.grammar.imports import imports_of
from linewitness.languages.grammar.leaves import LUMP, Definition, Extent, Import, Leaf, Role, Unit
from linewitness.languages.grammar.table import Table
from linewitness.languages.source import Source
from linewitness.model import Weight
from linewitness.values import NamedTuple

# A file has tens of thousands of them, and the constructor of a named tuple is a call of Python.
_LEAF: Final[Callable[[tuple[object, ...]], Leaf]] = partial(tuple.__new__, Leaf)
_NOTHING: Final = frozenset[str]()
_PARTS: Final = ("operand", "default", "chain", "assigned", "late")
_DEFINITIONS: Final = ("function", "closure", "class", "namespace")
#: A child of a block with one of these marks is no statement by the rule for blocks.
_NO_STATEMENT: Final = frozenset({
    "comment", "declaration", "data", "import", "function", "class", "namespace", "block", "statement", "clause",
    "plain", "type", "members", "name", "label", "conditional", "continued", "heritage", "value",
})  # fmt: skip
#: Nodes with no other marks than these change nothing but the part that is played inside of a unit.
_MERE_PARTS: Final = frozenset({
    "branch", "type", "value", "heritage", "test", "text", "label", "effect", "source", "arm", *_PARTS
}) - {"default"}  # fmt: skip
_READ_WELL: Final = frozenset({"function", "class", "comment", "import"})
_OPENERS: Final = frozenset({"(", "[", "{", "${", "#{", "@[", "?[", "(("})
_CLOSERS: Final = frozenset({")", "]", "}", ",", ";", ":", "))", ";;", "=>", "->"})
#: A line of more tokens than this is not written by hand. Its first ones are told one by one, the others in lumps.
CROWDED: Final = 1000
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
        self._weights: dict[tuple[str, bool], Weight] = {}
        # behind the last line there is one more start, or none for an empty text
        self._starts = (*source.starts, len(source.data) + 1)
        self._line = 1
        self._counted, self._on_line = 0, 0  # how many leaves the line of the last one has
        self._begin = 0  # of the node around; asking a node for its parent takes a walk from the root

    def over(self, root: Node) -> Outline:
        marks, enter, add = self._marks, self._enter, self._add
        may_be_broken = root.has_error
        start = _Context()
        todo = [(root, start, start, 0, 0)]
        while todo:
            node, around, outside, path, self._begin = todo.pop()
            if may_be_broken and (node.is_error or node.is_missing):
                self._break(node)
            own = marks.get(node.id, _NOTHING)
            if self._on_line >= CROWDED and "comment" not in own and self._is_more_of_the_line(node):
                self._add_lump(node, outside, path)
                continue
            context = enter(node, own, around, outside) if own or around.is_container else around
            children = node.children
            if not children or "text" in own or "comment" in own:
                if "loose" in own:
                    self._add_trimmed(node, context, path)
                else:
                    add(node, context, path)
                continue
            path = hash((path, node.type))
            # only the children themselves could be statements, not what is inside of them
            outside = context._replace(is_container=False) if context.is_container else context
            begin = node.start_byte
            todo.extend([(child, context, outside, path, begin) for child in reversed(children)])
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
        return self._lines_of(node.start_byte, node.end_byte)

    def _lines_of(self, start: int, end: int) -> tuple[int, int]:
        """The lines of a stretch of text. Most questions are about the line of the one before."""
        first = self._line
        if not self._starts[first - 1] <= start < self._starts[first]:
            first = self._line = self._source.line_at(start)
        return first, first if end <= self._starts[first] else self._source.line_at(end - 1)

    def _break(self, node: Node) -> None:
        """Lines in and beside what the grammar could not read; whole definitions inside of it were read well."""
        if node.is_missing or not node.children:
            first, last = self._lines(node)
            self._broken.update(range(first - 1, last + 2))
        for child in node.children:
            if not self._marks.get(child.id, _NOTHING) & _READ_WELL or child.has_error:
                first, last = self._lines(child)
                self._broken.update(range(first - 1, last + 2))

    def _add_trimmed(self, node: Node, context: _Context, path: int) -> None:
        """A leaf without the white space at its ends; none when there is nothing else."""
        text = self._source.text(node)
        start = node.end_byte - len(text.lstrip())
        self._add(node, context, path, (start, max(start, node.start_byte + len(text.rstrip()))))

    def _add(self, node: Node, context: _Context, path: int, extent: Extent | None = None) -> None:
        start, end = extent or (node.start_byte, node.end_byte)
        if start == end:
            return
        first, last = self._lines_of(start, end)
        role, unit, holder, region, part, branch, is_test, _, _ = context
        kind = node.type
        self._counted, self._on_line = (last, self._on_line + 1) if self._counted == first else (last, 1)
        weight = self._weights.get((kind, is_named := node.is_named))
        if weight is None:
            weight = self._weights[kind, is_named] = self._weight(kind, is_named=is_named)
        self._leaves.append(
            _LEAF((start, end, first, last, kind, weight, role, unit, holder, region, part, branch, is_test, path))
        )

    def _is_more_of_the_line(self, node: Node) -> bool:
        """Whether a node has parts, all on the line that is counted."""
        return node.child_count > 0 and self._lines(node) == (self._counted, self._counted)

    def _add_lump(self, node: Node, around: _Context, path: int) -> None:
        """A whole node as one leaf. Nobody looks at what it is made of, so it is code."""
        if node.has_error:
            self._broken.update(range(self._counted - 1, self._counted + 2))
        start, end, line = node.start_byte, node.end_byte, self._counted
        role, unit, holder, is_test = Role.CODE, around.unit, around.holder, around.is_test
        region, part, branch = around.region, around.part, around.branch
        self._leaves.append(
            _LEAF(
                (start, end, line, line, LUMP, Weight.STRONG, role, unit, holder, region, part, branch, is_test, path)
            )
        )

    def _weight(self, kind: str, *, is_named: bool) -> Weight:
        if is_named:
            return Weight.KEYWORD if kind in self._table.clauses else Weight.STRONG
        if kind in _OPENERS:
            return Weight.OPENER
        return Weight.CLOSER if kind in _CLOSERS or kind in self._table.closers else Weight.KEYWORD

    # ------------------------------------------------------------ what a node makes of the context

    def _enter(self, node: Node, own: frozenset[str] | set[str], around: _Context, context: _Context) -> _Context:
        """What is around the children of a node; ``context`` is what is around itself, which is in no container."""
        if not own:
            return self._unmarked(node, around, context)
        if not around.is_container and own <= _MERE_PARTS:
            return self._part(node, own, _marked(own, around))
        if "comment" in own and "text" not in own:
            return self._comment(node, context)
        if "continued" in own and self._heredocs:
            return self._heredocs.pop(0)
        if around.is_container and "plain" in own:
            return context._replace(role=Role.NEUTRAL, is_container=True)
        return self._entered(node, own, around, context)

    def _entered(self, node: Node, own: frozenset[str] | set[str], around: _Context, context: _Context) -> _Context:
        if "body" in own or "expression" in own:
            context = self._suite(node, own, context)
        context = self._unit(node, own, around, context)
        context = _marked(own, context)
        if "name" in own and context.holder >= 0:
            self._definitions[context.holder] = self._definitions[context.holder]._replace(name=self._text(node))
        if "bound" in own and context.unit >= 0 and self._units[context.unit].is_constant:
            self._constants.setdefault(context.unit, []).append(self._source.text(node))
        context = self._part(node, own, context)
        if "heredoc" in own:
            self._heredocs.append(context)
        return self._inside(node, own, context) if "block" in own or "members" in own else context

    def _comment(self, node: Node, context: _Context) -> _Context:
        if self._table.is_directive(self._source.text(node)):
            return self._new_unit(node, Role.CODE, context)
        return context._replace(role=Role.COMMENT)

    def _unmarked(self, node: Node, around: _Context, context: _Context) -> _Context:
        """A child of a container that the table says nothing about is a statement, when it is more than a sign."""
        if not node.is_named:
            return context
        if around.role is Role.CODE:
            self._cut(context.unit, node)
        return self._new_unit(node, Role.CODE, context)

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
        if self._is_suite_of(context.unit):
            self._cut(context.unit, node)
        elif "block" not in own:
            return context._replace(region=extent, part="operand")
        return context

    def _is_suite_of(self, unit: int) -> bool:
        """Whether a suite belongs to a statement itself, and not to an expression inside of it."""
        return unit < 0 or self._units[unit].role is Role.HEADER or self._begin <= self._units[unit].start

    def _cut(self, unit: int, node: Node) -> None:
        if unit >= 0:
            self._headers[unit] = min(self._headers[unit], node.start_byte)

    def _unit(self, node: Node, own: frozenset[str] | set[str], around: _Context, context: _Context) -> _Context:
        is_suite = ("body" in own or "expression" in own) and not context.in_closure
        in_suite = (around.is_container and node.is_named) or (is_suite and self._is_suite_of(context.unit))
        plain_statement = in_suite and not own & _NO_STATEMENT
        if around.is_container and around.role is Role.CODE and (plain_statement or "block" in own):
            self._cut(context.unit, node)
        branch, constant = "branch" in own, "constant" in own
        is_statement = "statement" in own or "clause" in own
        kind = next((kind for kind in _DEFINITIONS if kind in own), "")
        if is_statement and kind == "function":
            kind = ""
        if "conditional" in own:
            return self._new_unit(node, Role.CONDITIONAL, context)
        if ("declaration" in own or "data" in own) and not (is_statement or kind):
            return self._new_unit(node, Role.DECLARATION, context, is_constant=constant)
        if "import" in own:
            context = self._new_unit(node, Role.IMPORT, context)
            self._imports.extend(imports_of(node, self._marks, context.unit, self._source))
        elif plain_statement or is_statement:
            context = self._new_unit(node, Role.CODE, context, is_branch=branch, is_constant=constant)
        return self._definition(node, kind, context) if kind else context

    def _definition(self, node: Node, kind: str, context: _Context) -> _Context:
        is_closure, index, role = kind == "closure", len(self._definitions), _ROLES[kind]
        first, last = self._lines(node)
        name = node.child_by_field_name("name")
        found = Definition(
            name=self._text(name) if name is not None else "",
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

    def _text(self, node: Node) -> str:
        return self._source.text(node).decode("utf-8", "replace")

    def _part(self, node: Node, own: frozenset[str] | set[str], context: _Context) -> _Context:
        part = next((part for part in _PARTS if part in own), "")
        if "arm" in own and not part and not context.part:
            return context._replace(part="arm")
        if not part or (part == "default" and ("type" in own or self._is_declared_only(context))):
            return context
        if part == "default":
            context = self._new_unit(node, Role.CODE, context)
        return context._replace(region=(node.start_byte, node.end_byte), part=part)

    def _is_declared_only(self, context: _Context) -> bool:
        """Whether a default belongs to a function without a body: nothing ever evaluates it there."""
        if self._table.declared_defaults:
            return False
        return context.role is Role.DECLARATION and self._units[context.unit].role is Role.DECLARATION

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
        start, end = node.start_byte, node.end_byte
        first, _ = self._lines_of(start, end)
        self._units.append(
            Unit(
                node.type,
                role,
                start,
                end,
                first,
                context.unit,
                context.holder,
                is_branch,
                context.is_test,
                is_constant,
            )
        )
        self._headers.append(end)
        unit = len(self._units) - 1
        return _Context(role, unit, context.holder, None, "", is_branch, context.is_test, False, context.is_container)


def _marked(own: frozenset[str] | set[str], context: _Context) -> _Context:
    """What marks say of the part that a node plays inside of its unit."""
    role = context.role
    if "type" in own:
        role = Role.DECLARATION
    if "heritage" in own:
        role = Role.CLASS
    if "value" in own:
        role = Role.CODE
    branch, is_test = context.branch or "branch" in own, context.is_test or "test" in own
    if (role, branch, is_test) == (context.role, context.branch, context.is_test):
        return context
    return context._replace(role=role, branch=branch, is_test=is_test)
