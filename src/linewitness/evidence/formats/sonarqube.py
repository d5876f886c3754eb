"""SonarQube's generic coverage report, as gcovr and many adapters write it (docs.sonarsource.com, "Generic test data").

``coverage/file[@path]/lineToCover[@lineNumber,@covered,@branchesToCover,@coveredBranches]``: ran or not, no counts.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from linewitness.evidence.formats.facts import (
    SOME_ARM,
    SOME_MISSED_ARM,
    BranchArm,
    ByFile,
    FileFacts,
    Grain,
    broken,
    merged_arms,
    merged_counts,
)
from linewitness.evidence.formats.numbers import hit_count, line_number, stands_nowhere
from linewitness.evidence.formats.source import ExportFile
from linewitness.evidence.formats.xml_tags import Place, decode, spelled, tags

_WATCHED: Final = frozenset({"file", "project"})
_TRUTH: Final = {"true": 1, "1": 1, "false": 0, "0": 0}


class Report(ByFile[Place]):
    """An opened report: where the lines of each file are."""

    def __init__(self, export: ExportFile) -> None:
        super().__init__(export)
        current: tuple[str, int] | None = None
        for name, attributes, start in tags(export, "coverage", _WATCHED):
            if name == "project":
                raise broken(export, "there is a <project> in it: it is Clover's")
            if attributes is not None:
                current = (attributes.get("path", ""), start)
            elif current is not None:
                if current[0]:
                    self._places.setdefault(current[0], []).append(Place("file", current[1], start))
                current = None
        if not self._places:
            raise broken(export, "there is no <file> in it: nothing was measured, or everything was left out")

    def _decode(self, place: Place) -> FileFacts:
        counts: list[tuple[int, int]] = []
        arms: list[BranchArm] = []

        def visit(path: tuple[str, ...], attributes: dict[str, str]) -> None:
            if path != ("file", "lineToCover"):
                return
            line = line_number(attributes.get("lineNumber", ""))
            covered = _TRUTH.get(attributes.get("covered", "").strip())
            if covered is not None and stands_nowhere(attributes.get("lineNumber", "")):
                return
            if line is None or covered is None:
                raise broken(self._export, f"{spelled(attributes)} is no line")
            counts.append((line, covered))
            arms.extend(_arms(line, attributes))

        decode(self._export, place, visit)
        return FileFacts(Grain.STATEMENTS, merged_counts(counts), branches=merged_arms(arms))


def _arms(line: int, attributes: dict[str, str]) -> Iterator[BranchArm]:
    total, taken = (hit_count(attributes.get(key, "")) or 0 for key in ("branchesToCover", "coveredBranches"))
    if taken:
        yield BranchArm(line, SOME_ARM, True)
    if total > taken:
        yield BranchArm(line, SOME_MISSED_ARM, False)
