"""Where the removal of executable lines leaves its mark: the deletion points of a patch."""

from __future__ import annotations

from collections.abc import Iterable

from linewitness.languages.python.lines import Look, Shape
from linewitness.languages.python.outline import CLAUSES, IMPORTS, Statement
from linewitness.languages.python.places import definition_node
from linewitness.languages.python.reformatted import Twins
from linewitness.languages.python.side import Side
from linewitness.model import Hunk


def deletion_points(
    base: Side, head: Side, hunks: Iterable[Hunk], all_hunks: tuple[Hunk, ...], twins: Twins
) -> list[int]:
    """The lines of head that owe for what ``hunks`` removed, sorted.

    Each of ``hunks`` must have put nothing executable in the place of what it removed. The line is the first of the
    statement that now follows in the same suite, or of the header of that suite, or of the statement that lost a part
    of itself. Nothing is left to owe when head has no statement at all.
    """
    points = (_point(base, head, hunk, all_hunks, twins) for hunk in hunks)
    return sorted({point for point in points if point})


def _point(base: Side, head: Side, hunk: Hunk, hunks: tuple[Hunk, ...], twins: Twins) -> int:
    removed = range(hunk.base_start, hunk.base_start + hunk.base_count)
    if base.broken:
        if not any(base.source.line(line).strip() for line in removed):
            return 0
        return _first(_next_anywhere(head, hunk))
    looks = base.lines.look(removed)
    lost = next((line for line in removed if _is_lost(line, looks[line], base, head, twins)), 0)
    if not lost:
        return 0
    return _first(_heir(base, head, hunk, hunks, lost) or _next_anywhere(head, hunk))


def _first(statement: Statement | None) -> int:
    return statement.first if statement else 0


def _is_lost(line: int, look: Look, base: Side, head: Side, twins: Twins) -> bool:
    """Whether a removed line was executable and is not still there, moved or laid out anew."""
    if look.exempt is not None or look.shape is Shape.CLOSERS:
        return False
    if look.owner < 0:
        return True
    if base.imports.knows(line) and _only_imports(line, base) and base.imports.all_held_by(line, head.imports):
        return False
    holder = base.outline.definition_of(look.owner)
    node = definition_node(base.outline.statements[holder].node) if holder >= 0 else None
    return not twins.same(base, node)


def _only_imports(line: int, base: Side) -> bool:
    owners = base.outline.owners([line]).get(line, [])
    return bool(owners) and all(base.outline.statements[owner].kind in IMPORTS for owner in owners)


def _heir(base: Side, head: Side, hunk: Hunk, hunks: tuple[Hunk, ...], line: int) -> Statement | None:
    """The statement of head that answers for the removed ``line``, or ``None`` when base and head do not line up."""
    statements = base.outline.statements
    owners = base.outline.owners([line]).get(line, [])
    if not owners:
        return None
    index = owners[0]
    if statements[index].first < hunk.base_start:
        return _same_statement(head, hunks, statements[index])
    parent = statements[index].parent
    if parent < 0:
        following = _following(head, -1, hunk.head_start)
        return following or _last(head)
    holder = _same_statement(head, hunks, statements[parent])
    if holder is None or statements[index].kind in CLAUSES:
        return holder
    return _following(head, head.outline.statements.index(holder), hunk.head_start) or holder


def _same_statement(head: Side, hunks: tuple[Hunk, ...], statement: Statement) -> Statement | None:
    line = _moved(statement.first, hunks)
    same = (other for other in head.outline.statements if other.first == line and other.kind == statement.kind)
    return next(same, None)


def _moved(line: int, hunks: tuple[Hunk, ...]) -> int:
    """The line of head that is ``line`` of base, 0 when it was removed."""
    shift = 0
    for hunk in hunks:
        if line < hunk.base_start:
            break
        if line < hunk.base_start + hunk.base_count:
            return 0
        shift = hunk.head_start + hunk.head_count - hunk.base_start - hunk.base_count
    return line + shift


def _following(head: Side, parent: int, line: int) -> Statement | None:
    """The first statement of one suite that begins at ``line`` or later and can run."""
    for index, statement in enumerate(head.outline.statements):
        follows = statement.parent == parent and statement.first >= line and statement.kind not in CLAUSES
        if follows and _runs(head, index):
            return statement
    return None


def _runs(head: Side, index: int) -> bool:
    return head.lines.exemption(index) is None


def _next_anywhere(head: Side, hunk: Hunk) -> Statement | None:
    later = (
        statement
        for index, statement in enumerate(head.outline.statements)
        if statement.first >= hunk.head_start and _runs(head, index)
    )
    return next(later, None) or _last(head)


def _last(head: Side) -> Statement | None:
    """The last top-level statement that can run."""
    for index in range(len(head.outline.statements) - 1, -1, -1):
        statement = head.outline.statements[index]
        if statement.parent < 0 and _runs(head, index):
            return statement
    return None
