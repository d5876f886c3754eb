"""The samples: a patch each, the exports that real tools wrote, and what is true of every changed line."""

from __future__ import annotations

from pathlib import Path

import msgspec

from linewitness.model import RepoPath

ROOT = Path(__file__).parent.parent / "fixtures" / "formats"
#: gcov's listings for people, which are no export.
_LISTINGS = (".c.gcov", ".cpp.gcov")


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


def samples() -> list[Path]:
    """The folder of each sample."""
    return sorted(path.parent for path in ROOT.glob("*/expected.json"))


def exports_of(sample: Path) -> list[Path]:
    """Every export of a sample."""
    return [each for each in sorted((sample / "exports").rglob("*.*")) if not each.name.endswith(_LISTINGS)]


def expected_of(sample: Path) -> list[Expected]:
    """The changed lines about which tools may not differ."""
    lines = msgspec.json.decode((sample / "expected.json").read_bytes(), type=_Sample).lines
    return [line for line in lines if not line.debatable]


def code_of(sample: Path) -> list[Expected]:
    """Those of them that hold code."""
    return [line for line in expected_of(sample) if line.kind == "executable"]


def files_of(sample: Path) -> tuple[RepoPath, ...]:
    """All paths in head."""
    head = sample / "head"
    return tuple(sorted(RepoPath(each.relative_to(head).as_posix()) for each in head.rglob("*") if each.is_file()))
