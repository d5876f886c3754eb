"""A small recorder for tests of the line rule: sites as the package lists them, hits from instruction events.

Far too slow for real use. Before 3.12, where the package lists probes and not instructions, the sites are those of
``co_positions``: the rule has to hold for them too.
"""

from __future__ import annotations

import dis
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from types import CodeType, FrameType
from typing import Any

from linewitness.evidence.codekey import digest
from linewitness.evidence.hits import Entry, FileSites, Hit, Site
from linewitness.evidence.sites import Ranges, instructions
from linewitness.model import Phase, Pos, RepoPath, Span

NAME = "<case>"
_PROLOGUE = {"RESUME", "RETURN_GENERATOR", "COPY_FREE_VARS", "MAKE_CELL", "CACHE", "EXTENDED_ARG", "GEN_START"}
_WEAK = {
    "NOP", "POP_TOP", "COPY", "SWAP", "PUSH_EXC_INFO", "RERAISE", "POP_EXCEPT", "PUSH_NULL", "PREP_RERAISE_STAR",
    "END_ASYNC_FOR", "LIST_APPEND", "SET_ADD", "MAP_ADD", "BEFORE_WITH", "BEFORE_ASYNC_WITH", "GET_ITER", "FOR_ITER",
    "SEND",
}  # fmt: skip


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


class Traced:
    """One compiled source with its sites, loaded into a namespace of its own."""

    def __init__(self, source: str) -> None:
        top = compile(source, NAME, "exec", dont_inherit=True)
        self._idents: dict[tuple[int, int], int] = {}
        self._starts: dict[int, int] = {}
        self._keep = list(_codes(top))
        listed = self._listed(top, source) if hasattr(sys, "monitoring") else self._walked()
        self.sites = FileSites(RepoPath("case.py"), *listed)
        self.namespace: dict[str, Any] = {"__name__": "case"}
        self.imported = self.hits(lambda namespace: exec(top, namespace), Phase.IMPORT)

    def _listed(self, top: CodeType, source: str) -> tuple[tuple[Site, ...], tuple[Entry, ...]]:
        """What the trusted run would observe if every line of the file had changed."""
        listing = instructions(top, Ranges([[1, source.count("\n") + 1]]))
        known = {listed["digest"]: listed for listed in listing["codes"]}
        for code in self._keep:
            listed = known[digest(code)]
            self._starts[id(code)] = listed["entry"]
            self._idents.update(((id(code), offset), ident) for offset, ident in listed["sites"])
        sites = (
            Site(ident, Span(Pos(*start), Pos(*end)), weak, lazy)
            for ident, (start, end), weak, lazy in listing["sites"]
        )
        return tuple(sites), tuple(Entry(*entry) for entry in listing["entries"])

    def _walked(self) -> tuple[tuple[Site, ...], tuple[Entry, ...]]:
        sites, entries = list[Site](), list[Entry]()
        for code in self._keep:
            self._starts[id(code)] = len(self._idents) + len(entries) + 1_000_000
            entries.append(Entry(self._starts[id(code)], code.co_name, code.co_firstlineno))
            for index, (line, end_line, col, end_col) in enumerate(code.co_positions()):
                op = dis.opname[code.co_code[2 * index]]
                if op in _PROLOGUE or line is None or end_line is None or col is None or end_col is None:
                    continue
                ident = self._idents[id(code), 2 * index] = len(self._idents)
                weak = op in _WEAK or "JUMP" in op
                sites.append(Site(ident, Span(Pos(line, col), Pos(end_line, end_col)), weak, lazy=False))
        return tuple(sites), tuple(entries)

    def hits(self, run: Callable[[dict[str, Any]], object], phase: Phase = Phase.CALL) -> dict[int, Hit]:
        """What ``run`` executed of this source, as the hits of one passing test."""
        seen: set[tuple[int, int]] = set()

        def work() -> None:
            # A case may end in any exception; what ran before it counts.
            with suppress(Exception):
                run(self.namespace)

        (_monitored if hasattr(sys, "monitoring") else _traced)(work, seen)
        witnesses = () if phase is Phase.IMPORT else ("tests/trusted/test_case.py::test",)
        found = {self._idents[key] for key in seen if key in self._idents}
        # A generator's function is entered when its body begins, not when the generator is made.
        found |= {self._starts[code] for code, offset in seen if (code, offset) in self._idents}
        return {ident: Hit(phase, witnesses) for ident in found}


def merged(imported: Mapping[int, Hit], called: Mapping[int, Hit]) -> dict[int, Hit]:
    """The hits of an import followed by a test: a call outweighs an import."""
    return {**imported, **called}


def _monitored(work: Callable[[], None], seen: set[tuple[int, int]]) -> None:
    monitoring = sys.monitoring  # type: ignore[attr-defined,unused-ignore]
    tool, events = 3, monitoring.events

    def instruction(code: CodeType, offset: int) -> None:
        if code.co_filename == NAME:
            seen.add((id(code), offset))

    monitoring.use_tool_id(tool, "case")
    monitoring.register_callback(tool, events.INSTRUCTION, instruction)
    monitoring.set_events(tool, events.INSTRUCTION)
    try:
        work()
    finally:
        monitoring.set_events(tool, 0)
        monitoring.register_callback(tool, events.INSTRUCTION, None)
        monitoring.free_tool_id(tool)


def _traced(work: Callable[[], None], seen: set[tuple[int, int]]) -> None:
    def trace(frame: FrameType, event: str, _: object) -> Any:
        if frame.f_code.co_filename != NAME:
            return None
        frame.f_trace_opcodes = True
        if event == "opcode":
            seen.add((id(frame.f_code), frame.f_lasti))
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(before)
