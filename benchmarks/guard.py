"""What an agent waits for: ``python benchmarks/guard.py [--rounds N] [--instructions]``.

The hook of one agent answers questions of each kind, in turn with a bare interpreter that does nothing, in a repository
of 2,000 files with settings on its target branch. Wall time counts here, start-up included, for the agent waits before
each of its steps; the budget is 100 ms. Instructions do not depend on the neighbours.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path

# Run as a script, only this folder is on the path.
sys.path.insert(1, str(Path(__file__).resolve().parent.parent / "src"))

from measuring import Command, Cost, commands, counted, interleave, markdown, measure, medians, spread, warm_environment
from startup import git, write

FILES = 2000
QUESTIONS: dict[str, tuple[str, dict[str, str], int]] = {
    "reads a file": ("Read", {"file_path": "src/m1.py"}, 0),
    "runs the tests": ("Bash", {"command": "pytest tests/trusted 2>&1 | tail -5"}, 0),
    "edits the product": ("Edit", {"file_path": "src/m1.py", "old_string": "1", "new_string": "2"}, 0),
    "a script that writes": ("Bash", {"command": "for f in a b; do echo x > src/$f.py; done; cp src/a.py docs/"}, 0),
    "removes by pattern": ("Bash", {"command": "find . -name '*.pyc' -delete"}, 0),
    "edits a trusted test": ("Edit", {"file_path": "tests/trusted/test_1.py", "old_string": "1", "new_string": "2"}, 2),
    "removes the tests": ("Bash", {"command": "rm -rf tests"}, 2),
}


def repository(home: Path) -> None:
    """A tree with settings on its target branch, and an agent's branch that is checked out."""
    home.mkdir()
    git(home, "init", "-q", "-b", "main")
    for number in range(FILES):
        write(home, f"src/m{number}.py", f"x = {number}\n")
    for number in range(20):
        write(home, f"tests/trusted/test_{number}.py", "def test(): assert 1\n")
    write(home, "docs/index.md", "docs\n")
    write(
        home,
        "linewitness.toml",
        'target-branch = "main"\n\n[[suite]]\nrunner = "pytest"\nplugins = ["pytest_asyncio"]\n',
    )
    git(home, "add", "-A")
    git(home, "commit", "-q", "-m", "base")
    git(home, "checkout", "-q", "-b", "agent")


# The stopwatch gives commands an empty standard input, so the question is put there by the process itself.
HOOK = """
import os, sys
os.dup2(os.open(sys.argv.pop(1), os.O_RDONLY), 0)
sys.argv[1:] = ["guard", "hook", "claude"]
from linewitness.cli.__main__ import run
sys.exit(run())
"""


def question(home: Path, folder: Path, name: str) -> Command:
    """The hook with one question on its standard input."""
    tool, given, status = QUESTIONS[name]
    common = {"session_id": "s", "cwd": str(home), "hook_event_name": "PreToolUse", "tool_name": tool}
    asked = folder / f"{len(list(folder.iterdir()))}.json"
    asked.write_text(json.dumps(common | {"tool_input": given}))
    return Command([sys.executable, "-c", HOOK, str(asked)], home, (status,), environment(folder))


def environment(folder: Path) -> dict[str, str]:
    source = str(Path(__file__).resolve().parent.parent / "src")
    return warm_environment(folder.with_name("pycache")) | {"PYTHONPATH": source}


def table(costs: dict[str, list[Cost]]) -> str:
    rows = []
    for name, runs in costs.items():
        wall = spread([1000 * run.wall for run in runs])
        figures = (f"{wall.median:.0f}", f"{wall.low:.0f} to {wall.high:.0f}", f"{1000 * medians(runs).cpu:.0f}")
        rows.append([name, *figures])
    return markdown(["", "wall ms", "quartiles", "CPU ms"], rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--instructions", action="store_true", help="count instructions too, with valgrind")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="bench-") as name:
        home, folder = Path(name, "repo"), Path(name, "questions")
        folder.mkdir()
        repository(home)
        bare = Command([sys.executable, "-c", "pass"], home, (0,), environment(folder))
        rivals = {"bare interpreter": bare} | {each: question(home, folder, each) for each in QUESTIONS}
        for command in rivals.values():
            measure(command)
        print(table(interleave(commands(rivals), given.rounds, news=lambda _: None)))
        if given.instructions:
            once = interleave(commands(rivals, instructions=True), 1, news=lambda _: None)
            print(f"\n{counted(once, 'bare interpreter')}")


if __name__ == "__main__":
    main()
