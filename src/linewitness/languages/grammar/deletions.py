"""Where removed code leaves its mark, and whether a hunk moves code into another suite."""

from __future__ import annotations

from collections.abc import Iterable

from linewitness.languages.grammar.leaves import Leaf, Role
from linewitness.languages.grammar.looks import Shape, look
from linewitness.languages.grammar.side import Side
from linewitness.languages.grammar.twins import Twins
from linewitness.model import Exemption, Hunk, Weight

_NOTHING_LOST = frozenset({Exemption.BLANK, Exemption.COMMENT, Exemption.DECLARATION})


def keeps_nesting(base: Side | None, head: Side, hunk: Hunk) -> bool:
    """Whether the code that follows a hunk stands in the same suites as before.

    Closing brackets are passed over: a diff may pair the one of a new function with that of an old one.
    """
    if base is None:
        return True
    after_base = _next_leaf(base, hunk.base_start + hunk.base_count)
    after_head = _next_leaf(head, hunk.head_start + hunk.head_count)
    if after_base is None or after_head is None:
        return after_base is after_head
    return _suites(base, after_base) == _suites(head, after_head)


def _next_leaf(side: Side, line: int) -> Leaf | None:
    for number in range(line, side.source.line_count + 1):
        for leaf in side.code_on(number):
            if leaf.first == number and leaf.weight is not Weight.CLOSER:
                return leaf
    return None


def _suites(side: Side, leaf: Leaf) -> list[str]:
    """The kinds of the units around a leaf, from the inside."""
    kinds, unit = list[str](), leaf.unit
    while unit >= 0:
        kinds.append(side.outline.units[unit].kind)
        unit = side.outline.units[unit].parent
    return kinds


def deletion_points(base: Side, head: Side, hunks: Iterable[Hunk], twins: Twins) -> list[int]:
    """The lines of head that owe for what ``hunks`` removed, sorted.

    Each of ``hunks`` must have put nothing executable in the place of what it removed. The line is the first of the
    statement that lost a part of itself, or that now follows in the same suite, or of the header of that suite.
    """
    points = (_heir(head, hunk) for hunk in hunks if _loses(base, head, hunk, twins))
    return sorted({point for point in points if point})


def _loses(base: Side, head: Side, hunk: Hunk, twins: Twins) -> bool:
    if twins.same_hunk(hunk):
        return False
    removed = range(hunk.base_start, hunk.base_start + hunk.base_count)
    if not base.outline.broken.isdisjoint(removed):
        return any(base.source.line(line).strip() for line in removed)
    if any(_is_lost(base, head, line, twins) for line in removed):
        return True
    return not keeps_nesting(base, head, hunk)


def _is_lost(base: Side, head: Side, line: int, twins: Twins) -> bool:
    """Whether a removed line was executable and is not still there, moved or laid out anew."""
    each = look(base, line)
    if each.exempt in _NOTHING_LOST or each.shape in (Shape.BRACES, Shape.CLOSERS):
        return False
    if each.shape is Shape.IMPORT:
        return _loses_import(base, head, line)
    holder = each.holder
    while holder >= 0 and (base.outline.definitions[holder].is_closure or not base.outline.definitions[holder].name):
        holder = base.outline.definitions[holder].parent
    return not twins.same_lost(holder)


def _loses_import(base: Side, head: Side, line: int) -> bool:
    """Whether a removed import leaves code behind that uses its name, which now means something else."""
    items = base.imports_on(line, (leaf.unit for leaf in base.code_on(line)))
    bound = {item.name for item in head.outline.imports}
    return any(
        base.import_counts[base.scope_of_unit(item.unit), item.key]
        > head.import_counts[base.scope_of_unit(item.unit), item.key]
        and (not item.name or (item.name in head.uses and item.name not in bound))
        for item in items
    )


def _heir(head: Side, hunk: Hunk) -> int:
    """The line of head that answers for what a hunk removed, 0 when head has no code at all."""
    part, source = head.outline, head.source
    line = hunk.head_start + hunk.head_count
    boundary = source.starts[line - 1] if line <= source.line_count else len(source.data)
    holders = [
        index
        for index, each in enumerate(part.units)
        if each.start < boundary < each.end and each.role is not Role.IMPORT
    ]
    parent = holders[-1] if holders else -1
    if parent >= 0 and boundary < part.headers[parent] and _runs(head, parent):
        return part.units[parent].first
    later = (
        index for index, each in enumerate(part.units)
        if each.parent == parent and each.start >= boundary and _runs(head, index)
    )  # fmt: skip
    following = next(later, parent)
    if following >= 0 and _runs(head, following):
        return _first(head, following)
    return _anywhere(head, boundary)


def _runs(head: Side, unit: int) -> bool:
    return head.outline.units[unit].role in (Role.CODE, Role.HEADER)


def _first(head: Side, unit: int) -> int:
    """The first line of a unit on which words of it stand."""
    each = head.outline.units[unit]
    own = (leaf for leaf in head.outline.leaves if leaf.unit == unit and leaf.weight is not Weight.CLOSER)
    return next((leaf.first for leaf in own), each.first)


def _anywhere(head: Side, boundary: int) -> int:
    """The next statement or function, whatever suite it is in, else the last one."""
    running = [index for index in range(len(head.outline.units)) if _runs(head, index)]
    later = [index for index in running if head.outline.units[index].start >= boundary]
    return _first(head, (later or running[-1:])[0]) if running else 0
