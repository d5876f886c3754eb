"""Finds the lines of a file that are for type checkers alone, so that the run can notice when they are run after all.

They owe nothing because nothing runs them. Who makes ``typing.TYPE_CHECKING`` true, even for a moment, runs them.

Runs in the *tested* interpreter (3.9 and later, standard library only), before anything of the patch runs.
"""

from __future__ import annotations

import ast
from typing import Any

_HOMES = frozenset({"typing", "typing_extensions"})


def for_types(source: bytes, ranges: list[list[int]]) -> frozenset[int]:
    """The lines under ``if TYPE_CHECKING:``, where the name is typing's and nothing else, that ``ranges`` have not.

    Errors: SyntaxError, and what else ``ast.parse`` raises.
    """
    if b"TYPE_CHECKING" not in source:
        return frozenset()
    nodes = list(ast.walk(ast.parse(source)))
    flags: set[str] = set()
    modules: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and node.module in _HOMES:
            flags.update(name.asname or name.name for name in node.names if name.name == "TYPE_CHECKING")
        elif isinstance(node, ast.Import):
            modules.update(name.asname or name.name for name in node.names if name.name in _HOMES)
    given = {node.id for node in nodes if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)}
    found: set[int] = set()
    for node in nodes:
        if isinstance(node, ast.If) and _asks(node.test, flags - given, modules - given):
            found.update(range(node.body[0].lineno, (node.body[-1].end_lineno or 0) + 1))
    return frozenset(found.difference(*(range(first, last + 1) for first, last in ranges)))


def _asks(test: ast.expr, flags: set[str], modules: set[str]) -> bool:
    if isinstance(test, ast.Attribute) and isinstance(test.value, ast.Name):
        return test.value.id in modules and test.attr == "TYPE_CHECKING"
    return isinstance(test, ast.Name) and test.id in flags


def set_apart(listed: dict[str, Any], lines: frozenset[int]) -> dict[str, Any]:
    """The listing of a file, with the sites of ``lines`` only watched: their idents are ``unrun``."""
    if not lines:
        return {**listed, "unrun": []}
    unrun = [ident for ident, ((line, _), _), *_ in listed["sites"] if line in lines]
    unrun += [ident for ident, _, line in listed["entries"] if line in lines]
    sites = [site for site in listed["sites"] if site[1][0][0] not in lines]
    entries = [entry for entry in listed["entries"] if entry[2] not in lines]
    return {**listed, "sites": sites, "entries": entries, "unrun": unrun}
