"""What each line is by itself, before other changed lines are looked at: which exemption it claims or what it owes."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from enum import Enum, auto
from functools import partial

from tree_sitter import Node

from linewitness.languages.python.outline import DEFINITIONS, Outline, Statement
from linewitness.languages.python.scopes import Scopes
from linewitness.languages.python.tree import find
from linewitness.languages.python.typing_only import TypingNames
from linewitness.languages.source import Source
from linewitness.model import Exemption, Kind
from linewitness.patterns import late
from linewitness.values import NamedTuple

_BLANKS = b" \t\f"
_TYPE_COMMENT = late(rb"#\s*type:\s")
_CLOSERS = late(rb"[\s)\]},:;]+(?:#.*)?\Z")
_CLAUSE = late(rb"\s*(?:else|finally|try)[ \t\f]*:\s*(?:#.*)?\Z")
# Without a boundary in front, which would keep the search from looking for first letters only.
_WORDS = late(rb"(?:if|and|or)\b")
_WORD_BYTES = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")
_NOBODY: Sequence[int] = ()
BRANCH_EXPRESSIONS = "[(conditional_expression) (boolean_operator) (if_clause)] @branch"
_BRANCHES = frozenset({
    "if_statement", "elif_clause", "else_clause", "while_statement", "for_statement", "match_statement", "case_clause",
    "except_clause", "except_group_clause", "with_statement", "assert_statement",
})  # fmt: skip
_STRING_PARTS = frozenset(
    {"string", "string_content", "string_start", "string_end", "escape_sequence", "format_specifier"}
)
_STRICTEST = (Kind.BRANCH, Kind.DEFINITION, Kind.STATEMENT)

TYPE_ALIAS = "type_alias_statement"
CLAUSE_KINDS = frozenset({"else_clause", "finally_clause", "try_statement"})


class Shape(Enum):
    """What a line consists of, where that matters."""

    CODE = auto()
    CLOSERS = auto()
    CLAUSE = auto()


class Look(NamedTuple):
    """One line: exempt for a reason, or owing as a kind. ``owner`` is its statement's index, -1 for none."""

    exempt: Exemption | None
    kind: Kind
    owner: int
    shape: Shape = Shape.CODE


LOOK: Callable[[tuple[object, ...]], Look] = partial(tuple.__new__, Look)


class Reading(NamedTuple):
    """What was read of a file: statements, a look at each line asked for, and scopes.

    ``is_whole``: the scopes are those of all lines of code, not only of the lines asked for, and no statement has a
    node, as only the text was read.
    """

    part: Outline
    looks: dict[int, Look]
    scopes: Scopes
    is_whole: bool


class UncertainError(Exception):
    """The text of a file alone does not tell."""


