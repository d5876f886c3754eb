"""Every export of the samples against what is true of each changed line: ``python benchmarks/samples.py [NAME ...]``.

A sample is a patch, the exports that real tools wrote for it, and a hand-checked verdict for each changed line
(``tests/fixtures/formats`` and ``tests/fixtures/python_sample``). Each export is read by itself, as ``linewitness map``
reads it; the files that gcov writes for one program count as one. Lines about which tools may reasonably differ are
left out. A *false witness* is a line that counts as run although none of its code ran: there must be none. *Missed*
lines ran whole and were told not to have run, *not provable* ones may have run or not as far as the export goes; both
keep the gate closed. ``--lines`` shows each line that is not simply right.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from linewitness import obligations
from linewitness.evidence.formats.paths import Checkout
from linewitness.evidence.imported import load_exports
from linewitness.languages import demands
from linewitness.model import Answer, Kind, RepoPath, Sighting
from linewitness.obligations import Jurisdiction
from linewitness.patch.diff_file import DiffPatch
from linewitness.settings import load

FIXTURES = Path(__file__).parent.parent / "tests" / "fixtures"
PYTHON = FIXTURES / "python_sample"
#: gcov's listings for people, which are no export.
LISTINGS = (".c.gcov", ".cpp.gcov")
#: Folders whose files are parts of one export.
IN_PARTS = ("gcov-json",)
WITNESSED = (Answer.RUN, Answer.PARTIAL)
WORDS = ("false witness", "missed", "not provable", "other class")


class Expected(msgspec.Struct, frozen=True):
    """One changed line: ``hit`` tells whether any code written on it ran, ``partial`` that not all of it did."""

    path: str
    line: int
    kind: str
    hit: bool | None
    partial: bool = False
    debatable: bool = False


class _Sample(msgspec.Struct):
    lines: list[Expected]


class Outcome(NamedTuple):
    """What an export says of one line: ``right`` or one of ``WORDS``. Lines that owe nothing have no sighting."""

    word: str
    line: Expected
    sighting: Sighting | None


def samples(wanted: Sequence[str] = ()) -> Iterator[Path]:
    """The folders of all samples, or of those with these names."""
    for folder in (*sorted((FIXTURES / "formats").iterdir()), PYTHON):
        if (folder / "expected.json").is_file() and (not wanted or folder.name in wanted):
            yield folder


def exports(sample: Path) -> Iterator[tuple[str, tuple[Path, ...]]]:
    """A name for each export of a sample, and the files that it is made of."""
    root = sample / "exports"
    for folder in IN_PARTS:
        parts = tuple(sorted((root / folder).glob("*.json")))
        if parts:
            yield f"{folder}/*.json", parts
    for each in sorted(root.rglob("*.*")):
        if not each.name.endswith(LISTINGS) and each.parent.name not in IN_PARTS:
            yield each.relative_to(root).as_posix(), (each,)


def lines_of(sample: Path) -> list[Expected]:
    """The changed lines that nobody disputes."""
    lines = msgspec.json.decode((sample / "expected.json").read_bytes(), type=_Sample).lines
    return [line for line in lines if not line.debatable]


def sightings(sample: Path, files: Sequence[Path]) -> dict[tuple[str, int], Sighting]:
    """What some files together say of every line that owes."""
    head = sample / "head"
    jurisdiction = Jurisdiction(load(lambda _: None).settings, lambda _: False)
    source = DiffPatch((sample / "patch.diff").read_bytes(), head, jurisdiction.owes)
    known = {RepoPath(path.relative_to(head).as_posix()) for path in head.rglob("*") if path.is_file()}
    wanted = [change.path for change in source.patch.changes if jurisdiction.owes(change.path)]
    evidence = load_exports(files, Checkout(head, known, wanted), demands)
    found: dict[tuple[str, int], Sighting] = {}
    for text, classes in obligations.collect(source, jurisdiction):
        owed = tuple(each for each in classes.obligations if each.kind is not Kind.OPAQUE)
        for each, sighting in zip(owed, evidence.sightings(text, owed) if owed else (), strict=True):
            found[each.path, each.line] = sighting
    return found


def outcomes(sample: Path, files: Sequence[Path]) -> Iterator[Outcome]:
    """What some files together say of every undisputed line."""
    found = sightings(sample, files)
    for line in lines_of(sample):
        sighting = found.get((line.path, line.line))
        yield Outcome(_word(line, sighting), line, sighting)


def _word(line: Expected, sighting: Sighting | None) -> str:
    if line.kind != "executable" or sighting is None:
        return "right" if (sighting is None) == (line.kind != "executable") else "other class"
    if sighting.answer in WITNESSED:
        return "right" if line.hit else "false witness"
    if sighting.answer is Answer.NOT_PROVABLE:
        return "not provable"
    # a line of which a part ran may be called unwitnessed by a strict gate
    return "missed" if line.hit and not line.partial else "right"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="samples (default: all)")
    parser.add_argument("--lines", action="store_true", help="show every line that is not simply right")
    given = parser.parse_args()
    total: Counter[str] = Counter()
    print("| sample | export | executable lines | run | false witness | missed | not provable | other class |")
    print("| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for sample in samples(given.names):
        for name, files in exports(sample):
            found = list(outcomes(sample, files))
            count = Counter(each.word for each in found)
            total += count
            code = [each.line for each in found if each.line.kind == "executable"]
            cells = [
                sample.name,
                name,
                len(code),
                sum(bool(line.hit) for line in code),
                *(count[word] for word in WORDS),
            ]
            print("| " + " | ".join(map(str, cells)) + " |", flush=True)
            for word, line, sighting in found if given.lines else ():
                if word != "right":
                    note = sighting.note if sighting is not None else ""
                    print(f"    {word}: {line.path}:{line.line} hit={line.hit} partial={line.partial} {note}")
    print(f"\n{dict(total)}", file=sys.stderr)
    sys.exit(total["false witness"] > 0)


if __name__ == "__main__":
    main()
