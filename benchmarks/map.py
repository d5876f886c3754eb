"""``linewitness map`` on a big patch, and against diff-cover: ``python benchmarks/map.py [FORMAT ...] [--files N]``.

The patch changes 200 of 2,000 lines in each of 1,000 files, scattered or in one block; the reports name every line. The
files are in a language that the format is for. Both tools are told to say whether a changed line was not run, and both
must say yes; diff-cover is asked where it reads the format. Further rows show the growth: the same with half as many
files. Where instructions are counted, git's, which diff-cover starts, are not among them.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

import big_reports
from big_reports import HEAD, LINES, REPORTS, Language
from measuring import Command, commands, comparison, counted, interleave, measure, warm_environment

CHANGED = 200
BIN = Path(sys.executable).parent


def build(home: Path, files: int, shape: str, language: Language) -> list[str]:
    """A repository with tags ``base`` and ``head`` and the diff between them; the names of its files."""
    home.mkdir(parents=True)
    git(home, "init", "-q", "-b", "main")
    names = [f"pkg/d{number // 50:02d}/m{number:04d}.{language.suffix}" for number in range(files)]
    if language is big_reports.GO:
        (home / "go.mod").write_text("module example.org/big\n\ngo 1.22\n")
    before = language.lines()
    after = list(before)
    step = LINES // CHANGED
    start = LINES // 4
    for line in range(0, step * CHANGED, step) if shape == "scatter" else range(start, start + CHANGED):
        after[HEAD + line] = changed(after[HEAD + line])
    for lines, tag in ((before, "base"), (after, "head")):
        for name in names:
            (home / name).parent.mkdir(parents=True, exist_ok=True)
            (home / name).write_text("\n".join(lines) + "\n")
        git(home, "add", "-A")
        git(home, "commit", "-q", "-m", tag)
        git(home, "tag", tag)
    (home / "patch.diff").write_bytes(git(home, "diff", "--unified=0", "base", "head"))
    return names


def changed(line: str) -> str:
    """A statement that does something else, in as many characters, so that columns of reports still fit."""
    return line.replace("v", "w", 1) if line.startswith(("v", "let v", "int v")) else line.replace("(a)", "(1)", 1)


def git(home: Path, *arguments: str) -> bytes:
    person = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "gc.auto=0"]
    return subprocess.run(["git", *person, *arguments], cwd=home, check=True, capture_output=True).stdout


def rivals(name: str, home: Path, half: Path) -> dict[str, Command]:
    """The tools on one report. Nearly everywhere status 1 is the right answer: some changed lines were not run."""
    report = REPORTS[name]
    environment = warm_environment(home.parent.with_name("pycache"))
    ours = [str(BIN / "linewitness"), "map", "--diff", "patch.diff", "--cov", report.file, "--out", "map.json"]
    ours += ["--report", "agent"]
    found = {f"linewitness {name}": Command(ours, home, (report.status,), environment)}
    found[f"linewitness {name}, half the files"] = Command(ours, half, (report.status,), environment)
    if report.rival:
        theirs = [str(BIN / "diff-cover"), report.file, "--compare-branch", "base", "--fail-under", "100", "-q"]
        theirs += ["--src-roots", "."] if name == "jacoco" else []
        found[f"diff-cover {name}"] = Command(theirs, home, (1,), environment)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "formats", nargs="*", metavar="FORMAT", help=f"of {', '.join(REPORTS)} (default: lcov, cobertura)"
    )
    parser.add_argument("--all", action="store_true", help="every format")
    parser.add_argument("--files", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--shape", choices=("scatter", "block"), default="scatter")
    parser.add_argument("--instructions", action="store_true", help="count instructions with valgrind instead of time")
    given = parser.parse_args()
    wanted = list(REPORTS) if given.all else given.formats or ["lcov", "cobertura"]
    for name in wanted:
        if name not in REPORTS:
            parser.error(f"there is no format {name!r}")
        with tempfile.TemporaryDirectory(prefix="bench-") as folder:
            measured(name, Path(folder), given)


def measured(name: str, folder: Path, given: argparse.Namespace) -> None:
    """Build, measure and print the rows of one format."""
    report = REPORTS[name]
    homes = folder / "repositories" / "whole", folder / "repositories" / "half"
    for home, files in zip(homes, (given.files, given.files // 2), strict=True):
        big_reports.write(home / report.file, name, build(home, files, given.shape, report.language))
    found = rivals(name, *homes)
    for command in found.values():
        measure(command)  # warm: byte code, and files in the page cache
    compared = commands(found, instructions=given.instructions)
    costs = interleave(compared, given.rounds, news=partial(print, file=sys.stderr, flush=True))
    size = (homes[0] / report.file).stat().st_size / 2**20
    print(
        f"\n### {name}: {given.files} files, {given.files * CHANGED:,} changed lines ({given.shape}), {size:.0f} MiB\n"
    )
    reference = f"diff-cover {name}" if report.rival else f"linewitness {name}"
    print((counted if given.instructions else comparison)(costs, reference), flush=True)


if __name__ == "__main__":
    main()
