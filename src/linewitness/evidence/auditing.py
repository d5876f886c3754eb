"""An audit hook, which nobody can take away again: it sees who opens what, touches the records, exchanges functions.

Runs in the *tested* interpreter (3.9 and later, standard library only). The interpreter calls a hook for *every* event
of the process, and there are many of them (each ``id()`` of an object is one), so there is one hook, and only where
something needs it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable
from typing import Any

from .journal import is_of_the_kit
from .places import Places
from .recorder import Recorder

Hear = Callable[[str, tuple[Any, ...], Any], None]
_POWERS = {
    "gc.get_objects": "gc.get_objects",
    "gc.get_referrers": "gc.get_referrers",
    "gc.get_referents": "gc.get_referents",
    "ctypes.PyObj_FromPtr": "ctypes",
    "ctypes.cdata": "ctypes",
    "ctypes.string_at": "ctypes",
}
_FILES = frozenset({
    "open", "os.chmod", "os.link", "os.remove", "os.rename", "os.rmdir", "os.symlink", "os.truncate", "shutil.rmtree",
})  # fmt: skip
_OF_A_FUNCTION = frozenset({"__code__", "__defaults__", "__kwdefaults__"})


def listen(recorder: Recorder, events: Iterable[str], hear: Hear) -> None:
    """Have ``hear`` told of these events, with the frame in which each happened, beside those who hear of them already.

    It installs the hook when it is the first who asks.
    """
    listeners = recorder.listeners
    if not listeners:
        _install(listeners)
    for event in events:
        before = listeners.get(event)
        listeners[event] = hear if before is None else _both(before, hear)


def _install(listeners: dict[str, Hear]) -> None:
    frame_at = sys._getframe  # noqa: SLF001 - who does it is what matters

    # A plain function: a bound method costs three times as much, for every audited event of the process.
    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event in listeners:
            listeners[event](event, arguments, frame_at(1))

    sys.addaudithook(hook)


def _both(first: Hear, second: Hear) -> Hear:
    def hear(event: str, arguments: tuple[Any, ...], frame: Any) -> None:
        first(event, arguments, frame)
        second(event, arguments, frame)

    return hear


def watch(recorder: Recorder, places: Places, is_guarded: Callable[[Any], bool]) -> None:
    """Look at what only audited events tell of. ``is_guarded`` tells whether the code of a function may not change."""

    def look(event: str, arguments: tuple[Any, ...], frame: Any) -> None:
        if event in _FILES:
            if any(_is_below(path, recorder.folder) for path in arguments[:2]) and not is_of_the_kit(frame):
                recorder.trespass(frame, "the records were touched by")
        elif event in _POWERS:
            path, line = places.innermost(frame)
            if path and not places.is_protected(path):
                recorder.sign(f"code under test uses {_POWERS[event]}", path, line, kind="notice")
        elif arguments[1] in _OF_A_FUNCTION and is_guarded(arguments[0]):
            recorder.trespass(frame, f"{arguments[1]} of {arguments[0].__qualname__}() was replaced by")

    listen(recorder, _FILES.union(_POWERS, ("object.__setattr__",)), look)


def _is_below(path: object, folder: str) -> bool:
    if isinstance(path, bytes):
        path = os.fsdecode(path)
    return isinstance(path, str) and path.startswith(folder)
