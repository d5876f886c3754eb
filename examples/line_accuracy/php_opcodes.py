"""The lines for which PHP's compiler makes opcodes, by phpdbg. Nothing runs.

    find src -name '*.php' | python php_opcodes.py > php.jsonl

Left out are opcodes that stand for no code of the line: parameters received, declarations bound early,
and the ``return`` that the compiler puts at the end of every function.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Final, NamedTuple

_FUNCTION: Final = re.compile(r"^     ; .*:\d+-(\d+)$")
_OPCODE: Final = re.compile(r"^L(\d+) \d{4} (?:\S+ = )?([A-Z_]+)(.*)$")
_NO_CODE: Final = frozenset({
    "NOP", "EXT_STMT", "RECV", "RECV_INIT", "RECV_VARIADIC", "TICKS", "DECLARE_CLASS", "VERIFY_RETURN_TYPE",
    "GENERATOR_CREATE", "VERIFY_NEVER_TYPE",
})  # fmt: skip
_IMPLIED: Final = re.compile(r"null|int\(1\)|^$")


class Opcode(NamedTuple):
    """One opcode: its line, its name and its operands."""

    line: int
    name: str
    operands: str


def opcode_lines(listing: Iterable[str]) -> set[int]:
    """The lines with code of their own in the output of ``phpdbg -qrr -p*``."""
    found, body, last = set[int](), list[Opcode](), 0
    for text in listing:
        if match := _FUNCTION.match(text):
            found |= _lines_of(body, last)
            body, last = [], int(match[1])
        elif match := _OPCODE.match(text):
            body.append(Opcode(int(match[1]), match[2], match[3].strip()))
    return found | _lines_of(body, last)


def _lines_of(body: list[Opcode], last: int) -> set[int]:
    while body and body[-1].name in _NO_CODE:
        body.pop()
    if body and body[-1].name.endswith("RETURN") and body[-1].line == last and _IMPLIED.search(body[-1].operands):
        body.pop()
    return {each.line for each in body if each.name not in _NO_CODE}


def main() -> None:
    """Write one JSON object for each file that can be compiled and has code."""
    for name in map(str.strip, sys.stdin):
        command = ["phpdbg", "-qrr", "-p*", name]
        output = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False).stdout
        lines = opcode_lines(output.decode("utf-8", "replace").splitlines())
        count = Path(name).read_bytes().count(b"\n") + 1
        if lines:
            print(json.dumps({"f": name, "lines": sorted(lines), "within": list(range(1, count + 1))}))


if __name__ == "__main__":
    main()
