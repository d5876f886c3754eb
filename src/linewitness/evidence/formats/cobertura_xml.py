"""Cobertura through a real parser: stdlib expat, streaming, with nothing resolved and nothing expanded.

A DOCTYPE is accepted, for half of the writers add one, and never looked up. An entity declaration is refused: no writer
needs one, and every known attack on XML parsers begins with one.
"""

from __future__ import annotations

import re
from array import array
from typing import Final
from xml.parsers import expat

from linewitness.evidence.formats.facts import broken
from linewitness.evidence.formats.numbers import hit_count, line_number, stands_nowhere
from linewitness.evidence.formats.source import ExportFile
from linewitness.values import NamedTuple

MAX_DEPTH = 32
_UTF8: Final = frozenset({"utf-8", "us-ascii", "ascii"})
_ODD_ENTITY: Final = re.compile(rb"&(?!(?:amp|lt|gt|quot|apos|#[0-9]+|#x[0-9a-fA-F]+);)")
_LONGEST_ENTITY: Final = 12
_PATH: Final = ("class", "lines", "line")


class ClassLines(NamedTuple):
    """What all classes of one file say: line and count in turns, and the raw branch attributes of a line."""

    counts: array[int]
    branches: list[tuple[int, str, str]]


class Document(NamedTuple):
    """A parsed file, or the part of it before the first class."""

    sources: tuple[str, ...]
    classes: dict[str, ClassLines]
    utf8: bool


def parse(export: ExportFile, *, stop: int | None = None) -> Document:
    """Read the whole file, or its first ``stop`` bytes. Errors: ``EvidenceError`` with the line of the trouble."""
    builder = _Builder(export, 0)
    if stop is not None:
        builder.feed(export.read(0, stop), final=False)
        return builder.document()
    for window in export.windows(0):
        builder.feed(window.data, final=window.start + len(window.data) >= export.size)
    return builder.document()


def parse_fragment(export: ExportFile, text: bytes, offset: int) -> ClassLines:
    """Read one ``<class>`` element that stands at ``offset``."""
    builder = _Builder(export, offset)
    builder.path = ["coverage", "packages", "package", "classes"]
    builder.feed(text, final=True)
    return next(iter(builder.document().classes.values()))


class _Builder:
    """The handlers of one parse and what they have gathered."""

    def __init__(self, export: ExportFile, offset: int) -> None:
        self._export = export
        self._offset = offset
        self._sources: list[str] = []
        self._text: list[str] | None = None
        self._classes: dict[str, ClassLines] = {}
        self._current: ClassLines | None = None
        self._utf8 = True
        self._doctype = False
        self._cut = b""
        self.path: list[str] = []
        self._parser = expat.ParserCreate()
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._characters
        self._parser.EntityDeclHandler = self._refuse_entity
        self._parser.XmlDeclHandler = self._declaration
        self._parser.StartDoctypeDeclHandler = self._note_doctype
        self._parser.buffer_text = True

    def feed(self, data: bytes, *, final: bool) -> None:
        whole = self._without_cut_entity(data, final=final)
        try:
            self._parser.Parse(data, final)
        except expat.ExpatError as error:
            raise self._error(expat.ErrorString(error.code)) from error
        except (LookupError, ValueError) as error:
            # expat asks Python for encodings that it does not know itself
            raise self._error(f"its encoding cannot be read ({error})") from error
        if self._doctype and _ODD_ENTITY.search(whole):
            # behind a DOCTYPE expat takes an entity for one that is declared elsewhere, and drops it without a word
            raise self._error("an entity that XML does not define")

    def _without_cut_entity(self, data: bytes, *, final: bool) -> bytes:
        """The bytes with what was left of the last piece in front, and without an entity that goes on in the next."""
        whole = self._cut + data
        at = whole.rfind(b"&", max(0, len(whole) - _LONGEST_ENTITY))
        cut = len(whole) if final or at < 0 or b";" in whole[at:] else at
        self._cut = whole[cut:]
        return whole[:cut]

    def document(self) -> Document:
        return Document(tuple(self._sources), self._classes, self._utf8)

    def _error(self, what: str) -> Exception:
        if self._offset:
            return broken(self._export, what, offset=self._offset + max(0, self._parser.CurrentByteIndex))
        return broken(self._export, what, line=self._parser.CurrentLineNumber)

    def _declaration(self, _version: str, encoding: str | None, _standalone: int) -> None:
        self._utf8 = encoding is None or encoding.lower() in _UTF8

    def _note_doctype(self, *_doctype: object) -> None:
        self._doctype = True

    def _refuse_entity(self, *_declaration: object) -> None:
        raise self._error("an entity declaration, which no coverage tool writes")

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        if not self.path and tag != "coverage":
            raise self._error(f"its outermost element is <{tag[:40]}> and not <coverage>")
        self.path.append(tag)
        if len(self.path) > MAX_DEPTH:
            raise self._error("elements nested deeper than any writer nests them")
        if tag == "class":
            self._enter_class(attributes)
        elif tag == "source" and self.path[-2] == "sources":
            self._text = []
        elif tag == "line" and self._current is not None and tuple(self.path[-3:]) == _PATH:
            self._line(self._current, attributes)

    def _end(self, tag: str) -> None:
        self.path.pop()
        if tag == "class":
            self._current = None
        elif tag == "source" and self._text is not None:
            self._sources.append("".join(self._text).strip())
            self._text = None

    def _characters(self, text: str) -> None:
        if self._text is not None:
            self._text.append(text)

    def _enter_class(self, attributes: dict[str, str]) -> None:
        name = attributes.get("filename")
        if not name:
            raise self._error("a <class> without filename")
        self._current = self._classes.setdefault(name, ClassLines(array("q"), []))

    def _line(self, current: ClassLines, attributes: dict[str, str]) -> None:
        number = line_number(attributes.get("number", ""))
        hits = hit_count(attributes.get("hits", ""))
        if hits is not None and stands_nowhere(attributes.get("number", "")):
            return
        if number is None or hits is None:
            raise self._error(
                f"number={attributes.get('number', '')[:40]!r} hits={attributes.get('hits', '')[:40]!r} is no line"
            )
        current.counts.extend((number, hits))
        if "condition-coverage" in attributes:
            current.branches.append((number, attributes["condition-coverage"], attributes.get("missing-branches", "")))
