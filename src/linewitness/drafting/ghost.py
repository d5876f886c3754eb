"""The offline drafter's second source: cases and round trips that hypothesis's ghostwriter guesses from signatures.

The ghostwriter imports the product, so it runs where the tests run: in the tests' interpreter, in the sandbox, on an
export of head. What it leaves is a file of data, which is read strictly: code of the product was running beside it.
"""

from __future__ import annotations

import os
import sys
import sysconfig
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import msgspec

from linewitness.drafting.signatures import functions
from linewitness.drafting.slices import Material
from linewitness.drafting.trial import Bench
from linewitness.errors import EvidenceError
from linewitness.evidence.pytest_settings import import_roots, read_pytest_settings
from linewitness.evidence.sandbox_room import furnish, terms_of
from linewitness.patch.export import export_tree
from linewitness.values import NamedTuple

EXTRA: Final = "linewitness[draft]"
_SCRIPT: Final = Path(__file__).with_name("ghost_script.py")
_LARGEST: Final = 1 << 20
_MOST_CASES: Final = 40
_SECONDS: Final = 120
_NO_GHOSTWRITER: Final = 3


class Guesses(NamedTuple):
    """Cases for functions and round trips, both by ``module:name``; ``trouble`` says why there is nothing."""

    cases: dict[str, tuple[Any, ...]]
    pairs: tuple[tuple[str, str], ...]
    trouble: str = ""


class _Answer(msgspec.Struct, forbid_unknown_fields=True):
    cases: dict[str, list[Any]]
    pairs: list[tuple[str, str]]
    troubles: list[str]


def guess(bench: Bench) -> Guesses:
    """Ask the ghostwriter about every module with unwitnessed rows. Errors: EvidenceError of the sandbox."""
    case = bench.case
    with tempfile.TemporaryDirectory(prefix="linewitness-", ignore_cleanup_errors=True) as folder:
        top = Path(os.path.realpath(folder))
        export, results, temporary = top / "export", top / "results", top / "temporary"
        export_tree(case.repository, case.head.tree, export)
        results.mkdir()
        temporary.mkdir()
        roots = import_roots(export, read_pytest_settings(export, bench.python.pytest))
        question, answer, script = results / "question.json", results / "answer.json", results / "ghost.py"
        lent = _lent(bench)
        asked = {"roots": list(map(str, roots)), "lent": list(map(str, lent)), "modules": _modules(bench.material)}
        question.write_bytes(msgspec.json.encode(asked))
        script.write_bytes(_SCRIPT.read_bytes())
        suite = msgspec.structs.replace(bench.suite, timeout=min(bench.suite.timeout, _SECONDS))
        terms = terms_of(bench.sandbox, bench.suite, bench.checkout, bench.python)
        terms = terms._replace(readable=(*terms.readable, *lent))
        room = furnish((export, results, temporary), suite, bench.python.path.parent, terms, os.environ)
        command = [str(bench.python.path), "-B", str(script), str(question), str(answer)]
        ended = room.run(command, "output.txt")
        if ended.status == _NO_GHOSTWRITER:
            return Guesses({}, (), f"hypothesis's ghostwriter is not installed: pip install '{EXTRA}'")
        if ended.timed_out or ended.status:
            return Guesses({}, (), f"hypothesis's ghostwriter came to no end: {ended}")
        return _read(answer, bench.material)


def _told(troubles: list[str]) -> str:
    return f"hypothesis's ghostwriter gave up on {', '.join(troubles)}"[:300] if troubles else ""


def _modules(material: Material) -> dict[str, dict[str, list[str]]]:
    """For each module its functions, with the parameters that a case has to give."""
    asked: dict[str, dict[str, list[str]]] = {module.names[0]: {} for module in material.modules if module.names}
    for function in functions(material)[0]:
        asked[function.module][function.name] = [each.name for each in function.parameters]
    return asked


def _lent(bench: Bench) -> tuple[Path, ...]:
    """Our own libraries, behind those of the tests' interpreter: both have to be of one version."""
    same = tuple(bench.python.version[:2]) == sys.version_info[:2]
    if not same or find_spec("hypothesis") is None or find_spec("black") is None:
        return ()
    return (Path(os.path.realpath(sysconfig.get_path("purelib"))),)


def _read(place: Path, material: Material) -> Guesses:
    """The answer, as far as it is about functions that the modules define."""
    try:
        if place.is_symlink() or place.stat().st_size > _LARGEST:
            raise EvidenceError("the ghostwriter's answer is no plain file of a sane size")
        found = msgspec.json.decode(place.read_bytes(), type=_Answer)
    except (OSError, msgspec.MsgspecError, RecursionError):
        return Guesses({}, (), "hypothesis's ghostwriter left no answer that can be read")
    known = {f"{module}:{name}" for module, names in _modules(material).items() for name in names}
    cases = {name: tuple(values[:_MOST_CASES]) for name, values in found.cases.items() if name in known}
    pairs = tuple(pair for pair in found.pairs if known.issuperset(pair))
    return Guesses(cases, pairs, _told(found.troubles))
