"""The classes of changed lines of one file: a look at each line, then the proofs that need other lines or the base."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable

from linewitness.languages.grammar.deletions import deletion_points, keeps_nesting
from linewitness.languages.grammar.leaves import Import, Role
from linewitness.languages.grammar.looks import Look, Shape, look
from linewitness.languages.grammar.side import Side, head_side
from linewitness.languages.grammar.table import Table
from linewitness.languages.grammar.twins import Twins
from linewitness.languages.naming import obligations
from linewitness.model import Exempt, Exemption, FileClasses, FileText, Hunk, Kind, LineOptions, Weight
from linewitness.patch.hunks import added_lines

_SETTLED: dict[Shape, Exemption] = {
    Shape.BRACES: Exemption.PUNCTUATION,
    Shape.CLOSERS: Exemption.PUNCTUATION,
    Shape.CLAUSE: Exemption.KEYWORD,
}
# Ruby's `end` closes what `}` closes elsewhere.
_ENDS = (Shape.BRACES, Shape.CLOSERS)


def classify(table: Table, text: FileText, options: LineOptions) -> FileClasses:
    """Each changed line of a present, readable file in its class, and the deletion points. No line is left out."""
    return _Patched(table, text, options).classes()


class _Patched:
    def __init__(self, table: Table, text: FileText, options: LineOptions) -> None:
        change = text.change
        self._text, self._options = text, options
        self._head = head_side(text.head or b"", change.path, table)
        self._base = Side(text.base, change.base_path, table) if text.base is not None else None
        self._twins = Twins(self._base, self._head)
        self._changed = frozenset(added_lines(text.hunks))
        self._looks = {line: look(self._head, line) for line in sorted(self._changed)}

    def classes(self) -> FileClasses:
        if self._options.reformatted == "prove":
            self._exempt_reformatted()
        self._exempt_imports()
        if self._options.inline_tests == "generated":
            self._exempt_tests()
        self._settle_headers()
        self._settle_conditionals()
        self._settle_by_others()
        points = [] if self._options.deletions == "ignore" or self._base is None else self._deletion_points()
        return self._assembled(points)

    def _owing(self, *shapes: Shape) -> Iterable[tuple[int, Look]]:
        return [(line, each) for line, each in self._looks.items() if each.exempt is None and each.shape in shapes]

    def _exempt(self, lines: Iterable[int], reason: Exemption) -> None:
        for line in lines:
            self._looks[line] = self._looks[line]._replace(exempt=reason)

    # ------------------------------------------------------------ proofs that need the base

    def _exempt_reformatted(self) -> None:
        """Lines whose hunk, definition or file is proved to be the same on both sides but for its layout."""
        for hunk in self._text.hunks:
            if self._twins.same_hunk(hunk):
                same = range(hunk.head_start, hunk.head_start + hunk.head_count)
                self._exempt((line for line in same if self._looks[line].exempt is None), Exemption.REFORMATTED)
        by_holder: dict[int, list[int]] = {}
        if self._base is None:
            return
        for line, each in self._looks.items():
            if each.exempt is None and each.leaves:
                by_holder.setdefault(self._scope(each.holder), []).append(line)
        for holder, lines in by_holder.items():
            if self._twins.same_definition(holder):
                self._exempt(lines, Exemption.REFORMATTED)

    def _scope(self, holder: int) -> int:
        """The innermost definition with a name, at or around one."""
        part = self._head.outline
        while holder >= 0 and (part.definitions[holder].is_closure or not part.definitions[holder].name):
            holder = part.definitions[holder].parent
        return holder

    def _exempt_imports(self) -> None:
        """An import that base had in the same scope, and one of a name that only changed lines use."""
        for line, each in self._owing(Shape.IMPORT):
            items = self._items(line, each)
            if not items:
                continue
            new = [item for item in items if not self._is_held(item)]
            if self._only_frames(line, each, items):
                self._exempt([line], Exemption.DECLARATION)
            elif not new:
                self._exempt([line], Exemption.IMPORT_RESHUFFLE)
            elif all(item.name and not self._changes_old_code(item) for item in new):
                self._exempt([line], Exemption.DECLARATION)

    def _only_frames(self, line: int, each: Look, items: list[Import]) -> bool:
        """Whether a line opens a list of imports, all of them on other changed lines, which owe for themselves."""
        at = self._head.source.line_at
        lines = {at(item.start) for item in items}
        is_bare = all(leaf.weight is not Weight.STRONG for leaf in each.leaves)
        return is_bare and line not in lines and lines <= self._changed

    def _items(self, line: int, each: Look) -> list[Import]:
        return self._head.imports_on(line, (leaf.unit for leaf in each.leaves))

    def _is_held(self, item: Import) -> bool:
        if self._base is None:
            return False
        key = self._head.scope_of_unit(item.unit), item.key
        return self._head.import_counts[key] <= self._base.import_counts[key]

    def _changes_old_code(self, item: Import) -> bool:
        """Whether a line that the patch did not touch uses the name: then the import changes what that line does."""
        uses = self._head.uses.get(item.name, ())
        return any(line not in self._changed for leaf in uses for line in range(leaf.first, leaf.last + 1))

    def _exempt_tests(self) -> None:
        """Code that is compiled for tests only, where the settings call it generated: it owes and witnesses nothing."""
        for line, each in list(self._looks.items()):
            if each.exempt is None and each.leaves and all(leaf.is_test for leaf in each.leaves):
                self._exempt([line], Exemption.GENERATED)

    # ------------------------------------------------------------ lines that other lines answer for

    def _settle_headers(self) -> None:
        """The header of a definition that is new as a whole: whoever runs a line of the body has come in by it."""
        part = self._head.outline
        owing = [line for line, each in self._owing(Shape.CODE)]
        new: dict[int, bool] = {}
        for shape in (Shape.HEADER, Shape.CLASS):
            for line, each in self._owing(shape):
                holder = each.holder
                if holder not in new:
                    new[holder] = self._is_new(holder)
                inside = part.definitions[holder] if holder >= 0 else None
                if inside is None or not new[holder]:
                    continue
                owes_inside = bisect_right(owing, inside.last) > bisect_left(owing, inside.first)
                if owes_inside or (shape is Shape.CLASS and not self._head.table.class_runs):
                    self._exempt([line], Exemption.DECLARATION)

    def _is_new(self, holder: int) -> bool:
        """Whether the patch adds every line of a definition on which more than brackets stand."""
        if holder < 0:
            return False
        each = self._head.outline.definitions[holder]
        return self._all_changed(range(each.first, each.last + 1))

    def _all_changed(self, lines: range) -> bool:
        rest = [line for line in lines if line not in self._changed]
        return all(look(self._head, line).shape in _ENDS for line in rest if self._head.code_on(line))

    def _settle_conditionals(self) -> None:
        """What decides at compile time about new lines only: these owe for themselves."""
        for line, each in self._owing(Shape.CONDITIONAL):
            if self._all_changed(self._head.lines_of_conditional(each.unit)):
                self._exempt([line], Exemption.DECLARATION)

    def _settle_by_others(self) -> None:
        """Brackets and bare ``else``, ``try`` and the like owe nothing when the code that they belong to owes anyway.

        A brace that ends a suite owes nothing either, unless it moves: then code that the patch does not touch comes
        to stand in another suite.
        """
        part = self._head.outline
        units = {leaf.unit for _, each in self._owing(Shape.CODE, Shape.HEADER) for leaf in each.leaves}
        around: set[int] = set()
        for unit in units:
            up = unit
            while up >= 0 and up not in around:
                around.add(up)
                up = part.units[up].parent
        for hunk in self._text.hunks:
            lines = range(hunk.head_start, hunk.head_start + hunk.head_count)
            open_lines = [line for line in lines if self._may_be_settled(self._looks[line])]
            stable = bool(open_lines) and keeps_nesting(self._base, self._head, hunk)
            for line in open_lines:
                each = self._looks[line]
                settled = units if each.shape is not Shape.CLAUSE else around
                moves = each.shape is Shape.BRACES and not stable
                if (each.shape is Shape.BRACES and stable) or any(leaf.unit in settled for leaf in each.leaves):
                    self._exempt([line], _SETTLED[each.shape])
                elif not moves and each.leaves[0].role in (Role.HEADER, Role.CLASS):
                    self._exempt([line], Exemption.PUNCTUATION)

    @staticmethod
    def _may_be_settled(each: Look) -> bool:
        return each.exempt is None and each.shape in _SETTLED

    # ------------------------------------------------------------ what is left

    def _deletion_points(self) -> list[int]:
        if self._base is None:
            return []
        bare = [hunk for hunk in self._text.hunks if hunk.base_count and not self._replaces(hunk)]
        return deletion_points(self._base, self._head, bare, self._twins)

    def _replaces(self, hunk: Hunk) -> bool:
        settled = (Exemption.PUNCTUATION, Exemption.KEYWORD)
        lines = range(hunk.head_start, hunk.head_start + hunk.head_count)
        return any(self._looks[n].exempt is None for n in lines) or (
            any(self._looks[n].exempt in settled for n in lines) and keeps_nesting(self._base, self._head, hunk)
        )

    def _assembled(self, points: list[int]) -> FileClasses:
        kinds = {line: each.kind for line, each in self._looks.items() if each.exempt is None}
        ranges = {line: self._range(line, self._looks[line].unit) for line in kinds}
        for line in points:
            if line not in kinds:
                kinds[line] = Kind.DELETION
                ranges[line] = self._range(line, look(self._head, line).unit)
        path = self._text.change.path
        exempt = tuple(
            Exempt(path, line, each.exempt)
            for line, each in self._looks.items()
            if each.exempt is not None and line not in kinds
        )
        return FileClasses(obligations(self._text, kinds, ranges, self._head.scopes.of), exempt)

    def _range(self, line: int, unit: int) -> tuple[int, int]:
        if unit < 0:
            return line, line
        part = self._head.outline
        each = part.units[unit]
        last = part.source.line_at(max(each.start, part.headers[unit] - 1))
        return min(each.first, line), max(last, line)
