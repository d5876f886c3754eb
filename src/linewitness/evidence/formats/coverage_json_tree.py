"""coverage.py's JSON through the standard parser: for reports that were reformatted, sorted, merged or written by hand.

The standard library's parser is the one that shows repeated keys; a repeated file must be merged, not replaced.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import NoReturn

from linewitness.evidence.formats.facts import broken
from linewitness.evidence.formats.source import ExportFile
from linewitness.values import NamedTuple

_Pairs = list[tuple[str, object]]


class Tree(NamedTuple):
    """A parsed report: its format number and, for each path, every entry under that key."""

    format: int | None
    files: dict[str, list[object]]


def parse(export: ExportFile) -> Tree:
    """Read the whole report. Errors: ``EvidenceError`` with the place where it stops being JSON, or a report."""
    text = export.whole()
    try:
        decoded = text.decode("utf-8-sig")
        top = json.loads(decoded, object_pairs_hook=_object, parse_constant=_refuse)
    except UnicodeDecodeError as error:
        raise broken(export, "it is not UTF-8", offset=error.start) from error
    except json.JSONDecodeError as error:
        raise broken(export, error.msg, line=error.lineno) from error
    except (ValueError, RecursionError) as error:
        # a number of thousands of digits, NaN, or brackets nested by the thousand
        raise broken(export, f"no writer puts this into a report ({str(error)[:80]})") from error
    if not isinstance(top, dict) or not isinstance(top.get("meta"), dict):
        raise broken(export, "there is no meta and files in it, as coverage json writes them")
    number = top["meta"].get("format")
    if number is not None and (not isinstance(number, int) or isinstance(number, bool)):
        raise broken(export, f"{str(number)[:40]!r} is no format number")
    return Tree(number, _files(export, top.get("files")))


def context_names(tree: Tree) -> Collection[str]:
    """All contexts that the report names."""
    found: set[str] = set()
    for entries in tree.files.values():
        for entry in entries:
            contexts = entry.get("contexts") if isinstance(entry, dict) else None
            if isinstance(contexts, dict):
                for names in contexts.values():
                    found.update(each for each in names if isinstance(each, str)) if isinstance(names, list) else None
    return found


def _files(export: ExportFile, value: object) -> dict[str, list[object]]:
    if not isinstance(value, (dict, _Repeated)):
        raise broken(export, "its files are missing, or are no object")
    files: dict[str, list[object]] = {}
    for name, entry in value.items() if isinstance(value, dict) else value:
        files.setdefault(name, []).append(entry)
    return files


class _Repeated(list[tuple[str, object]]):
    """An object in which a key is repeated; only the object of files may be one."""


def _object(pairs: _Pairs) -> dict[str, object] | _Repeated:
    found = dict(pairs)
    return found if len(found) == len(pairs) else _Repeated(pairs)


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no number")
