"""Which threads of the run outlived the test that started them.

Runs in the *tested* interpreter (3.9 and later, standard library only).
"""

from __future__ import annotations

import sys
from _thread import _count as thread_count
from _thread import get_ident
from typing import Any

_MARK = "_linewitness_foreign"


def _running() -> list[int]:
    return list(sys._current_frames())  # noqa: SLF001 - threads of ``_thread`` are in no list of ``threading``


class Threads:
    """Which threads outlived their test.

    Once there is one, a thread that it starts is foreign too; until then ``Thread.start`` is left as it is.
    """

    def __init__(self) -> None:
        self.foreign: dict[int, Any] = {}
        self._baseline: frozenset[int] = frozenset()

    def settle(self) -> None:
        """At the end of a test (and of collection): every thread but this one is foreign from now on."""
        if not thread_count() and not self.foreign:
            return
        me = get_ident()
        others = [ident for ident in _running() if ident != me]
        known = getattr(sys.modules.get("threading"), "_active", {})
        self.foreign = {ident: known.get(ident) for ident in others}
        if not self._baseline.issuperset(others):
            self._watch_starts()

    def ignore_present(self) -> None:
        """Threads of the harness itself (an xdist worker has some) are foreign, but start nothing of the project's."""
        me = get_ident()
        self._baseline = frozenset(ident for ident in _running() if ident != me)

    def is_foreign(self) -> bool:
        """Whether the running thread is one of them. Identifiers are used again, so the thread object has to agree."""
        me = get_ident()
        thread = getattr(sys.modules.get("threading"), "_active", {}).get(me)
        if getattr(thread, _MARK, False):
            return True
        return me in self.foreign and self.foreign[me] is thread

    def _watch_starts(self) -> None:
        threading = sys.modules.get("threading")
        start = getattr(getattr(threading, "Thread", None), "start", None)
        if threading is None or start is None or getattr(start, _MARK, False):
            return

        def start_marked(thread: Any, *args: Any, **kwargs: Any) -> Any:
            if self.is_foreign():
                setattr(thread, _MARK, True)
            return start(thread, *args, **kwargs)

        setattr(start_marked, _MARK, True)
        threading.Thread.start = start_marked
