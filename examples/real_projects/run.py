"""Runs the gate on real projects and compares its maps, line by line, with an independent oracle.

``python -m examples.real_projects.run [--only NAME] [--python PATH] [--jobs N] [--work DIR] [--table]``

Exit status 1 when any line disagrees without a listed reason, or a project could not be judged.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from .build import BuildError, Built, build, chosen, export, git, parser, pytest_arguments, pytest_environment, verify
from .compare import Compared, File, Outcome, compare, counts
from .exemptions import Side
from .projects import HERE, Project

REPOSITORY = HERE.parent.parent
EXEMPT = (Outcome.EXEMPT, Outcome.EXEMPT_CODE, Outcome.FALSE_EXEMPT)
AGREED = (Outcome.EXEMPT, Outcome.TRUE_WITNESS)
WRONG = (Outcome.FALSE_WITNESS, Outcome.FALSE_ALARM, Outcome.FALSE_EXEMPT, Outcome.MISSING)


class Result(NamedTuple):
    """One project's comparison. ``trouble`` is why there is none."""

    project: Project
    tests: Mapping[str, int]
    findings: tuple[str, ...]
    compared: tuple[Compared, ...]
    trouble: str = ""

    @property
    def is_sound(self) -> bool:
        """Whether there is a comparison and no line disagrees without a listed reason."""
        return not self.trouble and not any(each.outcome in WRONG for each in self.compared)


def changed_files(repository: Path) -> dict[str, File]:
    """Every Python file of head that differs from base, by git's plain line diff."""
    patch = git(repository, "diff", "--find-renames", "--unified=0", "--no-color", "base", "head", "--", "*.py")
    out: dict[str, File] = {}
    for part in re.split(r"^diff --git .*$", patch, flags=re.MULTILINE):
        base, head = (re.search(pattern, part, re.MULTILINE) for pattern in (r"^--- a/(.*)$", r"^\+\+\+ b/(.*)$"))
        heads = re.findall(r"^@@ -\S+ \+(\d+)(?:,(\d+))? @@", part, re.MULTILINE)
        if head:
            added = [int(first) + n for first, count in heads for n in range(int(count or 1))]
            text = (repository / head[1]).read_bytes()
            before = Side(git(repository, "show", f"base:{base[1]}").encode()) if base else None
            out[head[1]] = File(added, text.decode().split("\n"), before, Side(text))
    return out


def run_gate(built: Built, work: Path) -> dict[str, Any]:
    """The map of the gate. Errors: :class:`BuildError` when the command wrote none."""
    target = work / "results" / f"{built.project.name}.map.json"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.unlink(missing_ok=True)
    command = [sys.executable, "-m", "linewitness.cli", "check"]
    command += ["--base", "base", "--head", "head", "--map", str(target)]
    env = {key: value for key, value in os.environ.items() if not key.startswith("LINEWITNESS_")}
    env |= {"PYTHONPATH": os.pathsep.join(filter(None, [str(REPOSITORY / "src"), env.get("PYTHONPATH")]))}
    done = subprocess.run(
        command, cwd=built.repository, env=env | built.project.env, capture_output=True, text=True, check=False
    )
    if not target.is_file():
        raise BuildError(f"the gate wrote no map, exit {done.returncode}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}")
    artifact: dict[str, Any] = json.loads(target.read_text())
    return artifact


def run_oracle(built: Built, focus: Mapping[str, Sequence[int]], work: Path) -> dict[str, Any]:
    """The oracle's answer for the lines of ``focus``. Errors: :class:`BuildError` when a test does not pass."""
    root = work / "exports" / built.project.name
    export(built.repository, root)
    plan, out = (work / "results" / f"{built.project.name}.{part}.json" for part in ("plan", "oracle"))
    plan.parent.mkdir(parents=True, exist_ok=True)
    out.unlink(missing_ok=True)
    plan.write_text(json.dumps(focus))
    env = pytest_environment(built.project, root)
    env["PYTHONPATH"] = os.pathsep.join([env["PYTHONPATH"], str(HERE)])
    command = [str(built.python), "-P", "-m", "line_oracle", str(plan), str(out), "--"]
    command += pytest_arguments(built.project)
    done = subprocess.run(command, cwd=root, env=env, capture_output=True, text=True, check=False)
    if done.returncode or not out.is_file():
        raise BuildError(f"the oracle's run ended with {done.returncode}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}")
    answer: dict[str, Any] = json.loads(out.read_text())
    return answer


