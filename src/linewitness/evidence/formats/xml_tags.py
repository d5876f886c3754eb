"""Finds the elements of an XML export that say which file is meant, and where their bytes are, and decodes one of them.

In its writer's usual shape an export is searched for tags as bytes, which is exact as long as it has neither comments
nor CDATA nor processing instructions behind its first element: a bare ``<`` can stand nowhere else. Any other goes
through expat, with the same answer. Nothing is resolved and nothing is expanded (``cobertura_xml`` has the reasons).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final
from xml.parsers import expat

from linewitness.evidence.formats.facts import broken
from linewitness.evidence.formats.source import ExportFile
from linewitness.values import NamedTuple

MAX_DEPTH: Final = 64
_MAX_TAG: Final = 1 << 13
_MAX_PREAMBLE: Final = 1 << 20
_BYTEWISE: Final = frozenset({"utf-8", "us-ascii", "ascii", "iso-8859-1", "latin-1", "windows-1252"})
_ATTRIBUTES: Final = re.compile(rb"(?:\s+[A-Za-z_:][\w:.-]*\s*=\s*(?:\"[^\"<&]*\"|'[^'<&]*'))*\s*/?")
_ATTRIBUTE: Final = re.compile(rb"\s([A-Za-z_:][\w:.-]*)\s*=\s*(?:\"([^\"]*)\"|'([^']*)')")
_UTF8: Final = ("utf-8", "us-ascii", "ascii")
_ENCODING: Final = re.compile(rb"""(?:\xef\xbb\xbf)?<\?xml[^>]*?\sencoding\s*=\s*["']([\w.-]+)""")
_LONGEST_ENTITY: Final = 12
_ENTITY: Final = re.compile(rb"&(?!(?:amp|lt|gt|quot|apos|#[0-9]+|#x[0-9a-fA-F]+);)")


class Tag(NamedTuple):
    """A start tag of interest at byte ``start``, or, without attributes (``None``), an end tag that begins there.

    An empty element has two tags at the same byte.
    """

    name: str
    attributes: dict[str, str] | None
    start: int


Element = Callable[[tuple[str, ...], dict[str, str]], None]


def tags(export: ExportFile, root: str, names: frozenset[str]) -> Iterator[Tag]:
    """Every start and end tag of elements with one of ``names``, in order. ``root`` is the outermost element.

    Errors: ``EvidenceError`` for anything that is no such document.
    """
    if _is_plain(export, root):
        try:
            yield from _hopped(export, names)
        except _UnusualError as unusual:
            yield from (tag for tag in _parsed(export, root, names) if tag.start >= unusual.start)
        return
    yield from _parsed(export, root, names)


class Place(NamedTuple):
    """Where the element ``name`` stands: from its start tag up to, not including, its end tag."""

    name: str
    start: int
    end: int


def decode(export: ExportFile, place: Place, visit: Element) -> None:
    """Tell ``visit`` the path and the attributes of every element from this one on, which comes first.

    Errors: ``EvidenceError`` for what is no XML.
    """
    if place.start == place.end:
        return
    parser = _Parser(export, place.start, visit)
    parser.read_as(declared_encoding(export))
    parser.feed(export.read(place.start, place.end) + f"</{place.name}>".encode(), final=True)


def spelled(attributes: dict[str, str]) -> str:
    """The attributes of an element for an error message, not longer than a line."""
    return " ".join(f"{key}={value[:40]!r}" for key, value in attributes.items())[:200]


def declared_encoding(export: ExportFile) -> str:
    """The encoding that the document says it has."""
    found = _ENCODING.match(export.read(0, min(200, export.size)))
    return found[1].decode().lower() if found else "utf-8"


class _UnusualError(Exception):
    """A tag that the byte search does not understand; everything before ``start`` was understood."""

    def __init__(self, start: int) -> None:
        super().__init__(start)
        self.start = start


def _is_plain(export: ExportFile, root: str) -> bool:
    """Whether a search for bytes finds exactly the tags: see the module's text."""
    head = export.read(0, min(_MAX_PREAMBLE, export.size))
    first = re.search(rb"<" + root.encode() + rb"(?=[\s>/])", head)
    closing = b"</" + root.encode() + b">"
    if first is None or not export.read(max(0, export.size - 256), export.size).rstrip().endswith(closing):
        return False
    parser = _Parser(export, 0, lambda _path, _attributes: None)
    parser.feed(head[: first.start()], final=False)
    if declared_encoding(export) not in _UTF8:
        return False
    unusual = (b"<!", b"<?", first[0])
    for window in export.windows(len(first[0])):
        at = max(0, first.end() - window.start)
        if any(window.data.find(mark, at) >= 0 for mark in unusual):
            return False
    return True


def _hopped(export: ExportFile, names: frozenset[str]) -> Iterator[Tag]:
    pattern = re.compile(rb"<(/?)(" + b"|".join(sorted(name.encode() for name in names)) + rb")(?=[\s/>])([^<>]*)(>?)")
    nesting: list[str] = []
    done = 0
    for window in export.windows(_MAX_TAG):
        last = window.start + len(window.data) >= export.size
        for match in pattern.finditer(window.data):
            start = window.start + match.start()
            if start < done:
                continue
            if not last and match.start() > len(window.data) - _MAX_TAG:
                break  # this one is whole in the next window
            done = start + 1
            yield from _hopped_tag(match, start, nesting)
    if nesting:
        raise broken(export, f"its <{nesting[-1]}> does not end: the file is cut off")


