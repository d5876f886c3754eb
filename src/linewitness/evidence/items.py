"""How each collected test was marked and would be run when collection was over, to be compared when its turn comes.

A test that runs earlier can reach the ones that wait, and mark them to be skipped. Afterwards such a skip looks like
one that their own file asks for.

Runs in the *tested* interpreter (3.9 and later, standard library only).
"""

from __future__ import annotations

from collections.abc import Iterable
from operator import is_
from typing import Any

_LEAVING_OUT = frozenset({"skip", "skipif", "xfail"})
# What decides which tests there are, and which of them run.
_OPTIONS = (
    "collectonly", "deselect", "ignore", "ignore_glob", "keyword", "markexpr", "maxfail", "pyargs", "runxfail",
    "setuponly", "setupplan",
)  # fmt: skip
_SETTINGS = ("norecursedirs", "python_classes", "python_files", "python_functions", "testpaths", "xfail_strict")


class Items:
    """The tests that wait for their turn. The cases of one function share what is around them."""

    def __init__(self, items: Iterable[Any] = ()) -> None:
        # By node id: item, its class, what stands in for the class's ``runtest``, its marks, the nodes around it and
        # theirs. Plain tuples: there may be tens of thousands.
        self._waiting: dict[str, tuple[Any, type, Any, list[Any], tuple[Any, ...], list[list[Any]]]] = {}
        around: dict[int, tuple[tuple[Any, ...], list[list[Any]]]] = {}
        for item in items:
            parent = item.parent
            known = around.get(id(parent))
            if known is None:
                nodes = tuple(parent.listchain()) if parent is not None else ()
                known = around[id(parent)] = (nodes, [list(node.own_markers) for node in nodes])
            runtest = item.__dict__.get("runtest")
            self._waiting[item.nodeid] = (item, type(item), runtest, list(item.own_markers), *known)

    def started(self, nodeid: str) -> str:
        """What happened to a test while it waited, in words; empty when nothing did, or when it was started before."""
        was = self._waiting.pop(nodeid, None)
        if was is None:
            return ""
        item, kind, runtest, marks, nodes, around = was
        # Equal lists: identical marks are not asked whether they are equal. Other marks than those that count may come.
        now = [node.own_markers for node in nodes]
        if (item.own_markers != marks or now != around) and not (
            _is_same(item.own_markers, marks) and all(map(_is_same, now, around))
        ):
            return "was marked by an earlier test"
        if type(item) is not kind or item.__dict__.get("runtest") is not runtest:
            return "was given another way to run by an earlier test"
        return ""


def _is_same(now: list[Any], was: list[Any]) -> bool:
    """Whether the marks that leave tests out are the same."""
    ours, theirs = ([mark for mark in marks if getattr(mark, "name", "") in _LEAVING_OUT] for marks in (now, was))
    return len(ours) == len(theirs) and all(map(is_, ours, theirs))


def choice(config: Any) -> dict[str, str]:
    """What pytest's options and settings say about which tests run, by their names."""
    options = {f"option `{name}`": repr(getattr(config.option, name, None)) for name in _OPTIONS}
    return {**options, **{f"setting `{name}`": repr(config.getini(name)) for name in _SETTINGS}}