def rows_of(artifact: Mapping[str, Any], files: Mapping[str, File]) -> dict[str, list[int]]:
    """The changed lines and every other line that the map speaks of (deletion points), sorted, by path."""
    wanted = {path: set(file.added) for path, file in files.items()}
    for row in artifact["rows"]:
        if row["path"] in wanted and row["line"]:
            wanted[row["path"]].add(row["line"])
    return {path: sorted(lines) for path, lines in wanted.items() if lines}


def judge(project: Project, options: argparse.Namespace) -> Result:
    """Build, gate, oracle, comparison for one project."""
    try:
        return compared_with_oracle(project, options)
    except BuildError as error:
        return Result(project, {}, (), (), str(error))


def compared_with_oracle(project: Project, options: argparse.Namespace) -> Result:
    """Errors: :class:`BuildError` when a step did not work or the gate judged no line."""
    work = options.work.resolve()
    built = build(project, work, options.python)
    if not options.no_verify:
        verify(built, work)
    artifact = run_gate(built, work)
    findings = [f"{f['code']} {f['path']}:{f['line']} {f['message']}" for f in artifact["findings"]]
    if not artifact["scored"]:
        raise BuildError("the gate closed before any line was judged:\n" + "\n".join(findings[:20]))
    files = changed_files(built.repository)
    oracle = run_oracle(built, rows_of(artifact, files), work)
    seen = {path: oracle["files"].get(path, {}) for path in files}
    serious = tuple(text for text in findings if not text.startswith(("LW101", "LW6")))
    return Result(project, oracle["tests"], serious, tuple(compare(artifact, seen, files)))


# ---------------------------------------------------------------- telling

COLUMNS = (
    ("owed", (Outcome.TRUE_WITNESS, Outcome.TRUE_OPEN, Outcome.FALSE_WITNESS, Outcome.FALSE_ALARM, Outcome.EXPLAINED)),
    ("witnessed, rightly", (Outcome.TRUE_WITNESS,)),
    ("open, rightly", (Outcome.TRUE_OPEN,)),
    ("false witness", (Outcome.FALSE_WITNESS,)),
    ("false alarm", (Outcome.FALSE_ALARM,)),
    ("explained", (Outcome.EXPLAINED,)),
    ("exempt", EXEMPT),
    ("of these with code", (Outcome.EXEMPT_CODE,)),
    ("false exemption", (Outcome.FALSE_EXEMPT,)),
    ("missing", (Outcome.MISSING,)),
)


def table(results: Sequence[Mapping[str, Any]]) -> str:
    """The published table, in Markdown, from what :func:`as_json` made of each project."""
    rows = [["project", "base", "head", "tests passed", *(name for name, _ in COLUMNS)]]
    totals = [0] * len(COLUMNS)
    for result in results:
        numbers = [sum(result["counts"][outcome] for outcome in outcomes) for _, outcomes in COLUMNS]
        totals = [a + b for a, b in zip(totals, numbers, strict=True)]
        passed = f"{result['tests']['passed']:,}" if result["tests"] else "not judged"
        names = [str(result[key]) for key in ("project", "base", "head")]
        rows.append([*names, passed, *(f"{number:,}" for number in numbers)])
    rows.append(["all", "", "", "", *(f"{number:,}" for number in totals)])
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    lines.insert(1, "| --- | --- | --- |" + " ---: |" * (len(COLUMNS) + 1))
    return "\n".join(lines)


