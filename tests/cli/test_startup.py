"""What is imported for the commands that people and editors run most often. Names are stable, milliseconds are not."""

from __future__ import annotations

import subprocess
import sys

import pytest

from linewitness._version import __version__

HEAVY = {
    "msgspec",
    "pathspec",
    "ruamel",
    "tree_sitter",
    "tree_sitter_python",
    "difflib",
    "json",
    "tomllib",
    "subprocess",
}


def imported(*argv: str) -> tuple[set[str], str]:
    """Top-level and own modules that a command line loads beyond a bare interpreter, and what it printed."""
    script = (
        "import sys; before = set(sys.modules); sys.argv = ['linewitness', *sys.argv[1:]]\n"
        "from linewitness.cli.__main__ import run\n"
        "status = run(); print(*sorted(set(sys.modules) - before), file=sys.stderr); sys.exit(status)"
    )
    done = subprocess.run([sys.executable, "-c", script, *argv], capture_output=True, text=True, check=True)
    return set(done.stderr.split()), done.stdout


@pytest.mark.parametrize("option", ["--version", "-V"])
def test_the_version_is_told_without_importing_anything_else(option: str) -> None:
    modules, out = imported(option)

    assert out == f"linewitness {__version__}\n"
    assert modules <= {
        "__future__",
        "linewitness",
        "linewitness._version",
        "linewitness.cli",
        "linewitness.cli.__main__",
    }


@pytest.mark.parametrize("argv", [["--help"], ["explain", "LW101", "--format", "text"], ["schema", "settings"]])
def test_small_commands_load_no_heavy_library(argv: list[str]) -> None:
    modules, out = imported(*argv)

    assert out
    assert not modules & (HEAVY - {"json"})


def test_the_version_of_the_package_is_that_of_the_constant() -> None:
    import tomllib
    from pathlib import Path

    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())

    assert "version" in project["project"]["dynamic"]
    assert project["tool"]["hatch"]["version"]["path"] == "src/linewitness/_version.py"


END = (
    "import atexit, sys; atexit.register(print, 'the last word'); sys.argv = ['linewitness', '--version']\n"
    "from linewitness.cli.__main__ import main; main()"
)


def test_the_process_ends_with_all_that_was_to_be_said_and_done() -> None:
    done = subprocess.run([sys.executable, "-c", END], capture_output=True, text=True, check=True)

    assert done.stdout == f"linewitness {__version__}\nthe last word\n"


def test_a_result_that_cannot_be_written_is_no_success() -> None:
    done = subprocess.run(["/bin/sh", "-c", 'exec "$0" -c "$1" >/dev/full', sys.executable, END], check=False)

    assert done.returncode not in {0, None}
