"""SARIF 2.1.0, for code scanning, editors and anything else that collects results of static analysis.

One result per open line: its fingerprints are made from the line's identity, so that an alert survives a rebase. Paths
are relative to the root of the repository and percent-encoded. GitHub shows 5,000 results and refuses a file with more
than 25,000; what was cut is counted in a notification. Findings about no file in particular are notifications too, as
consumers refuse a result without a place.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from linewitness.console import safe
from linewitness.errors import Exit
from linewitness.findings import CODES, Code
from linewitness.model import Severity
from linewitness.obligation_map import ObligationMap
from linewitness.reports import View, words
from linewitness.reports.markup import address
from linewitness.reports.problems import Problem, by_line

MOST_SHOWN: Final = 5_000
MOST_ACCEPTED: Final = 25_000

_SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"
_ROOT: Final = "SRCROOT"
_LEVELS: Final = {Severity.ERROR: "error", Severity.WARNING: "warning"}


def render(artifact: ObligationMap, view: View) -> Iterable[bytes]:
    """One log with one run."""
    found = by_line(artifact)
    placed = [problem for problem in found if problem.path]
    shown = placed[: MOST_ACCEPTED if view.verbose else MOST_SHOWN]
    rules = [*CODES, *sorted({problem.code for problem in shown} - set(CODES))]
    run = {
        "tool": {"driver": _driver(artifact, rules)},
        "automationDetails": {"id": "linewitness/"},
        "columnKind": "unicodeCodePoints",
        "invocations": [_invocation(artifact, found, len(placed) - len(shown))],
        "originalUriBaseIds": {_ROOT: {"description": {"text": "The root of the repository."}}},
        "properties": _counts(artifact),
        "results": [_result(problem, rules) for problem in shown],
    }
    log = {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}
    for piece in json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).iterencode(log):
        yield piece.encode()
    yield b"\n"


def _driver(artifact: ObligationMap, rules: Sequence[str]) -> dict[str, Any]:
    described = [_rule(CODES[code]) if code in CODES else {"id": safe(code)} for code in rules]
    return {"name": "linewitness", "version": safe(artifact.tool.version), "rules": described}


def _rule(code: Code) -> dict[str, Any]:
    return {
        "id": code.code,
        "name": "".join(word.capitalize() for word in code.title.split()),
        "shortDescription": {"text": code.title},
        "fullDescription": {"text": code.what},
        "help": {
            "text": f"{code.what}\n\n{code.why}\n\n{code.todo}",
            "markdown": f"**What.** {code.what}\n\n**Why.** {code.why}\n\n**What to do.** {code.todo}",
        },
        "defaultConfiguration": {"level": _LEVELS[code.severity]},
        "properties": {"tags": ["coverage", "review"], "problem.severity": _LEVELS[code.severity]},
    }


def _invocation(artifact: ObligationMap, found: Sequence[Problem], cut: int) -> dict[str, Any]:
    return {
        "executionSuccessful": artifact.scored and artifact.exit <= Exit.CLOSED,
        "exitCode": artifact.exit,
        "exitCodeDescription": words.exit_line(artifact),
        "toolExecutionNotifications": list(_notifications(artifact, found, cut)),
    }


def _notifications(artifact: ObligationMap, found: Sequence[Problem], cut: int) -> Iterator[dict[str, Any]]:
    yield {"level": "note", "message": {"text": f"{words.verdict(artifact)}; {words.sum_line(artifact)}"}}
    if cut:
        text = f"{words.plural(cut, 'result')} left out of {sum(bool(problem.path) for problem in found)}"
        yield {"level": "warning", "message": {"text": text}}
    for problem in found:
        if not problem.path:
            yield {
                "level": _LEVELS[problem.severity],
                "message": {"text": problem.message},
                "associatedRule": {"id": safe(problem.code)},
            }


def _counts(artifact: ObligationMap) -> dict[str, Any]:
    names = ("verdict", "exit", "owed", "trusted_hit", "waived", "unwitnessed", "scored")
    return {name: getattr(artifact, name) for name in names}


def _result(problem: Problem, rules: Sequence[str]) -> dict[str, Any]:
    region: dict[str, Any] = {"startLine": max(problem.line, 1)}
    if problem.content:
        region["snippet"] = {"text": problem.content}
    location: dict[str, Any] = {
        "physicalLocation": {
            "artifactLocation": {"uri": address(problem.path), "uriBaseId": _ROOT},
            "region": region,
        }
    }
    if problem.scope:
        location["logicalLocations"] = [{"fullyQualifiedName": safe(problem.scope)}]
    return {
        "ruleId": safe(problem.code),
        "ruleIndex": rules.index(problem.code),
        "level": _LEVELS[problem.severity],
        "message": {"text": problem.message or problem.title},
        "locations": [location],
        # the first is the one that GitHub tells alerts apart by
        "partialFingerprints": {
            "primaryLocationLineHash": f"{problem.fingerprint[:16]}:1",
            "linewitness/v1": problem.fingerprint,
        },
    }
