"""What the line tables of class files name. Reads the output of ``javap -l -p`` and the folders of the sources.

    javac -g -d out $(find src -name '*.java')
    javap -l -p $(find out -name '*.class') | python javap.py src > javac.jsonl

A class belongs to the one file whose name it tells, and which declares its package. Only files of which a class was
compiled are written. Names that belong to no file or to several are counted on the error output, and so are

- lines past the end of a file, which Kotlin's compiler gives to what it has put in from another file;
- files left out because a line is blank, so that the class was compiled from another version of the text.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

_COMPILED = re.compile(r'^Compiled from "(.+)"$')
_CLASS = re.compile(r"\b(?:class|interface|enum|record)\s+([\w.$]+)")
_LINE = re.compile(r"^\s+line (\d+): \d+$")
_PACKAGE = re.compile(r"^\s*package\s+(?!object\b)([\w.`]+)", re.MULTILINE)
_PACKAGE_OBJECT = re.compile(r"\bpackage\s+object\s+([\w`]+)")
_SUFFIXES = frozenset({".java", ".kt", ".scala"})


class Named(NamedTuple):
    """A source file as a class file names it: the package of the class, with dots, and the name without folders.

    The class of a package object of Scala has the name ``package``, and is in a package of the name of the object.
    """

    package: str
    file: str
    is_package_object: bool = False


def line_tables(output: Iterable[str]) -> dict[Named, set[int]]:
    """The lines by source file."""
    found: dict[Named, set[int]] = {}
    name, current = "", set[int]()
    for text in output:
        if match := _COMPILED.match(text):
            name, current = match[1], set()
        elif name and (match := _CLASS.search(text)) and not text.startswith(" "):
            package, _, simple = match[1].rpartition(".")
            current = found.setdefault(Named(package, name, simple.split("$")[0] == "package"), set())
            name = ""
        elif match := _LINE.match(text):
            current.add(int(match[1]))
    return found


def sources(roots: Iterable[Path]) -> dict[str, list[Path]]:
    """All source files below some folders, by their name."""
    found: dict[str, list[Path]] = {}
    for root in roots:
        for path in sorted(root.rglob("*.*")):
            if path.suffix in _SUFFIXES:
                found.setdefault(path.name, []).append(path)
    return found


def packages(path: Path, *, is_package_object: bool) -> Iterator[str]:
    """What the package of a class in a file can be: any row of the packages that it declares, nested or not."""
    text = path.read_text(encoding="utf-8", errors="replace").replace("`", "")
    declared: list[str] = _PACKAGE.findall(text)
    rows = [".".join(declared[first:last]) for first in range(len(declared)) for last in range(first + 1, 9)] or [""]
    if not is_package_object:
        yield from rows
        return
    for name in _PACKAGE_OBJECT.findall(text):
        yield from (f"{row}.{name}".lstrip(".") for row in rows)


def places(named: Named, candidates: Sequence[Path]) -> list[Path]:
    """The files that a class can be of."""
    return [path for path in candidates if named.package in packages(path, is_package_object=named.is_package_object)]


def main() -> None:
    """Write one JSON object for each source file."""
    known = sources(map(Path, sys.argv[1:]))
    lines: dict[Path, set[int]] = {}
    nowhere, several, past, stale = 0, 0, 0, 0
    for named, found in sorted(line_tables(sys.stdin).items()):
        match places(named, known.get(named.file, ())):
            case [path]:
                lines.setdefault(path, set()).update(found)
            case []:
                nowhere += 1
            case _:
                several += 1
    for path, found in sorted(lines.items()):
        texts = path.read_bytes().splitlines()
        within = range(1, len(texts) + 1)
        past += len(found.difference(within))
        if any(not texts[line - 1].strip() for line in found.intersection(within)):
            stale += 1
            continue
        print(json.dumps({"f": str(path), "lines": sorted(found.intersection(within)), "within": list(within)}))
    print(f"names without a file: {nowhere}, with several: {several}; lines past an end: {past};", file=sys.stderr)
    print(f"files of another version: {stale}", file=sys.stderr)


if __name__ == "__main__":
    main()
