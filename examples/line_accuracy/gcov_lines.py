"""The lines that GCC counts, in sources and in the headers that they include.

    ls *.c | python gcov_lines.py gcc -I. > gcc.jsonl

Each source is compiled by itself with ``--coverage``; nothing runs. Files of the system are left out.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path


def counted(command: Sequence[str], source: str) -> dict[str, set[int]]:
    """The lines by file of one source; nothing when it cannot be compiled."""
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "x.o"
        compiler = [*command, "-O0", "-w", "--coverage", "-c", source, "-o", str(target)]
        if subprocess.run(compiler, capture_output=True, check=False).returncode:
            return {}
        notes = ["gcov", "--json-format", "--stdout", str(target.with_suffix(".gcno"))]
        output = subprocess.run(notes, capture_output=True, check=True).stdout
    files = json.loads(output)["files"]
    return {each["file"]: {line["line_number"] for line in each["lines"]} for each in files}


def main() -> None:
    """Write one JSON object for each file."""
    found: dict[Path, set[int]] = defaultdict(set)
    for source in map(str.strip, sys.stdin):
        for name, lines in counted(sys.argv[1:], source).items():
            if not name.startswith("/usr"):
                found[Path(name).resolve()] |= lines
    for path, lines in sorted(found.items()):
        count = path.read_bytes().count(b"\n") + 1
        print(json.dumps({"f": str(path), "lines": sorted(lines), "within": list(range(1, count + 1))}))


if __name__ == "__main__":
    main()
