"""Big reports in every format that is read, about files of a language that the format is for.

Each report names every line of every file; every fiftieth was not run. The texts are simple on purpose: one statement
to a line, so that the cost of reports is not hidden behind that of reading code.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

LINES = 2000
#: Lines in front of the first statement, in every language.
HEAD = 2
ABSOLUTE = "/repo/"


class Language(NamedTuple):
    """How a file begins and ends, and one statement of it; ``{n}`` is its number."""

    suffix: str
    opening: tuple[str, str]
    statement: str
    closing: tuple[str, ...] = ()

    def lines(self) -> list[str]:
        """A whole file."""
        return [*self.opening, *(self.statement.format(n=number) for number in range(LINES)), *self.closing]


PYTHON = Language("py", ("first = 1", "second = 2"), "v{n} = {n}")
JAVASCRIPT = Language("js", ("let first = 1;", "let second = 2;"), "let v{n} = {n};")
JAVA = Language("java", ("package pkg; class M {", "static void f(int a) {"), "int v{n} = a;", ("}", "}"))
GO = Language("go", ("package pkg", "func f(a int) {"), "use(a)  // {n}", ("}",))
C = Language("c", ("int use(int);", "void f(int a) {"), "use(a);  // {n}", ("}",))
RUBY = Language("rb", ("first = 1", "second = 2"), "v{n} = {n}")
RUST = Language("rs", ("//! Big.", "pub fn f(a: i32) {"), "use_it(a); // {n}", ("}",))
CSHARP = Language("cs", ("class M {", "void F(int a) {"), "int v{n} = a;", ("}", "}"))


def hits(line: int) -> int:
    """How often a line ran: every fiftieth statement, the first included, did not."""
    return int((line - HEAD - 1) % 50 != 0)


def _numbers() -> range:
    return range(HEAD + 1, HEAD + LINES + 1)


def _width(language: Language, line: int) -> int:
    return len(language.lines()[line - 1])


# ---------------------------------------------------------------- text


def lcov(names: Sequence[str], _language: Language) -> Iterator[str]:
    for name in names:
        yield f"SF:{name}\n"
        yield from (f"DA:{line},{hits(line)}\n" for line in _numbers())
        yield "end_of_record\n"


def go(names: Sequence[str], language: Language) -> Iterator[str]:
    widths = [len(line) for line in language.lines()]
    yield "mode: set\n"
    for name in names:
        head = f"example.org/big/{name}:"
        yield from (f"{head}{line}.1,{line}.{widths[line - 1] + 1} 1 {hits(line)}\n" for line in _numbers())


# ---------------------------------------------------------------- XML


def cobertura(names: Sequence[str], _language: Language) -> Iterator[str]:
    yield '<?xml version="1.0" ?>\n<coverage version="7"><sources><source>.</source></sources>'
    yield '<packages><package name="pkg"><classes>\n'
    for name in names:
        yield f'<class name="{Path(name).name}" filename="{name}"><methods/><lines>\n'
        yield from (f'<line number="{line}" hits="{hits(line)}"/>\n' for line in _numbers())
        yield "</lines></class>\n"
    yield "</classes></package></packages></coverage>\n"


def clover(names: Sequence[str], _language: Language) -> Iterator[str]:
    yield '<?xml version="1.0" encoding="UTF-8"?>\n<coverage generated="1" clover="3.2.0"><project timestamp="1">\n'
    for name in names:
        yield f'<file name="{Path(name).name}" path="{name}">\n'
        yield from (f'<line num="{line}" count="{hits(line)}" type="stmt"/>\n' for line in _numbers())
        yield "</file>\n"
    yield "</project></coverage>\n"


def jacoco(names: Sequence[str], _language: Language) -> Iterator[str]:
    yield '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>'
    yield '<!DOCTYPE report PUBLIC "-//JACOCO//DTD Report 1.1//EN" "report.dtd"><report name="big">'
    for name in names:
        folder, _, file = name.rpartition("/")
        yield f'<package name="{folder}"><sourcefile name="{file}">'
        yield from (f'<line nr="{line}" mi="{1 - hits(line)}" ci="{hits(line)}" mb="0" cb="0"/>' for line in _numbers())
        yield "</sourcefile></package>\n"
    yield "</report>\n"


def opencover(names: Sequence[str], language: Language) -> Iterator[str]:
    widths = [len(line) for line in language.lines()]
    yield '<?xml version="1.0" encoding="utf-8"?>\n<CoverageSession><Modules><Module><Files>\n'
    yield from (f'<File uid="{uid}" fullPath="{ABSOLUTE}{name}"/>\n' for uid, name in enumerate(names, 1))
    yield "</Files><Classes>\n"
    for uid, _name in enumerate(names, 1):
        yield f'<Class><Methods><Method><Name>F</Name><FileRef uid="{uid}"/><SequencePoints>\n'
        for line in _numbers():
            yield f'<SequencePoint vc="{hits(line)}" sl="{line}" sc="1" el="{line}" ec="{widths[line - 1] + 1}"/>\n'
        yield "</SequencePoints></Method></Methods></Class>\n"
    yield "</Classes></Module></Modules></CoverageSession>\n"


def visual_studio(names: Sequence[str], language: Language) -> Iterator[str]:
    widths = [len(line) for line in language.lines()]
    yield '<?xml version="1.0" encoding="UTF-8" ?>\n<results><modules><module name="big.dll"><functions>\n'
    for number, _name in enumerate(names):
        yield '<function name="F(int)" type_name="M"><ranges>\n'
        for line in _numbers():
            place = f'start_line="{line}" start_column="1" end_line="{line}" end_column="{widths[line - 1] + 1}"'
            yield f'<range source_id="{number}" covered="{"yes" if hits(line) else "no"}" {place} />\n'
        yield "</ranges></function>\n"
    yield "</functions><source_files>\n"
    yield from (f'<source_file id="{number}" path="{ABSOLUTE}{name}"/>\n' for number, name in enumerate(names))
    yield "</source_files></module></modules></results>\n"


def sonarqube(names: Sequence[str], _language: Language) -> Iterator[str]:
    yield '<?xml version="1.0" encoding="utf-8"?>\n<coverage version="1">'
    for name in names:
        yield f'<file path="{name}">'
        yield from (
            f'<lineToCover lineNumber="{line}" covered="{str(hits(line) > 0).lower()}"/>' for line in _numbers()
        )
        yield "</file>\n"
    yield "</coverage>\n"


# ---------------------------------------------------------------- JSON


def coverage_json(names: Sequence[str], _language: Language) -> Iterator[str]:
    lists = {
        "executed_lines": [line for line in _numbers() if hits(line)],
        "summary": {},
        "missing_lines": [line for line in _numbers() if not hits(line)],
        "excluded_lines": [],
    }
    entry = lists | {"functions": {"": lists}, "classes": {"": lists}}
    files = dict.fromkeys(names, entry)
    meta = {"format": 3, "version": "7", "branch_coverage": False, "show_contexts": False}
    yield json.dumps({"meta": meta, "files": files, "totals": {}})


def istanbul(names: Sequence[str], language: Language) -> Iterator[str]:
    widths = [len(line) for line in language.lines()]
    places = [
        {"start": {"line": line, "column": 0}, "end": {"line": line, "column": widths[line - 1]}} for line in _numbers()
    ]
    maps: dict[str, object] = {"statementMap": dict(enumerate(places)), "fnMap": {}, "branchMap": {}, "f": {}, "b": {}}
    entry = maps | {"s": {number: hits(line) for number, line in enumerate(_numbers())}}
    yield _one_by_one({f"{ABSOLUTE}{name}": {"path": f"{ABSOLUTE}{name}"} | entry for name in names})


def v8(names: Sequence[str], language: Language) -> Iterator[str]:
    starts = [0]
    for line in language.lines():
        starts.append(starts[-1] + len(line) + 1)
    ranges = [{"startOffset": 0, "endOffset": starts[-1], "count": 1}]
    ranges += [
        {"startOffset": starts[line - 1], "endOffset": starts[line] - 1, "count": 0}
        for line in _numbers()
        if not hits(line)
    ]
    functions = [{"functionName": "", "ranges": ranges, "isBlockCoverage": True}]
    scripts = [{"scriptId": "1", "url": f"file://{ABSOLUTE}{name}", "functions": functions} for name in names]
    yield json.dumps({"result": scripts}, separators=(",", ":"))


def gcov(names: Sequence[str], _language: Language) -> Iterator[str]:
    lines = [
        {
            "branches": [],
            "count": hits(line),
            "line_number": line,
            "unexecuted_block": not hits(line),
            "function_name": "f",
        }
        for line in _numbers()
    ]
    files = [{"file": name, "functions": [], "lines": lines} for name in names]
    yield json.dumps({"gcc_version": "12.2.0", "current_working_directory": ABSOLUTE[:-1], "files": files})


def gcovr(names: Sequence[str], _language: Language) -> Iterator[str]:
    lines = [{"line_number": line, "function_name": "f", "count": hits(line), "branches": []} for line in _numbers()]
    files = [{"file": name, "lines": lines, "functions": []} for name in names]
    yield json.dumps({"gcovr/format_version": "0.15", "files": files})


def llvm(names: Sequence[str], language: Language) -> Iterator[str]:
    widths = [len(line) for line in language.lines()]
    segments = [
        segment
        for line in _numbers()
        for segment in ([line, 1, hits(line), True, True, False], [line, widths[line - 1] + 1, 0, False, False, False])
    ]
    files = [
        {"branches": [], "expansions": [], "filename": f"{ABSOLUTE}{name}", "segments": segments} for name in names
    ]
    tree = {"data": [{"files": files, "functions": [], "totals": {}}], "type": "llvm.coverage.json.export"}
    yield json.dumps(tree | {"version": "3.1.0"}, separators=(",", ":"))


def simplecov(names: Sequence[str], _language: Language) -> Iterator[str]:
    lines = [1] * HEAD + [hits(line) for line in _numbers()]
    coverage = {f"{ABSOLUTE}{name}": {"lines": lines} for name in names}
    yield json.dumps({"RSpec": {"coverage": coverage, "timestamp": 1}}, indent=2)


def coverlet(names: Sequence[str], _language: Language) -> Iterator[str]:
    methods = {"Void M::F()": {"Lines": {str(line): hits(line) for line in _numbers()}, "Branches": []}}
    yield json.dumps({"big.dll": {f"{ABSOLUTE}{name}": {"M": methods} for name in names}}, indent=2)


def tarpaulin(names: Sequence[str], _language: Language) -> Iterator[str]:
    """Without the texts of the files, which are those of head and not known here."""
    traces = [{"line": line, "address": [], "length": 1, "stats": {"Line": hits(line)}} for line in _numbers()]
    files = [{"path": ["/", *f"{ABSOLUTE}{name}".split("/")[1:]], "traces": traces} for name in names]
    yield json.dumps({"files": files})


def codecov(names: Sequence[str], _language: Language) -> Iterator[str]:
    lines = {str(line): f"{hits(line)}/1" for line in _numbers()}
    yield json.dumps({"coverage": {f"{ABSOLUTE}{name}": lines for name in names}}, separators=(",", ":"))


def coveralls(names: Sequence[str], _language: Language) -> Iterator[str]:
    lines = [None] * HEAD + [hits(line) for line in _numbers()]
    yield json.dumps({"source_files": [{"name": name, "coverage": lines} for name in names]})


def _one_by_one(tree: dict[str, object]) -> str:
    return "{" + ",\n".join(f"{json.dumps(key)}:{json.dumps(value)}" for key, value in tree.items()) + "}"


# ---------------------------------------------------------------- SQLite


def coverage_sqlite(path: Path, names: Sequence[str]) -> None:
    """A data file of coverage.py without branches and contexts."""
    bits = bytearray((HEAD + LINES) // 8 + 1)
    for line in _numbers():
        bits[line // 8] |= hits(line) << line % 8
    database = sqlite3.connect(path)
    database.executescript(
        """
        CREATE TABLE coverage_schema (version integer);
        CREATE TABLE meta (key text, value text, unique (key));
        CREATE TABLE file (id integer primary key, path text, unique (path));
        CREATE TABLE context (id integer primary key, context text, unique (context));
        CREATE TABLE line_bits (file_id integer, context_id integer, numbits blob);
        CREATE TABLE arc (file_id integer, context_id integer, fromno integer, tono integer);
        CREATE TABLE tracer (file_id integer primary key, tracer text);
        INSERT INTO coverage_schema VALUES (7);
        INSERT INTO meta VALUES ('has_arcs', '0');
        INSERT INTO context VALUES (1, '');
        """
    )
    database.executemany("INSERT INTO file VALUES (?, ?)", enumerate(names, 1))
    database.executemany(
        "INSERT INTO line_bits VALUES (?, 1, ?)", ((uid, bytes(bits)) for uid in range(1, len(names) + 1))
    )
    database.commit()
    database.close()


class Report(NamedTuple):
    """One format: the file's name, the language of its sources, its writer, and whether diff-cover reads it too.

    ``status`` is the right answer. It is 0 for events of lines: a later line of straight code that ran proves those
    before it, and every statement of the files but the first is before one that ran.
    """

    file: str
    language: Language
    write: Callable[[Sequence[str], Language], Iterator[str]] | None
    rival: bool = False
    status: int = 1


REPORTS = {
    "lcov": Report("lcov.info", PYTHON, lcov, rival=True),
    "cobertura": Report("coverage.xml", PYTHON, cobertura, rival=True),
    "clover": Report("clover.xml", PYTHON, clover, rival=True),
    "coverage-json": Report("coverage.json", PYTHON, coverage_json),
    "coverage-sqlite": Report("coverage.sqlite", PYTHON, None, status=0),
    "jacoco": Report("jacoco.xml", JAVA, jacoco, rival=True),
    "go": Report("cover.out", GO, go),
    "istanbul": Report("coverage-final.json", JAVASCRIPT, istanbul),
    "v8": Report("coverage-v8.json", JAVASCRIPT, v8),
    "gcov": Report("big.gcov.json", C, gcov),
    "gcovr": Report("gcovr.json", C, gcovr),
    "llvm-cov": Report("llvm-cov.json", C, llvm),
    "simplecov": Report("resultset.json", RUBY, simplecov),
    "opencover": Report("opencover.xml", CSHARP, opencover),
    "sonarqube": Report("sonarqube.xml", C, sonarqube),
    "coveralls": Report("coveralls.json", C, coveralls),
    "codecov": Report("codecov.json", RUST, codecov),
    "coverlet": Report("coverlet.json", CSHARP, coverlet),
    "tarpaulin": Report("tarpaulin.json", RUST, tarpaulin),
    "visual-studio": Report("coverage.coveragexml", CSHARP, visual_studio),
}


def write(path: Path, name: str, names: Sequence[str]) -> None:
    """Write a report in the format ``name`` about files with these names."""
    report = REPORTS[name]
    if report.write is None:
        coverage_sqlite(path, names)
        return
    with path.open("w", encoding="utf-8") as file:
        file.writelines(report.write(names, report.language))
