from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from linewitness.errors import EvidenceError
from linewitness.evidence.formats.coverage_sqlite import CoverageData, lines_of
from linewitness.evidence.formats.facts import Grain
from linewitness.evidence.formats.source import ExportFile
from tests.formats.files import written

SCHEMA = (
    "CREATE TABLE coverage_schema (version integer)",
    "CREATE TABLE meta (key text, value text, unique (key))",
    "CREATE TABLE file (id integer primary key, path text, unique (path))",
    "CREATE TABLE context (id integer primary key, context text, unique (context))",
    "CREATE TABLE line_bits (file_id integer, context_id integer, numbits blob)",
    "CREATE TABLE arc (file_id integer, context_id integer, fromno integer, tono integer)",
)
ROWS = (
    "INSERT INTO coverage_schema VALUES (7)",
    "INSERT INTO meta VALUES ('has_arcs', '1')",
    "INSERT INTO file VALUES (1, '/r/a.py')",
    "INSERT INTO context VALUES (1, '')",
    "INSERT INTO context VALUES (2, 't')",
    "INSERT INTO arc VALUES (1, 1, -1, 1)",
    "INSERT INTO arc VALUES (1, 2, 1, 4)",
    "INSERT INTO arc VALUES (1, 2, 4, -1)",
)


def database(folder: Path, rows: Iterable[str] = ROWS, schema: Iterable[str] = SCHEMA) -> Path:
    path = folder / "data"
    connection = sqlite3.connect(path)
    for statement in (*schema, *rows):
        connection.execute(statement)
    connection.commit()
    connection.close()
    return path


def opened(path: Path) -> CoverageData:
    return CoverageData(ExportFile(path))


def test_lines_are_the_positive_ends_of_arcs_with_their_contexts(tmp_path: Path) -> None:
    facts = opened(database(tmp_path)).facts("/r/a.py")
    assert facts.grain is Grain.EVENTS
    assert facts.contexts == {1: ("", "t"), 4: ("t",)}
    assert facts.counts == {1: 1, 4: 1}


def test_arcs_from_below_zero_are_entries(tmp_path: Path) -> None:
    rows = (*ROWS, "INSERT INTO arc VALUES (1, 2, -3, 4)", "INSERT INTO arc VALUES (1, 2, 0, 4)")
    assert opened(database(tmp_path, rows)).facts("/r/a.py").entries == {1: ("",), 3: ("t",)}


def test_without_arcs_lines_are_bits(tmp_path: Path) -> None:
    rows = (
        *ROWS[:1],
        "INSERT INTO meta VALUES ('has_arcs', '0')",
        *ROWS[2:5],
        "INSERT INTO line_bits VALUES (1, 2, x'0281')",
    )
    facts = opened(database(tmp_path, rows)).facts("/r/a.py")
    assert facts.contexts == {1: ("t",), 8: ("t",), 15: ("t",)}
    assert facts.entries is None


