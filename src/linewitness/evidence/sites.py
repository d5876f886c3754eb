"""Lists what can be observed in the changed files, in the terms of the interpreter that will run the tests.

Runs in the *tested* interpreter (3.9 and later, standard library only), isolated, before anything of the patch runs:
the files are compiled, never executed. Reads from standard input

    {"root": "/abs/export", "prepare": true, "files": {"src/a.py": [[first, last], ...]}}   1-based, inclusive

and writes to standard output

    {"mode": "monitoring" | "probes", "files": {"src/a.py": {...}}}

with, for each file, ``sites`` ``[[ident, [[line, col], [end line, end col]], weak, lazy], ...]`` (columns are UTF-8
bytes), ``entries`` ``[[ident, name, line], ...]``, ``unrun`` (idents of what must not run: it is for types), ``bodies``
(the idents of code that runs where it is defined), ``digest`` of the bytes, ``codes`` (what :mod:`recorder` has to
recognise) or ``code`` (what :mod:`probes` has to load instead), or only ``error`` when the file does not compile there.
"""

from __future__ import annotations

import gc
import os
import sys
import warnings
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from functools import lru_cache
from operator import itemgetter
from types import CodeType
from typing import Any, Optional

from . import codekey
from .unrun import for_types, set_apart

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
        self._ordered = sorted(self._lines)

    def __contains__(self, line: int) -> bool:
        return line in self._lines

    def touch(self, first: int, last: int) -> bool:
        """Whether any line of ``first..last`` (inclusive) was asked for."""
        if first == last:
            return first in self._lines
        at = bisect_left(self._ordered, first)
        return at < len(self._ordered) and self._ordered[at] <= last


def main() -> None:
    """The command: one JSON document in, one out."""
    import json

    request = json.load(sys.stdin)
    mode, files = list_files(request)
    if request["prepare"]:
        _compile_kit(_UNUSED[mode])
    # Not ``dump``: only ``dumps`` is written in C, and trees without cycles need no search for them.
    sys.stdout.write(json.dumps({"mode": mode, "files": files}, separators=(",", ":"), check_circular=False))


def list_files(request: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Mode and files of the answer to a request. Of a process that ends afterwards: this one changes its settings."""
    # A long chain of operators is a deep tree; the listing has this process for itself.
    sys.setrecursionlimit(20_000)
    # Trees and lists by the hundred thousand, none of them in cycles, in a process that ends when they are told.
    gc.disable()
    return list_quietly(request)


def list_quietly(request: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """The same, for a process that goes on."""
    with warnings.catch_warnings():
        # Warnings about head's source belong to the run, where the project's own filters apply.
        warnings.simplefilter("ignore")
        return _list(request)


def _list(request: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    mode = "monitoring" if hasattr(sys, "monitoring") else "probes"
    return mode, {path: _file(request["root"], path, ranges, mode) for path, ranges in request["files"].items()}


# Modules of the kit that no process of the run loads.
_UNUSED = {
    "monitoring": frozenset(("probes.py", "sites.py", "skipping.py", "unrun.py", "weaving.py")),
    "probes": frozenset(("loads.py", "monitor.py", "sites.py", "skipping.py", "unrun.py")),
}


def _compile_kit(unused: frozenset[str]) -> None:
    """Leave byte code beside the kit's files: every process of the run reads them, and none of them writes any."""
    import py_compile

    top = os.path.dirname(os.path.abspath(__file__))
    for folder in (top, os.path.join(top, "relations")):
        for name in os.listdir(folder):
            if name.endswith(".py") and name not in unused:
                py_compile.compile(os.path.join(folder, name), doraise=True)


def _file(root: str, path: str, ranges: list[list[int]], mode: str) -> dict[str, Any]:
    try:
        with open(os.path.join(root, path), "rb") as stream:
            source = stream.read()
        apart = for_types(source, ranges)
        wanted = Ranges([*ranges, *([line, line] for line in sorted(apart))])
        if mode == "monitoring":
            listed = instructions(compile(source, path, "exec", dont_inherit=True), wanted)
        else:
            from . import weaving

            listed = weaving.listing(source, path, wanted)
        listed = set_apart(listed, apart)
    except (SyntaxError, ValueError, RecursionError, MemoryError, OSError) as error:
        line = getattr(error, "lineno", None) or 0
        return {"error": f"{type(error).__name__}: {getattr(error, 'msg', None) or error}", "line": line}
    return {**listed, "digest": codekey.digest_of_bytes(source)}


def instructions(top: CodeType, wanted: Ranges) -> dict[str, Any]:
    """Sites and entries of one compilation (3.12 and later): one site per instruction that touches a wanted line."""
    codes: dict[str, dict[str, Any]] = {}
    sites: list[list[Any]] = []
    entries: list[list[Any]] = []
    bodies: list[int] = []
    count = 0
    for code in codekey.walk(top):
        positions = list(code.co_positions())
        if not wanted.touch(*_span(code, positions)):
            continue
        key = codekey.digest(code)
        if key in codes:
            continue  # A `finally` suite is compiled twice: its functions are the same function.
        entry, count = count, count + 1
        entries.append([entry, code.co_name, code.co_firstlineno])
        offsets: list[tuple[int, int]] = []
        for where, weak, lazy, site in _sites(code, positions, wanted):
            line, end_line, col, end_col = site
            sites.append([count, ((line, col), (end_line, end_col)), weak, lazy])
            offsets.extend([(offset, count) for offset in where])
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


_Position = tuple[Optional[int], Optional[int], Optional[int], Optional[int]]


def _span(code: CodeType, positions: list[_Position]) -> tuple[int, int]:
    """First and last line of all instructions."""
    first = min(filter(None, map(itemgetter(0), positions)), default=code.co_firstlineno)
    last = max(filter(None, map(itemgetter(1), positions)), default=code.co_firstlineno)
    return min(first, code.co_firstlineno), max(last, code.co_firstlineno)


_VALUE, _MUTE, _BOOKKEEPING, _PREFIX = range(4)


@lru_cache(maxsize=1)
def _kinds() -> tuple[int, ...]:
    """What each operation is, by its number."""
    from dis import opname

    return tuple(map(_kind, opname))


def _kind(name: str) -> int:
    if name == "EXTENDED_ARG":
        return _PREFIX
    if name in _SILENT or name.startswith("<"):
        return _MUTE
    return _BOOKKEEPING if name in _WEAK or "JUMP" in name else _VALUE


def _sites(
    code: CodeType, positions: list[_Position], wanted: Ranges
) -> Iterator[tuple[list[int], bool, bool, _Position]]:
    """Of each instruction that touches a wanted line: its offsets, whether it is weak or lazy, its position."""
    kinds, raw = _kinds(), code.co_code
    lazy = sys.version_info >= (3, 14) and code.co_name == "__annotate__"
    touched: dict[tuple[int, int], bool] = {}
    prefix: list[int] = []
    offset = -2
    for position in positions:
        offset += 2
        kind = kinds[raw[offset]]
        if kind == _PREFIX:
            prefix.append(offset)
            continue
        offsets, prefix = [*prefix, offset], []
        line, end_line, col, end_col = position
        if kind == _MUTE or line is None or end_line is None or col is None or end_col is None:
            continue
        lines = (line, end_line)
        if lines not in touched:
            touched[lines] = wanted.touch(line, end_line)
        if touched[lines]:
            yield offsets, kind == _BOOKKEEPING, lazy, position
