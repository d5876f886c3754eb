"""What people pass instead of an export: raw data of the same tools, summaries, results of tests, pages for people."""

from __future__ import annotations

import re
from typing import Final

from linewitness.evidence.formats.facts import broken
from linewitness.evidence.formats.source import ExportFile

#: What git puts in front of each of two versions that it could not merge.
_CONFLICT: Final = b"\n<<<<<<< "

#: How such a file begins, what it is, and what to do. The first that fits is told.
_KNOWN: Final[tuple[tuple[re.Pattern[bytes], str], ...]] = tuple(
    (re.compile(begin, re.DOTALL), what)
    for begin, what in (
        (rb"\xff\xfe|\xfe\xff|.\x00.\x00|\x00.\x00.", "text in UTF-16; write it as UTF-8"),
        (rb"\x01\xc0\xc0", "JaCoCo's execution data; write its XML report"),
        (rb".rforpl\xff|\xfflprofr.", "a raw profile of LLVM; merge it with llvm-profdata and run llvm-cov export"),
        (rb".iforpl\xff|\xfflprofi.", "a profile of LLVM; run llvm-cov export on it and the program"),
        (rb"adcg|gcda|oncg|gcno", "gcc's data; run gcov --json-format, or gcovr --json"),
        (rb"\x00cvm|\x00cwm", "Go's binary data; run go tool covdata textfmt"),
        (rb"\s*<\?php", "PHPUnit's own object; use --coverage-clover"),
        (rb"\s*(?:<!DOCTYPE html|<html)", "a page for people; pass the report for programs"),
        (rb"\s*(?:<\?xml[^>]*>\s*)?<testsuites?[\s>]", "results of tests, without coverage"),
        (rb"\s*(?:<\?xml[^>]*>\s*)?<crap_result", "a report on complexity; use --coverage-clover"),
        (rb"\s*(?:<\?xml[^>]*>\s*)?<phpunit\s", "PHPUnit's XML, one file for each source; use --coverage-clover"),
        (rb"\s*(?:<\?xml[^>]*>\s*)?<scoverage", "scoverage's own XML; use its Cobertura report"),
        (rb"\s*(?:<\?xml[^>]*>\s*)?<Root\s[^>]*Covered", "dotCover's report; collect with coverlet or dotnet-coverage"),
        (rb"\s*(?:<\?xml[^>]*>\s*)?<CoverageReport", "ReportGenerator's summary; pass what it was made of"),
        (rb"!coverage\.py: This is a private format", "coverage.py's data before version 5; run coverage xml"),
        (rb"\s*Name +Stmts +Miss", "coverage.py's table for people; run coverage json"),
        (rb"\s*-:\s+0:(?:Source|Graph|Data):", "gcov's listing for people; run gcov --json-format, or gcovr --json"),
        (rb"(?:/[^\n]*:\n)?\s*\d+\|\s*[\d.kMG]*\|", "llvm-cov's listing for people; run llvm-cov export"),
        (
            rb'\s*\{\s*"[^"]*"\s*:\s*\[\s*\{[^{}]*"(?:isExecutable|executionCount)"',
            "Xcode's archive; run xcrun llvm-cov export, or slather with --cobertura-xml",
        ),
        (
            rb'\s*\{[^{}\[\]]*"(?:coveredLines|executableLines|lineCoverage)"',
            "Xcode's summary, without lines; run xcrun llvm-cov export, or slather with --cobertura-xml",
        ),
        (rb'\s*\{\s*"children"\s*:\s*\{', "grcov's covdir; write its lcov or cobertura"),
        (rb'\s*\{\s*"total"\s*:\s*\{\s*"lines"', "a summary; use Istanbul's reporter `json`"),
        (rb'\s*\{\s*"result"\s*:\s*\{', "SimpleCov's last result, without lines; pass .resultset.json"),
        (rb'\s*\{\s*"type"\s*:\s*"v8"', "monocart's own data; use its report `json`"),
        (rb"\s*\{\s*\}\s*\Z", "an empty report: nothing was measured, or everything was left out"),
    )
)


def told(head: bytes) -> str:
    """What a file is that begins like this, and what to do; empty when nobody knows."""
    return next((what for begin, what in _KNOWN if begin.match(head.removeprefix(b"\xef\xbb\xbf"))), "")


def refuse_conflict(export: ExportFile) -> None:
    """Errors: ``EvidenceError`` for two exports that git could not merge, which some readers would take for one."""
    for window in export.windows(len(_CONFLICT) - 1):
        at = window.data.find(_CONFLICT)
        if at >= 0:
            raise broken(export, "the marks of a merge conflict", offset=window.start + at + 1)
