"""Lists what can be observed in the changed files, in the terms of the interpreter that will run the tests.

Runs in the *tested* interpreter (3.9 and later, standard library only), isolated, before anything of the patch runs:
the files are compiled, never executed. Reads from standard input

    {"root": "/abs/export", "files": {"src/a.py": [[first, last], ...]}}     line ranges, 1-based, inclusive

and writes to standard output

    {"mode": "monitoring" | "probes", "files": {"src/a.py": {...}}}

with, for each file, ``sites`` ``[[ident, line, col, end line, end col, weak, lazy], ...]`` (columns are UTF-8 bytes),
``entries`` ``[[ident, name, line], ...]``, ``bodies`` (the idents of code that runs where it is defined), ``sha256`` of
the bytes, ``codes`` (what :mod:`recorder` has to recognise) or ``code`` (what :mod:`probes` has to load instead), or
only ``error`` when the file does not compile there.
"""

from __future__ import annotations

import json
import os
import sys
import warnings
from types import CodeType
from typing import Any

from . import codekey

# Instructions that stand for no value of the program: they start or resume a frame, or only widen another's argument.
_SILENT = frozenset(
    ("RESUME", "RETURN_GENERATOR", "COPY_FREE_VARS", "MAKE_CELL", "CACHE", "GEN_START", "INTERPRETER_EXIT", "RESERVED")
)
# Jumps, and loop, stack and exception bookkeeping. They carry the position of code that may not have run: the jump
# after a comprehension's filter has the element's position.
_WEAK = frozenset(
    ("NOP", "POP_TOP", "COPY", "SWAP", "END_FOR", "POP_ITER", "NOT_TAKEN", "PUSH_EXC_INFO", "RERAISE",
     "POP_EXCEPT", "END_SEND", "CLEANUP_THROW", "PUSH_NULL", "PREP_RERAISE_STAR", "END_ASYNC_FOR",
     "LIST_APPEND", "SET_ADD", "MAP_ADD", "BEFORE_WITH", "BEFORE_ASYNC_WITH", "LOAD_SPECIAL", "GET_ITER",
     "TO_BOOL", "FOR_ITER", "SEND")
)  # fmt: skip


class Ranges:
    """The lines asked for, as a test for overlap."""

    def __init__(self, ranges: list[list[int]]) -> None:
        self._lines = frozenset(line for first, last in ranges for line in range(first, last + 1))

    def __contains__(self, line: int) -> bool:
        return line in self._lines

    def touch(self, first: int, last: int) -> bool:
        """Whether any line of ``first..last`` (inclusive) was asked for."""
        if first == last:
            return first in self._lines
        if last - first > len(self._lines):
            return any(first <= line <= last for line in self._lines)
        return any(line in self._lines for line in range(first, last + 1))


def main() -> None:
    """The command: one JSON document in, one out."""
    # A long chain of operators is a deep tree; the listing has this process for itself.
    sys.setrecursionlimit(20_000)
    # Warnings about head's source belong to the run, where the project's own filters apply.
    warnings.simplefilter("ignore")
    _compile_kit()
    request = json.load(sys.stdin)
    mode = "monitoring" if hasattr(sys, "monitoring") else "probes"
    files = {path: _file(request["root"], path, ranges, mode) for path, ranges in request["files"].items()}
    json.dump({"mode": mode, "files": files}, sys.stdout)


def _compile_kit() -> None:
    """Leave byte code beside the kit's files: every process of the run reads them, and none of them writes any."""
    import py_compile

    folder = os.path.dirname(os.path.abspath(__file__))
    for name in os.listdir(folder):
        if name.endswith(".py"):
            py_compile.compile(os.path.join(folder, name), doraise=True)


def _file(root: str, path: str, ranges: list[list[int]], mode: str) -> dict[str, Any]:
    from hashlib import sha256

    try:
        with open(os.path.join(root, path), "rb") as stream:
            source = stream.read()
        if mode == "monitoring":
            listed = instructions(compile(source, path, "exec", dont_inherit=True), Ranges(ranges))
        else:
            from . import weaving

            listed = weaving.listing(source, path, Ranges(ranges))
    except (SyntaxError, ValueError, RecursionError, MemoryError, OSError) as error:
        line = getattr(error, "lineno", None) or 0
        return {"error": f"{type(error).__name__}: {getattr(error, 'msg', None) or error}", "line": line}
    return {**listed, "sha256": sha256(source).hexdigest()}


def instructions(top: CodeType, wanted: Ranges) -> dict[str, Any]:
    """Sites and entries of one compilation (3.12 and later): one site per instruction that touches a wanted line."""
    codes: dict[str, dict[str, Any]] = {}
    sites: list[list[Any]] = []
    entries: list[list[Any]] = []
    bodies: list[int] = []
    count = 0
    for code in codekey.walk(top):
        if not wanted.touch(*_span(code)):
            continue
        key = codekey.digest(code)
        if key in codes:
            continue  # A `finally` suite is compiled twice: its functions are the same function.
        entry, count = count, count + 1
        entries.append([entry, code.co_name, code.co_firstlineno])
        offsets: list[tuple[int, int]] = []
        for site, where in _sites(code, wanted):
            sites.append([count, *site])
            offsets.extend((offset, count) for offset in where)
            count += 1
        if codekey.runs_at_import(code):
            bodies.extend(range(entry, count))
        codes[key] = {
            "name": code.co_qualname,
            "line": code.co_firstlineno,
            "digest": key,
            "entry": entry,
            "sites": offsets,
        }
    return {"codes": list(codes.values()), "sites": sites, "entries": entries, "bodies": bodies}


def _span(code: CodeType) -> tuple[int, int]:
    first = last = code.co_firstlineno
    for line, end, _, _ in code.co_positions():
        if line is not None and end is not None:
            first, last = min(first, line or first), max(last, end)
    return first, last


def _sites(code: CodeType, wanted: Ranges) -> list[tuple[tuple[int, int, int, int, bool, bool], list[int]]]:
    from dis import opname

    found: list[tuple[tuple[int, int, int, int, bool, bool], list[int]]] = []
    raw = code.co_code
    lazy = sys.version_info >= (3, 14) and code.co_name == "__annotate__"
    prefix: list[int] = []
    for index, (line, end_line, col, end_col) in enumerate(code.co_positions()):
        name = opname[raw[2 * index]]
        if name == "EXTENDED_ARG":
            prefix.append(2 * index)
            continue
        offsets, prefix = [*prefix, 2 * index], []
        if line is None or end_line is None or col is None or end_col is None:
            continue
        if name in _SILENT or name.startswith("<") or not wanted.touch(line, end_line):
            continue
        weak = name in _WEAK or "JUMP" in name
        found.append(((line, col, end_line, end_col, weak, lazy), offsets))
    return found
