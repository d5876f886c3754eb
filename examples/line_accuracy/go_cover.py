"""What ``go tool cover`` puts into blocks. Reads paths, one a line; writes what ``compare.py`` reads.

    find "$(go env GOROOT)/src" -name '*.go' | python go_cover.py > go.jsonl

The tool writes the source anew, with a table of the blocks at its end: for each its first and last line and, packed
into one number, its columns (cmd/cover, ``addVariables``).
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

_BLOCK = re.compile(r"^\t\t(\d+), (\d+), (0x[0-9a-f]+), // \[\d+\]$", re.MULTILINE)


def blocks(path: str) -> Iterator[tuple[int, int, int, int]]:
    """First line and column, last line and column of each block; columns from 1, the last one exclusive."""
    command = ["go", "tool", "cover", "-mode=set", "-var=GoCover", path]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    for first, last, columns in _BLOCK.findall(done.stdout):
        packed = int(columns, 16)
        yield int(first), packed & 0xFFFF, int(last), packed >> 16


def main() -> None:
    """Write one JSON object for each file that has blocks."""
    for path in sys.stdin.read().split():
        text = Path(path).read_text(encoding="utf-8", errors="replace").split("\n")
        lines, within = set[int](), set[int]()
        for first, left, last, right in blocks(path):
            within |= set(range(first, last + (right > 1)))
            head = text[first - 1].encode()[left - 1 :]
            if first == last:
                head = head[: right - left]
            if head.strip(b" \t{}") and not head.lstrip(b" \t{").startswith((b"//", b"/*")):
                lines.add(first)
        if within:
            print(json.dumps({"f": path, "lines": sorted(lines), "within": sorted(within), "blocks": True}))


if __name__ == "__main__":
    main()
