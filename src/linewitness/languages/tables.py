"""The languages that are judged by a table, and where each table is."""

from __future__ import annotations

from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from linewitness.languages.grammar.table import Table

#: The module of each table, by the name that :func:`linewitness.languages.files.language` gives a language.
MODULES: Final = MappingProxyType(
    {
        "bash": "bash",
        "c": "c",
        "c-sharp": "csharp",
        "cpp": "cpp",
        "go": "go",
        "java": "java",
        "javascript": "javascript",
        "kotlin": "kotlin",
        "php": "php",
        "ruby": "ruby",
        "rust": "rust",
        "scala": "scala",
        "swift": "swift",
        "typescript": "typescript",
    }
)


def table(language: str) -> Table | None:
    """The table of a language, ``None`` while there is none. Imports no grammar."""
    module = MODULES.get(language)
    if module is None:
        return None
    found: Table = import_module(f"linewitness.languages.{module}").TABLE
    return found
