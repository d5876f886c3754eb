"""Compares a map with the oracle, changed line by changed line. Pure: no files, no processes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Any, NamedTuple

from .exemptions import Side, is_proved
from .line_oracle.verdict import LineVerdict


class Outcome(StrEnum):
    """How the map and the oracle relate on one changed line."""

    TRUE_WITNESS = "true-witness"
    TRUE_OPEN = "true-open"
    FALSE_WITNESS = "false-witness"
    FALSE_ALARM = "false-alarm"
    EXPLAINED = "explained"
    EXEMPT = "exempt"
    EXEMPT_CODE = "exempt-code"
    FALSE_EXEMPT = "false-exempt"
    MISSING = "missing"


class Compared(NamedTuple):
    """One changed line: what became of it, and all that a person needs to judge a disagreement.

    ``kind`` is the map's kind, or its reason for exemption. ``reason`` is the listed reason of an explained difference.
    """

    outcome: Outcome
    path: str
    line: int
    text: str
    kind: str
    reason: str
    note: str
    oracle: str


Row = Mapping[str, Any]


class Excuse(NamedTuple):
    """A difference that is not counted as the tool's fault; it is printed and counted apart, never hidden."""

    name: str
    why: str
    applies: Callable[[Row, LineVerdict, Side], bool]


HAZARDS = (
    "it is part of a comparison that ignores",
    "it asks whether it is being tested",
    "it looks at its callers",
    "it reads the text of programs",
)
EXCUSES = (
    Excuse(
        "reached-not-finished",
        "the oracle saw the code reached but cannot tell whether it finished: something in it raised, "
        "or it is one of several lines of a pattern",
        lambda _, verdict, _head: verdict["unsure"],
    ),
    Excuse(
        "hazard",
        "the line ran, and by the rules a run alone does not discharge it (LW105): it looks at its callers, for one",
        lambda row, _, _head: row["note"].startswith(HAZARDS),
    ),
    Excuse(
        "star-import",
        "the oracle takes a stub by the name of its decorator or base; where everything of a module is imported, the "
        "name may mean something else, and the rules do not believe it",
        lambda _, verdict, head: verdict["kind"] in ("stub", "class") and verdict["import_only"] and head.imports_all,
    ),
)


class File(NamedTuple):
    """One changed file: its lines that a diff of our own calls added, the text of head, and both sides parsed."""

    added: Sequence[int]
    text: Sequence[str]
    base: Side | None
    head: Side


def compare(
    artifact: Mapping[str, Any], oracle: Mapping[str, Mapping[str, LineVerdict]], files: Mapping[str, File]
) -> list[Compared]:
    """One entry per changed line of ``files`` (by path), and per row of the map beyond these."""
    out = []
    accounted = set()
    for row in artifact["rows"]:
        place = (row["path"], row["line"])
        accounted.add(place)
        if row["path"] in files and row["line"]:
            out.append(judge_row(row, oracle[row["path"]].get(str(row["line"])), files[row["path"]]))
    for row in artifact["exempt"]:
        accounted.add((row["path"], row["line"]))
        if row["path"] in files and row["line"]:
            out.append(judge_exempt(row, oracle[row["path"]].get(str(row["line"])), files[row["path"]]))
    whole = {path for path, line in accounted if line == 0}
    for path, line in places(files):
        if (path, line) not in accounted and path not in whole:
            out.append(Compared(Outcome.MISSING, path, line, files[path].text[line - 1], "", "", "", ""))
    return sorted(out, key=lambda each: (each.path, each.line))


def places(files: Mapping[str, File]) -> Iterator[tuple[str, int]]:
    for path, file in files.items():
        for line in file.added:
            yield path, line


def judge_row(row: Row, verdict: LineVerdict | None, file: File) -> Compared:
    """An obligation against the oracle. A line of which the oracle knows no code counts as not seen."""
    witnessed = row["status"] == "trusted-hit"
    seen = verdict is not None and verdict["seen"] and verdict["entered"] is not False
    reason = ""
    if witnessed == seen:
        outcome = Outcome.TRUE_WITNESS if seen else Outcome.TRUE_OPEN
    else:
        outcome = Outcome.FALSE_WITNESS if witnessed else Outcome.FALSE_ALARM
        reason = next(
            (each.name for each in EXCUSES if verdict is not None and each.applies(row, verdict, file.head)), ""
        )
        outcome = Outcome.EXPLAINED if reason else outcome
    phase = f" phase={row['phase']}" if row.get("phase") else ""
    kind = row["kind"] + phase
    text = file.text[row["line"] - 1]
    return Compared(outcome, row["path"], row["line"], text, kind, reason, row.get("note", ""), told(verdict))


def judge_exempt(row: Row, verdict: LineVerdict | None, file: File) -> Compared:
    """An exempt line: whether its reason can be proved, and whether the oracle knows code on it."""
    code = verdict is not None and verdict["kind"] != "none"
    outcome = Outcome.EXEMPT_CODE if code else Outcome.EXEMPT
    if not is_proved(row["reason"], file.base, file.head, row["line"]):
        outcome = Outcome.FALSE_EXEMPT
    text = file.text[row["line"] - 1]
    return Compared(outcome, row["path"], row["line"], text, row["reason"], "", "", told(verdict))


def told(verdict: LineVerdict | None) -> str:
    """The oracle's answer in a few words."""
    if verdict is None:
        return "no code"
    words = [verdict["kind"], "seen" if verdict["seen"] else "not seen"]
    words += [name for name in ("import_only", "partial", "unsure") if verdict[name]]
    if verdict["entered"] is not None:
        words.append("entered" if verdict["entered"] else "not entered")
    if verdict["test"]:
        words.append(verdict["test"])
    return ", ".join(words)


def counts(compared: Sequence[Compared]) -> dict[str, int]:
    """How many lines have each outcome; every outcome is present."""
    found = Counter(each.outcome for each in compared)
    return {outcome.value: found[outcome] for outcome in Outcome}
