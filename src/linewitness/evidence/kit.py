"""Puts the files that run inside the tested interpreter into a folder of their own.

The tested interpreter has no linewitness, may be older than ours, and must not find our other modules by accident; so
the kit is copied, as the package ``_linewitness``, beside the records of the run.
"""

from __future__ import annotations

import shutil
from pathlib import Path

PACKAGE = "_linewitness"
_INSIDE = (
    "auditing",
    "codekey",
    "guard",
    "imports",
    "items",
    "journal",
    "lent",
    "monitor",
    "namespaces",
    "parts",
    "places",
    "plugin",
    "probes",
    "process",
    "reads",
    "recorder",
    "relation_watch",
    "seal",
    "sites",
    "threads",
    "weaving",
)
RELATIONS = (
    "__init__",
    "corpus",
    "decorator",
    "laws",
    "subjects",
    "sums",
    "tally",
    "transformations",
    "trouble",
    "values",
    "worker",
)
"""The modules of :mod:`linewitness.relations` that run in the tested interpreter."""


def write_kit(folder: Path) -> Path:
    """Copy the kit into ``folder`` (which exists) and return the path of its program. Errors: OSError."""
    here = Path(__file__).parent
    package = folder / PACKAGE
    package.mkdir()
    (package / "__init__.py").write_text("", encoding="utf-8")
    for name in _INSIDE:
        shutil.copyfile(here / f"{name}.py", package / f"{name}.py")
    relations = package / "relations"
    relations.mkdir()
    for name in RELATIONS:
        shutil.copyfile(here.parent / "relations" / f"{name}.py", relations / f"{name}.py")
    site = folder / "site"
    site.mkdir()
    shutil.copyfile(here / "child.py", site / "sitecustomize.py")
    program = folder / "bootstrap.py"
    shutil.copyfile(here / "bootstrap.py", program)
    return program
