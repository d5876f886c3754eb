"""What each changed line is by itself, before other changed lines and the other side are looked at."""

from __future__ import annotations

from enum import Enum, auto
from typing import Final

from linewitness.languages.grammar.leaves import Leaf, Role
from linewitness.languages.grammar.side import Side
from linewitness.model import Exemption, Kind, Weight
from linewitness.values import NamedTuple

_MEANINGFUL: Final = frozenset({Weight.STRONG, Weight.KEYWORD})


class Shape(Enum):
    """What a line consists of, where that matters.

    ``BRACES`` end or begin a suite, ``CLOSERS`` belong to an expression, ``CLAUSE`` is a word such as ``else``.
    """

    CODE = auto()
    HEADER = auto()
    CLASS = auto()
    IMPORT = auto()
    CONDITIONAL = auto()
    BRACES = auto()
    CLOSERS = auto()
    CLAUSE = auto()


class Look(NamedTuple):
    """One line: exempt for a reason, or owing as a kind. ``leaves`` are those that decided."""

    exempt: Exemption | None
    kind: Kind
    shape: Shape = Shape.CODE
    leaves: tuple[Leaf, ...] = ()

    @property
    def unit(self) -> int:
        """The unit that the line belongs to, -1 for none."""
        return self.leaves[0].unit if self.leaves else -1

    @property
    def holder(self) -> int:
        """The definition that the line belongs to, -1 for none."""
        return self.leaves[0].holder if self.leaves else -1


def look(side: Side, line: int) -> Look:
    """What a line of a side is by itself."""
    if line in side.outline.broken:
        return _unreadable(side, line)
    leaves = side.code_on(line)
    if not leaves and line not in side.by_line and side.source.line(line).strip():
        return Look(None, Kind.STATEMENT)  # text that the grammar keeps to itself: the inside of a string
    if not leaves:
        reason = Exemption.COMMENT if line in side.by_line else Exemption.BLANK
        return Look(reason, Kind.STATEMENT)
    words = [leaf for leaf in leaves if leaf.weight in _MEANINGFUL]
    strong = [leaf for leaf in words if leaf.weight is Weight.STRONG or leaf.type not in side.table.clauses]
    strong = [leaf if _has_body(side, leaf) else leaf._replace(role=Role.DECLARATION) for leaf in strong]
    if strong and strong[0].role in (Role.HEADER, Role.CLASS):
        # a statement that begins with a function: what runs here is the statement
        strong = [leaf for leaf in leaves[:1] if leaf.role is Role.CODE and _begins_unit(side, leaf)] or strong
    return _by_role(strong) or _without_words(side, words, leaves)


def _begins_unit(side: Side, leaf: Leaf) -> bool:
    return leaf.unit >= 0 and leaf.start == side.outline.units[leaf.unit].start


def _has_body(side: Side, leaf: Leaf) -> bool:
    """Whether a leaf is no part of the header of a function that is only declared."""
    if leaf.role is not Role.HEADER or leaf.holder < 0 or side.table.empty_functions:
        return True
    return side.outline.definitions[leaf.holder].body is not None


def _unreadable(side: Side, line: int) -> Look:
    """A line in or beside text that the grammar could not read owes unless it is blank."""
    if not side.source.line(line).strip():
        inside = any(leaf.first < line for leaf in side.by_line.get(line, ()))
        return Look(None if inside else Exemption.BLANK, Kind.STATEMENT)
    return Look(None, Kind.STATEMENT)


def _by_role(words: list[Leaf]) -> Look | None:
    """What the words on a line say: code before headers, headers before imports, imports before declarations."""
    for role, kind, shape in (
        (Role.CODE, Kind.STATEMENT, Shape.CODE),
        (Role.HEADER, Kind.DEFINITION, Shape.HEADER),
        (Role.CLASS, Kind.DEFINITION, Shape.CLASS),
        (Role.IMPORT, Kind.STATEMENT, Shape.IMPORT),
        (Role.CONDITIONAL, Kind.BRANCH, Shape.CONDITIONAL),
    ):
        found = tuple(leaf for leaf in words if leaf.role is role)
        if found:
            is_branch = role is Role.CODE and any(leaf.branch for leaf in found)
            return Look(None, Kind.BRANCH if is_branch else kind, shape, found)
    neutral = tuple(leaf for leaf in words if leaf.role is Role.NEUTRAL and leaf.weight is Weight.STRONG)
    if neutral:
        return Look(None, Kind.STATEMENT, Shape.CODE, neutral)
    return Look(Exemption.DECLARATION, Kind.STATEMENT, Shape.CODE, tuple(words)) if words else None


def _without_words(side: Side, words: list[Leaf], leaves: list[Leaf]) -> Look:
    """A line of brackets, commas and words such as ``else``. A bracket that begins a statement is code: ``[``, say."""
    if words:
        return Look(None, Kind.BRANCH, Shape.CLAUSE, tuple(words))
    code = tuple(leaf for leaf in leaves if leaf.role in (Role.CODE, Role.HEADER, Role.CLASS))
    if code and code[0].weight is Weight.OPENER and code[0] is leaves[0] and _begins_unit(side, code[0]):
        return Look(None, Kind.STATEMENT, Shape.CODE, code)
    if code:
        return Look(None, Kind.STATEMENT, Shape.CLOSERS, code)
    if any(leaf.role is Role.NEUTRAL for leaf in leaves):
        return Look(None, Kind.STATEMENT, Shape.BRACES, tuple(leaves))
    return Look(Exemption.DECLARATION, Kind.STATEMENT, Shape.CLOSERS, tuple(leaves))
