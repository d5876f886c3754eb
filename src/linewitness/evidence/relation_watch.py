"""Watches the relations of a trusted run: did they compare anything, over which corpus, on how many cases.

PYTEST_DONT_REWRITE: it says nothing with ``assert``.

Runs in the *tested* interpreter (3.9 and later), loaded by name with ``-p``, and does nothing where the run has no
relations. Two things are seen of every test below the relations, however it is written: that an assertion was reached
and held (each assertion of those files reports itself once it has passed), and which files of a frozen corpus were
opened. Only facts are written down; the tool judges them.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator
from typing import Any

import pytest

from .auditing import listen
from .recorder import Recorder
from .relations.sums import MANIFEST  # type: ignore[import-not-found]  # the kit has it there
from .relations.tally import (  # type: ignore[import-not-found]  # the kit has it there
    Base,
    Surroundings,
    Tally,
    counting,
)

_MARK = "@lw_relations"
_BLANK_MOST = 4096
_CONTEXTS = frozenset({"raises", "warns", "deprecated_call"})


def pytest_configure(config: Any) -> None:
    """Start watching, where there are relations and a recorder to tell."""
    recorder = Recorder.active
    if recorder is None or not recorder.config.get("relations") or config.pluginmanager.hasplugin("linewitness-watch"):
        return
    config.pluginmanager.register(Watch(recorder), "linewitness-watch")


class Watch:
    """The hooks of one pytest session."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._export = recorder.config["export"]
        self._files = {os.path.join(self._export, path): path for path in recorder.config["relations"]}
        self._sums: dict[str, str] = dict(recorder.config["corpora"])
        self._world = _surroundings(recorder.config)
        self._opened: set[str] = set()
        self._at_import: dict[str, set[str]] = {}
        _mark_assertions(frozenset(self._files))
        pytest.register_assert_rewrite(*_module_names(self._files.values()))

    def pytest_sessionstart(self) -> None:
        """Hear of opened files, where there is a relation that does not say itself what it opens."""
        if self._sums and self._recorder.config["plain_relations"]:
            listen(self._recorder, ("open",), self._hear)

    def _hear(self, _event: str, arguments: tuple[Any, ...], _frame: Any) -> None:
        if isinstance(arguments[0], (str, bytes)):
            self._opened.add(os.fsdecode(arguments[0]))

    def _corpora(self, opened: set[str]) -> dict[str, str]:
        """The files of frozen corpora among opened files, as paths of the repository, with their digests."""
        prefix = self._export + os.sep
        real = (os.path.realpath(path) for path in opened)
        paths = (path[len(prefix) :].replace(os.sep, "/") for path in real if path.startswith(prefix))
        return {path: self._sums[path] for path in paths if path in self._sums}

    @pytest.hookimpl(hookwrapper=True)
    def pytest_make_collect_report(self, collector: Any) -> Iterator[None]:
        """What a module opens while it is imported, its tests read."""
        outside, self._opened = self._opened, set()
        yield
        found, self._opened = self._opened, outside
        path = str(getattr(collector, "path", "") or getattr(collector, "fspath", ""))
        if path in self._files:
            self._at_import.setdefault(path, set()).update(found)

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self) -> Iterator[None]:
        """From here on, what is opened is opened for this test."""
        self._opened = set()
        yield

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_call(self, item: Any) -> Iterator[None]:
        """Count what the test does, and write it down whatever its end."""
        path = os.path.realpath(str(getattr(item, "path", None) or item.fspath))
        if path not in self._files:
            yield
            return
        with counting(Tally(self._world)) as tally:
            yield
        self._write(item.nodeid, path, tally)

    def _write(self, nodeid: str, path: str, tally: Tally) -> None:
        if self._recorder.role == "child" or not self._recorder.owns_process:
            return
        if tally.declared:
            corpora = {self._inside(place): digest for place, digest in tally.corpora.items()}
            blank = False
        else:
            corpora = self._corpora(self._opened | self._at_import.get(path, set()))
            blank = bool(corpora) and all(_is_blank(os.path.join(self._export, each)) for each in corpora)
        if tally.surroundings is not self._world:
            self._recorder.sign("the seed or the base tree was exchanged while the relation ran", self._files[path])
        self._recorder.doubtful = blank or not tally.reached
        seed = self._world.seed if tally.seeded else None
        counts = [tally.tried, tally.checked, tally.skipped, tally.repeated, tally.least, tally.reached]
        row = ["relation", nodeid, tally.declared, sorted(corpora.items()), blank, counts, seed, tally.why_skipped()]
        self._recorder.journal.write(row)

    def _inside(self, place: str) -> str:
        return os.path.relpath(os.path.realpath(place), self._export).replace(os.sep, "/")


