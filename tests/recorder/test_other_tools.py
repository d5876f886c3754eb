"""What other tools that watch a program do in the same run hides nothing that ran."""

from __future__ import annotations

from pathlib import Path

import pytest

from linewitness.evidence.interpreter import Interpreter
from tests.recorder.compared import COUNT, Compared, logged, seen

TRACE = """
import sys

def trace(*_):
    return trace

def begin():
    sys.settrace(trace)

def end():
    sys.settrace(None)
"""
LINES = """
import sys

monitoring = sys.monitoring

def line(code, number):
    return {answer}

def start(code, offset):
    monitoring.set_local_events(5, code, monitoring.events.LINE)

def begin():
    monitoring.use_tool_id(5, "other")
    monitoring.register_callback(5, monitoring.events.LINE, line)
    monitoring.register_callback(5, monitoring.events.PY_START, start)
    monitoring.set_events(5, monitoring.events.{kind})

def end():
    monitoring.set_events(5, 0)
    monitoring.free_tool_id(5)
"""
WHEN = {
    "from the start": "\n\nbegin()\n",
    "from the middle": f"\n\ndef before(number):\n    if number == {COUNT // 2}:\n        begin()\n",
    "now and then": "\n\ndef before(number):\n    end() if number % 2 else begin()\n",
}


def check(python: Interpreter, folder: Path, tool: str, when: str) -> None:
    compared = Compared(python, folder, 1, tool + WHEN[when])
    assert compared.ran.messages == ""
    assert compared.recorded == compared.plain
    assert seen(compared) == logged(compared) != set()


@pytest.mark.parametrize("when", WHEN)
def test_a_trace_function(tmp_path: Path, python: Interpreter, when: str) -> None:
    check(python, tmp_path, TRACE, when)


@pytest.mark.parametrize("when", WHEN)
@pytest.mark.parametrize("kind", ["LINE", "PY_START"])
@pytest.mark.parametrize("answer", ["None", "monitoring.DISABLE"])
def test_events_of_lines(tmp_path: Path, python: Interpreter, answer: str, kind: str, when: str) -> None:
    if python.version >= (3, 12):
        check(python, tmp_path, LINES.format(answer=answer, kind=kind), when)
