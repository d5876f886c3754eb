"""What reads our reports, as strictly as it can be had: published schemas, a Markdown renderer, an HTML parser."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]
from lxml import etree  # type: ignore[import-untyped]

SCHEMAS = Path(__file__).parent.parent / "fixtures" / "report_schemas"
_PARSER = etree.XMLParser(resolve_entities=False, load_dtd=False, no_network=True, huge_tree=True)


@cache
def _json_schema(name: str) -> Any:
    schema = json.loads((SCHEMAS / name).read_bytes())
    kind = jsonschema.validators.validator_for(schema)
    return kind(schema, format_checker=kind.FORMAT_CHECKER)


def sarif(data: bytes) -> dict[str, Any]:
    """The one run of a log that the official schema accepts."""
    log = json.loads(data)
    _json_schema("sarif-2.1.0.json").validate(log)
    (run,) = log["runs"]
    return dict(run)


def gitlab(data: bytes) -> list[dict[str, Any]]:
    """The entries of a code quality report."""
    entries = json.loads(data)
    _json_schema("gitlab.json").validate(entries)
    return list(entries)


def rdjsonl(data: bytes) -> list[dict[str, Any]]:
    """The diagnostics of a stream, one from each line."""
    found = [json.loads(line) for line in data.split(b"\n")[:-1]]
    for diagnostic in found:
        _json_schema("rdjsonl.json").validate(diagnostic)
    return found


def junit(data: bytes) -> Any:
    """The root of a document that the schema of the Jenkins plugin accepts."""
    root = etree.fromstring(data, _PARSER)
    etree.XMLSchema(etree.parse(SCHEMAS / "junit-10.xsd")).assertValid(root)
    return root


def cobertura(data: bytes) -> Any:
    """The root of a document that Cobertura's DTD accepts."""
    root = etree.fromstring(data, _PARSER)
    dtd = etree.DTD(str(SCHEMAS / "coverage-04.dtd"))
    assert dtd.validate(root), dtd.error_log
    return root


COMMAND = re.compile(r"::(error|warning|notice)(?: ([^:]*))?::(.*)")


def github(data: bytes) -> Iterator[tuple[str, dict[str, str], str]]:
    """Level, properties and message of each command, unescaped as the runner does it; any other line is an error."""
    for line in data.decode().split("\n")[:-1]:
        found = COMMAND.fullmatch(line)
        assert found, line
        properties = dict(pair.split("=", 1) for pair in (found[2] or "").split(",") if pair)
        yield found[1], {name: _plain(value) for name, value in properties.items()}, _plain(found[3])


def _plain(value: str) -> str:
    for escape, char in (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%")):
        value = value.replace(escape, char)
    return value


class Page(HTMLParser):
    """The elements of a page with their attributes, and its visible text."""

    def __init__(self, data: bytes) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.comments: list[str] = []
        self.texts: list[tuple[str, str]] = []
        self._inside = ""
        self.feed(data.decode())
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self._inside = tag

    def handle_endtag(self, tag: str) -> None:  # noqa: ARG002 - the signature of the standard library
        self._inside = ""

    def handle_comment(self, data: str) -> None:
        self.comments.append(data)

    def handle_data(self, data: str) -> None:
        self.texts.append((self._inside, data))

    def text_of(self, tag: str) -> list[str]:
        """The texts that stand directly in elements of one sort."""
        return [text for inside, text in self.texts if inside == tag]


def markdown(data: bytes) -> Page:
    """The page that a CommonMark renderer with tables and links makes of it."""
    from markdown_it import MarkdownIt

    renderer = MarkdownIt("gfm-like", {"linkify": False})
    return Page(renderer.render(data.decode()).encode())
