"""The coverage formats that can be imported, one module each, in one table.

A format is recognised by the first bytes of the file, never by its name: people rename exports, and ``coverage.xml``
is written by a dozen tools.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Final, cast

from linewitness.errors import EvidenceError
from linewitness.evidence.formats import lookalikes, sniffing
from linewitness.evidence.formats.facts import Format, Reader
from linewitness.evidence.formats.packed import unpacked
from linewitness.evidence.formats.source import ExportFile

#: How much of a file the recognisers see.
HEAD = 4096


def _from(module: str, opener: str) -> Callable[[ExportFile], Reader]:
    """The opener of a module that is loaded when an export of its format is opened."""

    def opened(export: ExportFile) -> Reader:
        adapter = import_module(f"{__name__}.{module}")
        return cast("Callable[[ExportFile], Reader]", getattr(adapter, opener))(export)

    return opened


#: In the order in which they are asked; each row's module has the format's specification.
FORMATS: Final[tuple[Format, ...]] = (
    Format("coverage-sqlite", sniffing.coverage_sqlite, _from("coverage_sqlite", "CoverageData")),
    Format("coverage-json", sniffing.coverage_json, _from("coverage_json", "open_json")),
    Format("clover", sniffing.clover, _from("clover", "Report")),
    Format("sonarqube", sniffing.sonarqube, _from("sonarqube", "Report")),
    Format("cobertura", sniffing.cobertura, _from("cobertura", "open_cobertura")),
    Format("jacoco", sniffing.jacoco, _from("jacoco", "Report")),
    Format("opencover", sniffing.opencover, _from("opencover", "Report")),
    Format("lcov", sniffing.lcov, _from("lcov", "Tracefile")),
    Format("go", sniffing.go, _from("go_profile", "Profile")),
    Format("istanbul", sniffing.istanbul, _from("istanbul", "Report")),
    Format("v8", sniffing.v8, _from("v8", "Report")),
    Format("gcovr", sniffing.gcovr, _from("gcov", "Report")),
    Format("gcov", sniffing.gcov, _from("gcov", "Report")),
    Format("llvm-cov", sniffing.llvm, _from("llvm", "Report")),
    Format("simplecov", sniffing.simplecov, _from("simplecov", "Report")),
    Format("codecov", sniffing.codecov, _from("codecov", "Report")),
    Format("coveralls", sniffing.coveralls, _from("coveralls", "Report")),
    Format("coverlet", sniffing.coverlet, _from("coverlet", "Report")),
    Format("tarpaulin", sniffing.tarpaulin, _from("tarpaulin", "Report")),
    Format("visual-studio", sniffing.visual_studio, _from("visual_studio", "Report")),
)


def names() -> tuple[str, ...]:
    """What ``--cov-format`` accepts, besides ``auto``."""
    return tuple(sorted(each.name for each in FORMATS))


def choose(export: ExportFile, name: str | None) -> Format:
    """The adapter for an export: the one that ``name`` asks for, else the first that knows the file's first bytes.

    Errors: :class:`EvidenceError` when there is none, with the names of those that exist.
    """
    known = ", ".join(names())
    if name is not None and name != "auto":
        for each in FORMATS:
            if each.name == name:
                return each
        raise EvidenceError(f"there is no coverage format {name!r}; known are {known}", path=str(export.path))
    head = export.read(0, min(HEAD, export.size))
    told = lookalikes.told(head)
    if told:
        raise EvidenceError(f"this is no coverage export but {told}", path=str(export.path))
    for each in FORMATS:
        if each.sniff(head):
            return each
    raise EvidenceError(
        f"this is no coverage export of a known format ({known}); if it is one of these, name it with --cov-format",
        path=str(export.path),
    )


def open_export(export: ExportFile, name: str | None = None) -> tuple[str, Reader]:
    """The format's name and the reader of an export, which may be packed with gzip, as gcov packs its own.

    Errors: :class:`EvidenceError` when it cannot be read.
    """
    export = unpacked(export)
    chosen = choose(export, name)
    if chosen.name != "coverage-sqlite":
        lookalikes.refuse_conflict(export)
    return chosen.name, chosen.open(export)
