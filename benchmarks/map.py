"""``linewitness map`` against diff-cover on a big patch: ``python benchmarks/map.py [--files N] [--rounds N]``.

The patch changes 200 of 2,000 lines in each of 1,000 files, scattered or in one block; the reports name every line.
Both tools are told to say whether a changed line was not run, and both must say yes. Further rows show the growth: the
same with half as many files. Where instructions are counted, git's, which diff-cover starts, are not among them.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from measuring import Command, commands, comparison, counted, interleave, measure, warm_environment

LINES, CHANGED = 2000, 200
BIN = Path(sys.executable).parent


def build(home: Path, files: int, shape: str) -> None:
    """A repository with tags ``base`` and ``head``, its diff, and reports of a run that missed every fiftieth line."""
    home.mkdir(parents=True)
    git(home, "init", "-q", "-b", "main")
    names = [f"pkg/d{number // 50:02d}/m{number:04d}.py" for number in range(files)]
    before = [f"v{line} = {line}" for line in range(LINES)]
    after = list(before)
    step = LINES // CHANGED
    start = LINES // 4
    for line in range(0, step * CHANGED, step) if shape == "scatter" else range(start, start + CHANGED):
        after[line] += " + 1"
    for lines, tag in ((before, "base"), (after, "head")):
        for name in names:
            (home / name).parent.mkdir(parents=True, exist_ok=True)
            (home / name).write_text("\n".join(lines) + "\n")
        git(home, "add", "-A")
        git(home, "commit", "-q", "-m", tag)
        git(home, "tag", tag)
    (home / "patch.diff").write_bytes(git(home, "diff", "--unified=0", "base", "head"))
    (home / "lcov.info").write_text("".join(lcov(names)))
    (home / "coverage.xml").write_text("".join(cobertura(names)))


def git(home: Path, *arguments: str) -> bytes:
    person = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "gc.auto=0"]
    return subprocess.run(["git", *person, *arguments], cwd=home, check=True, capture_output=True).stdout


def hits(line: int) -> int:
    return int(line % 50 != 0)


def lcov(names: list[str]) -> Iterator[str]:
    for name in names:
        yield f"SF:{name}\n"
        yield from (f"DA:{line + 1},{hits(line)}\n" for line in range(LINES))
        yield "end_of_record\n"


def cobertura(names: list[str]) -> Iterator[str]:
    yield '<?xml version="1.0" ?>\n<coverage version="7"><sources><source>.</source></sources>'
    yield '<packages><package name="pkg"><classes>\n'
    for name in names:
        yield f'<class name="{Path(name).name}" filename="{name}"><methods/><lines>\n'
        yield from (f'<line number="{line + 1}" hits="{hits(line)}"/>\n' for line in range(LINES))
        yield "</lines></class>\n"
    yield "</classes></package></packages></coverage>\n"


def rivals(home: Path, half: Path) -> dict[str, Command]:
    """Both tools on both reports. Status 1 is the right answer everywhere: some changed lines were not run."""
    found = {}
    environment = warm_environment(home.with_name("pycache"))
    for report in ("lcov.info", "coverage.xml"):
        ours = [str(BIN / "linewitness"), "map", "--diff", "patch.diff", "--cov", report, "--out", "map.json"]
        theirs = [str(BIN / "diff-cover"), report, "--compare-branch", "base", "--fail-under", "100", "-q"]
        found[f"linewitness {report}"] = Command([*ours, "--report", "agent"], home, (1,), environment)
        found[f"linewitness {report}, half the files"] = Command([*ours, "--report", "agent"], half, (1,), environment)
        found[f"diff-cover {report}"] = Command(theirs, home, (1,), environment)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--files", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--shape", choices=("scatter", "block"), default="scatter")
    parser.add_argument("--instructions", action="store_true", help="count instructions with valgrind instead of time")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        home, half = Path(folder) / "whole", Path(folder) / "half"
        build(home, given.files, given.shape)
        build(half, given.files // 2, given.shape)
        found = rivals(home, half)
        for command in found.values():
            measure(command)  # warm: byte code, and files in the page cache
        compared = commands(found, instructions=given.instructions)
        costs = interleave(compared, given.rounds, news=partial(print, file=sys.stderr, flush=True))
    for report in ("lcov.info", "coverage.xml"):
        rows = {name: runs for name, runs in costs.items() if report in name}
        print(f"\n### {given.files} files, {given.files * CHANGED:,} changed lines ({given.shape}), {report}\n")
        print((counted if given.instructions else comparison)(rows, f"diff-cover {report}"))


if __name__ == "__main__":
    main()