def _surroundings(config: dict[str, Any]) -> Surroundings:
    base = config.get("base")
    return Surroundings(
        seed=config["seed"],
        root=config["export"],
        base=Base(base["root"], tuple(base["roots"])) if base else None,
        owned=tuple(config["owned"]),
        in_gate=True,
        closed=_closed(config),
        environ=dict(os.environ),
    )


def _closed(config: dict[str, Any]) -> tuple[str, ...]:
    """What subjects in an interpreter of their own do not see: relations, their inputs, and what has the seed in it."""
    corpora = list(config["corpora"])
    manifests = {f"{path.rpartition('/')[0]}/{MANIFEST}" for path in corpora}
    kit = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    seeded = (os.path.join(kit, name) for name in os.listdir(kit) if name.endswith((".bin", ".json")))
    paths = (os.path.join(config["export"], path) for path in (*config["relations"], *corpora, *manifests))
    return tuple(sorted({os.path.realpath(path) for path in (*paths, *seeded)}))


def _is_blank(path: str) -> bool:
    try:
        if os.path.getsize(path) > _BLANK_MOST:
            return False
        with open(path, "rb") as stream:
            return not stream.read().strip()
    except OSError:
        return True


def _module_names(paths: Any) -> set[str]:
    """Names under which helpers beside the relations may be imported, so that their assertions are seen too."""
    names: set[str] = set()
    for path in paths:
        parts = path[: -len(".py")].split("/") if path.endswith(".py") else []
        names.update(".".join(parts[index:]) for index in range(len(parts)))
    return {name for name in names if name and not name.endswith("__init__")}


# ---------------------------------------------------------------- assertions that report themselves


def _mark_assertions(files: frozenset[str]) -> None:
    """Have pytest's rewriting of these files put a report after each assertion.

    pytest has a hook for assertions that passed, but it formats each of them, which takes longer than most relations.
    """
    from _pytest.assertion import rewrite

    original = rewrite.rewrite_asserts

    def rewrite_asserts(mod: ast.Module, source: bytes, module_path: Any = None, config: Any = None) -> None:
        if module_path is not None and os.path.realpath(str(module_path)) in files:
            _mark(mod)
        original(mod, source, module_path, config)

    rewrite.rewrite_asserts = rewrite_asserts


def _mark(module: ast.Module) -> None:
    _Marker().visit(module)
    place = 0
    for statement in module.body:
        is_text = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
        is_future = isinstance(statement, ast.ImportFrom) and statement.module == "__future__"
        if not (is_future or (is_text and place == 0)):
            break
        place += 1
    kit = (__package__ or "").partition(".")[0]
    module.body.insert(place, ast.Import(names=[ast.alias(name=f"{kit}.relations.tally", asname=_MARK)]))
    if len(module.body) > 1:
        ast.copy_location(module.body[place], module.body[place - 1 if place else 1])
    ast.fix_missing_locations(module)


class _Marker(ast.NodeTransformer):
    """Puts a report after each statement that asserts."""

    def visit(self, node: ast.AST) -> Any:
        """Errors: none."""
        self.generic_visit(node)
        if isinstance(node, ast.stmt) and _asserts(node):
            return [node, _report(node)]
        return node


def _asserts(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Assert):
        return True
    if isinstance(statement, ast.Expr):
        return _called(statement.value).startswith("assert")
    if isinstance(statement, ast.With):
        names = [_called(item.context_expr) for item in statement.items]
        return any(name in _CONTEXTS or name.startswith("assert") for name in names)
    return False


def _called(node: ast.expr) -> str:
    """The last part of the name of a called function, empty for everything else."""
    if not isinstance(node, ast.Call):
        return ""
    function = node.func
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def _report(statement: ast.stmt) -> ast.stmt:
    where = ast.Attribute(value=ast.Name(id=_MARK, ctx=ast.Load()), attr="reached", ctx=ast.Load())
    call = ast.Call(func=where, args=[ast.Constant(value=statement.lineno)], keywords=[])
    return ast.copy_location(ast.Expr(value=call), statement)
