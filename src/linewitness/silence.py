"""Whether the patch silenced a check: one that does not apply any more, although with base's code it does, and passes.

A trusted test may be skipped, expected to fail or left out for a reason that the product gives: a constant in a
``skipif``, a module that can be imported, a table of cases that is empty now, what a conftest file makes of it. Nobody
can tell from the run alone whether that is the host's doing or the patch's. So the checks that gave no answer, and
whose own text does not say why, are asked once more: with the protected files of head, on the product of base. So are
those whose cases come out of a module that the patch changed, and those that stand in a file and were not found there:
what is gone gives no answer either, and does not even say so.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Final

import msgspec.structs

from linewitness.case import Case
from linewitness.errors import LinewitnessError
from linewitness.evidence.driven import driven_tests
from linewitness.evidence.hits import LEFT_OUT, RunRecord, Silent
from linewitness.evidence.host import ask_host, condition_of
from linewitness.evidence.ignoring import is_plainly_ignored
from linewitness.evidence.pytest_run import RunRequest, run_pytest
from linewitness.evidence.pytest_settings import read_pytest_settings
from linewitness.evidence.sandbox_mounts import Sealed
from linewitness.model import Blob, Finding, RepoPath, Severity
from linewitness.patch.export import export_tree
from linewitness.patterns import late
from linewitness.values import NamedTuple

_FOLDER: Final = "before"
_NOT_IMPORTED: Final = late(r"could not import '([\w.]+)'")
_MARKS: Final = {"skipped": frozenset({"skip", "skipif"}), "xfailed": frozenset({"xfail"})}
_SHOWN: Final = 3
# A run that came to no end, or that somebody meddled with, says nothing.
_BROKEN: Final = frozenset({"LW503", "LW505"})
_TEST: Final = late(
    rb"^[ \t]*(?:async[ \t]+)?def[ \t]+(test\w*)|^class[ \t]+(Test\w*)[ \t]*\([ \t]*[^ \t)]", re.MULTILINE
)
_TODO: Final = (
    "The patch may not decide that a check does not apply: keep it applying, or have its owners change the check."
)


def silenced(
    case: Case, request: RunRequest, record: RunRecord, progress: Callable[[str], None]
) -> tuple[Finding, ...]:
    """One ``LW501`` for each check that gave no answer in the run of head and passes with base's product.

    It is a warning when only some cases of a check are gone: a product may have fewer of something. ``request`` is that
    of the run of head, ``record`` what came of it.
    """
    doubtful = _doubtful(record.silent, request)
    driven = _driven(request) | _unfound(request, record)
    if not (doubtful or driven) or not case.base_tree:
        return ()
    progress(_about(len(doubtful), len(driven)))
    asked = {*driven, *(each.function for each in doubtful)}
    try:
        before = _ask(case, request, asked)
    except LinewitnessError as error:
        return (_not_asked(asked, error.message),)
    broken = [found for found in before.findings if found.code in _BROKEN and found.severity is Severity.ERROR]
    if broken:
        return (_not_asked(asked, broken[0].message),)
    return (*_judge(doubtful, before.passed), *_vanished(record, before.passed))


def _not_asked(asked: Iterable[str], why: str) -> Finding:
    message = f"whether checks that gave no answer apply to base could not be asked: {why}"
    return Finding("LW501", min(asked).partition("::")[0], 0, message, Severity.WARNING)


def _about(silent: int, driven: int) -> str:
    parts = [f"{silent} that gave no answer"] if silent else []
    parts += [f"{driven} that the product may have a say in"] if driven else []
    return f"running checks on base's code: {', '.join(parts)}"


def _driven(request: RunRequest) -> frozenset[str]:
    """The tests that come out of modules which the patch changed."""
    words = {_module_name(path).encode("utf-8", "surrogateescape") for path in request.changed}
    found: set[str] = set()
    for path in request.paths if request.owned else ():
        file = request.export / path
        text = file.read_bytes() if path.endswith(".py") and file.is_file() else b""
        if any(word in text for word in words):
            found |= driven_tests(path, text, request.owned or ())
    return frozenset(found)


def _unfound(request: RunRequest, record: RunRecord) -> frozenset[str]:
    """The files in which a test stands that was not collected, be it for its base class, a decorator or pytest."""
    if not record.asked:
        return frozenset()
    found: dict[str, set[bytes]] = {}
    for nodeid in (*record.asked, *record.unchosen, *(each.nodeid for each in record.silent)):
        path, *names = nodeid.partition("[")[0].split("::")
        found.setdefault(path, set()).update(name.encode("utf-8", "surrogateescape") for name in names)
    accounted = {each.nodeid for each in record.silent if "::" not in each.nodeid}
    accounted.update(path for path, _ in record.source.left_out)
    settings = read_pytest_settings(request.export, request.python.pytest)
    files = (path for path in request.paths if path not in accounted and settings.collects(path))
    return frozenset(path for path in files if _names(request.export / path) - found.get(path, set()))


def _names(file: Path) -> set[bytes]:
    """What looks like a test in a text, or like a class that inherits some."""
    text = file.read_bytes() if file.is_file() else b""
    return {name for names in _TEST.findall(text) for name in names if name}


def _module_name(path: str) -> str:
    folder, _, name = path.rpartition("/")
    return folder.rpartition("/")[2] if name == "__init__.py" and folder else name.removesuffix(".py")


def _vanished(record: RunRecord, passed: Iterable[str]) -> Iterator[Finding]:
    """Tests that pass with base's product and were not so much as collected with head's."""
    left = {nodeid.partition("[")[0] for nodeid in record.asked}
    gone: dict[str, list[str]] = {}
    for nodeid in sorted(set(passed) - record.asked):
        gone.setdefault(nodeid.partition("[")[0], []).append(nodeid)
    silent = {each.function for each in record.silent}
    for function, nodeids in gone.items():
        if any(function == each or function.startswith(f"{each}::") for each in silent):
            continue
        path, shown = function.partition("::")[0], ", ".join(nodeids[:_SHOWN])
        more = f" and {len(nodeids) - _SHOWN} more" if len(nodeids) > _SHOWN else ""
        if function in left:
            message = f"these cases pass with base's code, and with the patch's they are not asked: {shown}{more}."
            yield Finding("LW501", path, 0, message, Severity.WARNING)
        else:
            yield Finding(
                "LW501", path, 0, f"with base's code it passes, with the patch's it is gone: {shown}. {_TODO}"
            )


def _judge(doubtful: Iterable[Silent], passed: Iterable[str]) -> Iterator[Finding]:
    passed = sorted(passed)
    for each in doubtful:
        applied = [nodeid for nodeid in passed if each.covers(nodeid)]
        if applied:
            more = f" and {len(applied) - _SHOWN} more" if len(applied) > _SHOWN else ""
            told = f"{each.nodeid} was {each.outcome} ({each.reason or 'no reason given'})"
            message = f"{told}, and with base's code it passes: {', '.join(applied[:_SHOWN])}{more}. {_TODO}"
            yield Finding("LW501", each.path, 0, message)


def _ask(case: Case, request: RunRequest, asked: Iterable[str]) -> RunRecord:
    export = request.results / _FOLDER
    export_tree(case.repository, case.base.tree, export, replace=_as_in_head(case), listed=case.base_tree)
    # A check of the patch's may need what base has not got: the others are asked all the same.
    args = (*request.suite.args, "--continue-on-collection-errors")
    return run_pytest(
        request._replace(
            export=export,
            suite=msgspec.structs.replace(request.suite, args=args),
            paths=tuple(sorted({RepoPath(nodeid.partition("::")[0]) for nodeid in asked})),
            changed={},
            progress=None,
            all_witnesses=False,
            terms=None if request.terms is None else request.terms._replace(sealed=Sealed()),
            notes_reads=False,
            only=tuple(sorted(asked)),
        )
    )


def _as_in_head(case: Case) -> dict[RepoPath, Blob | None]:
    """The protected files in which head differs from base: they were approved."""
    is_owned = case.protection.is_protected
    paths = {path for path in case.base_tree.keys() | case.head_tree.keys() if is_owned(path)}
    changed = (path for path in paths if case.base_tree.get(path) != case.head_tree.get(path))
    return {path: case.head_tree.get(path) for path in changed}


# ---------------------------------------------------------------- what a check says itself


class _Excuse(NamedTuple):
    """What the text of a check gives as the reason for which it is not asked.

    ``stands`` when it holds for every product. Otherwise it does when one of the ``conditions`` is true of the host, or
    the module ``missing`` cannot be found there.
    """

    stands: bool = False
    conditions: tuple[str, ...] = ()
    missing: str = ""


def _doubtful(silent: Iterable[Silent], request: RunRequest) -> list[Silent]:
    """The checks in whose silence the project may have a part."""
    excuses = [(each, _excuse(each, request)) for each in silent]
    conditions = (condition for _, excuse in excuses for condition in excuse.conditions)
    missing = (excuse.missing for _, excuse in excuses if excuse.missing)
    true, there = ask_host(request.python, conditions, missing)

    def holds(excuse: _Excuse) -> bool:
        is_missing = bool(excuse.missing) and excuse.missing not in there
        return excuse.stands or is_missing or not true.isdisjoint(excuse.conditions)

    return [each for each, excuse in excuses if not holds(excuse)]


def _excuse(silent: Silent, request: RunRequest) -> _Excuse:
    if silent.outcome == LEFT_OUT:
        return _Excuse(is_plainly_ignored(request.export, silent.nodeid))
    missing = _NOT_IMPORTED.search(silent.reason)
    if missing:
        top = missing[1].partition(".")[0]
        is_foreign = request.owned is not None and top not in request.owned and not (request.export / top).exists()
        return _Excuse(missing=top if is_foreign else "")
    module = _module(request.export / silent.path)
    said = [_said(mark, silent) for mark in _marks(module, silent)] if module is not None else []
    found = [conditions for conditions in said if conditions is not None]
    return _Excuse(() in found, tuple(condition for conditions in found for condition in conditions))


@lru_cache(maxsize=64)
def _module(path: Path) -> ast.Module | None:
    try:
        return ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _marks(module: ast.Module, silent: Silent) -> Iterator[ast.expr]:
    """The marks of a test: of its function, the classes around it, and its module."""
    names = silent.function.split("::")[1:]
    body: list[ast.stmt] = module.body
    yield from _assigned(body)
    for name in names:
        kinds = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
        found = [node for node in body if isinstance(node, kinds) and node.name == name]
        if len(found) != 1:
            return
        yield from found[0].decorator_list
        body = found[0].body
        yield from _assigned(body)


def _assigned(body: list[ast.stmt]) -> Iterator[ast.expr]:
    for node in body:
        names = node.targets if isinstance(node, ast.Assign) else []
        if any(isinstance(name, ast.Name) and name.id == "pytestmark" for name in names):
            value = node.value if isinstance(node, ast.Assign) else None
            yield from value.elts if isinstance(value, ast.List | ast.Tuple) else filter(None, [value])


def _said(mark: ast.expr, silent: Silent) -> tuple[str, ...] | None:
    """The conditions of a mark that may have left the test out, none for good; ``None`` when it is no such mark."""
    call = mark if isinstance(mark, ast.Call) else None
    name = call.func if call else mark
    if not isinstance(name, ast.Attribute) or name.attr not in _MARKS.get(silent.outcome, ()):
        return None
    named = {word.arg: word.value for word in call.keywords} if call else {}
    conditions = [*(call.args if call and name.attr != "skip" else ()), *filter(None, [named.get("condition")])]
    if not conditions:
        return ()
    reason = named.get("reason")
    said = reason.value if isinstance(reason, ast.Constant) else ""
    if not (isinstance(said, str) and said and silent.reason.endswith(said)):
        return None
    return tuple(filter(None, map(condition_of, conditions))) or None
