"""What is there for type checkers only: proved from the text of the file, or not believed.

A name counts as ``typing``'s only when a module-level import is the one thing that ever binds it. Every other use of
the name that could rebind it (assignment, parameter, ``del``, ``global``, another import, a star import, a string
that spells it) makes the proof fail, and then the lines owe. The name of the module itself (``import typing as t``) may
be short and common: local variables of that name, and strings in a file that runs no text, do not rebind it.
"""

from __future__ import annotations

import re

from tree_sitter import Node

from linewitness.languages.python.local_names import local_uses
from linewitness.languages.python.tree import find
from linewitness.languages.source import Source
from linewitness.patterns import late
from linewitness.values import NamedTuple

_MODULES = frozenset({b"typing", b"typing_extensions"})
_IMPORTS = "[(import_from_statement) (import_statement)] @import"
# What can bind a name that is given as text. In a file without any of these words strings stay strings.
_REFLECTION = late(
    rb"\b(?:exec|eval|globals|locals|vars|setattr|delattr|__dict__|__setattr__|__builtins__|builtins|modules|ctypes)\b"
)
_CONTRACTION = late(rb"(?<=[A-Za-z])(?:'|\\'|\xe2\x80\x99)\Z")
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
    return TypingNames(proved_names(b"TYPE_CHECKING", source, root), proved_names(b"overload", source, root))


def proved_names(name: bytes, source: Source, root: Node) -> frozenset[bytes]:
    """The expressions, as text, that are proved to mean ``name`` of ``typing`` wherever they stand in the file."""
    imports = find(_IMPORTS, root) if name in source.data else []
    if not imports or any(b"*" in (node.text or b"") for node in imports):
        return frozenset()
    uses = _uses(name, source, root)
    if uses is None or not all(_harmless(name, use) for use in uses):
        return frozenset()
    spellings = {name} if _imported_from_typing(name, imports) else set[bytes]()
    spellings.update(
        module + b"." + name for module in _module_names(imports) if _is_only_the_module(module, name, source, root)
    )
    return frozenset(spellings)


def _is_only_the_module(module: bytes, name: bytes, source: Source, root: Node) -> bool:
    """Whether nothing rebinds the module's name, and no local variable of that name is asked for ``name``."""
    mentions = _uses(module, source, root, spelled_text_runs=_REFLECTION.search(source.data) is not None)
    if mentions is None:
        return False
    for use, is_local in zip(mentions, local_uses(mentions), strict=True):
        parent = use.parent
        attribute = parent.child_by_field_name("attribute") if parent is not None else None
        if is_local and attribute is not None and attribute != use and attribute.text == name:
            return False
        if not is_local and not _reads_module(use):
            return False
    return True


def _uses(name: bytes, source: Source, root: Node, *, spelled_text_runs: bool | None = None) -> list[Node] | None:
    """The identifiers that spell ``name``; ``None`` when text that might run (a string, anything odd) spells it.

    ``spelled_text_runs`` tells whether strings may become names in this file; ``None`` believes it of every string.
    """
    found: list[Node] = []
    for match in re.finditer(rb"(?<![A-Za-z0-9_])%b(?![A-Za-z0-9_])" % re.escape(name), source.data):
        node = root.descendant_for_byte_range(match.start(), match.end())
        if node is None:
            return None
        if node.type == "identifier":
            found.append(node)
        elif node.type != "comment" and not _is_prose(node):
            in_text = node.type in ("string", "string_content")
            before = source.data[max(match.start() - 4, 0) : match.start()]
            contracted = spelled_text_runs is not None and _CONTRACTION.search(before) is not None
            if not in_text or not (spelled_text_runs is False or contracted):
                return None
    return found


def _is_prose(node: Node) -> bool:
    """Whether the node is part of a string that is a statement of its own."""
    up: Node | None = node
    while up is not None and up.type in ("string_content", "string", "concatenated_string"):
        up = up.parent
    return up is not None and up.type == "expression_statement"


def _harmless(name: bytes, use: Node) -> bool:
    """Whether the use is an import of it, a test of it, a decorator (``overload``), or a base (``Protocol``)."""
    parent = use.parent
    if parent is not None and parent.type == "attribute":
        if parent.child_by_field_name("attribute") != use:
            return False
        parent = parent.parent
    if parent is None:
        return False
    if parent.type == "decorator":
        return name == b"overload"
    if name == b"Protocol":
        parent = parent.parent if parent.type == "subscript" else parent
        if parent is not None and parent.type == "argument_list":
            return parent.parent is not None and parent.parent.type == "class_definition"
    if parent is not None and parent.type in ("dotted_name", "aliased_import"):
        return parent.type == "dotted_name" and _is_plain_import(parent)
    return parent is not None and name != b"Protocol" and parent.type in _TESTS


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
