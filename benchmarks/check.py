"""The gate's own cost on a big patch: ``python benchmarks/check.py [--files N] [--shape open|run] [--python PATH]``.

Four hundred Python files change, and trusted tests say something about all of their lines or about none:

``open``
    modules of the standard library, every name that is not a keyword renamed, which changes most lines that hold code.
    The one trusted test runs none of them, so every line stays open and has to be explained.
``run``
    modules of plain functions, a constant changed in every line, and a trusted test that calls every function.

Measured is ``check``, less the same pytest run without the recorder.
"""

from __future__ import annotations

import argparse
import io
import keyword
import os
import subprocess
import sys
import sysconfig
import tempfile
import tokenize
from collections.abc import Iterator
from functools import partial
from itertools import islice
from pathlib import Path

# Run as a script, only this folder is on the path.
sys.path.insert(1, str(Path(__file__).resolve().parent.parent / "src"))

from measuring import Command, Cost, commands, interleave, markdown, medians, warm_environment
from startup import OURS, OWN, git, own_row, write

from trusted import plain, request_of

LEFT_OUT = {"site-packages", "lib2to3", "pydoc_data", "ensurepip"}
SMALLEST = 8500
"""Bytes of the smallest module taken: four hundred of them then have some 167,000 lines to change."""

FUNCTIONS, STATEMENTS = 40, 10


def renamed(source: str) -> str:
    """The source with an underscore after every name that is no keyword; its lines stay where they are."""
    lines = source.splitlines(keepends=True)
    tokens = list(tokenize.generate_tokens(io.StringIO(source).readline))
    for token in reversed(tokens):
        if token.type == tokenize.NAME and not keyword.iskeyword(token.string) and not is_special(token):
            row, column = token.end
            line = lines[row - 1]
            lines[row - 1] = f"{line[:column]}_{line[column:]}"
    return "".join(lines)


def is_special(token: tokenize.TokenInfo) -> bool:
    """Names that mean something where they stand, and whole lines in which one does."""
    return keyword.issoftkeyword(token.string) or "__future__" in token.line


def library() -> Iterator[tuple[str, str, str]]:
    """Modules of the standard library and of its tests, by path: path, text before, text after."""
    home = Path(sysconfig.get_path("stdlib"))
    for path in sorted(home.rglob("*.py")):
        below = path.relative_to(home)
        if LEFT_OUT.intersection(below.parts) or path.stat().st_size < SMALLEST:
            continue
        try:
            before = path.read_text(encoding="utf-8")
            after = renamed(before)
            compile(after, str(below), "exec")
        except (SyntaxError, UnicodeDecodeError, tokenize.TokenError):
            continue  # a name inside an f-string, say
        yield f"pkg/{below.as_posix()}", before, after


def functions(number: int, value: int) -> str:
    body = "".join(f"    n = n * {value} + {line}\n" for line in range(STATEMENTS))
    return "".join(f"def f{number}_{at}(n):\n{body}    return n + {value}\n\n\n" for at in range(FUNCTIONS))


def plain_modules() -> Iterator[tuple[str, str, str]]:
    number = 0
    while True:
        yield f"pkg/d{number // 50:02d}/m{number:04d}.py", functions(number, 1), functions(number, 2)
        number += 1


TESTS = {
    "open": "def test_nothing_of_the_patch():\n    assert True\n",
    "run": """\
import importlib, pathlib, types

def test_everything():
    home = pathlib.Path(__file__).parents[2]
    for path in sorted((home / "pkg").rglob("*.py")):
        module = importlib.import_module(".".join(path.relative_to(home).with_suffix("").parts))
        for value in list(vars(module).values()):
            if isinstance(value, types.FunctionType):
                assert value(0) is not None
""",
}
MODULES = {"open": library, "run": plain_modules}


def repository(home: Path, files: int, shape: str) -> None:
    """The patch, from tag ``base`` to tag ``head``."""
    home.mkdir()
    git(home, "init", "-q", "-b", "main")
    write(home, "tests/trusted/test_all.py", TESTS[shape])
    modules = list(islice(MODULES[shape](), files))
    if len(modules) < files:
        raise SystemExit(
            f"the standard library has no more than {len(modules)} modules to take: --files {len(modules)}"
        )
    for side, tag in ((1, "base"), (2, "head")):
        for module in modules:
            write(home, module[0], module[side])
        git(home, "add", "-A")
        git(home, "commit", "-q", "-m", tag)
        git(home, "tag", tag)


def changed_lines(home: Path) -> int:
    numbers = git(home, "diff", "--numstat", "base", "head").decode().splitlines()
    return sum(int(line.split("\t")[0]) for line in numbers)


def costs_of(home: Path, folder: Path, rounds: int) -> dict[str, list[Cost]]:
    folder.mkdir()
    tests = plain(request_of(home, folder)).pytest()
    words = [OURS, "check", "--base", "base", "--report", "agent", "--map", str(folder / "map.json")]
    environment = warm_environment(home.with_name("pycache"))
    rivals = {"check": Command(words, home, (0, 1), environment), "tests": tests}
    return interleave(commands(rivals), rounds, news=partial(print, file=sys.stderr, flush=True))


def prefix_of(python: str) -> str:
    """The folder of an interpreter's environment. Ends the benchmark when it cannot be asked."""
    asked = [python, "-I", "-c", "import sys; print(sys.prefix)"]
    return subprocess.run(asked, check=True, capture_output=True, text=True).stdout.strip()


def profile(home: Path, folder: Path) -> None:
    """Where the gate's own process spends its time, by cumulative time."""
    import cProfile
    import pstats

    from linewitness.case import Question
    from linewitness.gate import CheckRequest, check

    profiler = cProfile.Profile()
    profiler.runcall(check, CheckRequest(home, Question("base", "head")), lambda _: None)
    profiler.dump_stats(folder / "profile")
    pstats.Stats(profiler).strip_dirs().sort_stats("cumulative").print_stats(60)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--files", type=int, default=400)
    parser.add_argument("--shape", choices=sorted(MODULES), default="open")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--python", default="", help="interpreter of the tests, with pytest (default: this one)")
    parser.add_argument("--profile", action="store_true", help="run once under cProfile instead")
    given = parser.parse_args()
    if given.python:
        # where the gate looks for the tests' interpreter in a checkout without an environment
        os.environ["VIRTUAL_ENV"] = prefix_of(given.python)
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        home = Path(folder) / "repository"
        repository(home, given.files, given.shape)
        title = f"### {given.files} files, {changed_lines(home):,} changed lines ({given.shape})"
        if given.profile:
            print(title)
            profile(home, Path(folder))
            return
        costs = costs_of(home, Path(folder) / "run", given.rounds)
    whole, tests = medians(costs["check"]), medians(costs["tests"])
    print(f"\n{title}\n\n`check` {whole.cpu:.2f} CPU s, {whole.wall:.2f} s wall, peak {whole.mib:.0f} MiB;", end=" ")
    print(f"the same tests bare {tests.cpu:.2f} CPU s, {tests.wall:.2f} s wall.\n")
    print(markdown(["", *OWN], [own_row("check beside the tests", costs["check"], costs["tests"])]))


if __name__ == "__main__":
    main()
