"""What the contexts of a coverage.py export say: which test ran a line, or that none did.

Three writers are known: ``dynamic_context = test_function`` (dotted names of test functions), pytest-cov's
``--cov-context=test`` (``nodeid|setup``, ``|run`` or ``|call``, ``|teardown``), and a static ``--context`` which is put
in front of either with a ``|``. The empty context, or the static one alone, is everything outside of tests: import,
collection, and fixtures where the writer does not see them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Final

from linewitness.values import NamedTuple

_PHASES: Final = ("|setup", "|run", "|call", "|teardown")


class Contexts(NamedTuple):
    """How to read the contexts of one export. ``outside`` is the context of everything that is no test.

    ``dropped`` are tests that witness nothing.
    """

    outside: str
    dropped: frozenset[str] = frozenset()

    def tests(self, names: Iterable[str]) -> tuple[str, ...]:
        """The tests among some contexts, sorted, each once."""
        return tuple(
            sorted({_test(name.removeprefix(self.outside).lstrip("|")) for name in names} - {"", *self.dropped})
        )


def understand(names: Collection[str]) -> Contexts | None:
    """The reading of an export's contexts, or ``None`` when they do not tell tests from import.

    ``names`` are the contexts of the whole export; where the empty one is among several, the rest may be missing.
    """
    if "" in names:
        return Contexts("") if len(names) > 1 else None
    plain = {_test(name) for name in names}
    fronts = {name.partition("|")[0] for name in plain}
    if len(fronts) == 1 and (len(plain) > 1 or any("|" in name for name in plain)):
        return Contexts(fronts.pop())
    if len(plain) > 1 or any(name.endswith(_PHASES) for name in names):
        return Contexts("")
    return None


def _test(name: str) -> str:
    for phase in _PHASES:
        if name.endswith(phase):
            return name[: -len(phase)]
    return name