def exempt_by_reason(compared: Sequence[Compared]) -> dict[str, dict[str, int]]:
    """For each reason for which lines owe nothing, how many have each outcome."""
    out: dict[str, Counter[str]] = {}
    for each in compared:
        if each.outcome in EXEMPT:
            out.setdefault(each.kind, Counter())[each.outcome.value] += 1
    return {reason: dict(found) for reason, found in sorted(out.items())}


def exemption_table(results: Sequence[Mapping[str, Any]]) -> str:
    """All projects together: why lines owed nothing, and how many of them have code of their own."""
    totals: dict[str, Counter[str]] = {}
    for result in results:
        for reason, found in result["exempt"].items():
            totals.setdefault(reason, Counter()).update(found)
    lines = ["| reason | lines | of these with code | not proved again |", "| --- | ---: | ---: | ---: |"]
    for reason, found in sorted(totals.items()):
        code, false = (found[outcome.value] for outcome in (Outcome.EXEMPT_CODE, Outcome.FALSE_EXEMPT))
        lines.append(f"| {reason} | {found.total():,} | {code:,} | {false:,} |")
    return "\n".join(lines)


def disagreements(result: Result) -> str:
    """Everything about one project that a person has to look at."""
    lines = [f"== {result.project.name}"]
    lines += [result.trouble] if result.trouble else []
    lines += [f"finding: {finding}" for finding in result.findings]
    lines += [line for each in result.compared for line in one(each) if each.outcome in (*WRONG, Outcome.EXPLAINED)]
    reasons = sorted({each.kind for each in result.compared if each.outcome is Outcome.EXEMPT_CODE})
    for reason in reasons:
        these = [e for e in result.compared if e.outcome is Outcome.EXEMPT_CODE and e.kind == reason]
        lines.append(f"exempt as {reason} although there is code: {len(these)}")
        lines += [f"    {each.path}:{each.line}: {each.text}" for each in these]
    return "\n".join(lines)


def one(each: Compared) -> list[str]:
    head = f"{each.outcome.value.upper()} {each.path}:{each.line} [{each.kind}] {each.reason}".rstrip()
    return [head, f"    {each.text}", f"    map: {each.note or 'no note'}", f"    oracle: {each.oracle}"]


def as_json(result: Result) -> dict[str, Any]:
    return {
        "project": result.project.name,
        "base": result.project.base,
        "head": result.project.head,
        "tests": dict(result.tests),
        "trouble": result.trouble,
        "findings": list(result.findings),
        "counts": counts(result.compared),
        "exempt": exempt_by_reason(result.compared),
        "lines": [each._asdict() for each in result.compared if each.outcome not in AGREED],
    }


def main() -> int:
    options = run_parser().parse_args()
    projects = chosen(options.only)
    if options.table:
        stored = [result_file(options.work, project) for project in projects]
        tell([json.loads(file.read_text()) for file in stored if file.is_file()])
        return 0
    with ThreadPoolExecutor(options.jobs) as pool:
        results = []
        for result in pool.map(partial(judge, options=options), projects):
            results.append(result)
            print(disagreements(result), flush=True)
            out = result_file(options.work, result.project)
            out.parent.mkdir(parents=True, exist_ok=True)
            out.write_text(json.dumps(as_json(result), indent=1))
    tell([as_json(result) for result in results])
    return 0 if all(result.is_sound for result in results) else 1


def tell(results: Sequence[Mapping[str, Any]]) -> None:
    print(table(results), exemption_table(results), sep="\n\n")


def result_file(work: Path, project: Project) -> Path:
    return work / "results" / f"{project.name}.compared.json"


def run_parser() -> argparse.ArgumentParser:
    made = parser("python -m examples.real_projects.run", __doc__)
    made.add_argument("--jobs", type=int, default=1, help="projects at a time (default: 1)")
    made.add_argument("--no-verify", action="store_true", help="skip the trial run of plain pytest")
    made.add_argument("--table", action="store_true", help="only print the table of the results that are there")
    return made


if __name__ == "__main__":
    sys.exit(main())
