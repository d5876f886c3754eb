"""Recognises formats by the first bytes of a file, never by its name, which people change.

Recognising is cheap and promises little: whether a file is what it seems to be is for its adapter to say.
"""

from __future__ import annotations

import re
from typing import Final

_BLANK: Final = b"\xef\xbb\xbf \t\r\n"
_TRACEFILE: Final = re.compile(rb"(?:\xef\xbb\xbf)?(?:[ \t]*(?:#[^\n]*)?\r?\n)*(?:TN|SF|VER):")
_GO: Final = re.compile(rb"mode: \w+\s")
_COVERAGE: Final = re.compile(rb"<coverage[\s>]")
_GENERIC: Final = re.compile(
    rb"""<coverage\s+version\s*=\s*["']\d+["']\s*(?:/>|>\s*(?:<!--.*?-->\s*)*<(?:file|/))""", re.DOTALL
)
_REPORT: Final = re.compile(rb"<report[\s>]")
_OLD_ISTANBUL: Final = re.compile(
    rb'\{\s*"(?:[^"\\]|\\.)*"\s*:\s*\{\s*"path"\s*:\s*"(?:[^"\\]|\\.)*"\s*,\s*"(?:s|b|f|l|fnMap|branchMap)"\s*:'
)
_SCRIPTS: Final = re.compile(rb'\{\s*"result"\s*:\s*\[')
_DATA: Final = re.compile(rb'\{\s*"data"\s*:\s*\[')
_RESULTSET: Final = re.compile(rb'\{\s*"[^"]*"\s*:\s*\{\s*"coverage"\s*:\s*\{')
_CODECOV: Final = re.compile(
    rb'\{\s*"coverage"\s*:\s*\{\s*(?:\}|"(?:[^"\\]|\\.)*"\s*:\s*(?:\[\s*null|\{\s*(?:\}|"\d)))'
)
_TARPAULIN: Final = re.compile(rb'\{\s*"files"\s*:\s*\[\s*\{\s*"path"\s*:\s*\[')
_RESULTS: Final = re.compile(rb"<results[\s>]")
_MODULE: Final = re.compile(rb'\{\s*"[^"]*\.(?:dll|exe)"\s*:\s*\{')


def _is_xml(head: bytes) -> bool:
    return head.lstrip(_BLANK).startswith(b"<")


def _is_object(head: bytes) -> bool:
    return head.lstrip(_BLANK).startswith(b"{")


def coverage_sqlite(head: bytes) -> bool:
    """A database of SQLite; coverage.py's is the only one that is known here."""
    return head.startswith(b"SQLite format 3\x00")


def coverage_json(head: bytes) -> bool:
    """The first file's first list, or else the members of ``meta``."""
    known = b'"executed_lines"' in head or (b'"meta"' in head and b'"branch_coverage"' in head)
    return _is_object(head) and known


def clover(head: bytes) -> bool:
    """The same outermost element as Cobertura's, with a project in it."""
    return _is_xml(head) and _COVERAGE.search(head) is not None and b"<project" in head


def sonarqube(head: bytes) -> bool:
    """The same outermost element as Cobertura's, with files right inside."""
    return _is_xml(head) and _GENERIC.search(head) is not None


def cobertura(head: bytes) -> bool:
    """The outermost element."""
    return _is_xml(head) and _COVERAGE.search(head) is not None and b"<project" not in head


def jacoco(head: bytes) -> bool:
    """The outermost element."""
    return _is_xml(head) and _REPORT.search(head) is not None


def opencover(head: bytes) -> bool:
    """The outermost element."""
    return _is_xml(head) and b"<CoverageSession" in head


def lcov(head: bytes) -> bool:
    """The first record, behind comments and empty lines."""
    return _TRACEFILE.match(head) is not None


def go(head: bytes) -> bool:
    """The mode line."""
    return _GO.match(head.lstrip(_BLANK)) is not None


def istanbul(head: bytes) -> bool:
    """The map of statements near the front of the first file's entry; before version 1 the counts came first."""
    return _is_object(head) and (b'"statementMap"' in head or _OLD_ISTANBUL.match(head.lstrip(_BLANK)) is not None)


def v8(head: bytes) -> bool:
    """The list of scripts, which comes first."""
    return _SCRIPTS.match(head.lstrip(_BLANK)) is not None


def gcovr(head: bytes) -> bool:
    """A key of gcovr's own, the number of the format."""
    return _is_object(head) and b'"gcovr/' in head


def gcov(head: bytes) -> bool:
    """The compiler's version or folder, or lines as gcov writes them."""
    if not _is_object(head):
        return False
    lines = b'"files"' in head and b'"line_number"' in head
    return lines or b'"gcc_version"' in head or b'"current_working_directory"' in head


def llvm(head: bytes) -> bool:
    """The type, which old versions put first, or else the data."""
    named = b'"llvm.coverage.json.export"' in head
    return _is_object(head) and (named or _DATA.match(head.lstrip(_BLANK)) is not None)


def simplecov(head: bytes) -> bool:
    """The version of SimpleCov, or a command with its coverage, or the first file of the gem simplecov-json."""
    named = b'"simplecov_version"' in head or (b'"filename"' in head and b'"covered_percent"' in head)
    return _is_object(head) and (named or _RESULTSET.match(head.lstrip(_BLANK)) is not None)


def codecov(head: bytes) -> bool:
    """Files with their lines by number, or in an array that begins with none."""
    return _CODECOV.match(head.lstrip(_BLANK)) is not None


def coveralls(head: bytes) -> bool:
    """The list of files, which is called so nowhere else."""
    return _is_object(head) and b'"source_files"' in head


def coverlet(head: bytes) -> bool:
    """The name of a .NET module as the first key."""
    return _MODULE.match(head.lstrip(_BLANK)) is not None


def tarpaulin(head: bytes) -> bool:
    """The first file, whose path is in parts."""
    return _TARPAULIN.match(head.lstrip(_BLANK)) is not None


def visual_studio(head: bytes) -> bool:
    """The outermost element, with modules in it."""
    return _is_xml(head) and _RESULTS.search(head) is not None and b"<modules" in head
