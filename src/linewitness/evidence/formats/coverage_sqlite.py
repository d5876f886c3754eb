"""The data file of coverage.py (``.coverage``), schema 7 of releases 5.5 and later, read with SQLite itself.

It holds raw line events and nothing else: ``arc`` rows when branches were measured, ``line_bits`` otherwise. The file
may be hostile, so the connection can do nothing but read the five tables that are named here.
"""

from __future__ import annotations

import sqlite3
import weakref
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Final
from urllib.parse import quote

from linewitness.errors import EvidenceError
from linewitness.evidence.formats.facts import MAX_LINE, FileFacts, Grain, broken
from linewitness.evidence.formats.source import ExportFile

SCHEMA: Final = 7
MAX_FILES: Final = 1_000_000
MAX_ROWS_OF_A_FILE: Final = 20_000_000
_MAX_BLOB: Final = MAX_LINE // 8 + 1
_TABLES: Final = frozenset({"coverage_schema", "meta", "file", "context", "line_bits", "arc"})
_HEADER: Final = 100
#: The place of "hidden" in a row of the pragma table_xinfo.
_HIDDEN: Final = 6
_MAGIC: Final = b"SQLite format 3\x00"
#: Virtual machine steps between two looks at the budget, and how many looks a query gets.
_STEPS: Final = 1_000_000
_MAX_LOOKS: Final = 20_000


class CoverageData:
    """An opened data file."""

    bases: tuple[str, ...] = ()

    def __init__(self, export: ExportFile) -> None:
        self._export = export
        self._database = _Database(export)
        version = self._database.rows("SELECT version FROM coverage_schema LIMIT 2")
        if version != [(SCHEMA,)]:
            shown = str(version[0][0])[:40] if len(version) == 1 else "unclear"
            raise broken(export, f"schema {shown} of coverage.py's data is not known here (known is {SCHEMA})")
        self._has_arcs = self._read_has_arcs()
        self._contexts = self._read_table("SELECT id, context FROM context LIMIT ?", "context")
        self._files: dict[str, list[int]] = {}
        for ident, name in self._read_table("SELECT id, path FROM file LIMIT ?", "file").items():
            self._files.setdefault(name, []).append(ident)

    @property
    def names(self) -> Collection[str]:
        """The paths of the ``file`` table, also of files that never ran."""
        return self._files.keys()

    def context_names(self) -> Collection[str]:
        """All contexts."""
        return tuple(self._contexts.values())

    def facts(self, name: str) -> FileFacts:
        """All lines of one file. Errors: ``EvidenceError`` for a row that coverage.py would not write."""
        lines: dict[int, set[str]] = {}
        entries: dict[int, set[str]] = {}
        for ident in self._files[name]:
            for line, context in self._arc_ends(ident, entries) if self._has_arcs else self._bit_lines(ident):
                lines.setdefault(line, set()).add(context)
        contexts = _sorted(lines)
        return FileFacts(
            grain=Grain.EVENTS,
            counts=dict.fromkeys(contexts, 1),
            contexts=contexts,
            entries=_sorted(entries) if self._has_arcs else None,
        )

    def _arc_ends(self, ident: int, entries: dict[int, set[str]]) -> Iterator[tuple[int, str]]:
        """The lines at both ends of all arcs. An arc from -n enters the code object that begins on line n."""
        query = "SELECT fromno, tono, context_id FROM arc WHERE file_id = ? LIMIT ?"
        for left, right, number in self._limited(query, ident):
            context = self._context(number)
            start, end = self._arc_end(left), self._arc_end(right)
            if start < 0:
                entries.setdefault(-start, set()).add(context)
            for line in (start, end):
                if line > 0:
                    yield line, context

    def _arc_end(self, value: object) -> int:
        if type(value) is not int or not -MAX_LINE <= value <= MAX_LINE:
            raise broken(self._export, f"an arc that leads to {str(value)[:40]!r}")
        return value

    def _bit_lines(self, ident: int) -> Iterator[tuple[int, str]]:
        query = "SELECT numbits, context_id FROM line_bits WHERE file_id = ? LIMIT ?"
        for bits, number in self._limited(query, ident):
            context = self._context(number)
            if type(bits) is not bytes or len(bits) > _MAX_BLOB:
                raise broken(self._export, "line_bits that are no set of lines")
            for line in lines_of(bits):
                yield line, context

    def _limited(self, query: str, ident: int) -> list[tuple[object, ...]]:
        rows = self._database.rows(query, ident, MAX_ROWS_OF_A_FILE + 1)
        if len(rows) > MAX_ROWS_OF_A_FILE:
            raise broken(self._export, f"more than {MAX_ROWS_OF_A_FILE} rows for one file")
        return rows

    def _context(self, ident: object) -> str:
        name = self._contexts.get(ident) if type(ident) is int else None
        if name is None:
            raise broken(self._export, f"a row of the context {str(ident)[:40]!r}, which does not exist")
        return name

    def _read_has_arcs(self) -> bool:
        rows = self._database.rows("SELECT value FROM meta WHERE key = 'has_arcs' LIMIT 2")
        if rows not in ([("0",)], [("1",)], []):
            raise broken(self._export, "has_arcs is neither 0 nor 1")
        return rows == [("1",)]

    def _read_table(self, query: str, table: str) -> dict[int, str]:
        rows = self._database.rows(query, MAX_FILES + 1)
        if len(rows) > MAX_FILES:
            raise broken(self._export, f"more than {MAX_FILES} rows in the table {table}")
        found: dict[int, str] = {}
        for ident, text in rows:
            if type(ident) is not int or type(text) is not str:
                raise broken(self._export, f"a row of the table {table} that coverage.py would not write")
            found[ident] = text
        return found


