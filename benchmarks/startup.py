"""What starting the commands costs above a bare interpreter: ``python benchmarks/startup.py [--rounds N]``."""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

from measuring import Rival, interleave, table

BIN = Path(sys.executable).parent


def repository(home: Path) -> None:
    """A repository whose patch changes three lines that owe, beside an export that saw them run."""

    def git(*arguments: str) -> None:
        person = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
        subprocess.run(["git", *person, *arguments], cwd=home, check=True, capture_output=True)

    git("init", "-q", "-b", "main")
    for number, tag in ((1, "base"), (2, "head")):
        for name in ("one", "two", "three"):
            (home / f"{name}.py").write_text(f"def {name}(n):\n    m = n + {number}\n    return m\n" * 200)
        git("add", "-A")
        git("commit", "-q", "-m", tag)
        git("tag", tag)
    hits = "".join(f"DA:{line},1\n" for line in range(1, 601))
    records = (f"SF:{name}.py\n{hits}end_of_record\n" for name in ("one", "two", "three"))
    (home / "lcov.info").write_text("".join(records))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=25)
    given = parser.parse_args()
    ours = str(BIN / "linewitness")
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        home = Path(folder)
        repository(home)
        check = [ours, "check", "--base", "base", "--cov", "lcov.info", "--report", "agent"]
        rivals = [
            Rival("bare interpreter", [sys.executable, "-c", "pass"], home),
            Rival("linewitness --version", [ours, "--version"], home),
            Rival("linewitness --help", [ours, "--help"], home),
            Rival("linewitness explain LW101", [ours, "explain", "LW101"], home),
            Rival("linewitness check --cov, 600 lines in 3 files", check, home, (0, 1)),
        ]
        costs = interleave(rivals, given.rounds, news=lambda _: None)
    print(table(costs, "bare interpreter"))


if __name__ == "__main__":
    main()