@given(st.sets(st.integers(1, 3000)))
def test_bits_are_numbered_as_coverage_numbers_them(lines: set[int]) -> None:
    bits = bytearray(400)
    for line in lines:
        bits[line // 8] |= 1 << line % 8
    assert set(lines_of(bytes(bits))) == lines


def test_a_file_that_never_ran_is_there_without_lines(tmp_path: Path) -> None:
    found = opened(database(tmp_path, (*ROWS, "INSERT INTO file VALUES (2, '/r/b.py')")))
    assert set(found.names) == {"/r/a.py", "/r/b.py"}
    assert found.facts("/r/b.py").counts == {}


@pytest.mark.parametrize(
    "rows",
    [
        (),
        ("INSERT INTO coverage_schema VALUES (6)",),
        ("INSERT INTO coverage_schema VALUES (7)", "INSERT INTO coverage_schema VALUES (7)"),
        ("INSERT INTO coverage_schema VALUES ('seven')",),
        (*ROWS[:1], "INSERT INTO meta VALUES ('has_arcs', '2')"),
        (*ROWS[:1], "INSERT INTO file VALUES (1, x'00')"),
        (*ROWS[:1], "INSERT INTO file VALUES (1, NULL)"),
        (*ROWS[:1], "INSERT INTO context VALUES (1, 3)", "INSERT INTO context VALUES (2, x'01')"),
    ],
    ids=str,
)
def test_tables_that_coverage_would_not_write_are_refused(tmp_path: Path, rows: tuple[str, ...]) -> None:
    with pytest.raises(EvidenceError, match="coverage"):
        opened(database(tmp_path, rows))


@pytest.mark.parametrize(
    "row",
    [
        "INSERT INTO arc VALUES (1, 1, 'x', 1)",
        "INSERT INTO arc VALUES (1, 1, 1.5, 1)",
        "INSERT INTO arc VALUES (1, 1, NULL, 1)",
        "INSERT INTO arc VALUES (1, 1, 9223372036854775807, 1)",
        "INSERT INTO arc VALUES (1, 9, 1, 2)",
        "INSERT INTO arc VALUES (1, 'x', 1, 2)",
    ],
)
def test_rows_that_coverage_would_not_write_are_refused(tmp_path: Path, row: str) -> None:
    with pytest.raises(EvidenceError, match=r"arc|context"):
        opened(database(tmp_path, (*ROWS, row))).facts("/r/a.py")


@pytest.mark.parametrize("bits", ["'text'", "7", "NULL", "zeroblob(3000000)"])
def test_bits_that_are_no_set_of_lines_are_refused(tmp_path: Path, bits: str) -> None:
    rows = (*ROWS[:1], *ROWS[2:5], f"INSERT INTO line_bits VALUES (1, 2, {bits})")
    with pytest.raises(EvidenceError, match=r"line_bits|SQLite"):
        opened(database(tmp_path, rows)).facts("/r/a.py")


ENDLESS = (
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
    "SELECT i AS file_id, 1 AS context_id, i AS fromno, 1 AS tono FROM n"
)


@pytest.mark.parametrize(
    ("schema", "what"),
    [
        ((*SCHEMA[:5], f"CREATE VIEW arc AS {ENDLESS}"), "view"),
        ((*SCHEMA, "CREATE VIEW v AS SELECT load_extension('x')"), "view"),
        ((*SCHEMA, "CREATE TRIGGER t AFTER INSERT ON arc BEGIN DELETE FROM file; END"), "trigger"),
        ((*SCHEMA[:5],), "no table arc"),
        ((*SCHEMA[:2], "CREATE VIRTUAL TABLE file USING fts4(id, path)", *SCHEMA[3:]), "not an ordinary"),
    ],
    ids=["endless view", "harmless view", "trigger", "missing", "virtual"],
)
def test_a_schema_that_could_run_code_is_refused_before_any_row_is_read(
    tmp_path: Path, schema: tuple[str, ...], what: str
) -> None:
    rows = () if what != "no table arc" else ROWS[:1]
    with pytest.raises(EvidenceError, match=what):
        opened(database(tmp_path, rows, schema))


def test_a_computed_column_is_refused(tmp_path: Path) -> None:
    schema = (*SCHEMA[:5], "CREATE TABLE arc (file_id, context_id, fromno, tono AS (abs(fromno) + length('x')))")
    rows = (*ROWS[:5], "INSERT INTO arc (file_id, context_id, fromno) VALUES (1, 1, 1)")
    with pytest.raises(EvidenceError, match="computed column"):
        opened(database(tmp_path, rows, schema))


def test_nothing_is_written_beside_the_file_and_nothing_in_it(tmp_path: Path) -> None:
    path = database(tmp_path)
    before = path.read_bytes()
    opened(path).facts("/r/a.py")
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_with_a_question_mark_and_a_hash_in_its_name_is_read(tmp_path: Path) -> None:
    path = database(tmp_path).rename(tmp_path / "a?mode=rwc#%41 b")
    assert opened(path).facts("/r/a.py").counts == {1: 1, 4: 1}


def test_a_database_that_is_cut_off_anywhere_is_refused(tmp_path: Path) -> None:
    data = database(tmp_path).read_bytes()
    for end in range(1, len(data), 997):
        with pytest.raises(EvidenceError):
            opened(written(tmp_path, data[:end], "cut"))
