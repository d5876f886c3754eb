"""What a work tree holds: the questions that ``init`` and ``doctor`` both ask before they say anything."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatch
from pathlib import Path
from typing import Final

from linewitness.errors import PatchError
from linewitness.evidence.pytest_settings import owned_names
from linewitness.globs import Globs
from linewitness.guard.agents import AGENTS, Agent
from linewitness.languages import files, tables
from linewitness.model import RepoPath
from linewitness.patch.objects import repo_path
from linewitness.patch.repository import Repository
from linewitness.settings import Settings
from linewitness.trust.builtin import BUILT_IN
from linewitness.values import NamedTuple

_TEST_NAMES: Final = ("test_*.py", "*_test.py")
_TEST_FOLDERS: Final = frozenset({"test", "tests", "testing"})
_CI: Final = Globs([glob for guarded in BUILT_IN if guarded.what == "a CI definition" for glob in guarded.globs])
# What says that an agent is at work here, where it is another folder than that of its hooks.
_SIGNS: Final = {"copilot": (".github/copilot-instructions.md", ".github/hooks", ".github/instructions")}
_SENSITIVE: Final = frozenset(
    {
        *("auth", "authn", "authz", "authentication", "authorization", "oauth", "login", "permissions"),
        *("crypto", "cryptography", "security", "secrets", "credentials"),
    }
)
_SUPPORT: Final = frozenset({"conftest.py", "__init__.py"})


class Need(NamedTuple):
    """A pytest plugin and what betrays that a suite cannot run without it.

    ``settings`` is looked for in the file of pytest's settings, ``tests`` in the tests and their conftest files.
    """

    plugin: str
    settings: str
    tests: str


_NOTHING: Final = r"(?!)"

# The trusted run has plugin autoload off, so plugins have to be named. The names of options, settings, marks and
# fixtures are those of each plugin's documentation.
NEEDS: Final = (
    Need("pytest_asyncio", r"^\s*asyncio_(mode|default_\w+)\s*=", r"\bmark\.asyncio\b|\bpytest_asyncio\b"),
    Need("anyio", r"^\s*anyio_mode\s*=", r"\bmark\.anyio\b"),
    Need("pytest_cov", r"(?<![\w-])--(no-)?cov\b", _NOTHING),
    Need(
        "xdist", r"(?<![\w-])(-n['\"]?[ ,=]*['\"]?(\d|auto|logical)|--numprocesses|--dist)\b", r"\bmark\.xdist_group\b"
    ),
    Need("pytest_timeout", r"^\s*timeout(_method)?\s*=|--timeout\b", r"\bmark\.timeout\b"),
    Need("pytest_django", r"^\s*DJANGO_SETTINGS_MODULE\s*=|--ds\b", r"\bmark\.django_db\b"),
    Need("pytest_mock", r"^\s*mock_use_standalone_module\s*=", r"\bdef test\w*\([^)]*\bmocker\b"),
    Need("pytest_benchmark", r"--benchmark-\w+", r"\bmark\.benchmark\b|\bdef test\w*\([^)]*\bbenchmark\b"),
    Need("pytest_httpserver", _NOTHING, r"\bdef test\w*\([^)]*\bhttpserver\b"),
    Need("hypothesis", r"--hypothesis-\w+", _NOTHING),
    Need("pytest_randomly", r"--randomly-\w+|-p['\"]?[ ,=]*['\"]?randomly", _NOTHING),
    Need("pytest_rerunfailures", r"--reruns\b|^\s*reruns\s*=", r"\bmark\.flaky\b"),
    Need("pytest_env", r"^\s*env\s*=", _NOTHING),
    Need("trio", r"^\s*trio_mode\s*=", r"\bmark\.trio\b"),
)


class ExistingTests(NamedTuple):
    """Tests that a repository has: the outermost folders that hold them, and test files that lie in none."""

    folders: tuple[str, ...]
    loose: tuple[RepoPath, ...]


def files_here(repository: Repository) -> tuple[RepoPath, ...]:
    """Every file of the work tree that git tracks or would add, sorted."""
    listed = repository.run("ls-files", "-z", "--cached", "--others", "--exclude-standard")
    return tuple(sorted({repo_path(name) for name in listed.split(b"\0") if name}))


def existing_tests(paths: Iterable[RepoPath], settings: Settings) -> ExistingTests:
    """Where tests lie that the settings call neither trusted, nor relations, nor generated."""
    known = [Globs(globs) for globs in (settings.trusted, settings.relations, settings.generated)]
    folders: set[str] = set()
    loose: list[RepoPath] = []
    for path in paths:
        if not is_test_file(path) or any(globs.match(path) for globs in known):
            continue
        folder = _test_folder(path)
        if folder and folder.isprintable():
            folders.add(folder)
        else:
            loose.append(path)
    return ExistingTests(tuple(sorted(folders)), tuple(loose))


def sensitive_globs(paths: Iterable[RepoPath]) -> list[str]:
    """Globs of product code whose names say that its changes deserve a security review, sorted."""
    found = set()
    for path in paths:
        *folders, name = path.split("/")
        if not files.language(path, b"") or _test_folder(path) or is_test_file(path):
            continue
        found |= {f"**/{folder}/**" for folder in folders if folder.lower() in _SENSITIVE}
        stem = name.partition(".")[0]
        if stem.lower() in _SENSITIVE:
            found.add(f"**/{stem}.*")
    return sorted(found)


def extras(paths: Iterable[RepoPath], chosen: Settings) -> tuple[str, ...]:
    """The extras of the project without which lines of these files could not be judged, sorted."""
    sources = Globs(chosen.sources)
    spoken = {files.language(path, b"") for path in paths if sources.match(path) and not _CI.match(path)}
    return tuple(sorted(found.extra for name in spoken if (found := tables.table(name))))


def product_names(paths: Iterable[RepoPath]) -> frozenset[str]:
    """The top-level names that the project owns, those of its tests left out."""
    return owned_names(path for path in paths if not _test_folder(path) and not is_test_file(path))


def ci_definitions(paths: Iterable[RepoPath]) -> list[RepoPath]:
    """The files that tell a CI service what to do."""
    return [path for path in paths if _CI.match(path)]


def runs_the_gate(definition: bytes) -> bool:
    """Whether a CI definition seems to have a job that runs the gate."""
    return b"linewitness" in definition.lower()


def agents_here(root: Path) -> Iterator[Agent]:
    """The agents whose settings lie in the work tree at ``root``."""
    for agent in AGENTS:
        signs = _SIGNS.get(agent.name, (agent.settings.partition("/")[0],))
        if any(os.path.lexists(root / sign) for sign in signs):
            yield agent


def has_trusted_tests(paths: Iterable[RepoPath], settings: Settings) -> bool:
    """Whether there is a test among the files that the settings call trusted or relations."""
    trusted, generated = Globs((*settings.trusted, *settings.relations)), Globs(settings.generated)
    return any(is_test_file(path) and trusted.match(path) and not generated.match(path) for path in paths)


def is_test_file(path: str) -> bool:
    """Whether pytest would collect a file of this name by default."""
    name = path.rpartition("/")[2]
    return name not in _SUPPORT and any(fnmatch(name, glob) for glob in _TEST_NAMES)


def _test_folder(path: str) -> str:
    """The outermost folder of ``path`` whose name says that it holds tests, or nothing."""
    names = path.split("/")[:-1]
    for depth, name in enumerate(names, 1):
        if name.lower() in _TEST_FOLDERS:
            return "/".join(names[:depth])
    return ""


def plugins_needed(settings_text: str, test_texts: Sequence[str], listed: Iterable[str] = ()) -> tuple[str, ...]:
    """The plugins that a suite gives away to need and that ``listed`` does not name, in the order of the table."""
    known = {_plain(name) for name in listed}
    found = []
    for need in NEEDS:
        in_settings = re.search(need.settings, settings_text, re.MULTILINE)
        if in_settings or any(re.search(need.tests, text) for text in test_texts):
            found.append(need.plugin)
    return tuple(name for name in found if _plain(name) not in known)


def _plain(name: str) -> str:
    """One spelling for ``pytest-xdist``, ``pytest_xdist`` and ``xdist``."""
    return name.lower().replace("-", "_").removeprefix("pytest_")


def target_branch(repository: Repository) -> str:
    """The name, without its remote, of the branch that patches are for; the current one when there is no other."""
    try:
        ref = repository.default_base()
    except PatchError:
        return current_branch(repository)
    if ref.startswith("refs/remotes/") and ref.endswith("/HEAD"):
        pointed = repository.run("symbolic-ref", "--quiet", ref, ok=(0, 1)).decode("utf-8", "surrogateescape").strip()
        ref = pointed or ref
    return _branch(ref)


def current_branch(repository: Repository) -> str:
    """The branch that is checked out, born or not; empty when none is."""
    ref = repository.run("symbolic-ref", "--quiet", "HEAD", ok=(0, 1)).decode("utf-8", "surrogateescape").strip()
    return _branch(ref)


def _branch(ref: str) -> str:
    if ref.startswith("refs/remotes/"):
        return ref.split("/", 3)[3]
    return ref.removeprefix("refs/heads/")
