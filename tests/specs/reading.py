"""Reads the specification files: Markdown that people read, with just enough form for a machine to check it.

A heading of the second level begins an example. In it, a paragraph ahead of a code block says what the block is:

    Base `shop.py`:            the file on the target branch; it stays in head unless head says otherwise
    Head `shop.py`:            the file in the patch
    Head `shop.py`, in bytes:  the same, as a Python bytes literal
    Imported `cov.json`:       a coverage export that is handed to ``--cov`` instead of a run

and these sentences stand alone:

    Head removes `shop.py`.              Head links `alias.py` to `shop.py`.
    Head makes `run` executable.         Asked with `--base nowhere`.

A table gives every changed line of the example's files: ``line``, ``text``, ``class``, ``result`` (and the codes of
findings at that line), and further columns named after fields of a map's row. An example that ends with ``Gate: open,
exit 0.`` or ``Gate: closed, exit 1, LW101.`` has a repository of its own; all others of a file share one, with the
files that are given above the first heading.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from markdown_it import MarkdownIt
from markdown_it.token import Token

from tests.support.repos import Content, Executable, Link

_BLOCK = re.compile(r"(?:.*\n)*(Base|Head|Imported) `([^`]+)`(, in bytes)?:")
_REMOVES = re.compile(r"Head removes `([^`]+)`\.")
_LINKS = re.compile(r"Head links `([^`]+)` to `([^`]+)`\.")
_EXECUTABLE = re.compile(r"Head makes `([^`]+)` executable\.")
_ASKED = re.compile(r"Asked with `--base ([^`]+)`\.")
_GATE = re.compile(r"Gate: (open|closed), exit (\d+)((?:, LW\d+)*)\.")
_PLACE = re.compile(r"`(.+?)(?::(\d+))?`")


class Line(NamedTuple):
    """One row of an example's table: what is expected of one changed line, or of a whole file (line 0)."""

    path: str
    line: int
    text: str
    kind: str
    result: str
    codes: tuple[str, ...]
    fields: tuple[tuple[str, str], ...]


class Gate(NamedTuple):
    """The verdict that an example with a repository of its own expects, with the codes of all its errors."""

    verdict: str
    exit: int
    codes: tuple[str, ...]


class Example(NamedTuple):
    """One example. ``removed`` are the paths that head takes away, ``exports`` the files for ``--cov``."""

    file: str
    title: str
    base: dict[str, Content]
    head: dict[str, Content]
    removed: tuple[str, ...]
    exports: dict[str, str]
    asked: str
    lines: tuple[Line, ...]
    gate: Gate | None

    @property
    def paths(self) -> frozenset[str]:
        """The files that the patch touches."""
        return frozenset((*self.head, *self.removed))

    @property
    def slug(self) -> str:
        """The title as part of a test's name."""
        return f"{self.file}-" + re.sub(r"[^a-z0-9]+", "-", self.title.lower()).strip("-")


def examples(folder: Path) -> list[Example]:
    """Every example of the specification files in ``folder``. Errors: ``ValueError`` with file and title."""
    return [example for file in sorted(folder.glob("*.md")) for example in _examples(file)]


def _examples(file: Path) -> Iterator[Example]:
    tokens = MarkdownIt().enable("table").parse(file.read_text(encoding="utf-8"))
    starts = [n for n, token in enumerate(tokens) if token.type == "heading_open" and token.tag == "h2"]
    preface = _Reader()
    preface.read(tokens[: starts[0]])
    yield preface.example(file.stem, "")
    for start, end in zip(starts, [*starts[1:], len(tokens)], strict=True):
        title = tokens[start + 1].content
        reader = _Reader()
        try:
            reader.read(tokens[start + 3 : end])
        except (TypeError, ValueError, SyntaxError) as error:
            raise ValueError(f"{file.name}, {title!r}: {error}") from error
        if not (reader.base or reader.head):
            raise ValueError(f"{file.name}, {title!r}: an example needs files")
        yield reader.example(file.stem, title)


class _Reader:
    def __init__(self) -> None:
        self.base: dict[str, Content] = {}
        self.head: dict[str, Content] = {}
        self.removed: list[str] = []
        self.exports: dict[str, str] = {}
        self.asked = "main"
        self.lines: list[Line] = []
        self.gate: Gate | None = None

    def example(self, file: str, title: str) -> Example:
        return Example(
            file,
            title,
            self.base,
            self.head,
            tuple(self.removed),
            self.exports,
            self.asked,
            tuple(self.lines),
            self.gate,
        )

    def read(self, tokens: Sequence[Token]) -> None:
        said = ""
        for n, token in enumerate(tokens):
            if token.type == "inline" and tokens[n - 1].type == "paragraph_open":
                said = token.content
                self._sentence(said)
            elif token.type == "fence":
                self._block(said, token.content)
                said = ""
            elif token.type == "table_open":
                self._table(tokens[n:])

    def _sentence(self, text: str) -> None:
        self.removed += _REMOVES.findall(text)
        self.head |= {link: Link(target) for link, target in _LINKS.findall(text)}
        for path in _EXECUTABLE.findall(text):
            content = self.head.get(path, self.base.get(path))
            if not isinstance(content, str):
                raise TypeError(f"{path} has to be given before it becomes executable")
            self.head[path] = Executable(content)
        if asked := _ASKED.search(text):
            self.asked = asked[1]
        if gate := _GATE.search(text):
            self.gate = Gate(gate[1], int(gate[2]), tuple(sorted(re.findall(r"LW\d+", gate[3]))))

    def _block(self, said: str, content: str) -> None:
        found = _BLOCK.fullmatch(said)
        if not found:
            return
        side, path, in_bytes = found.groups()
        value: Content = ast.literal_eval(content) if in_bytes else content
        if side == "Imported":
            self.exports[path] = content
        else:
            (self.base if side == "Base" else self.head)[path] = value

    def _table(self, tokens: Sequence[Token]) -> None:
        cells: list[list[str]] = []
        for token in tokens:
            if token.type == "tr_open":
                cells.append([])
            elif token.type == "inline" and cells:
                cells[-1].append(token.content)
            elif token.type == "table_close":
                break
        names, *rows = cells
        if names[:1] == ["line"]:
            self.lines += [_line(dict(zip(names, row, strict=True))) for row in rows]


def _line(cells: dict[str, str]) -> Line:
    place = _PLACE.fullmatch(cells.pop("line"))
    if place is None:
        raise ValueError("a line is given as `path:number`, a whole file as `path`")
    status, *codes = cells.pop("result").split(", ")
    text = cells.pop("text").strip("`").replace("\\|", "|")
    kind = cells.pop("class")
    fields = tuple((name, value.strip("`")) for name, value in cells.items())
    return Line(place[1], int(place[2] or 0), text, kind, status, tuple(sorted(codes)), fields)
