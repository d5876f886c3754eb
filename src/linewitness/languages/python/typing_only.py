"""What is there for type checkers only: proved from the text of the file, or not believed.

A name counts as ``typing``'s only when a module-level import is the one thing that ever binds it. Every other use of
the name that could rebind it (assignment, parameter, ``del``, ``global``, another import, a star import, a string
that spells it) makes the proof fail, and then the lines owe.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from tree_sitter import Node

from linewitness.languages.python.source import Source, find

_MODULES = frozenset({b"typing", b"typing_extensions"})
_IMPORTS = "[(import_from_statement) (import_statement)] @import"
_TESTS = frozenset({"if_statement", "elif_clause", "not_operator", "boolean_operator", "parenthesized_expression"})


class TypingNames(NamedTuple):
    """The expressions, as text, that are proved to mean ``typing.TYPE_CHECKING`` and ``typing.overload``."""

    type_checking: frozenset[bytes] = frozenset()
    overload: frozenset[bytes] = frozenset()


def mentions_typing(source: Source) -> bool:
    """Whether there is anything to prove at all."""
    return b"TYPE_CHECKING" in source.data or b"overload" in source.data


def typing_names(source: Source, root: Node) -> TypingNames:
    """Look for both names in one file."""
    imports = find(_IMPORTS, root)
    if any(b"*" in (node.text or b"") for node in imports):
        return TypingNames()
    return TypingNames(
        _proved(b"TYPE_CHECKING", source, root, imports),
        _proved(b"overload", source, root, imports),
    )


def _proved(name: bytes, source: Source, root: Node, imports: list[Node]) -> frozenset[bytes]:
    spellings = set[bytes]()
    uses = _uses(name, source, root)
    if uses is not None and all(_harmless(name, use) for use in uses) and _imported_from_typing(name, imports):
        spellings.add(name)
    for module in _module_names(imports):
        if uses is None or not all(_harmless(name, use) for use in uses):
            break
        mentions = _uses(module, source, root)
        if mentions is not None and all(_reads_module(use) for use in mentions):
            spellings.add(module + b"." + name)
    return frozenset(spellings)


def _uses(name: bytes, source: Source, root: Node) -> list[Node] | None:
    """The identifiers that spell ``name``; ``None`` when text that might run (a string, anything odd) spells it."""
    found: list[Node] = []
    for match in re.finditer(rb"(?<![A-Za-z0-9_])%b(?![A-Za-z0-9_])" % re.escape(name), source.data):
        node = root.descendant_for_byte_range(match.start(), match.end())
        if node is None:
            return None
        if node.type == "identifier":
            found.append(node)
        elif node.type != "comment" and not _is_prose(node):
            return None
    return found


def _is_prose(node: Node) -> bool:
    """Whether the node is part of a string that is a statement of its own."""
    up: Node | None = node
    while up is not None and up.type in ("string_content", "string", "concatenated_string"):
        up = up.parent
    return up is not None and up.type == "expression_statement"


def _harmless(name: bytes, use: Node) -> bool:
    """Whether the use is an import of it, a test of it, or (for ``overload``) a decorator."""
    parent = use.parent
    if parent is not None and parent.type == "attribute":
        if parent.child_by_field_name("attribute") != use:
            return False
        parent = parent.parent
    if parent is None:
        return False
    if parent.type == "decorator":
        return name == b"overload"
    if parent.type in ("dotted_name", "aliased_import"):
        return parent.type == "dotted_name" and _is_plain_import(parent)
    return parent.type in _TESTS


def _is_plain_import(name: Node) -> bool:
    statement = name.parent
    return (
        statement is not None
        and statement.type == "import_from_statement"
        and statement.child_by_field_name("module_name") != name
        and _module_of(statement) in _MODULES
        and _at_module_level(statement)
    )


def _imported_from_typing(name: bytes, imports: list[Node]) -> bool:
    return any(
        child.type == "dotted_name" and child.text == name and _is_plain_import(child)
        for node in imports
        for child in node.children_by_field_name("name")
    )


def _module_names(imports: list[Node]) -> list[bytes]:
    """The names under which ``import typing`` makes the module known, at module level."""
    names: list[bytes] = []
    for node in imports:
        if node.type != "import_statement" or not _at_module_level(node):
            continue
        for item in node.children_by_field_name("name"):
            target = item.child_by_field_name("name") if item.type == "aliased_import" else item
            alias = item.child_by_field_name("alias") or target
            if target is not None and alias is not None and target.text in _MODULES and alias.text is not None:
                names.append(alias.text)
    return names


def _reads_module(use: Node) -> bool:
    """Whether a mention of the module's name only reads an attribute of it, or is its import."""
    parent = use.parent
    if parent is None:
        return False
    if parent.type == "attribute":
        return parent.child_by_field_name("object") == use
    if parent.type == "aliased_import":
        module = parent.child_by_field_name("name")
        return module is not None and module.text in _MODULES and _is_module_import(parent)
    if parent.type == "dotted_name":
        return parent.text in _MODULES and parent.parent is not None and _is_typing_import(parent)
    return False


def _is_typing_import(name: Node) -> bool:
    up = name.parent
    if up is not None and up.type == "aliased_import":
        up = up.parent
    if up is None or up.type not in ("import_statement", "import_from_statement"):
        return False
    return up.type == "import_statement" or up.child_by_field_name("module_name") == name


def _is_module_import(item: Node) -> bool:
    return item.parent is not None and item.parent.type == "import_statement"


def _module_of(statement: Node) -> bytes | None:
    module = statement.child_by_field_name("module_name")
    return None if module is None else module.text


def _at_module_level(statement: Node) -> bool:
    """Directly in the module: elsewhere the name may be another one, or bound only sometimes."""
    return statement.parent is not None and statement.parent.type == "module"
