"""The list of real projects, typed."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import msgspec

HERE = Path(__file__).parent
PROJECTS = HERE / "projects.toml"


class Dropped(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A file or folder of head's tests that is left out on both sides."""

    path: str
    reason: str


class Deselected(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One test (a node id, or the start of several) that does not pass on plain head."""

    test: str
    reason: str


class Project(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="kebab", kw_only=True):
    """One project: two releases and how its tests run. The keys are explained in ``projects.toml``."""

    name: str
    base: str
    head: str
    sources: Annotated[tuple[str, ...], msgspec.Meta(min_length=1)]
    frozen: tuple[str, ...] = ()
    trusted: tuple[str, ...] = ("tests/**",)
    tests: tuple[str, ...] = ("tests",)
    import_roots: tuple[str, ...] = (".",)
    requires: tuple[str, ...] = ()
    plugins: tuple[str, ...] = ()
    starts_pytest: bool = False
    env: dict[str, str] = msgspec.field(default_factory=dict)
    drop: tuple[Dropped, ...] = ()
    deselect: tuple[Deselected, ...] = ()


class _Projects(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    project: tuple[Project, ...]


def load_projects(file: Path = PROJECTS) -> tuple[Project, ...]:
    """All projects in the order of the file. Errors: ``msgspec.ValidationError`` naming the key."""
    return msgspec.toml.decode(file.read_bytes(), type=_Projects).project
