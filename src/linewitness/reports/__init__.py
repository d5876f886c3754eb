"""How a map is told: one module per format behind one protocol, in an explicit table.

A format turns a map into bytes and reads nothing else: no repository, no file, no clock. It decides nothing either;
the exit status is in the map and is the same in every format.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from typing import Final, Protocol, cast

from linewitness.console import Screen
from linewitness.errors import UsageError
from linewitness.hints import did_you_mean
from linewitness.obligation_map import ObligationMap
from linewitness.values import NamedTuple


class View(NamedTuple):
    """How a map is looked at.

    ``verbose`` shows everything instead of the first few. ``map_file`` is where the map is stored, for the commands
    that a report suggests: ``None`` for the usual place, where commands look by themselves, empty when it is stored
    nowhere. ``encoding`` is that of text.
    """

    screen: Screen = Screen()
    verbose: bool = False
    map_file: str | None = None
    encoding: str = "utf-8"


class Report(Protocol):
    """What the module of a format offers."""

    def render(self, artifact: ObligationMap, view: View) -> Iterable[bytes]:
        """The report, in pieces."""
        ...


class Format(NamedTuple):
    """One row of the table. ``suffix`` is what a file of the format usually ends with."""

    name: str
    module: str
    suffix: str
    help: str


FORMATS: Final = (
    Format("text", "linewitness.reports.text", ".txt", "for people, at a terminal or in a log"),
    Format("agent", "linewitness.reports.agent", ".txt", "for coding agents: one line per item, small"),
    Format("json", "linewitness.reports.json", ".json", "the map itself"),
    Format("html", "linewitness.reports.html", ".html", "one page to read offline: the patch with each line's status"),
    Format("markdown", "linewitness.reports.markdown", ".md", "for a step summary or a comment on a pull request"),
    Format("github", "linewitness.reports.github", ".txt", "annotations of a GitHub job"),
    Format("sarif", "linewitness.reports.sarif", ".sarif", "for code scanning and editors"),
    Format("junit", "linewitness.reports.junit", ".xml", "for the test views of CI servers"),
    Format("gitlab", "linewitness.reports.gitlab", ".json", "GitLab's code quality report"),
    Format("cobertura", "linewitness.reports.cobertura", ".xml", "the changed lines, for GitLab's diff view"),
    Format("rdjsonl", "linewitness.reports.rdjsonl", ".jsonl", "for reviewdog"),
)


def find(name: str) -> Format:
    """The format called ``name``. Errors: :class:`UsageError` with the nearest name."""
    for row in FORMATS:
        if row.name == name:
            return row
    names = [row.name for row in FORMATS]
    raise UsageError(f"there is no report format `{name}`; there are {', '.join(names)}{did_you_mean(name, names)}")


def render(artifact: ObligationMap, name: str, view: View) -> Iterable[bytes]:
    """Tell ``artifact`` in the format called ``name``. Errors: :class:`UsageError` for an unknown format."""
    module = cast("Report", import_module(find(name).module))
    return module.render(artifact, view)
