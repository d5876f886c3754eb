"""Sees sites run through ``sys.monitoring`` (3.12 and later).

Runs in the *tested* interpreter, standard library only.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from types import CodeType
from typing import Any

from . import codekey
from .loads import Loads
from .places import Places
from .recorder import Recorder, See

FORGED = "a hit was reported not by the interpreter but by"
_FAULTS_SHOWN = 20
_CANARY = "<linewitness canary>"
_CANARY_EVERY = 16
"""Tests from one run of the canary to the next. Its instructions are seen one by one, which has its price."""


def _canary() -> None:
    """Runs to be seen."""


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
    INSTRUCTION events armed before are lost. Where there is another tool, LINE is armed beside INSTRUCTION, because an
    instruction whose LINE another tool disables is not told of that once. Not without need: in a big body of a class,
    finding the line of an event takes time in proportion to its offset.
    """

    NAMES = ("linewitness", "linewitness-start")

    def __init__(self, recorder: Recorder, see: See, export: str, plan: dict[str, dict[str, Any]]) -> None:
        self._monitoring: Any = sys.monitoring  # type: ignore[attr-defined, unused-ignore]
        self._recorder = recorder
        self._export = export + os.sep
        self._plan = {path: (path, _table(listed["codes"])) for path, listed in plan.items()}
        self._files: dict[str, Any] = {}
        self._armed: dict[int, Armed] = {}
        self._callbacks: list[tuple[int, int, Any]] = []
        self._tools = (0, 0)
        self._others: tuple[int, ...] = ()
        self._is_alone = True
        self._canary = Armed(_canary.__code__, "", 0, {len(_canary.__code__.co_code) - 2: 0})
        self._heard: list[int] = []
        self._asked = 0
        # Worker processes start as children.
        self._sees_all = recorder.role == "child" or recorder.config["starts"] == "all"
        self._start_events = self._monitoring.events.PY_START if self._sees_all else 0
        self._returned: set[int] = set()
        self._places = Places(recorder.config)
        self._names = frozenset(map(os.path.basename, plan))
        self._loads = Loads(self._export, self._names, self._loaded)
        self._start(see)

    def _start(self, see: See) -> None:
        monitoring, events = self._monitoring, self._monitoring.events
        free = [tool for tool in (3, 4, 2, 1) if monitoring.get_tool(tool) is None]
        if len(free) < 2:
            raise RuntimeError("sys.monitoring has fewer than two free tool ids")
        self._tools = (free[0], free[1])
        self._others = tuple({0, 1, 2, 3, 4, 5}.difference(self._tools))
        for index, tool in enumerate(self._tools):
            monitoring.use_tool_id(tool, self.NAMES[index])
        local, start = self._tools
        self._callbacks = [
            (local, events.INSTRUCTION, self._on_instruction(see)),
            (local, events.LINE, self._on_line(see)),
            (local, events.PY_START, self._on_entry(see)),
            (start, events.PY_START, self._on_start(see)),
            (start, events.PY_RETURN, self._on_return()),
        ]
        for tool, event, callback in self._callbacks:
            monitoring.register_callback(tool, event, callback)
        if not self._sees_all:
            # At once: the project may be one that pytest itself imports.
            self._loads.start()

    def wake(self) -> None:
        """See starts from now on: of all code, or of the patch's, where that is imported.

        In the first case each code object of the process that runs is looked at once, which has its price.
        """
        if self._sees_all:
            self._monitoring.set_events(self._tools[1], self._start_events)
        else:
            self._watch_starts([_canary.__code__])
        # Not before: the second tool would take its instructions away.
        self._switch_on(self._canary)

    def _loaded(self, real: str, code: CodeType) -> None:
        """A file is about to run. That it was loaded is noted of all; starts are seen of what the patch touches."""
        if not real.startswith(self._export):
            return
        self._recorder.loaded.add(real[len(self._export) :])
        _, table = self._plan.get(real[len(self._export) :].replace(os.sep, "/"), ("", {}))
        if table:
            # No others: code whose events were asked for once runs slower from then on.
            self._watch_starts(c for c in codekey.walk(code) if (c.co_qualname, c.co_firstlineno) in table)  # type: ignore[attr-defined, unused-ignore]

    def _watch_starts(self, codes: Iterable[CodeType]) -> None:
        set_local_events, (_, start), event = self._monitoring.set_local_events, self._tools, self._monitoring.events
        for code in codes:
            set_local_events(start, code, event.PY_START)

    def _on_instruction(self, see: See) -> Any:
        armed, canary, heard, disable = self._armed, self._canary, self._heard, self._monitoring.DISABLE
        forged = self._recorder.trespass
        # The only way to the offset of a LINE event; and an event that the interpreter tells of comes from the frame
        # that is just there, while a callback that somebody calls is called from anywhere.
        frame_at = sys._getframe  # noqa: SLF001

        def on_instruction(code: CodeType, offset: int) -> Any:
            spot = armed[id(code)]
            ident = spot.sites.get(offset)
            if ident is None:
                return disable
            frame = frame_at(1)
            if frame.f_code is not code or frame.f_lasti != offset:
                forged(frame, FORGED)
                return None
            if spot is canary:
                heard.append(offset)
                return None
            return disable if see(spot, ident) else None

        return on_instruction

    def _on_entry(self, see: See) -> Any:
        armed, canary, disable = self._armed, self._canary, self._monitoring.DISABLE
        forged, frame_at = self._recorder.trespass, sys._getframe  # noqa: SLF001 - see _on_instruction

        def on_entry(code: CodeType, offset: int) -> Any:
            spot = armed[id(code)]
            frame = frame_at(1)
            if frame.f_code is not code or frame.f_lasti != offset:
                forged(frame, FORGED)
                return None
            return disable if spot is canary or see(spot, spot.entry) else None

        return on_entry

    def _on_line(self, see: See) -> Any:
        armed, canary, heard, disable = self._armed, self._canary, self._heard, self._monitoring.DISABLE
        forged, frame_at = self._recorder.trespass, sys._getframe  # noqa: SLF001 - see _on_instruction

        def on_line(code: CodeType, _line: int) -> Any:
            spot = armed[id(code)]
            frame = frame_at(1)
            ident = spot.sites.get(frame.f_lasti)
            if ident is None:
                return disable
            if frame.f_code is not code:
                forged(frame, FORGED)
                return None
            if spot is canary:
                heard.append(frame.f_lasti)
                return None
            return disable if see(spot, ident) else None

        return on_line

    def _on_start(self, see: See) -> Any:
        files, armed, disable, recorder = self._files, self._armed, self._monitoring.DISABLE, self._recorder
        forged, frame_at = recorder.trespass, sys._getframe  # noqa: SLF001 - see _on_instruction

        def on_start(code: CodeType, offset: int) -> Any:
            try:
                known = files[code.co_filename]
            except KeyError:
                known = self._file(code.co_filename)
            if known is None:
                return disable
            frame = frame_at(1)
            is_told = frame.f_code is code and frame.f_lasti == offset
            if is_told and recorder.look is not None:
                recorder.look(frame)  # Before anything else: what code is made of may have been exchanged.
            is_fresh = id(code) not in armed and self._arm(code, *known)
            if not is_told:
                forged(frame, FORGED)
            elif is_fresh:
                spot = armed[id(code)]
                see(spot, spot.entry)
            return disable

        return on_start

    def _on_return(self) -> Any:
        returned, frame_at = self._returned, sys._getframe  # noqa: SLF001 - see _on_instruction

        def on_return(code: CodeType, offset: int, _value: object) -> None:
            frame = frame_at(1)
            if frame.f_code is code and frame.f_lasti == offset:
                returned.add(id(code))

        return on_return

    def _file(self, name: str) -> Any:
        """Path and code objects of a file that changed; both empty for others that are not protected."""
        path = self._places.inside(name)
        if not path and name.rpartition(os.sep)[2] in self._names:
            real = self._places.real(name)  # Something installed may be a link into the export.
            path = real[len(self._export) :].replace(os.sep, "/") if real.startswith(self._export) else ""
        if path and os.path.isfile(self._export + path):
            self._recorder.loaded.add(path.replace("/", os.sep))
        known = self._plan.get(path)
        if known is None and path and not self._places.is_protected(path):
            known = ("", {})
        self._files[name] = known
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
        spot = Armed(code, path, listed["entry"], dict(listed["sites"]))
        self._look_for_others()
        self._switch_on(spot)
        return True

    def _switch_on(self, spot: Armed) -> None:
        kinds = self._monitoring.events
        of_sites = kinds.INSTRUCTION if self._is_alone else kinds.INSTRUCTION | kinds.LINE
        spot.events = kinds.PY_START | (of_sites if spot.sites else 0)
        self._armed[id(spot.code)] = spot
        self._monitoring.set_local_events(self._tools[0], spot.code, spot.events)

    def _look_for_others(self) -> None:
        """See lines, too, once there is another tool."""
        get_tool = self._monitoring.get_tool
        if not self._is_alone or not any(get_tool(tool) is not None for tool in self._others):
            return
        self._is_alone = False
        for spot in list(self._armed.values()):
            self._switch_on(spot)

    def watch_returns(self, codes: Iterable[CodeType]) -> None:
        """Note from now on when one of these code objects returns."""
        monitoring, start = self._monitoring, self._tools[1]
        for code in codes:
            # A test that is written in a file without owner has its start seen, too.
            events = monitoring.get_local_events(start, code)
            monitoring.set_local_events(start, code, events | monitoring.events.PY_RETURN)

    def has_returned(self, code: CodeType) -> bool:
        """Whether this one returned since the last was asked for."""
        known = id(code) in self._returned
        self._returned.clear()
        return known

    def rearm(self, hits: list[tuple[Any, int]]) -> None:
        """Switch the code objects of these hits off and on; the same events again would change nothing."""
        set_local_events, tool = self._monitoring.set_local_events, self._tools[0]
        for spot in {id(spot): spot for spot, _ in hits}.values():
            set_local_events(tool, spot.code, 0)
            set_local_events(tool, spot.code, spot.events)

    def alive(self) -> str:
        """Look at the tools, and now and then run a code object that must be seen. What is wrong, or nothing.

        Whoever switches events off only loses witnesses, so this is for those who do not know what they did.
        """
        monitoring, (local, start) = self._monitoring, self._tools
        self._look_for_others()
        if monitoring.get_tool(local) != self.NAMES[0] or monitoring.get_tool(start) != self.NAMES[1]:
            return "a monitoring tool of the recorder was released"
        self._asked += 1
        hears = self._asked % _CANARY_EVERY or self._hears()
        if not hears or monitoring.get_events(start) != self._start_events:
            return "the events of the recorder were switched off"
        return "" if self._sees_all else self._loads.alive()

    def _hears(self) -> bool:
        """Run a code object that must be seen."""
        self._heard.clear()
        _canary()
        return bool(self._heard)

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
        if not self._hears():
            found.append("the events of the recorder were switched off during the run")
        if not self._sees_all:
            found += self._loads.faults()
        else:
            exec(compile("", _CANARY, "exec"))  # noqa: S102 - a code object that nobody has seen yet
            if _CANARY not in self._files:
                found.append("the start of a code object went unnoticed: the recorder's events were switched off")
        for tool, event, callback in self._callbacks:
            if monitoring.register_callback(tool, event, None) is not callback:
                found.append(f"a monitoring callback of tool {tool} was replaced during the run")
        if monitoring.get_events(self._tools[1]) & self._start_events != self._start_events:
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
