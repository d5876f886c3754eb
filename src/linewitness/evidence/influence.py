"""Whether a patch reached the trusted run by a way that neither protection nor obligations watch (``LW302``).

A file that the patch changed and that people do not own must not decide what a check asks. Code can, when it owes
nothing or lies among the tests and a check imports it. Data can, when a check itself opens it, finds it by listing a
folder, or names it and has the code under test open it. Any other data that the code under test reads is the product's
own.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

import msgspec

from linewitness.errors import EvidenceError
from linewitness.globs import Globs
from linewitness.model import FileChange, Finding, RepoPath, Severity
from linewitness.values import NamedTuple

_TEST_FOLDERS: Final = frozenset({
    "test", "tests", "testing", "testdata", "fixtures", "corpus", "corpora", "golden", "goldens", "snapshots",
    "__snapshots__", "cassettes",
})  # fmt: skip
# A check may be about these: it reads them to judge them, and an honest patch changes them along with the code.
_SUBJECTS: Final = (
    "*.md", "*.rst", "*.adoc", "*.html", "/docs/**", "/doc/**", "/*.toml", "/*.cfg", "/*.ini", "/*.lock", "/*.txt",
    "/package.json", "/*-lock.json", "/*-lock.yaml", "LICENSE*", "VERSION*", "CHANGELOG*", "CHANGES*", "NEWS*",
    "README*",
)  # fmt: skip
# Folders whose name says nothing of the files in them.
_EVERYBODYS: Final = frozenset({b"tests", b"test", b"src", b"lib"})
_TODO: Final = (
    "Have its owners add it to `protected` on the target branch, or move it beside the trusted tests; then land this"
    " patch without it."
)

_EXECUTED: Final = (
    "was changed by this patch, owes nothing, and the code under test executed text of it as code. Move that into a"
    ' module, whose lines owe; or have its owners add the file to `protected`, or set `data = "owe"`.'
)


class Reads(NamedTuple):
    """Files that were opened, folders that were listed, and folders below which something was searched for."""

    opened: Collection[RepoPath] = frozenset()
    listed: Collection[RepoPath] = frozenset()
    searched: Collection[RepoPath] = frozenset()

    def how(self, path: RepoPath) -> str:
        """How ``path`` was read, as a clause whose subject is the reader; empty when it was not."""
        if path in self.opened:
            return "opens it"
        folder = path.rpartition("/")[0]
        if folder and folder in self.listed:
            return f"lists the folder {folder}, where it lies or lay"
        while folder:
            if folder in self.searched:
                return f"searches the folder {folder}, where it lies or lay"
            folder = folder.rpartition("/")[0]
        return ""


class Used(NamedTuple):
    """What a trusted run used of the tree: files that it loaded as code, and what its checks and its product read.

    ``executed`` are changed files that owe nothing and whose text the product executed. ``looked_up`` are files of the
    checks that it opened though no check handed them over.
    """

    loaded: Collection[RepoPath] = frozenset()
    checks: Reads = Reads()
    product: Reads = Reads()
    executed: Collection[RepoPath] = frozenset()
    looked_up: Collection[RepoPath] = frozenset()


class Ownership(NamedTuple):
    """Who answers for a path of the tree: people, or its own lines, which owe."""

    is_protected: Callable[[RepoPath], bool]
    owes: Callable[[RepoPath], bool]

    def is_watched(self, path: RepoPath) -> bool:
        """Whether a change there cannot go unnoticed."""
        return self.is_protected(path) or self.owes(path)


def read_used(folder: Path, loaded: Collection[RepoPath]) -> Used:
    """What the processes of a complete run left in ``folder``. Errors: EvidenceError (LW503) when they left nothing."""
    rows: list[tuple[str, str, str]] = []
    places = sorted(folder.glob("*.json"))
    try:
        for place in places:
            rows += msgspec.json.decode(place.read_bytes(), type=list[tuple[str, str, str]])
    except (OSError, msgspec.MsgspecError) as error:
        raise EvidenceError(f"what the trusted run read is not known: {error}", code="LW503") from error
    if not places:
        raise EvidenceError("the trusted run left no record of the files that it read.", code="LW503")
    own = (frozenset(RepoPath(path) for path, how, _ in rows if how == kind) for kind in ("execute", "alone"))
    return Used(loaded, _reads(rows, "check"), _reads(rows, "product"), *own)


def _reads(rows: Iterable[tuple[str, str, str]], reader: str) -> Reads:
    mine = [(path, how) for path, how, who in rows if who == reader]
    kinds = (frozenset(RepoPath(path) for path, how in mine if how == kind) for kind in ("open", "list", "search"))
    return Reads(*kinds)


def could_matter(
    changes: Iterable[FileChange],
    is_watched: Callable[[RepoPath], bool],
    tree: Collection[RepoPath],
    checks: Callable[[], Iterable[bytes]],
) -> bool:
    """Whether :func:`influences` may find a file that a check reads: only then the run has to notice what is read.

    ``checks`` gives the texts of the code that people own. It is asked when the patch touches no more than files that a
    check may be about: what is found of them is no more than a warning, and for that their name, or that of a folder
    that they lie in, has to be written somewhere in the checks.
    """
    loose = {path for path in _touched(changes) if not is_watched(path)}
    if not loose:
        return False
    packages, subjects = _packages(tree, is_watched), Globs(_SUBJECTS)
    if any(_is_strict(path, subjects, packages) for path in loose):
        return True
    words = {word for path in loose for word in _names(path, packages)}
    return any(word in text for text in checks() for word in words)


def _names(path: RepoPath, packages: Collection[str]) -> Iterator[bytes]:
    """How a check may write the name of a file, or of a folder around it. A package's name says nothing of its data."""
    place, _, name = path.rpartition("/")
    yield name.encode("utf-8", "surrogateescape")
    for folder in filter(None, () if place in packages else place.split("/")):
        for form in (f'"{folder}"', f"'{folder}'", f"{folder}/"):
            yield form.encode("utf-8", "surrogateescape")


