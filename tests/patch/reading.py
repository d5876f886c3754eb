"""Reading results in tests."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping

from linewitness.model import FileText
from linewitness.patch.objects import path_bytes


def changed_lines(text: FileText) -> list[int]:
    """The numbers of head's changed lines."""
    return [n for hunk in text.hunks for n in range(hunk.head_start, hunk.head_start + hunk.head_count)]


def lines_by_path(texts: Mapping[str, FileText]) -> dict[bytes, list[int]]:
    """The numbers of head's changed lines, by the bytes of each path."""
    return {path_bytes(path): changed_lines(text) for path, text in texts.items()}


def each(names: Iterable[str | bytes], lines: list[int]) -> dict[bytes, list[int]]:
    """The same line numbers for each of the names, in the form of :func:`lines_by_path`."""
    return {os.fsencode(name): lines for name in names}
