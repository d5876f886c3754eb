"""The code regions of LLVM's coverage mapping in static libraries. Nothing runs.

    RUSTFLAGS="-C instrument-coverage" cargo build
    python llvm_regions.py SOURCES target/debug/deps/*.rlib > rustc.jsonl

SOURCES is the folder whose files are written. Of generic code only what a library uses itself has regions, so lines
that owe without one are no fault of the rule.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

_CODE = 0


def regions(archives: Iterable[str]) -> Iterator[tuple[str, int, int]]:
    """File, first and last line of each region."""
    for archive in archives:
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(["ar", "x", str(Path(archive).resolve())], cwd=folder, capture_output=True, check=True)
            for part in sorted(Path(folder).glob("*.o")):
                yield from _regions_of(part)


def _regions_of(part: Path) -> Iterator[tuple[str, int, int]]:
    command = ["llvm-cov", "export", "--empty-profile", str(part)]
    exported = subprocess.run(command, capture_output=True, check=False)
    if exported.returncode:
        return
    for data in json.loads(exported.stdout)["data"]:
        for function in data["functions"]:
            for first, _, last, _, _, index, _, kind, *_ in function["regions"]:
                if kind == _CODE:
                    yield function["filenames"][index], first, last


def main() -> None:
    """Write one JSON object for each file."""
    lines: dict[str, set[int]] = defaultdict(set)
    within: dict[str, set[int]] = defaultdict(set)
    for name, first, last in regions(sys.argv[2:]):
        lines[name].add(first)
        within[name].update(range(first, last + 1))
    for name in sorted(lines):
        if name.startswith(sys.argv[1]):
            print(json.dumps({"f": name, "lines": sorted(lines[name]), "within": sorted(within[name])}))


if __name__ == "__main__":
    main()
