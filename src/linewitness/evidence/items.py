"""How each collected test was marked and would be run when collection was over, to be compared when its turn comes.

A test that runs earlier can reach the ones that wait, and mark them to be skipped. Afterwards such a skip looks like
one that their own file asks for.

Runs in the *tested* interpreter (3.9 and later, standard library only).
"""

from __future__ import annotations

from collections.abc import Iterable
from operator import attrgetter, is_
from typing import Any, NamedTuple

_LEAVING_OUT = frozenset({"skip", "skipif", "xfail"})
_OWN_MARKS = attrgetter("own_markers")
# What decides which tests there are, and which of them run.
_OPTIONS = (
    "collectonly", "deselect", "ignore", "ignore_glob", "keyword", "markexpr", "maxfail", "pyargs", "runxfail",
    "setuponly", "setupplan",
)  # fmt: skip
_SETTINGS = ("norecursedirs", "python_classes", "python_files", "python_functions", "testpaths", "xfail_strict")


class _Chain(NamedTuple):
    """A node of the collection with all around it, and the marks that each of them had."""

    nodes: tuple[Any, ...]
    marks: list[list[Any]]


class _Item(NamedTuple):
    item: Any
    marks: list[Any]
    around: _Chain
    runtest: Any


class Items:
    """The tests that wait for their turn. The cases of one function share what is around them."""

    def __init__(self, items: Iterable[Any] = ()) -> None:
        chains: dict[int, _Chain] = {}
        self._waiting: dict[str, _Item] = {}
        for item in items:
            around = chains.get(id(item.parent))
            if around is None:
                nodes = tuple(item.parent.listchain()) if item.parent is not None else ()
                around = chains[id(item.parent)] = _Chain(nodes, [list(_OWN_MARKS(node)) for node in nodes])
            self._waiting[item.nodeid] = _Item(item, list(_OWN_MARKS(item)), around, _runtest(item))

    def started(self, nodeid: str) -> str:
        """What happened to a test while it waited, in words; empty when nothing did, or when it was started before."""
        was = self._waiting.pop(nodeid, None)
        if was is None:
            return ""
        # Equal lists: identical marks are not asked whether they are equal. Other marks than those that count may come.
        now = list(map(_OWN_MARKS, was.around.nodes))
        if (was.item.own_markers != was.marks or now != was.around.marks) and not (
            _is_same(was.item.own_markers, was.marks) and all(map(_is_same, now, was.around.marks))
        ):
            return "was marked by an earlier test"
        return "" if _runtest(was.item) is was.runtest else "was given another way to run by an earlier test"


def _is_same(now: list[Any], was: list[Any]) -> bool:
    """Whether the marks that leave tests out are the same."""
    ours, theirs = ([mark for mark in marks if getattr(mark, "name", "") in _LEAVING_OUT] for marks in (now, was))
    return len(ours) == len(theirs) and all(map(is_, ours, theirs))


def _runtest(item: Any) -> Any:
    """What stands in for the method of the item's class, if anything does."""
    return getattr(item, "__dict__", {}).get("runtest")


def choice(config: Any) -> dict[str, str]:
    """What pytest's options and settings say about which tests run, by their names."""
    options = {f"option `{name}`": repr(getattr(config.option, name, None)) for name in _OPTIONS}
    return {**options, **{f"setting `{name}`": repr(config.getini(name)) for name in _SETTINGS}}
