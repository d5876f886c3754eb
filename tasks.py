#!/usr/bin/env python3
"""The task runner: ``python3 tasks.py TASK``. It needs Python 3.11 or later and makes everything else itself.

The environments live in ``.venv`` (development) and ``.venv-demo`` (what a user would have). They are made from the
hash-pinned files in ``requirements/`` and made again when those files change.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import shutil
import subprocess
import sys
import venv
from collections.abc import Callable, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent
BIN = "Scripts" if os.name == "nt" else "bin"


def run(*command: str | Path, **variables: str) -> None:
    """Run a command in the project's root, or end with its status."""
    done = subprocess.run([str(part) for part in command], check=False, cwd=ROOT, env=os.environ | variables)
    if done.returncode:
        sys.stderr.write(f"tasks: failed with {done.returncode}: {' '.join(map(str, command))}\n")
        raise SystemExit(done.returncode)


def environment(name: str, requirements: Sequence[str], *, editable: bool) -> Path:
    """Make, or reuse, a virtual environment with the pinned requirements and the project; its ``python``."""
    home = ROOT / name
    python = home / BIN / "python"
    pins = [ROOT / "requirements" / f"{file}.txt" for file in requirements]
    wanted = hashlib.sha256(b"".join(path.read_bytes() for path in pins) + sys.version.encode()).hexdigest()
    stamp = home / "made-from.txt"
    if not stamp.exists() or stamp.read_text() != wanted:
        shutil.rmtree(home, ignore_errors=True)
        venv.create(home, with_pip=True)
        for path in pins:
            run(python, "-m", "pip", "install", "--quiet", "--require-hashes", "--no-deps", "-r", path)
        options = ["--editable", "."] if editable else ["."]
        run(python, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", *options)
        stamp.write_text(wanted)
    elif not editable:
        run(python, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--force-reinstall", ".")
    return python


def development() -> Path:
    """The environment that everything but the demonstration uses."""
    return environment(".venv", ["build", "dev", "browser"], editable=True)


def demo(_: Sequence[str]) -> None:
    """Install as a user would and show the gate closing and opening on an agent's patch."""
    python = environment(".venv-demo", ["build", "runtime", "demo"], editable=False)
    run(python.with_name("linewitness"), "demo")


def test(rest: Sequence[str]) -> None:
    """Run the tests; further arguments go to pytest."""
    run(development(), "-m", "pytest", *(rest or ["-q", "-n", "auto"]))


def lint(_: Sequence[str]) -> None:
    """Check format, lint and types, all strict."""
    python = development()
    run(python, "-m", "ruff", "format", "--check", ".")
    run(python, "-m", "ruff", "check", ".")
    run(python, "-m", "mypy")


def fix(_: Sequence[str]) -> None:
    """Format the code and apply the safe fixes of the linter."""
    python = development()
    run(python, "-m", "ruff", "format", ".")
    run(python, "-m", "ruff", "check", "--fix", ".")


def docs(_: Sequence[str]) -> None:
    """Build the documentation; a warning is an error."""
    run(development(), "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html", "docs", "docs/_build/html")


def gate(rest: Sequence[str]) -> None:
    """Judge this repository's last change with its own gate."""
    run(development().with_name("linewitness"), "check", *(rest or ["--base", "HEAD~1"]))


def wheel(_: Sequence[str]) -> None:
    """Build the wheel and the source distribution into ``dist/``."""
    run(development(), "-m", "build", "--no-isolation", "--outdir", "dist")


def lock(_: Sequence[str]) -> None:
    """Pin the requirements again, with hashes and without any address.

    ``browser.txt`` is kept by hand: of its one package the rules of axe-core are taken, and nothing of what it needs.
    """
    quiet = ["--quiet", "--no-header", "--no-annotate", "--strip-extras", "--allow-unsafe", "--generate-hashes"]
    nowhere = ["--no-emit-index-url", "--no-emit-find-links", "--no-emit-trusted-host"]
    tool = environment(".venv-lock", ["build"], editable=False)
    run(tool, "-m", "pip", "install", "--quiet", "pip-tools")
    project = "pyproject.toml"
    sources = {
        "build": ["requirements/build.in"],
        "runtime": [project],
        "demo": ["requirements/demo.in"],
        "languages": ["--extra", "languages", project],
        "dev": ["--extra", "dev", project],
    }
    for name, source in sources.items():
        target = ["-o", f"requirements/{name}.txt"]
        run(tool, "-m", "piptools", "compile", "--upgrade", *quiet, *nowhere, *target, *source)
        drop_project(ROOT / "requirements" / f"{name}.txt")
    keep_grammars(ROOT / "requirements" / "languages.txt", ROOT / "requirements" / "runtime.txt")


def drop_project(pins: Path) -> None:
    """Take the project itself out of its pins: extras that name other extras bring it in, as a path of this machine."""
    lines = pins.read_text(encoding="utf-8").splitlines(keepends=True)
    kept = [line for line in lines if not line.startswith(("#", "linewitness @ "))]
    pins.write_text("".join(kept), encoding="utf-8")


def keep_grammars(pins: Path, runtime: Path) -> None:
    """Take what every installation has out of the pins of the grammars, so that each is pinned in one place."""
    blocks = [re.split(r"^(?=\S)", file.read_text(encoding="utf-8"), flags=re.MULTILINE) for file in (pins, runtime)]
    everywhere = {block.partition("==")[0] for block in blocks[1]}
    pins.write_text(
        "".join(block for block in blocks[0] if block.partition("==")[0] not in everywhere), encoding="utf-8"
    )


TASKS: dict[str, Callable[[Sequence[str]], None]] = {
    task.__name__: task for task in (demo, test, lint, fix, docs, gate, wheel, lock)
}


def main() -> None:
    """Parse the task and run it."""
    width = max(map(len, TASKS))
    lines = [f"  {name:{width}}  {(task.__doc__ or '').splitlines()[0]}" for name, task in TASKS.items()]
    parser = argparse.ArgumentParser(
        description="Tasks of the linewitness project.",
        epilog="tasks:\n" + "\n".join(lines),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("task", choices=TASKS)
    parser.add_argument("rest", nargs=argparse.REMAINDER, help="passed on to the task")
    given = parser.parse_args()
    TASKS[given.task](given.rest)


if __name__ == "__main__":
    main()
