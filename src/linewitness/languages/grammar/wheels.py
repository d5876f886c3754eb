"""Grammars are wheels of their own, one per language, and may not be installed."""

from __future__ import annotations

from functools import lru_cache
from importlib import import_module

from tree_sitter import Language, Node, Parser, Query, QueryCursor, QueryError, Tree

from linewitness.errors import UsageError
from linewitness.languages.grammar.table import MARKS, Grammar, Table

_TREES_KEPT = 4


@lru_cache(maxsize=32)
def _language(grammar: Grammar) -> Language:
    module = import_module(grammar.module)
    return Language(getattr(module, grammar.entry)())


def language(table: Table, suffix: str) -> Language:
    """The grammar for files of a suffix. Errors: :class:`UsageError`, which names the extra, when it is missing."""
    grammar = table.grammar(suffix)
    try:
        return _language(grammar)
    except (AttributeError, ImportError, ValueError) as error:
        wheel = grammar.module.replace("_", "-")
        message = (
            f"the patch changes {table.title}, and {wheel} is not installed, or in a version that cannot be used: "
            f"lines of it cannot be judged. Install it with: pip install 'linewitness[{table.extra}]'"
        )
        raise UsageError(message) from error


@lru_cache(maxsize=_TREES_KEPT)
def _parse(grammar: Grammar, data: bytes) -> Tree:
    return Parser(_language(grammar)).parse(data)


def parse(table: Table, suffix: str, data: bytes) -> Tree:
    """The syntax tree of a text. The last few trees are kept. Errors: as :func:`language`."""
    language(table, suffix)
    return _parse(table.grammar(suffix), data)


@lru_cache(maxsize=32)
def _query(grammar: Grammar, pattern: str) -> Query:
    query = Query(_language(grammar), pattern)
    names = {query.capture_name(index) for index in range(query.capture_count)}
    unknown = {name for name in names if not name.startswith("_")} - MARKS
    if unknown:
        raise ValueError(f"the table marks nodes as {', '.join(sorted(unknown))}, which the engine does not know")
    return query


def marks(table: Table, suffix: str, root: Node) -> dict[int, set[str]]:
    """What the table's query says of the nodes below ``root``, by node id.

    Errors: :class:`UsageError` when the table was written for another version of the grammar.
    """
    grammar = table.grammar(suffix)
    try:
        cursor = QueryCursor(_query(grammar, table.query))
    except QueryError as error:
        wheel = grammar.module.replace("_", "-")
        message = f"{wheel} is installed in a version with other names than the table for {table.title} knows: {error}"
        raise UsageError(f"{message}. Install the right one with: pip install 'linewitness[{table.extra}]'") from error
    found: dict[int, set[str]] = {}
    for name, nodes in cursor.captures(root).items():
        for node in nodes:
            found.setdefault(node.id, set()).add(name)
    return found