def _hopped_tag(match: re.Match[bytes], start: int, nesting: list[str]) -> Iterator[Tag]:
    name = match[2].decode()
    if match[1]:
        if not match[4] or match[3].strip() or not nesting or nesting.pop() != name:
            raise _UnusualError(start)
        yield Tag(name, None, start)
        return
    if not match[4] or _ATTRIBUTES.fullmatch(match[3]) is None:
        raise _UnusualError(start)
    try:
        pairs = [(key.decode(), (one or two).decode()) for key, one, two in _ATTRIBUTE.findall(match[3])]
    except UnicodeDecodeError:
        raise _UnusualError(start) from None
    attributes = dict(pairs)
    if len(attributes) != len(pairs):
        raise _UnusualError(start)
    yield Tag(name, attributes, start)
    if match[3].endswith(b"/"):
        yield Tag(name, None, start)
    else:
        nesting.append(name)


def _parsed(export: ExportFile, root: str, names: frozenset[str]) -> Iterator[Tag]:
    found: list[Tag] = []
    parser = _Parser(export, 0, lambda _path, _attributes: None, root)
    parser.watch(names, found)
    for window in export.windows(0):
        parser.feed(window.data, final=window.start + len(window.data) >= export.size)
        yield from found
        found.clear()


class _Parser:
    """Expat with the handlers that refuse, and a path."""

    def __init__(self, export: ExportFile, offset: int, visit: Element, root: str | None = None) -> None:
        self._export = export
        self._offset = offset
        self._visit = visit
        self._root = root
        self._path: list[str] = []
        self._names: frozenset[str] = frozenset()
        self._found: list[Tag] = []
        self._last = Tag("", None, 0)
        self._doctype = False
        self._cut = b""
        self._open(None)

    def _open(self, encoding: str | None) -> None:
        self._parser = expat.ParserCreate(encoding)
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.EntityDeclHandler = self._refuse_entity
        self._parser.XmlDeclHandler = self._check_encoding
        self._parser.StartDoctypeDeclHandler = self._note_doctype

    def read_as(self, encoding: str) -> None:
        """Read a fragment, which has no declaration, as the document it is from."""
        if encoding not in _UTF8:
            self._open(encoding)

    def watch(self, names: frozenset[str], found: list[Tag]) -> None:
        """Append the tags of these elements to ``found``."""
        self._names, self._found = names, found

    def feed(self, data: bytes, *, final: bool) -> None:
        try:
            self._parser.Parse(data, final)
        except expat.ExpatError as error:
            raise self._error(expat.ErrorString(error.code)) from error
        except (LookupError, ValueError) as error:
            # expat asks Python for encodings that it does not know itself
            raise self._error(f"its encoding cannot be read ({error})") from error
        if self._doctype and _ENTITY.search(self._without_cut_entity(data, final=final)):
            # behind a DOCTYPE expat takes an entity for one that is declared elsewhere, and drops it without a word
            raise self._error("an entity that XML does not define")

    def _without_cut_entity(self, data: bytes, *, final: bool) -> bytes:
        """The bytes with what was left of the last piece in front, and without an entity that goes on in the next."""
        whole = self._cut + data
        at = whole.rfind(b"&", max(0, len(whole) - _LONGEST_ENTITY))
        cut = len(whole) if final or at < 0 or b";" in whole[at:] else at
        self._cut = whole[cut:]
        return whole[:cut]

    def _error(self, what: str) -> Exception:
        if self._offset:
            return broken(self._export, what, offset=self._offset + max(0, self._parser.CurrentByteIndex))
        return broken(self._export, what, line=self._parser.CurrentLineNumber)

    def _check_encoding(self, _version: str, encoding: str | None, _standalone: int) -> None:
        if encoding is not None and encoding.lower() not in _BYTEWISE:
            raise self._error(f"its encoding is {encoding[:40]!r}; coverage tools write UTF-8")

    def _note_doctype(self, *_doctype: object) -> None:
        self._doctype = True

    def _refuse_entity(self, *_declaration: object) -> None:
        raise self._error("an entity declaration, which no coverage tool writes")

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        if not self._path and self._root is not None and tag != self._root:
            raise self._error(f"its outermost element is <{tag[:40]}> and not <{self._root}>")
        self._path.append(tag)
        if len(self._path) > MAX_DEPTH:
            raise self._error("elements nested deeper than any writer nests them")
        if tag in self._names:
            self._found.append(Tag(tag, attributes, self._parser.CurrentByteIndex))
            self._last = self._found[-1]
        self._visit(tuple(self._path), attributes)

    def _end(self, tag: str) -> None:
        self._path.pop()
        if tag in self._names:
            self._found.append(Tag(tag, None, self._end_of(tag)))

    def _end_of(self, tag: str) -> int:
        """Where the end tag begins. Of an empty element expat tells the byte behind it, here it is the first."""
        at = self._parser.CurrentByteIndex
        name, attributes, start = self._found[-1] if self._found else self._last
        if name == tag and attributes is not None and at - start < _MAX_TAG:
            text = self._export.read(start, at)
            if text.endswith(b"/>") and _ATTRIBUTES.fullmatch(text, len(tag) + 1, len(text) - 1):
                return start
        return at
