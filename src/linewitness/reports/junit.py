"""JUnit XML: one suite per changed file, one test case per definition in it, for the test views of CI servers.

Servers compare cases between runs by class and name, so a case is named by file and definition, never by line. It
fails when a line in it has no witness, it is skipped when nothing but waivers discharges it, and passes otherwise. The
suite ``linewitness`` holds the verdict itself, so that there is always a case, and findings about no open line.
Made for ``junit-10.xsd`` of the Jenkins xUnit plugin.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Final

from linewitness.errors import Exit
from linewitness.model import Kind
from linewitness.obligation_map import FindingRow, ObligationMap, Row, Status
from linewitness.reports import View, words
from linewitness.reports.markup import text
from linewitness.values import NamedTuple

_MODULE_LEVEL: Final = "(module)"
_WHOLE_FILE: Final = "(whole file)"
_MOST_LINES: Final = 50
_VERDICT: Final = "linewitness"


class _Case(NamedTuple):
    name: str
    outcome: str
    kind: str
    message: str
    body: Sequence[str]


def render(artifact: ObligationMap, view: View) -> Iterable[bytes]:  # noqa: ARG001 - a file for a machine has one look
    """One document; UTF-8."""
    suites = [(_VERDICT, _gate_cases(artifact)), *_file_suites(artifact)]
    outcomes = Counter(case.outcome for _, cases in suites for case in cases)
    yield b'<?xml version="1.0" encoding="UTF-8"?>\n'
    yield (f'<testsuites name="linewitness"{_totals(outcomes)}>\n').encode()
    for name, cases in suites:
        yield "".join(_suite(name, cases)).encode()
    yield b"</testsuites>\n"


def _totals(outcomes: Counter[str]) -> str:
    return f' tests="{sum(outcomes.values())}" failures="{outcomes["failure"]}" errors="{outcomes["error"]}"'


def _suite(name: str, cases: Sequence[_Case]) -> Iterator[str]:
    outcomes = Counter(case.outcome for case in cases)
    yield f'  <testsuite name="{text(name)}"{_totals(outcomes)} skipped="{outcomes["skipped"]}" time="0">\n'
    for case in cases:
        yield f'    <testcase classname="{text(name)}" name="{text(case.name)}" time="0"'
        if not case.outcome:
            yield "/>\n"
            continue
        yield f'>\n      <{case.outcome} type="{text(case.kind)}" message="{text(case.message)}">'
        yield "\n".join(map(text, case.body))
        yield f"</{case.outcome}>\n    </testcase>\n"
    yield "  </testsuite>\n"


def _gate_cases(artifact: ObligationMap) -> list[_Case]:
    errors, _ = words.other_findings(artifact)
    cases = [_Case("verdict", "", "", "", ())]
    if artifact.exit != Exit.OPEN:
        about = (words.sum_line(artifact), words.exit_line(artifact))
        cases = [_Case("verdict", "failure", "gate closed", words.verdict(artifact), about)]
    for code, group in groupby(sorted(errors, key=lambda row: row.code), key=lambda row: row.code):
        found = list(group)
        outcome = "failure" if artifact.exit == Exit.CLOSED else "error"
        body = [f"{words.place(row.path, row.line)}: {row.message}".removeprefix(": ") for row in found]
        message = found[0].message if len(found) == 1 else f"{words.title(code)} ({len(found)} times)"
        cases.append(_Case(f"{code} {words.title(code)}", outcome, code, message, _cut(body)))
    return cases


def _file_suites(artifact: ObligationMap) -> Iterator[tuple[str, list[_Case]]]:
    findings = words.line_findings(artifact)
    for path, rows in groupby(artifact.rows, key=lambda row: row.path):
        scopes: dict[str, list[Row]] = {}
        for row in rows:
            name = _WHOLE_FILE if row.kind is Kind.OPAQUE else row.scope or _MODULE_LEVEL
            scopes.setdefault(name, []).append(row)
        yield path, [_case(name, owed, findings) for name, owed in scopes.items()]


def _case(name: str, rows: Sequence[Row], findings: dict[tuple[str, int], FindingRow]) -> _Case:
    missing = [row for row in rows if row.status is Status.UNWITNESSED]
    if missing:
        message = f"{len(missing)} of {words.plural(len(rows), 'owed line')} without a witness"
        first = findings.get((missing[0].path, missing[0].line))
        body = [_missing(row, findings.get((row.path, row.line))) for row in missing]
        return _Case(name, "failure", first.code if first else "LW101", message, _cut(body))
    waived = [row for row in rows if row.waiver is not None]
    if len(waived) == len(rows):
        body = [f"{words.place(row.path, row.line)}: {words.waiver_line(row)}" for row in waived]
        return _Case(name, "skipped", "waived", words.waiver_line(waived[0]), _cut(body))
    return _Case(name, "", "", "", ())


def _missing(row: Row, finding: FindingRow | None) -> str:
    message = finding.message if finding else row.note
    return f"{words.place(row.path, row.line)}: {message} | {row.content.strip()}".removesuffix(" | ")


def _cut(lines: list[str]) -> list[str]:
    if len(lines) <= _MOST_LINES:
        return lines
    return [*lines[:_MOST_LINES], f"… and {len(lines) - _MOST_LINES} more"]
