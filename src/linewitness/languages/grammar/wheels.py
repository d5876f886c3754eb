"""Grammars are wheels of their own, one per language, and may not be installed."""

from __future__ import annotations

import re
from contextlib import suppress
from functools import lru_cache
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version

from tree_sitter import Language, Node, Parser, Query, QueryCursor, QueryError, Tree

from linewitness.errors import UsageError
from linewitness.languages.grammar.rehearsal import GrammarError, rehearse
from linewitness.languages.grammar.table import MARKS, Grammar, Table

_TREES_KEPT = 4
_BEYOND_ASCII = re.compile(rb"[^\x00-\x7f]")


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
        message = (
            f"the patch changes {table.title}, and {_wheel(grammar)} is not installed, or in a version that cannot be "
            f"used: lines of it cannot be judged. Install it with: pip install 'linewitness[{table.extra}]'"
        )
        raise UsageError(message) from error


def parse(table: Table, suffix: str, data: bytes) -> Tree:
    """The syntax tree of a text. The last few trees are kept.

    Errors: as :func:`language` and :func:`marks`, and :class:`GrammarError` when the grammar crashes on this text or
    comes to no end.
    """
    language(table, suffix)
    return _parse(table, table.grammar(suffix), shown(table, data))


def shown(table: Table, data: bytes) -> bytes:
    """What the grammar gets to see of a text: the same, but for characters that its scanner or its query cannot take.

    Queries decode what they compare, and base may be in another encoding than UTF-8.
    """
    if data.isascii():
        return data
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return _BEYOND_ASCII.sub(b"_", data)
    return re.sub(table.unsafe, lambda found: _BEYOND_ASCII.sub(b"_", found[0]), data) if table.unsafe else data


@lru_cache(maxsize=_TREES_KEPT)
def _parse(table: Table, grammar: Grammar, data: bytes) -> Tree:
    def read() -> Tree:
        return Parser(_language(grammar)).parse(data)

    query = _fitting_query(table, grammar)
    reason = rehearse(lambda: QueryCursor(query).captures(read().root_node), len(data))
    if reason:
        raise GrammarError(f"the grammar {_wheel(grammar)} {_version(grammar)} {reason}")
    return read()


def _wheel(grammar: Grammar) -> str:
    return grammar.module.replace("_", "-")


def _version(grammar: Grammar) -> str:
    with suppress(PackageNotFoundError):
        return version(_wheel(grammar))
    return "of an unknown version"


@lru_cache(maxsize=32)
def _query(grammar: Grammar, pattern: str) -> Query:
    query = Query(_language(grammar), pattern)
    names = {query.capture_name(index) for index in range(query.capture_count)}
    unknown = {name for name in names if not name.startswith("_")} - MARKS
    if unknown:
        raise ValueError(f"the table marks nodes as {', '.join(sorted(unknown))}, which the engine does not know")
    return query


def _fitting_query(table: Table, grammar: Grammar) -> Query:
    try:
        return _query(grammar, table.query)
    except QueryError as error:
        message = f"{_wheel(grammar)} is installed in a version with other names than the table for {table.title} knows"
        hint = f"Install the right one with: pip install 'linewitness[{table.extra}]'"
        raise UsageError(f"{message}: {error}. {hint}") from error


def marks(table: Table, suffix: str, root: Node) -> dict[int, set[str]]:
    """What the table's query says of the nodes below ``root``, by node id.

    Errors: :class:`UsageError` when the table was written for another version of the grammar.
    """
    cursor = QueryCursor(_fitting_query(table, table.grammar(suffix)))
    found: dict[int, set[str]] = {}
    for name, nodes in cursor.captures(root).items():
        for node in nodes:
            found.setdefault(node.id, set()).add(name)
    return found
