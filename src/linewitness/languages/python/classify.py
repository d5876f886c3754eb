"""The classes of changed lines of one Python file: a look at each line, then the proofs that need both sides."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from linewitness.languages.naming import obligations
from linewitness.languages.python import torn
from linewitness.languages.python.deletions import deletion_points
from linewitness.languages.python.imports import has_name, names_in
from linewitness.languages.python.lines import Lines, Look, Reading, Shape, UncertainError
from linewitness.languages.python.outline import IMPORTS, Outline, outline
from linewitness.languages.python.places import definition_node
from linewitness.languages.python.reformatted import Twins, Wording
from linewitness.languages.python.scopes import Scopes, extents
from linewitness.languages.python.side import Side
from linewitness.model import Exempt, Exemption, FileClasses, FileText, Hunk, Kind, LineOptions
from linewitness.patch.hunks import added_lines

# A file of which fewer lines than this many, or than one in four, changed is as well read from its tree.
_MANY, _MOSTLY = 200, 4
# exempt also in a file that is no valid Python
_TOLD_BY_TEXT = frozenset({Exemption.BLANK, Exemption.COMMENT})
_SETTLED_BY_OTHERS = {Shape.CLOSERS: Exemption.PUNCTUATION, Shape.CLAUSE: Exemption.KEYWORD}


def classify(text: FileText, options: LineOptions) -> FileClasses:
    """Each changed line of a present, readable file in its class, and the deletion points. No line is left out."""
    head, lines = Side(text.head or b""), added_lines(text.hunks)
    found = _from_text(text, head, lines, options)
    if found is not None:
        return found
    root = head.root_for(lines)
    if root.has_error:
        return torn.classify(text, options)
    part = outline(head.source, root, lines)
    read = Reading(part, Lines(part, root, head.names).look(lines), Scopes(extents(part)), is_whole=False)
    return _Patched(text, head, read, options).classes()


def _from_text(text: FileText, head: Side, lines: list[int], options: LineOptions) -> FileClasses | None:
    """The same without the syntax tree, where that is certain, and worth it."""
    if len(lines) < _MANY or len(lines) * _MOSTLY < head.source.line_count:
        return None
    # most patches are small, and do without it
    from linewitness.languages.python.sketch import sketch

    read = sketch(head.source, lines)
    if read is None:
        return None
    try:
        classes = _Patched(text, head, read, options).classes()
    except UncertainError:
        return None
    if all(exempt.reason in _TOLD_BY_TEXT for exempt in classes.exempt) or not head.root_for(lines).has_error:
        return classes
    return None


class _Patched:
    def __init__(self, text: FileText, head: Side, read: Reading, options: LineOptions) -> None:
        self._text, self._head, self._read, self._options = text, head, read, options
        self._base = Side(text.base) if text.base is not None else None
        self._twins = Twins(self._base, head)

    def classes(self) -> FileClasses:
        part, looks = self._read.part, self._read.looks
        self._exempt_imports(part, looks)
        if self._options.reformatted == "prove":
            self._exempt_reformatted(part, looks)
        _settle_by_others(part, looks)
        points = [] if self._options.deletions == "ignore" else self._deletion_points(looks)
        return self._assembled(part, looks, points)

    def _removed(self) -> bytes:
        """What the hunks removed, one after the other."""
        if self._base is None:
            return b""
        data, starts = self._base.source
        return b"".join([data[starts[at - 1] : starts[at - 1 + count]] for at, count, _, _ in self._text.hunks])

    def _exempt_imports(self, part: Outline, looks: dict[int, Look]) -> None:
        """An import that the same scope of base held as often, under the same conditions, is only in another place."""
        imports = [line for line, look in looks.items() if _owes_import(part, look)]
        if not imports or self._base is None or b"import" not in self._removed():
            return
        before, owners = self._base.source.data, part.owners(imports)
        for line in imports:
            if any(part.statements[owner].kind not in IMPORTS for owner in owners[line]):
                continue  # "import a; f()" does more than import
            # no name that base never wrote was imported there; asking its tree is dear
            names = names_in(self._head.source.line(line).partition(b"#")[0])
            if not all(has_name(name, before) for name in names) or self._base.broken:
                continue
            if self._head.imports.all_held_by(line, self._base.imports):
                looks[line] = looks[line]._replace(exempt=Exemption.IMPORT_RESHUFFLE)

    def _exempt_reformatted(self, part: Outline, looks: dict[int, Look]) -> None:
        """Lines of a definition (or module) that is proved to have the same syntax tree on both sides."""
        if self._base is None or not self._text.hunks:
            return
        wording = Wording(self._removed(), self._base.source.data)
        definitions, by_definition = part.definitions(), dict[int, list[int]]()
        for line, (reason, _, owner, _) in looks.items():
            if reason is None:
                by_definition.setdefault(definitions[owner] if owner >= 0 else -1, []).append(line)
        for definition, lines in by_definition.items():
            if not wording.may_be([self._head.source.line(line) for line in lines], self._code_on(part, looks, lines)):
                continue
            if self._read.is_whole:
                raise UncertainError
            node = definition_node(part.statements[definition].node) if definition >= 0 else None
            if self._twins.same(self._head, node):
                for line in lines:
                    looks[line] = looks[line]._replace(exempt=Exemption.REFORMATTED)

    def _code_on(self, part: Outline, looks: Mapping[int, Look], lines: Iterable[int]) -> Iterator[bytes]:
        """What stands on lines from the beginning of a statement on: nothing of that is inside of a string."""
        data, starts = self._head.source
        for line in lines:
            owner = looks[line].owner
            if owner >= 0 and part.statements[owner].first == line:
                yield data[part.statements[owner].start : starts[line]]

    def _deletion_points(self, looks: Mapping[int, Look]) -> list[int]:
        if self._base is None:
            return []
        bare = [hunk for hunk in self._text.hunks if hunk.base_count and not _replaces(hunk, looks)]
        return deletion_points(self._base, self._head, bare, self._text.hunks, self._twins) if bare else []

    def _assembled(self, part: Outline, looks: dict[int, Look], points: list[int]) -> FileClasses:
        ranges, kinds = dict[int, tuple[int, int]](), dict[int, Kind]()
        for line, (reason, kind, owner, _) in looks.items():
            if reason is None:
                kinds[line] = kind
                ranges[line] = part.statements[owner].header_lines if owner >= 0 else (line, line)
        for line in points:
            if line not in kinds:
                kinds[line] = Kind.DELETION
                ranges[line] = self._deletion_range(line)
        path = self._text.change.path
        exempt = tuple(
            Exempt(path, line, reason) for line, (reason, _, _, _) in looks.items() if reason and line not in kinds
        )
        return FileClasses(obligations(self._text, kinds, ranges, self._scope_of(looks)), exempt)

    def _scope_of(self, looks: Mapping[int, Look]) -> Callable[[int], str]:
        """The scope of any line, from what was read of the file as far as that reaches."""
        near = self._read.scopes
        if self._read.is_whole:
            return near.of
        return lambda line: near.of(line) if line in looks else self._head.scopes.of(line)

    def _deletion_range(self, line: int) -> tuple[int, int]:
        owners = self._head.outline.owners([line])[line]
        statement = self._head.outline.statements[owners[0]]
        return statement.first, statement.header_last


def _owes_import(part: Outline, look: Look) -> bool:
    return look.exempt is None and look.owner >= 0 and part.statements[look.owner].kind in IMPORTS


def _settle_by_others(part: Outline, looks: dict[int, Look]) -> None:
    """Closing brackets and bare ``else:``, ``finally:``, ``try:`` owe nothing when their code owes anyway."""
    odd = [line for line, look in looks.items() if look.shape is not Shape.CODE and look.exempt is None]
    if not odd:
        return
    owing = {look.owner for look in looks.values() if look.exempt is None and look.shape is Shape.CODE}
    around: set[int] = set()
    for owner in owing:
        up = part.suite_of(owner) if owner >= 0 else -1
        while up >= 0 and up not in around:
            around.add(up)
            up = part.suite_of(up)
    for line in odd:
        look = looks[line]
        if look.owner in (owing if look.shape is Shape.CLOSERS else around):
            looks[line] = look._replace(exempt=_SETTLED_BY_OTHERS[look.shape])


def _replaces(hunk: Hunk, looks: Mapping[int, Look]) -> bool:
    """Whether a hunk put something executable in the place of what it removed."""
    settled = (Exemption.PUNCTUATION, Exemption.KEYWORD)
    lines = range(hunk.head_start, hunk.head_start + hunk.head_count)
    return any(looks[line].exempt is None or looks[line].exempt in settled for line in lines)
