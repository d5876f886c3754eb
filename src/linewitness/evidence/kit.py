"""Puts the files that run inside the tested interpreter into a folder of their own.

The tested interpreter has no linewitness, may be older than ours, and must not find our other modules by accident; so
the kit is copied, as the package ``_linewitness``, beside the records of the run.
"""

from __future__ import annotations

import marshal
import shutil
import sys
from importlib.machinery import SourceFileLoader
from importlib.util import MAGIC_NUMBER
from pathlib import Path

PACKAGE = "_linewitness"
_INSIDE = (
    "auditing",
    "chosen",
    "codekey",
    "executions",
    "guard",
    "helpers",
    "imports",
    "items",
    "journal",
    "lent",
    "lookups",
    "monitor",
    "namespaces",
    "parts",
    "places",
    "plugin",
    "plugs",
    "probes",
    "process",
    "reads",
    "recorder",
    "relation_watch",
    "seal",
    "sites",
    "threads",
    "unrun",
    "weaving",
)
RELATIONS = (
    "__init__",
    "comparisons",
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


def write_kit(folder: Path, version: tuple[int, int, int]) -> bool:
    """Copy the kit into ``folder``, which exists, for a tested interpreter of this version.

    True when it has byte code beside it. That is taken from our own modules, which Python keeps compiled where it may,
    and only an interpreter of our own version reads it; what does not fit one after all, Python compiles again.
    Errors: OSError.
    """
    here = Path(__file__).parent
    package = folder / PACKAGE
    relations, site = package / "relations", folder / "site"
    for place in (package, relations, site):
        place.mkdir()
    (package / "__init__.py").write_text("", encoding="utf-8")
    modules = [(here / f"{name}.py", package / f"{name}.py") for name in _INSIDE]
    modules += [(here.parent / "relations" / f"{name}.py", relations / f"{name}.py") for name in RELATIONS]
    modules.append((here / "child.py", site / "sitecustomize.py"))
    for source, copy in modules:
        copy.write_bytes(source.read_bytes())
    shutil.copyfile(here / "bootstrap.py", folder / "bootstrap.py")
    # without its assertions it would be another kit
    is_ours = version == sys.version_info[:3] and sys.implementation.name == "cpython" and not sys.flags.optimize
    if is_ours:
        for place in (package, relations, site):
            (place / "__pycache__").mkdir()
        for source, copy in modules:
            _keep_compiled(source, copy)
    return is_ours


def _keep_compiled(source: Path, copy: Path) -> None:
    """Leave the byte code of ``source`` beside its copy, in the format of PEP 552 that is checked by time and size."""
    code = SourceFileLoader(f"{PACKAGE}.{copy.stem}", str(source)).get_code(f"{PACKAGE}.{copy.stem}")
    facts = copy.stat()
    checked = (0, int(facts.st_mtime), facts.st_size)
    header = b"".join((number & 0xFFFFFFFF).to_bytes(4, "little") for number in checked)
    name = f"{copy.stem}.{sys.implementation.cache_tag}.pyc"
    (copy.parent / "__pycache__" / name).write_bytes(MAGIC_NUMBER + header + marshal.dumps(code))
