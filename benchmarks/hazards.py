"""How often code has lines that no run can vouch for: ``python benchmarks/hazards.py [--show] FOLDER``.

Counts the lines of Python below the folders, without tests, and those that the rule behind LW105 objects to when all
of them are changed.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

# Run as a script, only this folder is on the path.
sys.path.insert(1, str(Path(__file__).resolve().parent.parent / "src"))

from linewitness.languages.python.hazards import hazards


def sources(folder: Path) -> Iterator[Path]:
    """The Python files below a folder that no name says to be tests."""
    for path in sorted(folder.rglob("*.py")):
        if not any("test" in part.lower() for part in path.relative_to(folder).parts):
            yield path


def main() -> None:
    """Count and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--show", action="store_true", help="print each line")
    given = parser.parse_args()
    lines, found = 0, Counter[str]()
    for path in (path for folder in given.folders for path in sources(folder)):
        data = path.read_bytes()
        count = data.count(b"\n")
        lines += count
        for line, reason in sorted(hazards(data, range(1, count + 1)).items()):
            found[reason] += 1
            if given.show:
                print(f"{path}:{line}: {reason}")
    for reason, count in found.most_common():
        print(f"{count:6}  {reason}")
    print(f"{found.total():6}  of {lines} lines")


if __name__ == "__main__":
    main()
