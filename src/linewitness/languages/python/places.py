"""Where in a file a node stands: under which definitions, and under which conditions."""

from __future__ import annotations

from functools import cached_property

from tree_sitter import Node

from linewitness.languages.python.outline import CLAUSES, DEFINITIONS, first_byte
from linewitness.languages.python.source import find

Place = tuple[bytes, ...]
Key = tuple[Place, int]

_ALL_DEFINITIONS = "[(function_definition) (class_definition)] @definition"
_CONDITIONS = CLAUSES | {
    "if_statement", "while_statement", "for_statement", "with_statement", "try_statement", "match_statement",
}  # fmt: skip


class Places:
    """The places of one tree. Two nodes at the same place of base and head run under the same conditions."""

    def __init__(self, root: Node) -> None:
        self._root = root
        self._places: dict[int, Place] = {}

    def of(self, node: Node) -> Place:
        """The definitions and conditions around a node, the outermost first, each as text without white space.

        A definition's own name is the last element of its place.
        """
        trail: list[Node] = []
        up: Node | None = node
        while up is not None and up.id not in self._places:
            trail.append(up)
            up = up.parent
        place = () if up is None else self._places[up.id]
        for step in reversed(trail):
            place = place + _segment(step)
            self._places[step.id] = place
        return place

    @cached_property
    def _keys(self) -> dict[int, Key]:
        counts: dict[Place, int] = {}
        keys: dict[int, Key] = {}
        for definition in find(_ALL_DEFINITIONS, self._root):
            place = self.of(definition)
            counts[place] = counts.get(place, 0) + 1
            keys[definition.id] = place, counts[place]
        return keys

    @cached_property
    def _definitions(self) -> dict[Key, Node]:
        return {self._keys[node.id]: node for node in find(_ALL_DEFINITIONS, self._root)}

    def key(self, definition: Node) -> Key:
        """A definition's place, and which of the definitions at that place it is."""
        return self._keys[definition.id]

    def definition(self, key: Key) -> Node | None:
        """The definition with that key, if there is one."""
        return self._definitions.get(key)


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
