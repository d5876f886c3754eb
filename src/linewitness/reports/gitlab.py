"""GitLab's code quality report, from which the merge request's widget and the marks in its diff are drawn.

GitLab compares the reports of head and of the target branch by fingerprint, so there is one entry per open line and
none of the fingerprints depends on a line number. See https://docs.gitlab.com/ci/testing/code_quality/
"""

from __future__ import annotations

import json
from collections.abc import Iterable

from linewitness.console import safe
from linewitness.errors import Exit
from linewitness.model import Severity
from linewitness.obligation_map import ObligationMap
from linewitness.reports import View
from linewitness.reports.problems import Problem, by_line


def render(artifact: ObligationMap, view: View) -> Iterable[bytes]:  # noqa: ARG001 - a file for a machine has one look
    """One JSON array, an entry per line of text."""
    opening = b"["
    for problem in by_line(artifact):
        yield opening + b"\n" + json.dumps(_entry(problem), ensure_ascii=False, sort_keys=True).encode()
        opening = b","
    yield b"[]\n" if opening == b"[" else b"\n]\n"


def _entry(problem: Problem) -> dict[str, object]:
    return {
        "check_name": safe(problem.code),
        "description": f"{problem.title}: {problem.message}",
        "fingerprint": problem.fingerprint,
        "location": {"path": problem.shown_path, "lines": {"begin": max(problem.line, 1)}},
        "severity": _severity(problem),
    }


def _severity(problem: Problem) -> str:
    if problem.severity is not Severity.ERROR:
        return "minor"
    if problem.exit >= Exit.PROTECTED:
        return "blocker"
    return "major" if problem.exit <= Exit.CLOSED else "critical"
