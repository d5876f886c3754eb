"""Random programs that log what they run, run with the recorder and without it."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from linewitness.evidence.hits import Site
from linewitness.evidence.interpreter import Interpreter
from linewitness.settings import Suite
from tests.recorder.programs import write_programs
from tests.recorder.runs import TESTS, Ran, trusted_run

COUNT = 120
DRIVER = f"""
import json, os, warnings
warnings.simplefilter("ignore")
import programs

before = globals().get("before", lambda number: None)

def test_all():
    said = []
    for number in range({COUNT}):
        before(number)
        start = len(programs.LOG)
        try:
            result = repr(getattr(programs, "f%d" % number)())
        except (Exception, SystemExit) as error:
            result, lines, trace = repr(error), [], error.__traceback__
            while trace is not None:
                lines.append(trace.tb_lineno)
                trace = trace.tb_next
            result += repr(lines[1:])
        said.append([programs.LOG[start:], result.split(" at 0x")[0]])
    with open(os.environ["SAID"], "w") as stream:
        json.dump(said, stream)
"""


class Compared:
    """What the programs said without and with the recorder, and what the recorder saw."""

    def __init__(self, python: Interpreter, folder: Path, seed: int, tool: str = "") -> None:
        """``tool`` is a text in front of the test, and may define ``before(number)``, called before each program."""
        text, self.marks = write_programs(COUNT, seed, match=python.version >= (3, 10))
        files = {"src/programs.py": text, TESTS: tool + DRIVER}
        said = folder / "recorded.json"
        self.ran: Ran = trusted_run(folder, python, files, Suite(env=(f"SAID={said}",)))
        assert said.exists(), self.ran.messages
        self.recorded = [(numbers, result) for numbers, result in json.loads(said.read_text())]
        self.plain = self._plain(python, folder)

    def _plain(self, python: Interpreter, folder: Path) -> list[tuple[list[int], str]]:
        said = folder / "plain.json"
        code = f"import sys; sys.path[:0] = ['src', '{Path(TESTS).parent}']; import test_it; test_it.test_all()"
        environment = {"SAID": str(said), "PYTHONHASHSEED": "0"}
        subprocess.run([python.path, "-c", code], cwd=self.ran.export, env=environment, check=True)
        return [(numbers, result) for numbers, result in json.loads(said.read_text())]


def seen(compared: Compared) -> set[int]:
    """Numbers of the marks whose smallest covering site that is not weak was hit."""
    [path] = compared.ran.record.sites
    hits = compared.ran.record.hits[path]
    by_line: dict[int, list[Site]] = {}
    for site in compared.ran.record.sites[path].sites:
        for line in range(site.span.start.line, site.span.end.line + 1):
            by_line.setdefault(line, []).append(site)
    found = set()
    for number, place in compared.marks.items():
        covering = [s for s in by_line[place.line] if not s.weak and s.span.start <= place < s.span.end]
        smallest = min(map(_size, covering))
        if any(site.ident in hits for site in covering if _size(site) == smallest):
            found.add(number)
    return found


def _size(site: Site) -> tuple[int, int]:
    start, end = site.span
    return end.line - start.line, end.col - start.col


def logged(compared: Compared) -> set[int]:
    """Numbers of the marks that wrote themselves into the log, without the recorder."""
    return {number for numbers, _ in compared.plain for number in numbers}
