"""What the commands cost beside their work: ``python benchmarks/startup.py [--rounds N]``.

First the start of some commands above a bare interpreter. Then what ``check`` costs beside the tests of a small patch:
the whole command, less the same pytest run without the recorder, round by round.

Measured is what users have: a fresh environment into which pip put this tree's wheel, what it needs, and pytest, all of
it compiled. ``--here`` measures the environment that runs this instead, in which more may be installed and imported.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

# Run as a script, only this folder is on the path.
sys.path.insert(1, str(Path(__file__).resolve().parent.parent / "src"))

from measuring import Command, Cost, beside, commands, interleave, markdown, measure, medians, warm_environment

from trusted import plain, request_of

HOME = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent
OURS = str(BIN / "linewitness")
CHANGED = ("one", "two", "three")
TREES = (10, 2000)
"""Files of the trees in which the small patch is judged: every file is exported and read back."""


def function(name: str, added: int) -> str:
    return f"def {name}(n):\n    if n > {added}:\n        return n + {added}\n    return [m * n for m in (1, 2)]\n\n\n"


def module(version: int, size: int = 100) -> str:
    """Some six hundred lines; the versions differ in two lines of every sixth function."""
    return "".join(function(f"f{at}", version if at % 6 == 0 else 0) for at in range(size))


def repository(home: Path, files: int) -> None:
    """A patch of three files in a tree of ``files``, a trusted check of its lines, an export that saw them run."""
    home.mkdir()
    git(home, "init", "-q", "-b", "main")
    test = "import pytest\nimport one, two, three\n\n@pytest.mark.parametrize('n', [0, 9])\ndef test_all(n):\n"
    test += "    for module in (one, two, three):\n        for at in range(100):\n"
    write(home, "tests/trusted/test_all.py", test + "            assert getattr(module, f'f{at}')(n)\n")
    for number in range(files - len(CHANGED) - 1):
        write(home, f"other/d{number // 50:02d}/m{number}.py", module(0, 10))
    for version, tag in ((1, "base"), (2, "head")):
        for name in CHANGED:
            write(home, f"{name}.py", module(version))
        git(home, "add", "-A")
        git(home, "commit", "-q", "-m", tag)
        git(home, "tag", tag)
    records = (f"SF:{name}.py\n{lines_that_run()}end_of_record\n" for name in CHANGED)
    write(home, "lcov.info", "".join(records))


def lines_that_run() -> str:
    blank = {number for number, line in enumerate(module(1).splitlines(), 1) if not line}
    return "".join(f"DA:{number},1\n" for number in range(1, len(module(1).splitlines()) + 1) if number not in blank)


def write(home: Path, name: str, text: str) -> None:
    (home / name).parent.mkdir(parents=True, exist_ok=True)
    (home / name).write_text(text)


def git(home: Path, *arguments: str) -> bytes:
    person = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "gc.auto=0"]
    return subprocess.run(["git", *person, *arguments], cwd=home, check=True, capture_output=True).stdout


def in_turn(rivals: dict[str, Command], rounds: int) -> dict[str, list[Cost]]:
    """One run of each to warm up, which does not count, and then the rounds."""
    for command in rivals.values():
        measure(command)
    return interleave(commands(rivals), rounds, news=lambda _: None)


def starts(home: Path, rounds: int) -> str:
    """The table of the commands' starts."""
    check = [OURS, "check", "--base", "base", "--cov", "lcov.info", "--report", "agent"]
    words = {
        "bare interpreter": [sys.executable, "-c", "pass"],
        "linewitness --version": [OURS, "--version"],
        "linewitness --help": [OURS, "--help"],
        "linewitness explain LW101": [OURS, "explain", "LW101"],
        "linewitness check --cov": check,
    }
    environment = warm_environment(home.with_name("pycache"))
    costs = in_turn({name: Command(each, home, environment=environment) for name, each in words.items()}, rounds)
    bare = costs["bare interpreter"]
    rows = [own_row(name, runs, bare) for name, runs in costs.items() if runs is not bare]
    total = f"A bare interpreter: {1000 * medians(bare).cpu:.0f} CPU ms.\n\n"
    return total + markdown(["above a bare interpreter", *OWN], rows)


OWN = ("CPU ms", "quartiles", "wall ms", "quartiles")


def own_row(name: str, whole: list[Cost], part: list[Cost]) -> list[str]:
    """The columns of ``OWN`` for one command, beside a part of it that was measured alone."""
    spreads = beside(whole, part)
    figures = ((f"{1000 * s.median:.0f}", f"{1000 * s.low:.0f} to {1000 * s.high:.0f}") for s in spreads)
    return [name, *(text for pair in figures for text in pair)]


def own_cost(home: Path, folder: Path, rounds: int) -> str:
    """The table of the gate's own cost. The tests' interpreter is the one that runs this.

    The kernel does not tell what a process used that ran in the sandbox: without one all of it is counted.
    """
    folder.mkdir()
    tests = plain(request_of(home, folder)).pytest()
    check = [OURS, "check", "--base", "base", "--report", "agent", "--map", str(folder / "map.json")]
    environment = warm_environment(home.with_name("pycache"))
    checks = {"check": check, "check --sandbox off": [*check, "--sandbox", "off"]}
    rivals = {name: Command(each, home, environment=environment) for name, each in checks.items()}
    costs = in_turn({**rivals, "tests": tests}, rounds)
    bare = costs["tests"]
    told = f"The same tests bare: {1000 * medians(bare).cpu:.0f} CPU ms.\n\n"
    return told + markdown(["beside the tests", *OWN], [own_row(name, costs[name], bare) for name in checks])


def installed(folder: Path) -> Path:
    """The interpreter of a new environment that holds this tree's wheel. Ends the benchmark when pip cannot make it."""
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    words = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", str(HOME), "pytest"]
    subprocess.run(words, check=True, env=plain_environment())
    return python


def plain_environment() -> dict[str, str]:
    """Our environment without what changes how an interpreter starts."""
    return {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--files", type=int, action="append", help=f"size of the tree, repeat (default: {TREES})")
    parser.add_argument("--here", action="store_true", help="measure this environment, not one made for it")
    given = parser.parse_args()
    if not given.here:
        with tempfile.TemporaryDirectory(prefix="bench-") as folder:
            words = [str(installed(Path(folder) / "venv")), __file__, "--here", *sys.argv[1:]]
            sys.exit(subprocess.run(words, check=False, env=plain_environment()).returncode)
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        for at, files in enumerate(given.files or TREES):
            home = Path(folder) / f"tree-{files}"
            repository(home, files)
            if at == 0:
                print(f"### Starts\n\n{starts(home, given.rounds)}")
            own = own_cost(home, Path(folder) / f"run-{files}", given.rounds)
            print(f"\n### A small patch in a tree of {files:,} files\n\n{own}", flush=True)


if __name__ == "__main__":
    main()
