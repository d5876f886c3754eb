"""Where in a file a node stands: under which definitions, and under which conditions."""

from __future__ import annotations

from functools import cached_property

from tree_sitter import Node

from linewitness.languages.python.outline import CLAUSES, DEFINITIONS, first_byte
from linewitness.languages.python.tree import find

Place = tuple[bytes, ...]
Key = tuple[Place, int]
_Spot = tuple[int, int, str]

_ALL_DEFINITIONS = "[(function_definition) (class_definition)] @definition"
_CONDITIONS = CLAUSES | {
    "if_statement", "while_statement", "for_statement", "with_statement", "try_statement", "match_statement",
}  # fmt: skip


class Places:
    """The places of one file. Two nodes at the same place of base and head run under the same conditions.

    Nodes may come from any tree of the file, an excerpt's too: they are known by where they stand in the text.
    """

    def __init__(self, root: Node) -> None:
        self._root = root
        self._places: dict[_Spot, Place] = {}

    def of(self, node: Node) -> Place:
        """The definitions and conditions around a node, the outermost first, each as text without white space.

        A definition's own name is the last element of its place.
        """
        trail: list[Node] = []
        up: Node | None = node
        while up is not None and _spot(up) not in self._places:
            trail.append(up)
            up = up.parent
        place = () if up is None else self._places[_spot(up)]
        for step in reversed(trail):
            place = place + _segment(step)
            self._places[_spot(step)] = place
        return place

    @cached_property
    def _keys(self) -> dict[_Spot, Key]:
        counts: dict[Place, int] = {}
        keys: dict[_Spot, Key] = {}
        for definition in find(_ALL_DEFINITIONS, self._root):
            place = self.of(definition)
            counts[place] = counts.get(place, 0) + 1
            keys[_spot(definition)] = place, counts[place]
        return keys

    @cached_property
    def _definitions(self) -> dict[Key, Node]:
        return {self._keys[_spot(node)]: node for node in find(_ALL_DEFINITIONS, self._root)}

    def key(self, definition: Node) -> Key | None:
        """A definition's place, and which of the definitions at that place it is; ``None`` where the file has none."""
        return self._keys.get(_spot(definition))

    def definition(self, key: Key) -> Node | None:
        """The definition with that key, if there is one."""
        return self._definitions.get(key)


def _spot(node: Node) -> _Spot:
    """What tells a node from every other of its file. Its id does not: that is an address inside of one tree."""
    return node.start_byte, node.end_byte, node.type


def _segment(node: Node) -> Place:
    if node.type in DEFINITIONS:
        name = node.child_by_field_name("name")
        return (b"class " if node.type == "class_definition" else b"def ", (name and name.text) or b"")
    if node.type not in _CONDITIONS:
        return ()
    texts = [_header(node)]
    if node.type == "try_statement":
        texts += [_header(child) for child in node.children if child.type in CLAUSES]
    return tuple(texts)


def _header(node: Node) -> bytes:
    suite = next((child for child in node.children if child.type == "block"), None)
    end = first_byte(suite) if suite is not None else node.end_byte
    return b"".join(((node.text or b"")[: end - node.start_byte]).split())


def with_decorators(definition: Node) -> Node:
    """The whole of a definition, its decorators included."""
    parent = definition.parent
    return parent if parent is not None and parent.type == "decorated_definition" else definition


def definition_node(node: Node) -> Node:
    """The function or class itself, without the node that holds its decorators."""
    return node if node.type in DEFINITIONS else node.child_by_field_name("definition") or node
