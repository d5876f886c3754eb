"""Whether a patch reached the trusted run by a way that neither protection nor obligations watch (``LW302``).

A file that the patch changed, that people do not own and whose lines owe nothing must not decide what a check asks. Two
kinds can: code that a check imports, and data that a check itself opens, or finds by listing a folder. Data that
the code under test reads is the product's own.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from linewitness.errors import EvidenceError
from linewitness.globs import Globs
from linewitness.model import FileChange, Finding, RepoPath, Severity

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
_TODO: Final = (
    "Have its owners add it to `protected` on the target branch, or move it beside the trusted tests; then land this"
    " patch without it."
)


class Used(NamedTuple):
    """What a trusted run used of the tree.

    Files that it loaded as code, files that its checks opened, folders that they listed, and folders below which they
    searched.
    """

    loaded: Collection[RepoPath] = frozenset()
    opened: Collection[RepoPath] = frozenset()
    listed: Collection[RepoPath] = frozenset()
    searched: Collection[RepoPath] = frozenset()


def read_used(folder: Path, loaded: Collection[RepoPath]) -> Used:
    """What the processes of a complete run left in ``folder``. Errors: EvidenceError (LW503) when they left nothing."""
    rows: list[tuple[str, str]] = []
    places = sorted(folder.glob("*.json"))
    try:
        for place in places:
            rows += msgspec.json.decode(place.read_bytes(), type=list[tuple[str, str]])
    except (OSError, msgspec.MsgspecError) as error:
        raise EvidenceError(f"what the trusted run read is not known: {error}", code="LW503") from error
    if not places:
        raise EvidenceError("the trusted run left no record of the files that it read.", code="LW503")
    kinds = (frozenset(RepoPath(path) for path, how in rows if how == kind) for kind in ("open", "list", "search"))
    return Used(loaded, *kinds)


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
    changes: Iterable[FileChange], used: Used, is_watched: Callable[[RepoPath], bool], tree: Collection[RepoPath]
) -> tuple[Finding, ...]:
    """The files of the patch that the trusted run used although nothing watches them.

    ``is_watched`` tells paths that people own or whose lines owe; ``tree`` are the files of base.
    """
    packages, subjects = _packages(tree, is_watched), Globs(_SUBJECTS)
    found = []
    for path in sorted(_touched(changes)):
        if is_watched(path):
            continue
        if path in used.loaded:
            message = "was loaded by the trusted run; this patch changed it, nobody owns it and its lines owe nothing"
            found.append(Finding("LW302", path, 0, f"{message}. {_TODO}"))
            continue
        how = _how_read(path, used)
        if how:
            strict = _is_strict(path, subjects, packages)
            severity = Severity.ERROR if strict else Severity.WARNING
            message = f"was changed by this patch, owes nothing, and a trusted check {how}. {_TODO if strict else ''}"
            found.append(Finding("LW302", path, 0, message.rstrip(), severity))
    return tuple(found)


def _touched(changes: Iterable[FileChange]) -> set[RepoPath]:
    """Every path that differs: changed, added, removed, and where something was moved away."""
    return {path for change in changes for path in (change.path, change.base_path)}


def _packages(tree: Collection[RepoPath], is_watched: Callable[[RepoPath], bool]) -> frozenset[str]:
    """The folders in which code lies that owes or is owned."""
    return frozenset(p.rpartition("/")[0] for p in tree if p.endswith((".py", ".pyi")) and is_watched(p))


def _is_strict(path: RepoPath, subjects: Globs, packages: Collection[str]) -> bool:
    return _is_for_tests(path) or not (subjects.match(path) or path.rpartition("/")[0] in packages)


def _how_read(path: RepoPath, used: Used) -> str:
    if path in used.opened:
        return "opens it itself"
    folder = path.rpartition("/")[0]
    if folder and folder in used.listed:
        return f"lists the folder {folder}, where it lies or lay"
    while folder:
        if folder in used.searched:
            return f"searches the folder {folder}, where it lies or lay"
        folder = folder.rpartition("/")[0]
    return ""


def _is_for_tests(path: RepoPath) -> bool:
    return any(part.lower() in _TEST_FOLDERS for part in path.split("/")[:-1])


def changed_while_running(before: Mapping[RepoPath, object], after: Mapping[RepoPath, object]) -> tuple[Finding, ...]:
    """Files that were written to, or replaced, while they were judged (``LW505``)."""
    message = (
        "was changed in the export while the trusted run was going on. Nothing that ran after it can be believed: keep"
        " the run from writing to files that git tracks."
    )
    return tuple(Finding("LW505", path, 0, message) for path, stamp in before.items() if after.get(path) != stamp)