def influences(
    changes: Iterable[FileChange],
    used: Used,
    owners: Ownership,
    tree: Collection[RepoPath],
    checks: Callable[[], Iterable[bytes]],
) -> tuple[Finding, ...]:
    """The files of the patch that the trusted run used although nothing watches them.

    ``tree`` are the files of base, ``checks`` gives the texts of the code that people own.
    """
    touched = sorted(_touched(changes))
    packages = frozenset[str]() if all(map(owners.is_watched, touched)) else _packages(tree, owners.is_watched)
    subjects = Globs(_SUBJECTS)
    found = []
    for path in touched:
        if path in used.loaded and not owners.is_protected(path) and (_is_helper(path) or not owners.owes(path)):
            why = "lies among the tests" if owners.owes(path) else "owes nothing"
            message = f"was loaded by the trusted run; this patch changed it, nobody owns it and it {why}"
            found.append(Finding("LW302", path, 0, f"{message}. {_TODO}"))
        elif path in used.executed and not owners.is_watched(path):
            found.append(Finding("LW302", path, 0, _EXECUTED))
        elif not owners.is_watched(path):
            found += _read(path, used, _is_strict(path, subjects, packages), packages, checks)
    return tuple(found)


def _read(
    path: RepoPath, used: Used, strict: bool, packages: Collection[str], checks: Callable[[], Iterable[bytes]]
) -> Iterator[Finding]:
    """Whether a check reads a changed file that nobody watches, itself or by the hand of the code under test."""
    if how := used.checks.how(path):
        reader = f"a trusted check {how}" + " itself" * how.startswith("opens")
    elif (how := used.product.how(path)) and _is_helper(path):
        reader = f"the code under test {how}, though it lies among the tests"
    elif how and _is_named(path, packages, checks):
        reader = f"a trusted check names it, and the code under test {how}"
        strict = strict and not _is_below(path, packages)
    else:
        return
    message = f"was changed by this patch, owes nothing, and {reader}."
    severity = Severity.ERROR if strict else Severity.WARNING
    yield Finding("LW302", path, 0, f"{message} {_TODO}" if strict else message, severity)


