"""What the walk over a tree finds: units of code, functions, and the leaves with the part that they play."""

from __future__ import annotations

from enum import Enum, auto
from typing import Final

from linewitness.model import Weight
from linewitness.values import NamedTuple

Extent = tuple[int, int]
"""Byte offsets: the first, and the one after the last."""


LUMP: Final = "lump"
"""The type of a leaf that holds many tokens: a part of a line that is longer than people write them."""


class Role(Enum):
    """What a leaf is there for."""

    CODE = auto()
    HEADER = auto()
    CLASS = auto()
    IMPORT = auto()
    DECLARATION = auto()
    CONDITIONAL = auto()
    NEUTRAL = auto()
    COMMENT = auto()


class Leaf(NamedTuple):
    """One token of the text, on the lines ``first`` to ``last``.

    ``unit`` and ``holder`` (the innermost definition) are indices, -1 for none. ``region`` is the innermost part of the
    unit that may be skipped while the unit runs, ``part`` what sort of part that is. ``path`` stands for the types of
    all nodes around.
    """

    start: int
    end: int
    first: int
    last: int
    type: str
    weight: Weight
    role: Role
    unit: int
    holder: int
    region: Extent | None
    part: str
    branch: bool
    is_test: bool
    path: int


class Unit(NamedTuple):
    """A statement, a clause with an anchor of its own, a definition or a declaration. ``parent`` is -1 at the top.

    ``role`` is that of its header. ``holder`` is the innermost definition around it, or itself when it is one.
    """

    kind: str
    role: Role
    start: int
    end: int
    first: int
    parent: int
    holder: int
    branch: bool
    is_test: bool
    is_constant: bool = False


class Definition(NamedTuple):
    """A function, a closure, a class or a namespace. ``parent`` is the definition around it, ``unit`` where it stands.

    ``body`` is ``None`` for one that has none.
    """

    name: str
    role: Role
    start: int
    end: int
    first: int
    last: int
    parent: int
    unit: int
    body: Extent | None
    is_closure: bool


class Import(NamedTuple):
    """One imported item, from ``start`` on: ``key`` says what is bound from where, ``name`` the bound name, if any."""

    key: bytes
    name: bytes
    start: int
    end: int
    unit: int
