"""The six families: where they are, one bug in each that its relations catch, and one that no relation there can see.

    python -m examples.relations.families

runs each family as it is and with either bug, and prints what happened.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
SOURCES = HERE.parents[1] / "src"


class Bug(NamedTuple):
    """One change of the product: ``old`` becomes ``new``; ``what`` says what is wrong then."""

    what: str
    old: str
    new: str


class Family(NamedTuple):
    """One folder, its module, and two bugs."""

    name: str
    module: str
    caught: Bug
    missed: Bug

    @property
    def folder(self) -> Path:
        """Where it lies."""
        return HERE / self.name


FAMILIES = (
    Family(
        "parser",
        "settings_text.py",
        Bug(
            "a comment is cut off only at the start of a line",
            'raw.partition("#")[0].strip()',
            'raw.strip() if "#" != raw[:1] else ""',
        ),
        Bug("all values become lower case", "= value.strip()", "= value.strip().lower()"),
    ),
    Family(
        "codec",
        "runs.py",
        Bug("runs may have 256 bytes, whose length does not fit", "end - start < 255", "end - start < 256"),
        Bug("runs are cut after 100 bytes, and the code is longer than it has to be", "start < 255", "start < 100"),
    ),
    Family(
        "batch",
        "readings.py",
        Bug(
            "the sum starts again after a high reading",
            'entry["high"] += 1',
            'entry["high"] += 1\n            entry["sum"] = reading["value"]',
        ),
        Bug("readings at the limit count as high", "> LIMIT", ">= LIMIT"),
    ),
    Family(
        "pricing",
        "prices.py",
        Bug("equal pieces on one line are counted once", '* item["quantity"]', '* min(item["quantity"], 1)'),
        Bug("the discount begins at 9000 cents", ">= 10000", ">= 9000"),
    ),
    Family(
        "search",
        "ranking.py",
        Bug(
            "equally good documents stay in the order in which they are kept",
            "sorted(scored)",
            "sorted(scored, key=lambda one: one[0])",
        ),
        Bug("the worst document comes first", "-sum(counts)", "sum(counts)"),
    ),
    Family(
        "serialisation",
        "records.py",
        Bug("a line feed inside a field is not escaped", ', "\\n": "\\\\n"}\n_MEANING', "}\n_MEANING"),
        Bug(
            "names are in descending order, which the format does not allow",
            "for name in record})",
            "for name in record}, reverse=True)",
        ),
    ),
)


def broken(text: str, bug: Bug) -> str:
    """The product with the bug. Errors: ValueError when the bug does not fit the text."""
    if text.count(bug.old) != 1:
        raise ValueError(f"{bug.old!r} is not there once")
    return text.replace(bug.old, bug.new)


def copy(family: Family, place: Path, bug: Bug | None = None) -> Path:
    """The family as a project of its own in ``place``, with a bug or without."""
    shutil.copytree(family.folder, place, ignore=shutil.ignore_patterns("__pycache__"))
    if bug is not None:
        module = place / family.module
        module.write_text(broken(module.read_text(encoding="utf-8"), bug), encoding="utf-8")
    return place


def run_pytest(project: Path) -> subprocess.CompletedProcess[str]:
    """Plain pytest over the relations of a project, with the library of this checkout."""
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "LINEWITNESS_"))
    }
    environment |= {"PYTHONPATH": str(SOURCES), "PYTHONDONTWRITEBYTECODE": "1", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/relations"]
    return subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True, check=False)


def main() -> int:
    sound = True
    for family in FAMILIES:
        with tempfile.TemporaryDirectory() as folder:
            for name, bug, wanted in (
                ("as it is", None, 0),
                ("caught", family.caught, 1),
                ("missed", family.missed, 0),
            ):
                status = run_pytest(copy(family, Path(folder) / name.replace(" ", "-"), bug)).returncode
                sound &= status == wanted
                said = {0: "every relation holds", 1: "a relation fails"}.get(status, f"status {status}")
                print(f"{family.name:14} {name:9} {said:21} {bug.what if bug else ''}".rstrip())
    return 0 if sound else 1


if __name__ == "__main__":
    sys.exit(main())
