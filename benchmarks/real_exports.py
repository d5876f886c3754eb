"""Exports of real projects against their own lines: ``python benchmarks/real_exports.py ROOT EXPORT ... [--lines]``.

ROOT is a checkout of the commit on which EXPORT was collected. Every line of every file that the export names is asked
about, as if all of it were new, and the answer is compared with the plain lines of the export, read here a second time
and much more simply. A *false witness* is a line called run on which every entry of the export is zero, and the status
is 1. *Missed* lines are called not run although an entry on them is not zero. *Silent* lines ran by the export and are
blank or a comment at ROOT; *unowed* lines have entries and owe nothing: brackets, declarations, labels.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from agree import RAN, Tree
from plain_exports import Plain, plain_lines

from linewitness.errors import EvidenceError
from linewitness.evidence.imported import ImportedEvidence
from linewitness.languages import classify
from linewitness.model import Answer, Kind, LineOptions, RepoPath, Sighting

KINDS = ("false witness", "missed", "not provable", "by its statement", "silent", "unowed")


class Line(NamedTuple):
    """One line of a file, the largest of the export's entries on it, and what was answered; ``word`` compares them."""

    path: RepoPath
    number: int
    entry: int | None
    sighting: Sighting | None
    text: str

    @property
    def word(self) -> str:
        """One of ``KINDS``, or ``right``."""
        if self.sighting is None:
            marks = ("#",) if self.path.endswith((".py", ".rb", ".sh")) else ("//", "/*", "* ", "*/")
            silent = not self.text or self.text.startswith(marks)
            return "silent" if silent and self.entry else "unowed"
        if self.sighting.answer is Answer.NOT_PROVABLE:
            return "not provable"
        if self.sighting.answer in RAN:
            return {0: "false witness", None: "by its statement"}.get(self.entry, "right")
        return "missed" if self.entry else "right"


def lines_of(tree: Tree, path: RepoPath, evidence: ImportedEvidence, entries: Mapping[int, int]) -> Iterator[Line]:
    """Every line that owes or has an entry. Errors: ``EvidenceError`` when the export is refused for this file."""
    text = tree.as_new(path)
    found = classify(text, LineOptions(), lambda _: False).obligations
    owed = tuple(each for each in found if each.kind is not Kind.OPAQUE)
    by_line = {each.line: sighting for each, sighting in zip(owed, evidence.sightings(text, owed), strict=True)}
    source = (text.head or b"").decode("utf-8", "replace").split("\n")
    for number in sorted(by_line.keys() | entries.keys()):
        code = source[number - 1].strip() if number <= len(source) else ""
        yield Line(path, number, entries.get(number), by_line.get(number), code)


def of_export(tree: Tree, export: Path, plain: Plain) -> Iterator[Line | EvidenceError]:
    """What one export says of each line of the files of the tree that it names."""
    evidence = tree.evidence(export)
    for path in tree.owing:
        entries: dict[int, int] = {}
        for name, lines in plain.items():
            if _is_tail(name, path) or _is_tail(path, name):
                entries |= {line: max(count, entries.get(line, 0)) for line, count in lines.items()}
        if entries:
            try:
                yield from lines_of(tree, path, evidence, entries)
            except EvidenceError as error:
                yield error


def _is_tail(one: str, other: str) -> bool:
    """Whether a path ends with another one, whatever the capitals."""
    return f"/{other}".casefold().endswith(f"/{one}".casefold())


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("root", type=Path, metavar="ROOT")
    parser.add_argument("exports", type=Path, nargs="+", metavar="EXPORT")
    parser.add_argument("--lines", action="store_true", help="show every line that is not simply right")
    given = parser.parse_args()
    tree, honest = Tree(given.root), True
    print(f"| export | lines | {' | '.join(KINDS)} |\n| --- | {'---: | ' * (len(KINDS) + 1)}")
    for export in given.exports:
        found = list(of_export(tree, export, plain_lines(export)))
        lines = [each for each in found if isinstance(each, Line)]
        count = Counter(each.word for each in lines)
        print(f"| {export.name} | {len(lines):,} | {' | '.join(str(count[kind]) for kind in KINDS)} |")
        honest &= not count["false witness"]
        for each in found:
            if isinstance(each, EvidenceError):
                print(f"    refused: {each}")
            elif given.lines and each.word != "right":
                note = each.sighting.note if each.sighting else ""
                print(f"    {each.word}: {each.path}:{each.number} entry={each.entry} {each.text[:70]!r} {note}")
    sys.exit(not honest)


if __name__ == "__main__":
    main()
