"""Sees sites run through ``sys.monitoring`` (3.12 and later).

Runs in the *tested* interpreter, standard library only.
"""

from __future__ import annotations

import os
import sys
from types import CodeType
from typing import Any

from . import codekey
from .recorder import Recorder

_FAULTS_SHOWN = 20


class Armed:
    """One code object of a changed file.

    A reference is kept, because it is known by its ``id()``: code objects are equal when their values are, and a twin
    from ``exec`` or ``reload`` has to be armed as well.
    """

    __slots__ = ("code", "entry", "events", "file", "sites")

    def __init__(self, code: CodeType, file: str, entry: int, sites: dict[int, int]) -> None:
        self.code = code
        self.file = file
        self.entry = entry
        self.sites = sites
        self.events = 0


class Monitor:
    """Sees sites by local events on the wanted code objects of changed files, and by nothing else.

    Two tool ids share an event (PY_START) on purpose. With one, any second tool that turns up later (a debugger,
    ``sys.settrace``, coverage) makes CPython 3.12 to 3.14 allocate the per-instruction table of tools zeroed, and the
    INSTRUCTION events armed before are lost. LINE is armed beside INSTRUCTION because another tool's LINE can hide
    INSTRUCTION at the start of a line once; never on module and class bodies, where finding the line of an event takes
    time in proportion to its offset.
    """

    NAMES = ("linewitness", "linewitness-start")

    def __init__(self, recorder: Recorder, export: str, plan: dict[str, dict[str, Any]]) -> None:
        self._monitoring: Any = sys.monitoring  # type: ignore[attr-defined, unused-ignore]
        self._recorder = recorder
        self._export = export + os.sep
        self._plan = {os.path.join(export, path): (path, _table(listed["codes"])) for path, listed in plan.items()}
        self._files: dict[str, Any] = {}
        self._armed: dict[int, Armed] = {}
        self._callbacks: list[tuple[int, int, Any]] = []
        self._tools = (0, 0)

    def start(self) -> None:
        """Install the hooks. Errors: RuntimeError when other tools hold every id."""
        monitoring, events = self._monitoring, self._monitoring.events
        free = [tool for tool in (3, 4, 2, 1) if monitoring.get_tool(tool) is None]
        if len(free) < 2:
            raise RuntimeError("sys.monitoring has fewer than two free tool ids")
        self._tools = (free[0], free[1])
        for index, tool in enumerate(self._tools):
            monitoring.use_tool_id(tool, self.NAMES[index])
        local, start = self._tools
        on_instruction, on_line, on_entry = self._handlers()
        self._callbacks = [
            (local, events.INSTRUCTION, on_instruction),
            (local, events.LINE, on_line),
            (local, events.PY_START, on_entry),
            (start, events.PY_START, self._on_start(on_entry)),
        ]
        for tool, event, callback in self._callbacks:
            monitoring.register_callback(tool, event, callback)
        monitoring.set_events(start, events.PY_START)

    def _handlers(self) -> tuple[Any, Any, Any]:
        armed, see, disable = self._armed, self._recorder.see, self._monitoring.DISABLE
        frame_at = sys._getframe  # noqa: SLF001 - the only way to the offset of a LINE event

        def on_instruction(code: CodeType, offset: int) -> Any:
            spot = armed[id(code)]
            ident = spot.sites.get(offset)
            if ident is None or see(spot, ident):
                return disable
            return None

        def on_line(code: CodeType, _line: int) -> Any:
            spot = armed[id(code)]
            ident = spot.sites.get(frame_at(1).f_lasti)
            if ident is None or see(spot, ident):
                return disable
            return None

        def on_entry(code: CodeType, _offset: int) -> Any:
            spot = armed[id(code)]
            return disable if see(spot, spot.entry) else None

        return on_instruction, on_line, on_entry

    def _on_start(self, on_entry: Any) -> Any:
        files, armed, disable = self._files, self._armed, self._monitoring.DISABLE

        def on_start(code: CodeType, offset: int) -> Any:
            try:
                known = files[code.co_filename]
            except KeyError:
                known = self._file(code.co_filename)
            if known is not None and id(code) not in armed and self._arm(code, *known):
                on_entry(code, offset)
            return disable

        return on_start

    def _file(self, name: str) -> Any:
        real = os.path.realpath(name)
        known = self._files[name] = self._plan.get(real)
        if real.startswith(self._export) and os.path.isfile(real):
            self._recorder.loaded.add(real[len(self._export) :])
        return known

    def _arm(self, code: CodeType, path: str, table: dict[tuple[str, int], list[dict[str, Any]]]) -> bool:
        likely = table.get((code.co_qualname, code.co_firstlineno))  # type: ignore[attr-defined, unused-ignore]
        if likely is None:
            return False
        key = codekey.digest(code)
        for listed in likely:
            if listed["digest"] == key:
                break
        else:
            self._recorder.see_alien(path, code.co_name, code.co_firstlineno)
            return False
        events = self._monitoring.events
        spot = Armed(code, path, listed["entry"], dict(listed["sites"]))
        spot.events = events.PY_START
        if spot.sites:
            spot.events |= events.INSTRUCTION | (0 if codekey.runs_at_import(code) else events.LINE)
        self._armed[id(code)] = spot
        self._monitoring.set_local_events(self._tools[0], code, spot.events)
        return True

    def rearm(self, hits: list[tuple[Any, int]]) -> None:
        """Switch the code objects of these hits off and on; the same events again would change nothing."""
        set_local_events, tool = self._monitoring.set_local_events, self._tools[0]
        for spot in {id(spot): spot for spot, _ in hits}.values():
            set_local_events(tool, spot.code, 0)
            set_local_events(tool, spot.code, spot.events)

    def faults(self) -> list[str]:
        """Take the hooks away and tell which were not there any more. Errors: none."""
        monitoring = self._monitoring
        found = [
            f"monitoring tool {name!r} was released during the run"
            for index, name in enumerate(self.NAMES)
            if monitoring.get_tool(self._tools[index]) != name
        ]
        if found:
            return found
        for tool, event, callback in self._callbacks:
            if monitoring.register_callback(tool, event, None) is not callback:
                found.append(f"a monitoring callback of tool {tool} was replaced during the run")
        if not monitoring.get_events(self._tools[1]) & monitoring.events.PY_START:
            found.append("the events of the recorder were switched off during the run")
        found += [
            f"the events of {spot.code.co_name} in {spot.file} were switched off during the run"
            for spot in self._armed.values()
            if monitoring.get_local_events(self._tools[0], spot.code) != spot.events
        ]
        return found[:_FAULTS_SHOWN]


def _table(codes: list[dict[str, Any]]) -> dict[tuple[str, int], list[dict[str, Any]]]:
    table: dict[tuple[str, int], list[dict[str, Any]]] = {}
    for listed in codes:
        table.setdefault((listed["name"], listed["line"]), []).append(listed)
    return table
