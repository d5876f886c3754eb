"""The coverage formats that can be imported, one module each, in one table.

A format is recognised by the first bytes of the file, never by its name: people rename exports, and ``coverage.xml``
is written by a dozen tools.
"""

from __future__ import annotations

from typing import Final

from linewitness.errors import EvidenceError
from linewitness.evidence.formats import cobertura, coverage_json, coverage_sqlite, lcov
from linewitness.evidence.formats.facts import Format, Reader
from linewitness.evidence.formats.source import ExportFile

#: How much of a file the recognisers see.
HEAD = 4096

FORMATS: Final[tuple[Format, ...]] = (
    coverage_sqlite.FORMAT,
    coverage_json.FORMAT,
    cobertura.FORMAT,
    lcov.FORMAT,
)


def names() -> tuple[str, ...]:
    """What ``--cov-format`` accepts, besides ``auto``."""
    return tuple(sorted(each.name for each in FORMATS))


def choose(export: ExportFile, name: str | None) -> Format:
    """The adapter for an export: the one that ``name`` asks for, else the first that knows the file's first bytes.

    Errors: :class:`EvidenceError` when there is none, with the names of those that exist.
    """
    known = ", ".join(names())
    if name is not None and name != "auto":
        for each in FORMATS:
            if each.name == name:
                return each
        raise EvidenceError(f"there is no coverage format {name!r}; known are {known}", path=str(export.path))
    head = export.read(0, min(HEAD, export.size))
    for each in FORMATS:
        if each.sniff(head):
            return each
    raise EvidenceError(
        f"this is no coverage export of a known format ({known}); if it is one of these, name it with --cov-format",
        path=str(export.path),
    )


def open_export(export: ExportFile, name: str | None = None) -> tuple[str, Reader]:
    """The format's name and the reader of an export. Errors: :class:`EvidenceError` when it cannot be read."""
    chosen = choose(export, name)
    return chosen.name, chosen.open(export)
