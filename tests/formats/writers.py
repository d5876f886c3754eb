"""The same counts by line in every format that has such, as their usual writers spell them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final
from xml.sax.saxutils import quoteattr

import msgspec

Counts = Mapping[str, Mapping[int, int]]


def lcov(counts: Counts) -> str:
    records = []
    for name, lines in counts.items():
        records.append(f"TN:\nSF:{name}\n" + "".join(f"DA:{line},{hits}\n" for line, hits in lines.items()))
    return "end_of_record\n".join([*records, ""])


def cobertura(counts: Counts) -> str:
    classes = ""
    for name, lines in counts.items():
        rows = "".join(f'<line number="{line}" hits="{hits}"/>' for line, hits in lines.items())
        classes += f"<class name='C' filename={quoteattr(name)}><methods/><lines>{rows}</lines></class>"
    packages = f"<packages><package name='p'><classes>{classes}</classes></package></packages>"
    return f'<?xml version="1.0" ?>\n<coverage version="1"><sources/>{packages}</coverage>\n'


def clover(counts: Counts) -> str:
    files = ""
    for name, lines in counts.items():
        rows = "".join(f'<line num="{line}" count="{hits}" type="stmt"/>' for line, hits in lines.items())
        files += f"<file name={quoteattr(name)}>{rows}</file>"
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<coverage generated="1"><project>{files}</project></coverage>\n'


def sonarqube(counts: Counts) -> str:
    files = ""
    for name, lines in counts.items():
        rows = "".join(
            f'<lineToCover lineNumber="{at}" covered="{str(hits > 0).lower()}"/>' for at, hits in lines.items()
        )
        files += f"<file path={quoteattr(name)}>{rows}</file>"
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<coverage version="1">{files}</coverage>\n'


def istanbul(counts: Counts) -> str:
    tree = {}
    for name, lines in counts.items():
        places = {at: {"start": {"line": at, "column": 0}, "end": {"line": at, "column": 1}} for at in lines}
        maps: dict[str, object] = {"fnMap": {}, "branchMap": {}, "f": {}, "b": {}}
        tree[name] = {"path": name, "statementMap": places, "s": dict(lines), **maps}
    return msgspec.json.encode(tree).decode()


def codecov(counts: Counts) -> str:
    return msgspec.json.encode({"coverage": {name: dict(lines) for name, lines in counts.items()}}).decode()


def _array(lines: Mapping[int, int]) -> list[int | None]:
    return [lines.get(line) for line in range(1, max(lines, default=0) + 1)]


def coveralls(counts: Counts) -> str:
    files = [{"name": name, "coverage": _array(lines)} for name, lines in counts.items()]
    return msgspec.json.encode({"source_files": files}).decode()


def simplecov(counts: Counts) -> str:
    coverage = {name: {"lines": _array(lines)} for name, lines in counts.items()}
    return msgspec.json.encode({"RSpec": {"coverage": coverage, "timestamp": 1}}).decode()


def gcovr(counts: Counts) -> str:
    files = [
        {"file": name, "lines": [{"line_number": at, "count": hits, "branches": []} for at, hits in lines.items()]}
        for name, lines in counts.items()
    ]
    return msgspec.json.encode({"gcovr/format_version": "0.15", "files": files}).decode()


def coverlet(counts: Counts) -> str:
    files = {
        name: {"C": {"void C::F()": {"Lines": {str(at): hits for at, hits in lines.items()}, "Branches": []}}}
        for name, lines in counts.items()
    }
    return msgspec.json.encode({"shop.dll": files}).decode()


WRITERS: Final[Mapping[str, Callable[[Counts], str]]] = {
    each.__name__: each
    for each in (lcov, cobertura, clover, sonarqube, istanbul, codecov, coveralls, simplecov, gcovr, coverlet)
}
