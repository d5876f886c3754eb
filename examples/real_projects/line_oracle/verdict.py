"""From marks to what is said about each line."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import TypedDict

from .collect import LineMarks, Observation
from .lines import line_marks
from .recording import Plan, Tally
from .rewrite import NumberedTree


class LineVerdict(TypedDict):
    """What the oracle knows of one physical line.

    ``seen``: some code of the line ran for a passing test, or, for code that only an import runs, at import.
    ``import_only``: it ran, but for no test. ``partial``: code of the same weight on the line did not run.
    ``unsure``: code was reached, but not finished (or a pattern's further lines were not told apart).
    ``entered``: whether every code object that begins on the line was entered for a passing test; ``None`` without any.
    ``test``: the first passing test that ran it.
    """

    kind: str
    seen: bool
    import_only: bool
    partial: bool
    unsure: bool
    entered: bool | None
    test: str


def ran(keys: tuple[int, ...], tally: Tally, deferred: bool) -> bool:
    return any(key in tally.passed or (not deferred and key in tally.unattended) for key in keys)


def observed(seen: Observation, tally: Tally) -> tuple[bool, bool]:
    """Whether it may have run, and whether it surely has."""
    return ran(seen.maybe, tally, seen.deferred), ran(seen.surely, tally, seen.deferred)


def line_verdict(marks: LineMarks, tally: Tally) -> LineVerdict:
    entered = [ran(entry.keys, tally, entry.deferred) for entry in marks.enter]
    answers = [observed(seen, tally) for seen in marks.observations]
    by_entry = marks.kind in ("definition", "class") and bool(entered)
    surely = all(entered) if by_entry else any(sure for _, sure in answers)
    keys = {key for seen in marks.observations for key in (*seen.maybe, *seen.surely)}
    keys |= {key for each in marks.enter for key in each.keys} if by_entry else set()
    tests = sorted(tally.passed[key] for key in keys if key in tally.passed)
    return LineVerdict(
        kind=marks.kind,
        seen=surely,
        import_only=not tests and any(key in tally.unattended for key in keys),
        partial=surely and not by_entry and not all(sure for _, sure in answers),
        unsure=not by_entry and not surely and any(maybe for maybe, _ in answers),
        entered=all(entered) if entered else None,
        test=tests[0] if tests else "",
    )


def verdicts(plan: Plan, tally: Tally) -> dict[str, dict[str, LineVerdict]]:
    """For each target, by path relative to the root: line number (as text, for JSON) to verdict."""
    out = {}
    for target in plan.targets:
        source = Path(target.path).read_bytes()
        marks = line_marks(NumberedTree(source, target.first), source, set(target.focus) or None)
        path = Path(os.path.relpath(target.path, plan.root)).as_posix()
        out[path] = {str(line): line_verdict(each, tally) for line, each in sorted(marks.items())}
    return out


def foreign_modules(plan: Plan, modules: Mapping[str, ModuleType]) -> list[str]:
    """Modules of the project's own packages that were loaded from anywhere but the copy of head."""
    root = os.path.realpath(plan.root) + os.sep
    own = {name for name, module in modules.items() if is_below(module, root) and "." not in name}
    return sorted(
        name
        for name, module in modules.items()
        if name.partition(".")[0] in own and file_of(module) and not is_below(module, root)
    )


def file_of(module: ModuleType) -> str:
    return getattr(module, "__file__", None) or ""


def is_below(module: ModuleType, root: str) -> bool:
    return os.path.realpath(file_of(module)).startswith(root)
