"""The Python sample: real exports of one small project, and what is true of each changed line."""

from __future__ import annotations

from pathlib import Path

import msgspec

from linewitness.evidence.formats.paths import Checkout
from linewitness.evidence.imported import ImportedEvidence, load_exports
from linewitness.languages.python import PythonRule
from linewitness.model import (
    Blob,
    Demand,
    FileChange,
    FileText,
    Hunk,
    LineOptions,
    ObjectId,
    Obligation,
    RepoPath,
    Sighting,
)

ROOT = Path(__file__).parent.parent / "fixtures" / "python_sample"
EXPORTS = sorted((ROOT / "exports").glob("*/coverage.*"))
HEAD = ROOT / "head"
KNOWN = tuple(sorted(RepoPath(path.relative_to(HEAD).as_posix()) for path in HEAD.rglob("*") if path.is_file()))


class ExpectedLine(msgspec.Struct, frozen=True):
    """One changed line: ``hit`` tells whether any code written on it ran, ``partial`` that not all of it did."""

    path: str
    line: int
    kind: str
    hit: bool | None
    partial: bool = False
    debatable: bool = False


class _Expected(msgspec.Struct):
    lines: list[ExpectedLine]


def expected() -> list[ExpectedLine]:
    """The changed lines that owe, apart from those about which tools may reasonably differ."""
    lines = msgspec.json.decode((ROOT / "expected.json").read_bytes(), type=_Expected).lines
    return [line for line in lines if line.kind == "executable" and not line.debatable]


def ask_python(text: FileText, obligations: tuple[Obligation, ...]) -> tuple[Demand, ...]:
    """The demands of the Python rule."""
    return PythonRule().demands(text.head or b"", obligations)


def checkout(wanted: tuple[RepoPath, ...] = KNOWN, known: tuple[RepoPath, ...] = KNOWN) -> Checkout:
    """The sample's files, in a root that the exports do not name."""
    return Checkout(Path("/checkout/of/head"), known, wanted)


def load(*exports: Path, path_maps: tuple[tuple[str, str], ...] = ()) -> ImportedEvidence:
    """Evidence from exports of the sample."""
    wanted = tuple(sorted({RepoPath(line.path) for line in expected()}))
    return load_exports(exports, checkout(wanted), ask_python, path_maps=path_maps)


def sight(evidence: ImportedEvidence, path: str, head: bytes, *lines: int) -> tuple[Sighting, ...]:
    """The answers for some lines of a file, all of which is new; without lines for all that owe."""
    name = RepoPath(path)
    count = head.count(b"\n") + (not head.endswith(b"\n"))
    blob = Blob(0o100644, ObjectId("0" * 40))
    text = FileText(FileChange(name, name, None, blob), None, head, (Hunk(1, 0, 1, count),))
    owed = {each.line: each for each in PythonRule().classify(text, LineOptions()).obligations}
    return evidence.sightings(text, tuple(owed[line] for line in lines or owed))


def sight_sample(evidence: ImportedEvidence, path: str, *lines: int) -> tuple[Sighting, ...]:
    """The answers for some lines of a file of the sample."""
    return sight(evidence, path, (HEAD / path).read_bytes(), *lines)
