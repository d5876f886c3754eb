"""Reviewdog's diagnostics, one JSON object per line.

See https://github.com/reviewdog/reviewdog/tree/master/proto/rdf
"""

from __future__ import annotations

import json
from collections.abc import Iterable

from linewitness.console import safe
from linewitness.model import Severity
from linewitness.obligation_map import ObligationMap
from linewitness.reports import View
from linewitness.reports.problems import Problem, by_passage


def render(artifact: ObligationMap, view: View) -> Iterable[bytes]:  # noqa: ARG001 - a file for a machine has one look
    """One object per passage of open lines and per other finding."""
    for problem in by_passage(artifact):
        yield json.dumps(_diagnostic(problem), ensure_ascii=False, sort_keys=True).encode() + b"\n"


def _diagnostic(problem: Problem) -> dict[str, object]:
    location: dict[str, object] = {"path": problem.shown_path}
    if problem.line:
        # without columns the range is one of whole lines, and the line of its end belongs to it
        location["range"] = {"start": {"line": problem.line}, "end": {"line": problem.last}}
    return {
        "code": {"value": safe(problem.code)},
        "location": location,
        "message": f"{problem.title}: {problem.message}",
        "severity": "ERROR" if problem.severity is Severity.ERROR else "WARNING",
        "source": {"name": "linewitness"},
    }