def _sorted(found: dict[int, set[str]]) -> dict[int, tuple[str, ...]]:
    return {line: tuple(sorted(names)) for line, names in found.items()}


def lines_of(bits: bytes) -> Iterator[int]:
    """The lines of a ``numbits`` blob: line n is bit ``n % 8`` of byte ``n // 8`` (coverage.numbits)."""
    for position, byte in enumerate(bits):
        base = position * 8
        for line in range(base, base + byte.bit_length()):
            if line and byte >> (line - base) & 1:
                yield line


class _Database:
    """A connection that can do nothing but select from the named tables."""

    def __init__(self, export: ExportFile) -> None:
        self._export = export
        self._looks = 0
        _refuse_cut(export)
        try:
            self._connection = sqlite3.connect(_uri(export.path), uri=True, isolation_level=None)
            weakref.finalize(self, self._connection.close)
            export.check_unchanged(export.path.stat())
            self._harden()
            self._only_plain_tables()
            self._connection.set_authorizer(_authorize)
        except (sqlite3.Error, OSError, ValueError) as error:
            raise _refused(export, error) from error

    def rows(self, query: str, *values: int) -> list[tuple[object, ...]]:
        """All rows of a query. Errors: ``EvidenceError`` whatever SQLite has against it."""
        self._looks = 0
        try:
            return list(self._connection.execute(query, values))
        except (sqlite3.Error, OverflowError) as error:
            raise _refused(self._export, error) from error

    def _harden(self) -> None:
        connection = self._connection
        connection.text_factory = lambda data: data.decode("utf-8", "surrogateescape")
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.execute("PRAGMA query_only = ON")
        connection.execute("PRAGMA cell_size_check = ON")
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 4 * _MAX_BLOB)
        connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
        connection.setlimit(sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH, 0)
        connection.set_progress_handler(self._over_budget, _STEPS)

    def _over_budget(self) -> int:
        self._looks += 1
        return 1 if self._looks > _MAX_LOOKS else 0

    def _only_plain_tables(self) -> None:
        """A view, a virtual table or a computed column could run code of the file's author. Reads the schema only."""
        plain = set()
        for name, kind, sql in self.rows("SELECT name, type, sql FROM sqlite_master LIMIT 1000"):
            if kind in ("view", "trigger"):
                raise broken(self._export, f"it holds a {kind}, which coverage.py never writes")
            if kind == "table" and name in _TABLES:
                if not str(sql).upper().startswith("CREATE TABLE"):
                    raise broken(self._export, f"its table {name} is not an ordinary one")
                plain.add(name)
        missing = sorted(_TABLES - plain)
        if missing:
            raise broken(self._export, f"it has no table {missing[0]}, so coverage.py did not write it")
        for name in sorted(_TABLES):
            if any(column[_HIDDEN] != 0 for column in self.rows(f"PRAGMA table_xinfo({name})")):
                raise broken(self._export, f"its table {name} has a computed column, which coverage.py never writes")


def _refuse_cut(export: ExportFile) -> None:
    """SQLite reads a file that lacks pages until it needs one of them; its header tells how many there should be."""
    header = export.read(0, min(_HEADER, export.size))
    pages, size = int.from_bytes(header[28:32]), int.from_bytes(header[16:18])
    if len(header) < _HEADER or export.size < pages * (size if size > 1 else 1 << 16):
        raise broken(export, "the file is cut off")


def _authorize(action: int, first: str | None, *_others: str | None) -> int:
    if action == sqlite3.SQLITE_SELECT:
        return sqlite3.SQLITE_OK
    if action == sqlite3.SQLITE_READ and (first in _TABLES or first in ("sqlite_master", "sqlite_schema")):
        return sqlite3.SQLITE_OK
    return sqlite3.SQLITE_DENY


def _uri(path: Path) -> str:
    """Read-only, and immutable so that no journal beside the file is looked at or made."""
    absolute = path.absolute().as_posix()
    return "file:" + quote(absolute.encode("utf-8", "surrogateescape")) + "?mode=ro&immutable=1"


def _refused(export: ExportFile, error: Exception) -> EvidenceError:
    return broken(export, f"SQLite says: {error}")
