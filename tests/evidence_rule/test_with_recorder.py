"""The rule over what the real recorder saw, in every interpreter at hand: the same constructs, the same oracle.

Each call of each case is a trusted test over a copy of the case's module, so that what was recorded is that call's.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from linewitness.evidence.hits import RunRecord
from linewitness.evidence.interpreter import Interpreter
from linewitness.evidence.pytest_run import RunRequest, run_pytest
from linewitness.evidence.rule import FileRule, lines_needed
from linewitness.model import Answer, RepoPath
from linewitness.settings import Suite
from tests.evidence_rule.cases import CASES, Case
from tests.evidence_rule.test_against_oracle import STRICTER, calling, expected, judged
from tests.recorder.runs import write
from tests.support.oracle import Oracle

_TESTS = RepoPath("tests/trusted/test_cases.py")
_CALL = """
import {module}
def test_{module}():
    names = dict(vars({module}))
    try:
        names["f"](*eval({arguments!r}, dict(names)))
    except Exception:
        pass
"""
WITNESSED = (Answer.RUN, Answer.PARTIAL)


class Call(NamedTuple):
    """One call of a case, and the module that holds its copy of the source."""

    case: Case
    arguments: str
    module: str

    @property
    def path(self) -> RepoPath:
        return RepoPath(f"src/{self.module}.py")


def calls(version: tuple[int, ...]) -> Iterator[Call]:
    """Those that both this interpreter, for its oracle, and one of ``version`` can read."""
    for case in CASES:
        if case.since <= min(version[:2], sys.version_info[:2]):
            for number, arguments in enumerate(case.calls, 1):
                yield Call(case, arguments, f"{case.name}_{number}")


@pytest.fixture(scope="session")
def record(python: Interpreter, tmp_path_factory: pytest.TempPathFactory) -> RunRecord:
    """One trusted run over all calls."""
    folder = tmp_path_factory.mktemp("cases")
    export, results = folder / "export", folder / "results"
    results.mkdir()
    made = list(calls(python.version))
    tests = "".join(_CALL.format(module=call.module, arguments=call.arguments) for call in made)
    write(export, {str(call.path): call.case.source for call in made} | {str(_TESTS): tests})
    wanted = {call.path: lines_needed(demand for _, demand in judged(call.case.source)) for call in made}
    return run_pytest(RunRequest(Path(export), python, Suite(), (_TESTS,), wanted, results))


def test_the_run_over_all_cases_is_complete(record: RunRecord) -> None:
    assert [finding.message for finding in record.findings] == []
    assert record.source.tests is not None
    assert record.source.tests.passed > 150


def test_the_rule_over_the_recorder_and_the_oracle_agree(python: Interpreter, record: RunRecord) -> None:
    different, count = list[str](), 0
    for call in calls(python.version):
        rule = FileRule(record.sites[call.path], record.hits.get(call.path, {}))
        oracle = Oracle(call.case.source)
        ran, idle = oracle.lines(calling(call.arguments)), oracle.not_entered()
        for line, demand in judged(call.case.source):
            wanted = expected(line, demand, ran, idle)
            if wanted is None or (demand.at_import and not demand.functions):
                continue
            count += 1
            seen = rule.sight(demand)
            if (call.case.name, call.arguments, line) in STRICTER:
                continue
            if (seen.answer in WITNESSED) != wanted:
                text = call.case.source.split("\n")[line - 1].strip()
                different.append(f"{call.module}{call.arguments}:{line}: {text}: {seen.answer}, not {wanted}")
    assert "\n".join(different) == ""
    assert count > 500
