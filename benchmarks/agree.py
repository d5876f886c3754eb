"""Coarse exports against the finest one of the same run: ``python benchmarks/agree.py ROOT FINE COARSE ...``.

Every line of every file below ROOT that FINE names is asked about, as if all of it were new. A line that a coarse
export calls run and the fine one (``llvm-cov export``, Istanbul's JSON, V8's) calls not run is a *false witness*: it is
shown, and the status is 1. ``--missed`` shows the lines that ran by the fine export and did not by the coarse one too.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from linewitness.evidence.formats.paths import Checkout
from linewitness.evidence.imported import ImportedEvidence, load_exports
from linewitness.languages import classify, demands
from linewitness.model import (
    Answer,
    Blob,
    FileChange,
    FileText,
    Hunk,
    Kind,
    LineOptions,
    ObjectId,
    RepoPath,
    Sighting,
)
from linewitness.obligations import Jurisdiction
from linewitness.settings import load

RAN = (Answer.RUN, Answer.PARTIAL)


class Line(NamedTuple):
    """One line that owes, and what the two exports say of it."""

    path: RepoPath
    number: int
    fine: Sighting
    coarse: Sighting

    @property
    def false(self) -> bool:
        """Whether only the coarse export calls it run."""
        return self.fine.answer is Answer.NOT_RUN and self.coarse.answer in RAN

    @property
    def missed(self) -> bool:
        """Whether only the coarse export calls it not run."""
        return self.fine.answer is Answer.RUN and self.coarse.answer is Answer.NOT_RUN


class Tree:
    """The files below a folder."""

    def __init__(self, root: Path) -> None:
        self.root = root
        jurisdiction = Jurisdiction(load(lambda _: None).settings, lambda _: False)
        files = (path.relative_to(root) for path in root.rglob("*") if path.is_file() and ".git" not in path.parts)
        self.known = tuple(sorted(RepoPath(path.as_posix()) for path in files))
        self.owing = tuple(path for path in self.known if jurisdiction.owes(path))

    def evidence(self, export: Path) -> ImportedEvidence:
        """One export, matched against the files."""
        evidence = load_exports([export], Checkout(self.root, self.known, self.owing), demands)
        for finding in evidence.findings:
            print(f"{export.name}: {finding.code} {finding.message}", file=sys.stderr)
        return evidence

    def compared(self, fine: ImportedEvidence, coarse: ImportedEvidence) -> Iterator[Line]:
        """Every line of the files that the fine export knows."""
        for path in filter(self._has_lines, self.owing):
            text = self.as_new(path)
            owed = tuple(
                each
                for each in classify(text, LineOptions(), lambda _: False).obligations
                if each.kind is not Kind.OPAQUE
            )
            answers = fine.sightings(text, owed)
            if owed and not all(answer.note.startswith("no export names") for answer in answers):
                for each, one, other in zip(owed, answers, coarse.sightings(text, owed), strict=True):
                    yield Line(path, each.line, one, other)

    def _has_lines(self, path: RepoPath) -> bool:
        return (self.root / path).stat().st_size > 0

    def as_new(self, path: RepoPath) -> FileText:
        """A file of the tree, every line of it added."""
        head = (self.root / path).read_bytes()
        lines = head.count(b"\n") + (not head.endswith(b"\n"))
        change = FileChange(path, path, None, Blob(0o100644, ObjectId("0" * 40)))
        return FileText(change, None, head, (Hunk(1, 0, 1, lines),))


def report(lines: Sequence[Line], root: Path, *, missed: bool) -> bool:
    """Print how often each pair of answers was given, and the lines that matter; whether none was false."""
    pairs = Counter((line.fine.answer.value, line.coarse.answer.value) for line in lines)
    for (fine, coarse), count in sorted(pairs.items()):
        print(f"| {fine} | {coarse} | {count:,} |")
    shown = [line for line in lines if line.false or (missed and line.missed)]
    for line in shown:
        code = (root / line.path).read_text("utf-8", "replace").split("\n")[line.number - 1].strip()
        print(f"    {'false witness' if line.false else 'missed'}: {line.path}:{line.number} {code[:80]}")
    return not any(line.false for line in lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("root", type=Path, metavar="ROOT")
    parser.add_argument("fine", type=Path, metavar="FINE")
    parser.add_argument("coarse", type=Path, nargs="+", metavar="COARSE")
    parser.add_argument("--missed", action="store_true", help="show missed lines too")
    given = parser.parse_args()
    tree = Tree(given.root)
    fine, honest = tree.evidence(given.fine), True
    for export in given.coarse:
        lines = list(tree.compared(fine, tree.evidence(export)))
        print(f"\n### {export.name}: {len(lines):,} lines\n\n| {given.fine.name} | {export.name} | lines |")
        print("| --- | --- | ---: |")
        honest &= report(lines, given.root, missed=given.missed)
    sys.exit(not honest)


if __name__ == "__main__":
    main()
