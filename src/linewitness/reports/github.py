"""GitHub annotations: workflow commands that put open lines beside the code of a pull request.

GitHub keeps ten annotations of each level from one step and drops the others without a word. So passages are merged,
the most important ten of each level are shown, and a notice says how many there are in truth.
See https://docs.github.com/actions/reference/workflow-commands-for-github-actions
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from linewitness.console import safe
from linewitness.model import Severity
from linewitness.obligation_map import ObligationMap
from linewitness.reports import View, words
from linewitness.reports.problems import Problem, by_passage

MOST_OF_A_LEVEL: Final = 10


def render(artifact: ObligationMap, view: View) -> Iterable[bytes]:
    """One command per line, the summary last; UTF-8."""
    found = by_passage(artifact)
    shown = 0
    for level in (Severity.ERROR, Severity.WARNING):
        problems = _most_important([problem for problem in found if problem.severity is level])
        shown += len(problems)
        for problem in problems:
            yield _line(_annotation(level, problem))
    left = len(found) - shown
    cut = f"; {words.plural(left, 'more item')} without an annotation" if left else ""
    more = f": {words.show_all_command(view.map_file)}" if left and view.map_file != "" else ""
    text = f"{words.sum_line(artifact)}; {words.exit_line(artifact)}{cut}{more}"
    yield _line(f"::notice title={_property(words.verdict(artifact))}::{_data(text)}")


def _most_important(problems: Sequence[Problem]) -> Sequence[Problem]:
    """The first ten, where of open lines the longer passages count more; in the order of the patch."""
    if len(problems) <= MOST_OF_A_LEVEL:
        return problems
    ranked = sorted(enumerate(problems), key=lambda item: (-item[1].exit, item[1].line - item[1].last))
    return [problem for _, problem in sorted(ranked[:MOST_OF_A_LEVEL])]


def _annotation(level: Severity, problem: Problem) -> str:
    place = [f"file={_property(safe(problem.path))}"] if problem.path else []
    if problem.line:
        place += [f"line={problem.line}", f"endLine={problem.last}"]
    title = f"title={_property(f'{safe(problem.code)} {problem.title}')}"
    return f"::{level} {','.join([*place, title])}::{_data(problem.message)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def _line(text: str) -> bytes:
    return text.encode("utf-8", "backslashreplace") + b"\n"
