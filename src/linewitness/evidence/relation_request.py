"""What a trusted run has to know of relations: which files they are, what vouches for their corpora, seed and base."""

from __future__ import annotations

import ast
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from linewitness.globs import Globs
from linewitness.model import Blob, RepoPath
from linewitness.trust.manifest import MANIFEST, parse
from linewitness.values import NamedTuple

_NO_CORPORA: Final[Mapping[RepoPath, str]] = MappingProxyType({})
_SEED_BITS: Final = 53
"""What JSON readers in every language can hold."""


class BaseTree(NamedTuple):
    """The base tree as files, and the folders in it from which its modules are imported."""

    root: Path
    roots: tuple[Path, ...]


class RelationRequest(NamedTuple):
    """``files`` are all files below the relations that are Python, ``corpora`` the listed files with their SHA-256.

    ``seed`` is drawn when the patch is frozen. ``base`` is there when a relation asks for it. ``plain`` says that some
    of the files may hold tests that do not declare their corpus: for these it is noted which files are opened.
    """

    files: frozenset[RepoPath] = frozenset()
    corpora: Mapping[RepoPath, str] = _NO_CORPORA
    seed: int = 0
    base: BaseTree | None = None
    plain: bool = True

    def config(self) -> dict[str, Any]:
        """The part of the run's configuration that :mod:`linewitness.evidence.relation_watch` reads."""
        base = self.base
        return {
            "relations": sorted(filter(_is_text, self.files)),
            "corpora": {path: self.corpora[path] for path in sorted(self.corpora) if _is_text(path)},
            "seed": self.seed,
            "plain_relations": self.plain,
            "base": None if base is None else {"root": str(base.root), "roots": [str(root) for root in base.roots]},
        }

    @property
    def lent(self) -> tuple[Path, ...]:
        """The folders that the run may read because of relations."""
        return () if self.base is None else (self.base.root,)

    def plugins(self, package: str) -> list[str]:
        """Arguments for pytest; none when there is nothing to watch."""
        return ["-p", f"{package}.relation_watch"] if self.files else []


def _is_text(path: str) -> bool:
    try:
        path.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def draw_seed() -> int:
    """A seed that nobody could know before."""
    return int.from_bytes(os.urandom(8), "little") >> (64 - _SEED_BITS)


def request_of(
    tree: Mapping[RepoPath, Blob], globs: Sequence[str], read: Callable[[Blob], bytes], seed: int
) -> RelationRequest:
    """What a tree says of its relations. Its corpora were verified before (:func:`linewitness.trust.corpus.verify`)."""
    relations = Globs(globs)
    paths = [path for path in tree if relations.match(path)]
    corpora: dict[RepoPath, str] = {}
    for path in sorted(path for path in paths if path.rpartition("/")[2] == MANIFEST):
        folder = path[: -len(MANIFEST)]
        corpora |= {RepoPath(folder + entry.name): entry.digest for entry in parse(read(tree[path]), path).entries}
    files = frozenset(path for path in paths if path.endswith(".py"))
    # Without a corpus there is nothing to open.
    plain = bool(corpora) and any(_may_be_plain(read(tree[path])) for path in files)
    return RelationRequest(files, corpora, seed, plain=plain)


def _may_be_plain(source: bytes) -> bool:
    """Whether a module may define a test that is neither declared with ``@relation`` nor anything but a test."""
    try:
        module = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return True
    holders: list[ast.Module | ast.ClassDef] = [module, *(n for n in ast.walk(module) if isinstance(n, ast.ClassDef))]
    functions = (n for holder in holders for n in holder.body if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef))
    return any(not each.name.startswith("_") and not _settled(each) for each in functions)


def _settled(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether a decorator says that this is a relation that names its corpus, or a fixture."""
    called = (each.func if isinstance(each, ast.Call) else each for each in function.decorator_list)
    names = {each.attr if isinstance(each, ast.Attribute) else getattr(each, "id", "") for each in called}
    return bool(names & {"relation", "fixture"})


def asks_for_base(tree: Mapping[RepoPath, Blob], files: frozenset[RepoPath], read: Callable[[Blob], bytes]) -> bool:
    """Whether a file of the relations may call :func:`linewitness.relations.base`: it names both."""
    texts = (read(tree[path]) for path in files if path in tree)
    return any(b"linewitness" in text and b"base" in text for text in texts)
