"""Reports of a big patch against diff-cover's: ``python benchmarks/reports.py [--files N] [--rounds N]``.

The patch is that of ``benchmarks/map.py``: 200 of 2,000 lines changed in each of 1,000 files, and a fifth of them not
run. diff-cover reads its LCOV report and writes Markdown or HTML; linewitness renders the map that it stored before,
once as it does by default and once with everything shown (``-v``). As diff-cover cannot render without judging, the
second table adds what judging costs on our side: ``map`` and its report in one run.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from functools import partial
from pathlib import Path

import big_reports
import map as big_map
from measuring import Command, commands, comparison, interleave, measure, warm_environment

BIN = Path(sys.executable).parent
FORMATS = {"markdown": "md", "html": "html"}


def judging(report: str) -> list[str]:
    ours = [
        sys.executable,
        "-m",
        "linewitness",
        "map",
        "--diff",
        "patch.diff",
        "--cov",
        "lcov.info",
        "--out",
        "map.json",
    ]
    return [*ours, "--report", report]


def rivals(home: Path, form: str) -> dict[str, Command]:
    """Rendering alone, with judging, and diff-cover, which always does both."""
    environment = warm_environment(home.with_name("pycache"))
    out = f"report.{FORMATS[form]}"
    render = [sys.executable, "-m", "linewitness"]
    words = ["report", "map.json", "--format", form, "-o", out]
    theirs = [str(BIN / "diff-cover"), "lcov.info", "--compare-branch", "base", "--fail-under", "100", "-q"]
    return {
        f"report --format {form}": Command([*render, *words], home, (0,), environment),
        f"-v report --format {form}": Command([*render, "-v", *words], home, (0,), environment),
        f"map --report {form}": Command(judging(f"{form}:{out}"), home, (1,), environment),
        f"diff-cover --format {form}": Command([*theirs, "--format", f"{form}:theirs"], home, (1,), environment),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--files", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--shape", choices=("scatter", "block"), default="scatter")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        home = Path(folder) / "repository"
        names = big_map.build(home, given.files, given.shape, big_reports.PYTHON)
        big_reports.write(home / "lcov.info", "lcov", names)
        measure(Command(judging("agent"), home, (1,), warm_environment(home.with_name("pycache"))))
        for form in FORMATS:
            found = rivals(home, form)
            costs = interleave(commands(found), given.rounds, news=partial(print, file=sys.stderr, flush=True))
            print(f"\n### {given.files} files, {given.files * big_map.CHANGED:,} changed lines, {form}\n")
            print(comparison(costs, f"diff-cover --format {form}"))
        print(f"\nThe page is {(home / 'report.html').stat().st_size / 1e6:.1f} MB,", end=" ")
        print(f"diff-cover's {(home / 'theirs').stat().st_size / 1e6:.1f} MB.")


if __name__ == "__main__":
    main()