def looked_up(
    used: Used,
    is_key: Callable[[RepoPath], bool],
    checks: Callable[[], Iterable[bytes]],
    product: Callable[[], Iterable[bytes]],
) -> tuple[Finding, ...]:
    """What to say of files of the checks that the code under test opened on its own account.

    ``is_key`` tells what nothing but a check has a use for: tests, relations, corpora and their manifests. Other data
    that a check names was most likely handed over by a fixture, unless the patch's own code (``product``) names it too.
    Whoever goes through the whole tree, as linters do, meets all of these files.
    """
    found = []
    walks = _walks(used)
    for path in sorted(used.looked_up):
        message = "belongs to the checks, and the code under test opened it on its own account while they ran"
        if walks:
            found.append(Finding("LW302", path, 0, f"{message}, on its way through the tree.", Severity.WARNING))
        elif not is_key(path) and _is_named(path, frozenset(), checks):
            name = os.fsencode(path.rpartition("/")[2])
            if any(name in text for text in product()):
                message = f"{message}; a trusted file and the patch name it."
                found.append(Finding("LW302", path, 0, message, Severity.WARNING))
        else:
            todo = "Have the product compute its answers; a check that wants it to read the file hands it the path."
            found.append(Finding("LW302", path, 0, f"{message}. {todo}"))
    return tuple(found)


def _walks(used: Used) -> bool:
    """Whether the product went through the tree: the root was listed, and more was opened than files of checks."""
    product = used.product
    root = RepoPath("")
    return (root in product.listed or root in product.searched) and any(
        not _is_for_tests(path) for path in product.opened if path not in used.looked_up
    )


def may_steer_commands(
    changes: Iterable[FileChange], owners: Ownership, tree: Collection[RepoPath]
) -> frozenset[RepoPath]:
    """The files of the patch that nobody watches and that must not decide what the checks of a command ask."""
    packages, subjects = _packages(tree, owners.is_watched), Globs(_SUBJECTS)
    loose = (path for path in _touched(changes) if not owners.is_watched(path))
    return frozenset(path for path in loose if _is_strict(path, subjects, packages))


def opened_by_command(opened: Iterable[RepoPath], checks: Callable[[], Iterable[bytes]]) -> tuple[Finding, ...]:
    """What to say of such files that were opened while a suite's command ran; nothing tells by which program.

    A file that lies among tests is pointed out. One that protected content names closes the gate.
    """
    found = []
    for path in sorted(opened):
        message = "was changed by this patch, owes nothing, and was opened while the suite's command ran"
        if _is_named(path, frozenset(), checks):
            found.append(Finding("LW302", path, 0, f"{message}; a trusted file names it. {_TODO}"))
        elif _is_for_tests(path):
            found.append(Finding("LW302", path, 0, f"{message}.", Severity.WARNING))
    return tuple(found)


def _is_named(path: RepoPath, packages: Collection[str], checks: Callable[[], Iterable[bytes]]) -> bool:
    words = [word for word in _names(path, packages) if word.strip(b"\"'/") not in _EVERYBODYS]
    return any(word in text for text in checks() for word in words)


def _is_helper(path: RepoPath) -> bool:
    """Whether code lies in a folder that is there for tests alone; ``pkg/testing`` may well be part of the product."""
    folders = [part.lower() for part in path.split("/")[:-1]]
    return "tests" in folders or folders[:1] in (["test"], ["testing"])


def _is_below(path: RepoPath, packages: Collection[str]) -> bool:
    """Whether a file lies in one of the product's packages, or in a folder below one."""
    folder = path.rpartition("/")[0]
    while folder and folder not in packages:
        folder = folder.rpartition("/")[0]
    return bool(folder) and not _is_for_tests(path)


def _touched(changes: Iterable[FileChange]) -> set[RepoPath]:
    """Every path that differs: changed, added, removed, and where something was moved away."""
    return {path for change in changes for path in (change.path, change.base_path)}


def _packages(tree: Collection[RepoPath], is_watched: Callable[[RepoPath], bool]) -> frozenset[str]:
    """The folders in which code lies that owes or is owned."""
    return frozenset(p.rpartition("/")[0] for p in tree if p.endswith((".py", ".pyi")) and is_watched(p))


def _is_strict(path: RepoPath, subjects: Globs, packages: Collection[str]) -> bool:
    return _is_for_tests(path) or not (subjects.match(path) or path.rpartition("/")[0] in packages)


def _is_for_tests(path: RepoPath) -> bool:
    return any(part.lower() in _TEST_FOLDERS for part in path.split("/")[:-1])


def changed_while_running(before: Mapping[RepoPath, object], after: Mapping[RepoPath, object]) -> tuple[Finding, ...]:
    """Files that were written to, or replaced, while they were judged (``LW505``)."""
    message = (
        "was changed in the export while the trusted run was going on. Nothing that ran after it can be believed: keep"
        " the run from writing to files that git tracks."
    )
    return tuple(Finding("LW505", path, 0, message) for path, stamp in before.items() if after.get(path) != stamp)
