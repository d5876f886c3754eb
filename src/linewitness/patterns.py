"""Patterns that are compiled when they are first asked for.

A small patch needs few of the patterns that the modules it loads have ready, and compiling is slower than searching.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from typing import Any, AnyStr


class _Late:
    """Stands for a pattern, and has whatever that has."""

    def __init__(self, text: Any, flags: int) -> None:
        self._given = (text, flags)

    def __getattr__(self, name: str) -> object:
        import re

        found: object = getattr(re.compile(*self._given), name)
        # from now on it is asked for no more
        self.__dict__[name] = found
        return found


def late(text: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """What ``re.compile`` gives for the same arguments, in all but its type. Errors: ``re.error`` once it is used."""
    return _Late(text, flags)  # type: ignore[return-value]
