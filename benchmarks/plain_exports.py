"""The plain lines of coverage exports: path, line, largest count. Read whole and simply, for comparisons only.

Nothing is shared with the adapters that are compared with it: XML and JSON go through the standard library, lines of
text are split.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

Plain = dict[str, dict[int, int]]
Row = tuple[str, int, int]


def plain_lines(export: Path) -> Plain:
    """Paths with forward slashes, and for each of them the lines that have an entry. Errors: ``ValueError``."""
    text = export.read_text("utf-8-sig")
    found: Plain = {}
    for path, line, count in _rows(text):
        lines = found.setdefault(path.replace("\\", "/"), {})
        lines[line] = max(count, lines.get(line, 0))
    return found


def _rows(text: str) -> Iterator[Row]:
    start = text.lstrip()[:1]
    if start == "<":
        root = ET.fromstring(text)
        return _XML[root.tag if root.find("project") is None else "clover"](root)
    if start == "{":
        return _of_json(json.loads(text))
    return _go(text) if text.startswith("mode:") else _lcov(text)


def _cobertura(root: Any) -> Iterator[Row]:
    for file in root.findall("file"):  # SonarQube's generic report
        for line in file.findall("lineToCover"):
            yield file.get("path"), int(line.get("lineNumber")), int(line.get("covered") == "true")
    for each in root.iter("class"):
        for line in each.findall("lines/line"):
            yield each.get("filename"), int(line.get("number")), int(line.get("hits"))


def _clover(root: Any) -> Iterator[Row]:
    for file in root.iter("file"):
        for line in file.findall("line"):
            if line.get("type") != "method":
                count = line.get("count") or max(int(line.get("truecount")), int(line.get("falsecount")))
                yield file.get("path") or file.get("name"), int(line.get("num")), int(count)


def _jacoco(root: Any) -> Iterator[Row]:
    for package in root.iter("package"):
        for file in package.findall("sourcefile"):
            for line in file.findall("line"):
                if int(line.get("ci")) or int(line.get("mi")):
                    yield f"{package.get('name')}/{file.get('name')}", int(line.get("nr")), int(line.get("ci"))


def _opencover(root: Any) -> Iterator[Row]:
    for module in root.iter("Module"):
        files = {file.get("uid"): file.get("fullPath") for file in module.iter("File")}
        for point in module.iter("SequencePoint"):
            for line in range(int(point.get("sl")), int(point.get("el")) + 1):
                yield files[point.get("fileid")], line, int(point.get("vc"))


def _visual_studio(root: Any) -> Iterator[Row]:
    for module in root.iter("module"):
        files = {file.get("id"): file.get("path") for file in module.iter("source_file")}
        for part in module.iter("range"):
            for line in range(int(part.get("start_line")), int(part.get("end_line")) + 1):
                yield files[part.get("source_id")], line, int(part.get("covered") != "no")


def _lcov(text: str) -> Iterator[Row]:
    path = ""
    for line in text.splitlines():
        key, _colon, value = line.partition(":")
        if key == "SF":
            path = value
        elif key == "DA":
            number, count = value.split(",")[:2]
            yield path, int(number), int(count)


def _go(text: str) -> Iterator[Row]:
    for line in text.splitlines()[1:]:
        place, _statements, count = line.rsplit(" ", 2)
        path, start, end = re.fullmatch(r"(.*):(\d+)\.\d+,(\d+)\.\d+", place).groups()  # type: ignore[union-attr]
        for number in range(int(start), int(end) + 1):
            yield path, number, int(count)


def _of_json(top: dict[str, Any]) -> Iterator[Row]:
    if "files" in top and isinstance(top["files"], list):
        return _tarpaulin(top)
    if "files" in top:
        return _coverage_py(top)
    first = next(iter(top.values()))
    return _istanbul(top) if "statementMap" in first else _simplecov(top) if "coverage" in first else _coverlet(top)


def _tarpaulin(top: dict[str, Any]) -> Iterator[Row]:
    for file in top["files"]:
        for trace in file["traces"]:
            yield "/".join(file["path"]).replace("//", "/"), trace["line"], trace["stats"]["Line"]


def _coverage_py(top: dict[str, Any]) -> Iterator[Row]:
    for path, file in top["files"].items():
        yield from ((path, line, 1) for line in file["executed_lines"])
        yield from ((path, line, 0) for line in file["missing_lines"])


def _istanbul(top: dict[str, Any]) -> Iterator[Row]:
    for path, file in top.items():
        for key, place in file["statementMap"].items():
            yield path, place["start"]["line"], file["s"][key]


def _simplecov(top: dict[str, Any]) -> Iterator[Row]:
    for command in top.values():
        for path, file in command["coverage"].items():
            counts = file["lines"] if isinstance(file, dict) else file
            yield from ((path, number, count) for number, count in enumerate(counts, 1) if isinstance(count, int))


def _coverlet(top: dict[str, Any]) -> Iterator[Row]:
    for module in top.values():
        for path, classes in module.items():
            for methods in classes.values():
                for method in methods.values():
                    yield from ((path, int(line), count) for line, count in method["Lines"].items())


_XML: dict[str, Callable[[Any], Iterator[Row]]] = {
    "coverage": _cobertura,
    "clover": _clover,
    "report": _jacoco,
    "CoverageSession": _opencover,
    "results": _visual_studio,
}