class Lines:
    """Looks at lines of one parsed file."""

    def __init__(self, outline: Outline, root: Node, names: TypingNames) -> None:
        self.outline = outline
        self._root = root
        self._names = names
        self._has_names = any(names)
        self._typing: dict[int, bool] = {}
        self._branches: dict[int, frozenset[int]] = {}

    def look(self, lines: Collection[int]) -> dict[int, Look]:
        """The lines in their order, each with what it is by itself."""
        owners = self.outline.owners(lines)
        looks: dict[int, Look] = {}
        for line in sorted(lines):
            own = owners.get(line, _NOBODY)
            looks[line] = self._opened(line, own[0]) if self._is_opened(line, own) else self._line(line, own)
        return looks

    def _is_opened(self, line: int, owners: Sequence[int]) -> bool:
        """Whether the line begins with a statement and holds nothing else: most do, and then it is no other text."""
        if len(owners) != 1:
            return False
        source, statement = self.outline.source, self.outline.statements[owners[0]]
        begin = source.starts[line - 1]
        return begin <= statement.start and not source.data[begin : statement.start].strip(_BLANKS)

    def _opened(self, line: int, index: int) -> Look:
        statement = self.outline.statements[index]
        exempt = self.exemption(index)
        if exempt is not None:
            return LOOK((exempt, Kind.STATEMENT, index, Shape.CODE))
        shape = shape_of(self.outline.source.line(line)) if statement.kind in CLAUSE_KINDS else Shape.CODE
        return LOOK((None, self._kind(line, index, statement), index, shape))

    def _line(self, line: int, owners: Sequence[int]) -> Look:
        source = self.outline.source
        text = source.line(line)
        bare = text.strip(_BLANKS)
        first = source.starts[line - 1] + len(text) - len(text.lstrip(_BLANKS))
        content = bool(owners) and self._in_string(first if bare else source.starts[line - 1])
        if not content and not bare:
            return Look(Exemption.BLANK, Kind.STATEMENT, owners[0] if owners else -1)
        if not content and bare.startswith(b"#"):
            return Look(comment_exemption(bare), Kind.STATEMENT, owners[0] if owners else -1)
        if not owners:
            return Look(None, Kind.STATEMENT, -1)
        return self._code(line, owners, Shape.CODE if content else shape_of(text))

    def _in_string(self, offset: int) -> bool:
        node = self._root.descendant_for_byte_range(offset, offset + 1)
        return node is not None and node.type in _STRING_PARTS

    def _code(self, line: int, owners: Sequence[int], shape: Shape) -> Look:
        looks = [self._owned(line, index) for index in owners]
        owing = [look for look in looks if look.exempt is None]
        if not owing:
            return looks[0]
        kind = next(kind for kind in _STRICTEST if any(look.kind is kind for look in owing))
        owner = owing[-1].owner if shape is Shape.CLOSERS else owing[0].owner
        return Look(None, kind, owner, shape)

    def _owned(self, line: int, index: int) -> Look:
        statement = self.outline.statements[index]
        exempt = self.exemption(index)
        return Look(exempt, Kind.STATEMENT if exempt else self._kind(line, index, statement), index)

    def exemption(self, index: int) -> Exemption | None:
        """The reason for which a whole statement owes nothing, whatever else changed."""
        statement = self.outline.statements[index]
        if statement.docstring:
            return Exemption.DOCSTRING
        if (self._has_names and self.typing_only(index)) or self._is_ellipsis(statement):
            return Exemption.TYPING_ONLY
        if self._is_bare_annotation(statement) and self._holder(index) == "function_definition":
            return Exemption.DECLARATION
        return None

    def _is_ellipsis(self, statement: Statement) -> bool:
        return self.outline.source.data.startswith(b"...", statement.start) and is_ellipsis(statement)

    def _is_bare_annotation(self, statement: Statement) -> bool:
        if statement.kind != "expression_statement":
            return False
        return b":" in self.outline.source.data[statement.start : statement.end] and is_bare_annotation(statement)

    def _holder(self, index: int) -> str:
        """The kind of the definition whose scope the statement is in, or nothing for the module."""
        holder = self.outline.definition_of(self.outline.statements[index].parent)
        return self.outline.statements[holder].kind if holder >= 0 else ""

    def _kind(self, line: int, index: int, statement: Statement) -> Kind:
        if statement.kind in _BRANCHES or (
            self._may_branch(statement) and line in self._branch_lines(index, statement)
        ):
            return Kind.BRANCH
        if statement.kind in DEFINITIONS or statement.kind == TYPE_ALIAS:
            return Kind.DEFINITION
        if statement.kind in ("global_statement", "nonlocal_statement") and self._holder(index):
            return Kind.DEFINITION
        if self._is_bare_annotation(statement) and self._holder(index) == "class_definition":
            return Kind.DEFINITION
        return Kind.STATEMENT

    def _may_branch(self, statement: Statement) -> bool:
        """Whether the header has one of the words without which no expression branches."""
        return has_branch_word(self.outline.source.data, statement.start, statement.header_end)

    def _branch_lines(self, index: int, statement: Statement) -> frozenset[int]:
        """The lines of conditional expressions, ``and``/``or`` and comprehension conditions in a statement's header."""
        if index not in self._branches:
            self._branches[index] = frozenset(_lines_of_branches(self.outline.source, statement))
        return self._branches[index]

    def typing_only(self, index: int) -> bool:
        """Whether a statement stands in a suite that is proved to exist for type checkers alone."""
        up = self.outline.suite_of(index)
        while up >= 0:
            if self._guards_typing(up, self.outline.statements[up]):
                return True
            up = self.outline.suite_of(up)
        return False

    def _guards_typing(self, index: int, statement: Statement) -> bool:
        if index not in self._typing:
            self._typing[index] = self._proved_guard(statement)
        return self._typing[index]

    def _proved_guard(self, statement: Statement) -> bool:
        if statement.kind == "if_statement":
            test = statement.node.child_by_field_name("condition")
            return test is not None and test.text in self._names.type_checking
        return statement.kind == "function_definition" and is_overload(statement, self._names)


def has_branch_word(data: bytes, start: int, end: int) -> bool:
    """Whether one of the words without which no expression branches stands between two offsets, strings included."""
    words = _WORDS.finditer(data, start, end)
    return any(not at or data[at - 1] not in _WORD_BYTES for at in map(re.Match.start, words))


def comment_exemption(comment: bytes) -> Exemption:
    """Why a line with nothing but this comment owes nothing."""
    return Exemption.TYPE_COMMENT if _TYPE_COMMENT.match(comment) else Exemption.COMMENT


def shape_of(text: bytes) -> Shape:
    """What a line of code consists of."""
    if _CLOSERS.match(text):
        return Shape.CLOSERS
    return Shape.CLAUSE if _CLAUSE.match(text) else Shape.CODE


def is_ellipsis(statement: Statement) -> bool:
    """Whether the statement is a bare ``...``."""
    children = statement.node.named_children if statement.kind == "expression_statement" else []
    return len(children) == 1 and children[0].type == "ellipsis"


def is_bare_annotation(statement: Statement) -> bool:
    """Whether the statement is ``name: annotation`` without a value."""
    if statement.kind != "expression_statement" or not statement.node.named_children:
        return False
    inner = statement.node.named_children[0]
    if inner.type != "assignment" or inner.child_by_field_name("right") is not None:
        return False
    left = inner.child_by_field_name("left")
    return left is not None and left.type == "identifier"


def is_overload(statement: Statement, names: TypingNames) -> bool:
    """Whether the definition carries a decorator that is proved to be ``typing.overload``."""
    if not names.overload or statement.node.type != "decorated_definition":
        return False
    decorators = [child for child in statement.node.children if child.type == "decorator"]
    return any(child.text in names.overload for decorator in decorators for child in decorator.named_children)


def is_clause_text(text: bytes) -> bool:
    """Whether a line reads ``else:``, ``finally:`` or ``try:`` and nothing more."""
    return _CLAUSE.match(text) is not None


def _lines_of_branches(source: Source, statement: Statement) -> Iterator[int]:
    for node in find(BRANCH_EXPRESSIONS, statement.node, (statement.start, statement.header_end)):
        if node.end_byte <= statement.header_end:
            yield from range(source.line_at(node.start_byte), source.line_at(node.end_byte - 1) + 1)
