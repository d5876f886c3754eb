"""In full mode the recorder says of each test and line what coverage.py's dynamic contexts say."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from linewitness.evidence.interpreter import find_interpreter
from linewitness.settings import Suite
from tests.recorder.runs import TESTS, Ran, trusted_run

PRODUCT = """\
def classify(number):
    if number < 0:
        kind = "negative"
    elif number == 0:
        kind = "zero"
    else:
        kind = "positive"
    return kind


def total(numbers):
    result = 0
    for number in numbers:
        if number is None:
            continue
        result += number
    return result


def guarded(call):
    try:
        value = call()
    except ValueError:
        value = None
    finally:
        call = None
    return value


class Stack:
    def __init__(self):
        self.items = []

    def push(self, item):
        self.items.append(item)
        return self

    def drain(self):
        while self.items:
            yield self.items.pop()
"""
CHECKS = """\
import pytest
import pkg

@pytest.mark.parametrize("number", [-1, 0, 1, 2])
def test_classify(number):
    assert pkg.classify(number)

@pytest.mark.parametrize("numbers", [(), (1,), (None, 2)])
def test_total(numbers):
    pkg.total(numbers)

def test_guarded():
    assert pkg.guarded(int) == 0

def test_guarded_raises():
    assert pkg.guarded(lambda: int("x")) is None

@pytest.fixture
def stack():
    return pkg.Stack().push(1)

def test_stack(stack):
    assert list(stack.drain()) == [1]

def test_empty():
    assert list(pkg.Stack().drain()) == []
"""
MEASURE = """\
import json, sys
import coverage, pytest
measured = coverage.Coverage(data_file=None, config_file=False, include=[sys.argv[1]])
class Contexts:
    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logstart(self, nodeid):
        measured.switch_context(nodeid)
    def pytest_runtest_logfinish(self):
        measured.switch_context("")
measured.start()
pytest.main(["-q", "-p", "no:cacheprovider", sys.argv[2]], plugins=[Contexts()])
measured.stop()
[file] = measured.get_data().measured_files()
json.dump(measured.get_data().contexts_by_lineno(file), open(sys.argv[3], "w"))
"""


def by_coverage(ran: Ran, folder: Path) -> set[tuple[str, int]]:
    said = folder / "contexts.json"
    environment = {"COVERAGE_CORE": "ctrace", "PYTHONPATH": "src", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    arguments = [str(ran.export / "src/pkg.py"), TESTS, str(said)]
    subprocess.run([sys.executable, "-c", MEASURE, *arguments], cwd=ran.export, env=environment, check=True)
    contexts = json.loads(said.read_text(encoding="utf-8"))
    return {(name, int(line)) for line, names in contexts.items() for name in names if name}


def by_recorder(ran: Ran) -> set[tuple[str, int]]:
    [path] = ran.record.sites
    return {
        (name, site.span.start.line)
        for site in ran.record.sites[path].sites
        if (hit := ran.record.hits[path].get(site.ident))
        for name in hit.witnesses
    }


def test_full_mode_agrees_with_the_contexts_of_coverage(tmp_path: Path) -> None:
    python = find_interpreter(Suite(python=sys.executable), None)
    ran = trusted_run(tmp_path, python, {"src/pkg.py": PRODUCT, TESTS: CHECKS}, all_witnesses=True)
    pairs = by_coverage(ran, tmp_path)
    headers = {number for number, line in enumerate(PRODUCT.splitlines(), 1) if line.strip() in {"try:", "finally:"}}
    assert {pair for pair in by_recorder(ran) if pair[1] not in headers} == {p for p in pairs if p[1] not in headers}
    assert len(pairs) > 40
