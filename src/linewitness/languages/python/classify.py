"""The classes of changed lines of one Python file: a look at each line, then the proofs that need both sides."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tree_sitter import Node

from linewitness.languages.python import torn
from linewitness.languages.python.deletions import deletion_points
from linewitness.languages.python.lines import Lines, Look, Shape
from linewitness.languages.python.naming import Scopes, obligations
from linewitness.languages.python.outline import IMPORTS, Outline, outline
from linewitness.languages.python.places import definition_node
from linewitness.languages.python.reformatted import Twins, words
from linewitness.languages.python.side import Side
from linewitness.model import Exempt, Exemption, FileClasses, FileText, Hunk, Kind, LineOptions
from linewitness.patch.hunks import added_lines

_SETTLED_BY_OTHERS = {Shape.CLOSERS: Exemption.PUNCTUATION, Shape.CLAUSE: Exemption.KEYWORD}


def classify(text: FileText, options: LineOptions) -> FileClasses:
    """Each changed line of a present, readable file in its class, and the deletion points. No line is left out."""
    head = Side(text.head or b"")
    root = head.root_for(added_lines(text.hunks))
    return torn.classify(text, options) if root.has_error else _Patched(text, head, root, options).classes()


class _Patched:
    def __init__(self, text: FileText, head: Side, root: Node, options: LineOptions) -> None:
        self._text, self._head, self._root, self._options = text, head, root, options
        self._base = Side(text.base) if text.base is not None else None
        self._twins = Twins(self._base, head)

    def classes(self) -> FileClasses:
        lines = added_lines(self._text.hunks)
        part = outline(self._head.source, self._root, lines)
        looks = Lines(part, self._root, self._head.names).look(lines)
        self._exempt_imports(part, looks)
        if self._options.reformatted == "prove":
            self._exempt_reformatted(part, looks)
        _settle_by_others(part, looks)
        points = [] if self._options.deletions == "ignore" else self._deletion_points(looks)
        return self._assembled(part, looks, points)

    def _removed(self, hunk: Hunk) -> list[bytes]:
        if self._base is None:
            return []
        return [self._base.source.line(line) for line in range(hunk.base_start, hunk.base_start + hunk.base_count)]

    def _exempt_imports(self, part: Outline, looks: dict[int, Look]) -> None:
        """An import that the same scope of base held as often, under the same conditions, is only in another place."""
        imports = [line for line, look in looks.items() if _owes_import(part, look)]
        if not imports or self._base is None:
            return
        if not any(b"import" in line for hunk in self._text.hunks for line in self._removed(hunk)) or self._base.broken:
            return
        for line in imports:
            if self._head.imports.all_held_by(line, self._base.imports):
                looks[line] = looks[line]._replace(exempt=Exemption.IMPORT_RESHUFFLE)

    def _exempt_reformatted(self, part: Outline, looks: dict[int, Look]) -> None:
        """Lines of a definition (or module) that is proved to have the same syntax tree on both sides."""
        if self._base is None or not self._text.hunks:
            return
        removed = words(line for hunk in self._text.hunks for line in self._removed(hunk))
        by_definition: dict[int, list[int]] = {}
        for line, look in looks.items():
            if look.exempt is None:
                by_definition.setdefault(part.definition_of(look.owner), []).append(line)
        for definition, lines in by_definition.items():
            if not words(self._head.source.line(line) for line in lines) <= removed:
                continue
            node = definition_node(part.statements[definition].node) if definition >= 0 else None
            if self._twins.same(self._head, node):
                for line in lines:
                    looks[line] = looks[line]._replace(exempt=Exemption.REFORMATTED)

    def _deletion_points(self, looks: Mapping[int, Look]) -> list[int]:
        if self._base is None:
            return []
        bare = [hunk for hunk in self._text.hunks if hunk.base_count and not _replaces(hunk, looks)]
        return deletion_points(self._base, self._head, bare, self._text.hunks, self._twins) if bare else []

    def _assembled(self, part: Outline, looks: dict[int, Look], points: list[int]) -> FileClasses:
        ranges = {line: _statement_range(part, line, look) for line, look in looks.items() if look.exempt is None}
        kinds = {line: looks[line].kind for line in ranges}
        for line in points:
            if line not in kinds:
                kinds[line] = Kind.DELETION
                ranges[line] = self._deletion_range(line)
        path = self._text.change.path
        exempt = tuple(
            Exempt(path, line, look.exempt) for line, look in looks.items() if look.exempt and line not in kinds
        )
        return FileClasses(obligations(self._text, kinds, ranges, self._scope_of(looks)), exempt)

    def _scope_of(self, looks: Mapping[int, Look]) -> Callable[[int], str]:
        """The scope of any line, from the changed lines' tree as far as that reaches."""
        near = Scopes(self._head.source, self._root)
        return lambda line: near.of(line) if line in looks else self._head.scopes.of(line)

    def _deletion_range(self, line: int) -> tuple[int, int]:
        owners = self._head.outline.owners([line])[line]
        statement = self._head.outline.statements[owners[0]]
        return statement.first, statement.header_last


def _owes_import(part: Outline, look: Look) -> bool:
    return look.exempt is None and look.owner >= 0 and part.statements[look.owner].kind in IMPORTS


def _settle_by_others(part: Outline, looks: dict[int, Look]) -> None:
    """Closing brackets and bare ``else:``, ``finally:``, ``try:`` owe nothing when their code owes anyway."""
    owing = {look.owner for look in looks.values() if look.exempt is None and look.shape is Shape.CODE}
    around: set[int] = set()
    for owner in owing:
        up = part.suite_of(owner) if owner >= 0 else -1
        while up >= 0 and up not in around:
            around.add(up)
            up = part.suite_of(up)
    for line, look in looks.items():
        settled = owing if look.shape is Shape.CLOSERS else around
        if look.exempt is None and look.shape is not Shape.CODE and look.owner in settled:
            looks[line] = look._replace(exempt=_SETTLED_BY_OTHERS[look.shape])


def _replaces(hunk: Hunk, looks: Mapping[int, Look]) -> bool:
    """Whether a hunk put something executable in the place of what it removed."""
    settled = (Exemption.PUNCTUATION, Exemption.KEYWORD)
    lines = range(hunk.head_start, hunk.head_start + hunk.head_count)
    return any(looks[line].exempt is None or looks[line].exempt in settled for line in lines)


def _statement_range(part: Outline, line: int, look: Look) -> tuple[int, int]:
    if look.owner < 0:
        return line, line
    statement = part.statements[look.owner]
    return statement.first, statement.header_last
