"""Relations: what stays true of a program's results when its input is changed in a known way.

This package runs inside the *tested* interpreter (3.9 and later, standard library and pytest only). During a trusted
run the copy that came with the gate answers to its name, whatever is installed beside the project. Nothing is imported
before it is asked for: the tool itself uses parts of it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .comparisons import additive, agrees, commutes, compare, idempotent, outcome, round_trip
    from .decorator import relation
    from .laws import Law, at_least, at_most, close, multiple, permutation, same, subset, superset
    from .subjects import base, isolated
    from .tally import not_applicable
    from .transformations import (
        Transformation,
        change,
        drop,
        duplicate,
        permute,
        prefix,
        reverse,
        rotate,
        scale,
        seeded,
        shift,
        sort,
    )
    from .trouble import CorpusError, RelationError, RelationFailed, SubjectError, VacuousRelation
    from .values import Raised

_HOMES = {
    "comparisons": ("additive", "agrees", "commutes", "compare", "idempotent", "outcome", "round_trip"),
    "laws": ("Law", "at_least", "at_most", "close", "multiple", "permutation", "same", "subset", "superset"),
    "decorator": ("relation",),
    "subjects": ("base", "isolated"),
    "tally": ("not_applicable",),
    "transformations": (
        "Transformation", "change", "drop", "duplicate", "permute", "prefix", "reverse", "rotate", "scale", "seeded",
        "shift", "sort",
    ),
    "trouble": ("CorpusError", "RelationError", "RelationFailed", "SubjectError", "VacuousRelation"),
    "values": ("Raised",),
}  # fmt: skip
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "CorpusError",
    "Law",
    "Raised",
    "RelationError",
    "RelationFailed",
    "SubjectError",
    "Transformation",
    "VacuousRelation",
    "additive",
    "agrees",
    "at_least",
    "at_most",
    "base",
    "change",
    "close",
    "commutes",
    "compare",
    "drop",
    "duplicate",
    "idempotent",
    "isolated",
    "multiple",
    "not_applicable",
    "outcome",
    "permutation",
    "permute",
    "prefix",
    "relation",
    "reverse",
    "rotate",
    "round_trip",
    "same",
    "scale",
    "seeded",
    "shift",
    "sort",
    "subset",
    "superset",
]


def __getattr__(name: str) -> Any:
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f".{home}", __name__), name)
    globals()[name] = value
    return value
