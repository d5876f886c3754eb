"""Runs a snippet as the oracle would run a changed file, for the tests of the oracle."""

from __future__ import annotations

import textwrap
from collections.abc import Collection
from typing import Any

from examples.real_projects.line_oracle.lines import line_marks
from examples.real_projects.line_oracle.recording import Tally, marking_names
from examples.real_projects.line_oracle.rewrite import NumberedTree, instrument
from examples.real_projects.line_oracle.verdict import LineVerdict, line_verdict

PATH = "<snippet>"


def plain(source: str) -> dict[str, Any]:
    """The namespace that the snippet leaves behind when nothing is marked."""
    namespace: dict[str, Any] = {"__name__": "snippet"}
    exec(compile(textwrap.dedent(source), PATH, "exec", dont_inherit=True), namespace)
    return namespace


class Marked:
    """A snippet whose marked form was executed as an import would."""

    def __init__(self, source: str, focus: Collection[int] | None = None) -> None:
        self.source = textwrap.dedent(source).encode()
        self.numbered = NumberedTree(self.source)
        self.tally = Tally()
        self.namespace: dict[str, Any] = {"__name__": "snippet", **marking_names(self.tally)}
        exec(instrument(self.numbered, PATH, focus), self.namespace)
        self.tally.test_begins()

    def test(self, expression: str, *, passed: bool = True) -> Any:
        """Evaluate an expression on the snippet's names as the body of one test; an exception is its value."""
        self.tally.test_begins()
        outcome: Any
        try:
            outcome = eval(expression, self.namespace)
        except Exception as error:  # noqa: BLE001 - a test may raise anything, and that is what is looked at
            outcome = error
        self.tally.test_ended(expression, passed)
        return outcome

    def verdicts(self) -> dict[int, LineVerdict]:
        """What is said about each line that holds a token."""
        return {line: line_verdict(marks, self.tally) for line, marks in line_marks(self.numbered, self.source).items()}

    def unseen(self) -> set[int]:
        """Lines with code that no test ran."""
        return {line for line, verdict in self.verdicts().items() if verdict["kind"] != "none" and not verdict["seen"]}
