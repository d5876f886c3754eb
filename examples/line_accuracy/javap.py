"""What the line tables of class files name. Reads the output of ``javap -l -p`` and the folder of the sources.

    javac -g -d out $(find src -name '*.java')
    javap -l -p $(find out -name '*.class') | python javap.py src > javac.jsonl

Only files of which a class was compiled are written. Packages are folders below the source folder.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable
from pathlib import Path

_COMPILED = re.compile(r'^Compiled from "(.+)"$')
_CLASS = re.compile(r"\b(?:class|interface|enum|record)\s+([\w.$]+)")
_LINE = re.compile(r"^\s+line (\d+): \d+$")


def line_tables(output: Iterable[str]) -> dict[str, set[int]]:
    """The lines by source file, as ``package/Name.java``."""
    found: dict[str, set[int]] = {}
    name, current = "", set[int]()
    for text in output:
        if match := _COMPILED.match(text):
            name, current = match[1], set()
        elif name and (match := _CLASS.search(text)) and not text.startswith(" "):
            package = match[1].rpartition(".")[0].replace(".", "/")
            current = found.setdefault(f"{package}/{name}" if package else name, set())
            name = ""
        elif match := _LINE.match(text):
            current.add(int(match[1]))
    return found


def main() -> None:
    """Write one JSON object for each source file."""
    root = Path(sys.argv[1])
    for name, lines in sorted(line_tables(sys.stdin).items()):
        path = root / name
        if path.is_file():
            count = path.read_bytes().count(b"\n") + 1
            print(json.dumps({"f": str(path), "lines": sorted(lines), "within": list(range(1, count + 1))}))


if __name__ == "__main__":
    main()
