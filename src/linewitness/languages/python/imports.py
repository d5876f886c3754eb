"""Which imports are new to their scope, and which are only in another order."""

from __future__ import annotations

from collections import Counter

from tree_sitter import Node

from linewitness.languages.python.places import Place, Places
from linewitness.languages.python.tree import find
from linewitness.languages.source import Source
from linewitness.patterns import late
from linewitness.values import NamedTuple

_IMPORTS = "[(import_statement) (import_from_statement) (future_import_statement)] @import"


_NAME = late(rb"\w+")
_WORDS = frozenset((b"import", b"from", b"as"))


def names_in(text: bytes) -> set[bytes]:
    """All names, and words that look like one, but not the words of an import itself."""
    return set(_NAME.findall(text)) - _WORDS


def has_name(name: bytes, text: bytes) -> bool:
    """Whether a name is one of the words of a text."""
    at = text.find(name)
    while at >= 0:
        end = at + len(name)
        if not _NAME.match(text[at - 1 : at]) and not _NAME.match(text[end : end + 1]):
            return True
        at = text.find(name, end)
    return False


class Binding(NamedTuple):
    """One imported name: the module as written, leading dots included, what is taken from it, and as what."""

    module: bytes
    member: bytes
    bound: bytes


class _Scope(NamedTuple):
    bindings: Counter[Binding]
    ordered: list[Binding]


class Imports:
    """The imports of one side by place: the scope and the conditions around them."""

    def __init__(self, source: Source, root: Node, places: Places) -> None:
        self._source = source
        self._scopes: dict[Place, _Scope] = {}
        self._by_line: dict[int, list[tuple[Place, Binding]]] = {}
        for statement in find(_IMPORTS, root):
            self._add(statement, places.of(statement))

    def _add(self, statement: Node, place: Place) -> None:
        scope = self._scopes.setdefault(place, _Scope(Counter(), []))
        at, placed = self._source.line_at, list[tuple[int, Binding]]()
        for line_start, binding in _bindings(statement):
            scope.bindings[binding] += 1
            scope.ordered.append(binding)
            placed.append((at(line_start), binding))
        for line in range(at(statement.start_byte), at(statement.end_byte - 1) + 1):
            own = [binding for where, binding in placed if where == line]
            # A line without names of its own (the head of a parenthesised list) stands for the statement.
            names = own or [binding for _, binding in placed]
            self._by_line.setdefault(line, []).extend((place, binding) for binding in names)

    def scope(self, place: Place) -> _Scope:
        """What is imported at a place."""
        return self._scopes.get(place, _Scope(Counter(), []))

    def knows(self, line: int) -> bool:
        """Whether the line is part of an import."""
        return line in self._by_line

    def all_held_by(self, line: int, other: Imports) -> bool:
        """Whether the other side imports everything that this line imports, at the same place and as often."""
        found = self._by_line.get(line, [])
        return bool(found) and all(self._held(place, binding, other.scope(place)) for place, binding in found)

    def _held(self, place: Place, binding: Binding, other: _Scope) -> bool:
        own = self.scope(place)
        if own.ordered == other.ordered:
            return True
        if own.bindings[binding] > other.bindings[binding]:
            return False
        return not (_order_matters(own, binding) or _order_matters(other, binding))


def _order_matters(scope: _Scope, binding: Binding) -> bool:
    """A star can bind any name, and of two imports of one name the later wins: then order is meaning."""
    return any(
        other.member == b"*"
        or (other.bound == binding.bound and other != binding and not _same_package(other, binding))
        for other in scope.bindings
    )


def _same_package(one: Binding, other: Binding) -> bool:
    """``import a.b`` and ``import a.c`` both bind ``a``, to the same module."""
    return not one.member and not other.member and one.bound == one.module.split(b".")[0] == other.module.split(b".")[0]


def _bindings(statement: Node) -> list[tuple[int, Binding]]:
    module = b""
    if statement.type == "future_import_statement":
        module = b"__future__"
    elif statement.type == "import_from_statement":
        name = statement.child_by_field_name("module_name")
        module = b"".join(((name and name.text) or b"").split())
    stars = [child for child in statement.children if child.type == "wildcard_import"]
    found = [(star.start_byte, Binding(module, b"*", b"*")) for star in stars]
    names = statement.children_by_field_name("name")
    return [*found, *((item.start_byte, _binding(module, item)) for item in names)]


def _binding(module: bytes, item: Node) -> Binding:
    target = item.child_by_field_name("name") if item.type == "aliased_import" else item
    alias = item.child_by_field_name("alias") if item.type == "aliased_import" else None
    name = b"".join(((target and target.text) or b"").split())
    bound = alias.text if alias is not None else None
    if module:
        return Binding(module, name, bound or name)
    return Binding(name, b"", bound or name.split(b".")[0])
