"""Puts the files that run inside the tested interpreter into a folder of their own.

The tested interpreter has no linewitness, may be older than ours, and must not find our other modules by accident; so
the kit is copied beside the records of the run, as the package ``_linewitness`` (:mod:`linewitness.evidence.bundle`).
"""

from __future__ import annotations

import marshal
import os
import shutil
import sys
from importlib.machinery import SourceFileLoader
from importlib.util import MAGIC_NUMBER, cache_from_source
from pathlib import Path

from linewitness.evidence.bundle import BUNDLE

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
    "left_out",
    "lent",
    "loads",
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
    "skipping",
    "threads",
    "tools",
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


# What is started or read by file: the program of a subject's own interpreter, and what it loads.
_PROGRAMS = ("worker", "values")


def write_kit(folder: Path, version: tuple[int, int, int]) -> bool:
    """Put the kit into ``folder``, which exists, for a tested interpreter of this version.

    True when it is a bundle of byte code, for an interpreter of our own version. That is taken from our own modules,
    which Python keeps compiled where it may. For any other interpreter it is files. Errors: OSError.
    """
    here, package = Path(__file__).parent, folder / PACKAGE
    relations, site = package / "relations", folder / "site"
    for place in (package, relations, site):
        place.mkdir()
    # as text: there are many, and paths as objects take longer than the files
    files = [(f"{here}/bundle.py", f"{package}/__init__.py"), (f"{here}/child.py", f"{site}/sitecustomize.py")]
    files += [(f"{here.parent}/relations/{name}.py", f"{relations}/{name}.py") for name in _PROGRAMS]
    modules = [(f"{here}/{name}.py", f"{name}.py") for name in _INSIDE]
    modules += [(f"{here.parent}/relations/{name}.py", f"relations/{name}.py") for name in RELATIONS]
    # without its assertions it would be another kit
    is_ours = version == sys.version_info[:3] and sys.implementation.name == "cpython" and not sys.flags.optimize
    if not is_ours:
        files += [(source, f"{package}/{name}") for source, name in modules]
    for source, copy in files:
        _write(copy, _read(source))
    shutil.copyfile(here / "bootstrap.py", folder / "bootstrap.py")
    if is_ours:
        for source, copy in files[:2]:
            os.mkdir(f"{os.path.dirname(copy)}/__pycache__")
            _keep_compiled(source, copy)
        bundle = {_name(file): (file, _compiled(source)) for source, file in modules}
        _write(f"{package}/{BUNDLE}", marshal.dumps(bundle))
    return is_ours


def _name(file: str) -> str:
    """The name of a module of the kit, given its file below the package."""
    return ".".join((PACKAGE, *file.removesuffix(".py").removesuffix("/__init__").split("/")))


def _read(path: str) -> bytes:
    with open(path, "rb", buffering=0) as stream:
        return stream.readall()


def _write(path: str, data: bytes) -> None:
    with open(path, "wb") as stream:
        stream.write(data)


def _keep_compiled(source: str, copy: str) -> None:
    """Leave the byte code of ``source`` beside its copy, in the format of PEP 552 that is checked by time and size."""
    folder, _, name = copy.removesuffix(".py").rpartition("/")
    _write(f"{folder}/__pycache__/{name}.{sys.implementation.cache_tag}.pyc", _header(copy) + _compiled(source))


def _compiled(source: str) -> bytes:
    """The byte code of a module of ours: what Python keeps of it when that is current by its own rules, else anew.

    The file names in it are mended when it is loaded from its new place.
    """
    current = _header(source)
    try:
        kept = _read(cache_from_source(source))
    except (OSError, NotImplementedError):
        kept = b""
    if kept.startswith(current):
        return kept[len(current) :]
    return marshal.dumps(SourceFileLoader(PACKAGE, source).get_code(PACKAGE))


def _header(source: str) -> bytes:
    """What stands before byte code that is checked by the time and the size of its source."""
    facts = os.stat(source)
    checked = (0, int(facts.st_mtime), facts.st_size)
    return MAGIC_NUMBER + b"".join((number & 0xFFFFFFFF).to_bytes(4, "little") for number in checked)
