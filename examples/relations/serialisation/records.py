"""Writes records as lines of tab-separated text, and reads them back."""

from __future__ import annotations

_ESCAPES = {"\\": "\\\\", "\t": "\\t", "\n": "\\n"}
_MEANING = {"\\": "\\", "t": "\t", "n": "\n"}


def dumps(records: list[dict[str, str]]) -> str:
    """A line of names, sorted, then a line for each record; what a record lacks is empty."""
    names = sorted({name for record in records for name in record})
    rows = [names, *([record.get(name, "") for name in names] for record in records)]
    return "".join("\t".join(map(_escaped, row)) + "\n" for row in rows)


def loads(text: str) -> list[dict[str, str]]:
    """The records behind :func:`dumps`'s text, without empty fields."""
    names, *rows = [[_plain(field) for field in line.split("\t")] for line in text.split("\n")[:-1]]
    return [{name: field for name, field in zip(names, row, strict=True) if field} for row in rows]


def _escaped(field: str) -> str:
    return "".join(_ESCAPES.get(char, char) for char in field)


def _plain(field: str) -> str:
    chars = iter(field)
    return "".join(_MEANING[next(chars)] if char == "\\" else char for char in chars)
