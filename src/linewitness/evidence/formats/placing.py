"""Fits the facts of an export to the text of head: columns become bytes, and what cannot be of this text is refused.

Whether a line is a comment is a question for its language. What is checked here needs none: places behind the end of a
line or of the file, counts on blank lines in formats that give these none, scripts of another length.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from itertools import chain
from typing import Final

from linewitness.evidence.formats.facts import FileFacts, Grain
from linewitness.evidence.formats.regions import END_OF_LINE, Piece, Regions, Unit
from linewitness.model import Pos, Span

_BOM: Final = b"\xef\xbb\xbf"
#: What Node.js put around a module before version 12, as far as offsets are concerned.
_WRAPPER_HEAD: Final = len("(function (exports, require, module, __filename, __dirname) { ")
_WRAPPER_TAIL: Final = len("\n});")
#: How far behind the end of its line a column may be: the terminator, and one for ends that are exclusive.
_SLACK: Final = 2
_SEPARATORS: Final = b" \t\r,;"
#: Of these languages only compilers of the LLVM family count, or (C#) tools that give a closing bracket a count too.
_COUNTED_BY_STRETCH: Final = (".cs", ".rs", ".swift")
#: Of these languages tools count what the compiler's table of lines names, whatever format the counts went into.
_COUNTED_BY_TABLE: Final = (
    ".c", ".cc", ".cpp", ".cxx", ".h", ".hpp", ".hxx", ".java", ".kt", ".kts", ".scala"
)  # fmt: skip
#: Of these languages the compiler counts code of its own on the first line.
_WITH_FACADES: Final = (".kt", ".kts")
#: Languages in which a line that begins with two slashes is a comment.
_SLASHES: Final = (
    ".c", ".cc", ".cpp", ".cs", ".cxx", ".go", ".h", ".hpp", ".java", ".js", ".jsx", ".kt", ".mjs", ".php", ".rs",
    ".scala", ".swift", ".ts", ".tsx",
)  # fmt: skip
#: Lines without code of their own. Closing brackets alone are not among them: gcc has counts for the end of a function.
_IDLE: Final = re.compile(rb"(?:\{|(?:\}\s*)?(?:else|do|try)\s*\{?|\{\s*\})?")
_LONGEST_IDLE: Final = 10


class Disagreement(Exception):  # noqa: N818 - a fact about two files, for the caller to phrase as an error
    """The export was not collected on this text. ``line`` is where they disagree, 0 for the file as a whole."""

    def __init__(self, line: int, what: str) -> None:
        super().__init__(what)
        self.line = line
        self.what = what


def placed(facts: FileFacts, head: bytes, path: str = "") -> FileFacts:
    """The facts with all columns in bytes, and with the grain that the lines which have an entry give away.

    Errors: :class:`Disagreement` when the export cannot have been collected on this text.
    """
    text = _Text(head)
    text.check_end(facts)
    if facts.grain is Grain.STATEMENTS and not facts.solid and facts.regions is None:
        facts = facts._replace(grain=_grain_of_lines(facts, text, path))
    if facts.grain is not Grain.PHYSICAL:
        facts = facts._replace(counts=text.without_harness(facts.counts)) if path.endswith(".rs") else facts
        facts = _without_facade(facts) if path.endswith(_WITH_FACADES) else facts
        text.check_silent(facts, slashes=path.endswith(_SLASHES))
    return facts if facts.regions is None else facts._replace(regions=_in_bytes(facts.regions, text))


def _grain_of_lines(facts: FileFacts, text: _Text, path: str) -> Grain:
    """What lines stand for in LCOV, Cobertura and Clover, into which tools of every kind are written."""
    if path.endswith(_COUNTED_BY_STRETCH):
        return Grain.TOUCHED
    by_table = path.endswith(_COUNTED_BY_TABLE)
    if not by_table and _is_physical(facts, text):
        return Grain.PHYSICAL
    if any(text.is_idle(line) for line in facts.counts):
        return Grain.TOUCHED
    return Grain.COMPILED if by_table else Grain.STATEMENTS


def _is_physical(facts: FileFacts, text: _Text) -> bool:
    """Whether an export has an entry for every line, blank ones or lone brackets included, as c8 writes it."""
    count = text.count
    named = facts.counts.keys()
    if count < 2 or len(named) < count - 1 or any(line not in named for line in range(1, count)):
        return False
    return any(text.is_bare(line) for line in named if line <= count)


def _without_facade(facts: FileFacts) -> FileFacts:
    """The facts without the count of the first line, where Kotlin's compiler puts what it makes itself.

    The class that stands for several files (``JvmMultifileClass``) calls the functions of each from there.
    """
    if not facts.counts.get(1):
        return facts
    counts = {line: count for line, count in facts.counts.items() if line != 1}
    return facts._replace(counts=counts, uncounted=facts.uncounted | {1})


class _Text:
    """The lines of head, and ways to turn columns of other units into bytes."""

    def __init__(self, head: bytes) -> None:
        self._bom = len(_BOM) if head.startswith(_BOM) else 0
        self._head = head
        self._lines = head.split(b"\n")
        if self._lines[-1] == b"" and len(self._lines) > 1:
            self._lines.pop()
        self.count = len(self._lines)

    def line(self, number: int) -> bytes:
        """The bytes of a line without its line feed."""
        return self._lines[number - 1]

    def is_bare(self, number: int) -> bool:
        """Whether a line holds nothing, or only brackets and separators."""
        return not self.line(number).strip(b" \t\r\f\v{}()[];,")

    def is_idle(self, number: int) -> bool:
        """Whether a line holds no code of its own, so that only a tool which counts whole stretches has it."""
        line = self.line(number).strip()
        return len(line) <= _LONGEST_IDLE and _IDLE.fullmatch(line) is not None

    def check_end(self, facts: FileFacts) -> None:
        """Errors: :class:`Disagreement` for lines that the text has not."""
        last = max(chain(facts.counts, facts.uncounted, facts.excluded), default=0)
        if last > self.count:
            raise Disagreement(self.count, f"names line {last} of a file that has {self.count} lines at head")

    def without_harness(self, counts: Mapping[int, int]) -> Mapping[int, int]:
        """The counts without that of a first line that holds no code: rustc puts the ``main`` of its tests there."""
        if not counts.get(1) or not self._is_silent(1, slashes=True):
            return counts
        return {line: count for line, count in counts.items() if line != 1}

    def check_silent(self, facts: FileFacts, *, slashes: bool) -> None:
        """Errors: :class:`Disagreement` for a line that ran and is blank, or a comment that begins with ``slashes``.

        Tools that count stretches of text count such lines inside of one, and then the lines around these too.
        """
        counts = facts.counts
        for line, count in counts.items():
            if count > 0 and self._is_silent(line, slashes=slashes):
                inside = line - 1 in counts and (line + 1 in counts or line == self.count)
                if facts.solid or not inside:
                    what = "a comment" if self.line(line).strip() else "blank"
                    raise Disagreement(line, f"says that this line ran, which is {what} at head")

    def _is_silent(self, number: int, *, slashes: bool) -> bool:
        text = self.line(number).strip()
        return not text or (slashes and text.startswith(b"//"))

    def byte_column(self, place: Pos) -> Pos:
        """A place whose column counts bytes already."""
        return self._checked(place, self._lines[place.line - 1] if 1 <= place.line <= self.count else b"", place.col)

    def utf16_column(self, place: Pos) -> Pos:
        """A place whose column counts UTF-16 units."""
        line = self._lines[place.line - 1] if 1 <= place.line <= self.count else b""
        if place.line == 1:
            line = line[self._bom :]
        if line.isascii():
            column = place.col
        elif place.col >= END_OF_LINE:
            column = END_OF_LINE
        else:
            column = _bytes_of_units(line.decode("utf-8", "surrogateescape"), place.col)
        return self._checked(place, line, column)

    def _checked(self, place: Pos, line: bytes, column: int) -> Pos:
        if place.line == self.count + 1 and column == 0:
            return place  # behind the last line feed
        if not 1 <= place.line <= self.count:
            raise Disagreement(self.count, f"names line {place.line} of a file that has {self.count} lines at head")
        if END_OF_LINE > column > len(line) + _SLACK:
            raise Disagreement(place.line, f"names column {place.col + 1} of a line that is shorter at head")
        shift = self._bom if place.line == 1 and line is not self._lines[0] else 0
        # writers that leave the end out mean the end of the code; what separates it from the next is not meant
        end = len(line.rstrip(_SEPARATORS)) if column >= END_OF_LINE else len(line)
        return Pos(place.line, min(column, end) + shift)

    @cached_property
    def _starts(self) -> list[int]:
        """Where each line starts, in bytes of the text behind a byte order mark."""
        starts, at = [], 0
        for number, line in enumerate(self._lines):
            starts.append(at)
            at += len(line) + 1 - (self._bom if number == 0 else 0)
        return starts

    def offsets(self, pieces: Iterable[Piece]) -> Callable[[Pos], Pos]:
        """How to turn offsets of a whole script into places.

        Errors: :class:`Disagreement` when the script was not as long as this text.
        """
        body = self._head[self._bom :]
        decoded = body.decode("utf-8", "surrogateescape")
        units = len(body) if body.isascii() else len(decoded.encode("utf-16-le", "surrogatepass")) // 2
        end = max((piece.region.end.col for piece in pieces), default=0)
        shift = _WRAPPER_HEAD if end == units + _WRAPPER_HEAD + _WRAPPER_TAIL else 0
        if end != units and not shift:
            raise Disagreement(0, f"is about a script of {end} characters, and the file has {units} at head")
        table = None if body.isascii() else _unit_table(decoded)

        def convert(place: Pos) -> Pos:
            unit = min(max(place.col - shift, 0), units)
            at = unit if table is None else table[unit]
            line = bisect_right(self._starts, at) - 1
            return Pos(line + 1, at - self._starts[line] + (self._bom if line == 0 else 0))

        return convert


def _in_bytes(regions: Regions, text: _Text) -> Regions:
    if regions.unit is Unit.OFFSET:
        convert = text.offsets(regions.pieces)
    else:
        convert = text.byte_column if regions.unit is Unit.BYTES else text.utf16_column
    known: dict[Pos, Pos] = {}

    def at(place: Pos) -> Pos:
        found = known.get(place)
        if found is None:
            found = known[place] = convert(place)
        return found

    pieces = (
        Piece(at(piece.start), at(piece.end), piece.hits, Span(at(piece.region.start), at(piece.region.end)))
        for piece in regions.pieces
    )
    return regions._replace(pieces=tuple(piece for piece in pieces if piece.start < piece.end), unit=Unit.BYTES)


def _bytes_of_units(line: str, units: int) -> int:
    """How many bytes the first UTF-16 units of a line are; units behind its end count one byte each."""
    seen = size = 0
    for character in line:
        if seen >= units:
            return size
        seen += 2 if ord(character) > 0xFFFF else 1
        size += len(character.encode("utf-8", "surrogateescape"))
    return size + max(0, units - seen)


def _unit_table(text: str) -> list[int]:
    """For each UTF-16 unit of a text, and for its end, the byte at which its character starts."""
    table: list[int] = []
    at = 0
    for character in text:
        table.extend([at] * (2 if ord(character) > 0xFFFF else 1))
        at += len(character.encode("utf-8", "surrogateescape"))
    table.append(at)
    return table
