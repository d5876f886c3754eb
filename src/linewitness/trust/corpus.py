"""Corpora: folders of inputs that people froze, and the manifest that says what is in them.

A folder with a ``MANIFEST.sha256`` is a corpus. The manifest lists every file beside and below it except itself, with
its SHA-256, and nothing else; there are no links. A folder called ``corpus`` below the relations must have a manifest,
in itself or above: inputs that no digest pins can be swapped. That a relation finds enough *distinct* inputs is the
relation's own matter.
"""

from __future__ import annotations

import hashlib
import os
import shlex
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from linewitness import atomic
from linewitness.errors import ProtectedError, UsageError
from linewitness.globs import Globs, fixed_part, fold
from linewitness.model import Blob, Finding, RepoPath
from linewitness.trust.manifest import MANIFEST, Entry, Manifest, parse, render
from linewitness.values import NamedTuple

_CORPUS: Final = "corpus"
_LINKED: Final = "a corpus is a folder of regular files, not a link and not a submodule"
_NO_MANIFEST: Final = (
    "this corpus has no manifest, so nothing pins its files: its owners run `linewitness corpus freeze`"
)
_APPROVE: Final = "or have the owners of the corpus run `linewitness corpus freeze` and land both"


class Frozen(NamedTuple):
    """What ``freeze`` did to a manifest: the names that it added, removed, or gave another digest, each sorted."""

    added: tuple[str, ...]
    removed: tuple[str, ...]
    changed: tuple[str, ...]
    files: int

    @property
    def is_news(self) -> bool:
        """Whether the corpus differs from what the manifest said before."""
        return bool(self.added or self.removed or self.changed)


class _Corpus(NamedTuple):
    """A folder to be judged. ``regular`` tells for every name in it whether it is an ordinary file.

    ``restore`` is the revision that ``git checkout`` brings files back from.
    """

    folder: str
    regular: Mapping[str, bool]
    digest: Callable[[str], str]
    restore: str = "HEAD"


def verify(
    tree: Mapping[RepoPath, Blob], relations: Globs, read: Callable[[Blob], bytes], restore: str = "HEAD"
) -> tuple[Finding, ...]:
    """Judge every corpus of a tree, sorted by path: ``LW401`` drift, ``LW402`` what no manifest lists.

    ``read`` gives the bytes of a blob; ``restore`` names the revision whose files are the right ones, for the command
    that the findings suggest. Errors: those of ``read``.
    """
    paths = sorted(path for path in tree if relations.match(path))
    findings: list[Finding] = []
    folders = [_folder(path) for path in paths if _name(path) == MANIFEST]
    for folder in folders:
        names = {path[len(folder) :]: tree[path].is_regular for path in _below(paths, folder)}
        if not names[MANIFEST]:
            findings.append(Finding("LW401", folder + MANIFEST, 0, "the manifest is not a regular file"))
            continue
        corpus = _Corpus(folder, names, _digest_of_blob(tree, folder, read), restore)
        findings += _judge(corpus, parse(read(tree[RepoPath(folder + MANIFEST)]), folder + MANIFEST))
    findings += _unpinned(paths, folders, lambda path: tree[RepoPath(path)].is_regular)
    return tuple(sorted(findings))


def verify_folder(folder: Path, name: str) -> tuple[Finding, ...]:
    """Judge one corpus on disk, without following links. ``name`` is what findings call the folder.

    Errors: :class:`UsageError` when the folder is missing, :class:`ProtectedError` when a file cannot be read.
    """
    prefix = name.rstrip("/") + "/" if name not in {"", "."} else ""
    if folder.is_symlink():
        return (Finding("LW401", name, 0, _LINKED),)
    regular = _scan(folder)
    if not regular.get(MANIFEST):
        code, what = ("LW401", "the manifest is not a regular file") if MANIFEST in regular else ("LW402", _NO_MANIFEST)
        return (Finding(code, prefix + MANIFEST, 0, what),)
    corpus = _Corpus(prefix, regular, lambda entry: _digest_of_file(folder / entry))
    return tuple(sorted(_judge(corpus, parse(_read(folder / MANIFEST), prefix + MANIFEST))))


def freeze(folder: Path) -> Frozen:
    """Write the manifest of ``folder``, atomically, keeping the comments of the one that is there.

    Errors: :class:`UsageError` when the folder is missing, a link, holds no file or something else than files;
    :class:`ProtectedError` when a file cannot be read.
    """
    if folder.is_symlink():
        raise UsageError(_LINKED, path=str(folder))
    regular = _scan(folder)
    odd = sorted(name for name, is_file in regular.items() if not is_file)
    if odd:
        raise UsageError("is no regular file, so a corpus cannot hold it", path=str(folder / odd[0]))
    names = [name for name in regular if name != MANIFEST]
    if not names:
        raise UsageError("holds no file, and an empty corpus proves nothing", path=str(folder))
    place = folder / MANIFEST
    old = parse(_read(place), str(place)) if MANIFEST in regular else Manifest((), (), ())
    digests = {name: _digest_of_file(folder / name) for name in names}
    atomic.write_bytes(place, render(digests, old.comments))
    return _difference({entry.name: entry.digest for entry in old.entries}, digests)


def _difference(before: Mapping[str, str], after: Mapping[str, str]) -> Frozen:
    changed = (name for name in after.keys() & before.keys() if after[name] != before[name])
    added, removed = after.keys() - before.keys(), before.keys() - after.keys()
    return Frozen(tuple(sorted(added)), tuple(sorted(removed)), tuple(sorted(changed)), len(after))


def folders_on_disk(root: Path, relations: tuple[str, ...]) -> tuple[str, ...]:
    """The corpora below ``root``: folders with a manifest, and those called ``corpus`` that lack one.

    Paths from the root, deepest first, so that a manifest which lists another one is written after it.
    """
    globs = Globs(relations)
    found: set[str] = set()
    for start in {fixed_part(glob) for glob in relations if not glob.startswith("!")}:
        names = _scan(root / start, missing_ok=True)
        paths = sorted(path for path in (f"{start}/{name}".removeprefix("/") for name in names) if globs.match(path))
        manifests = [_folder(path) for path in paths if _name(path) == MANIFEST]
        found.update(manifests, (_folder(finding.path) for finding in _unpinned(paths, manifests, lambda _: True)))
    return tuple(sorted((folder.rstrip("/") for folder in found), key=lambda folder: (-folder.count("/"), folder)))


# ---------------------------------------------------------------- the judgement


def _judge(corpus: _Corpus, manifest: Manifest) -> Iterator[Finding]:
    yield from manifest.findings
    listed = {entry.name for entry in manifest.entries}
    for name, is_file in corpus.regular.items():
        if not is_file:
            yield Finding(
                "LW401", corpus.folder + name, 0, "a corpus holds regular files only: no links, no submodules"
            )
        elif name not in listed and name != MANIFEST:
            where = f"{corpus.folder}{MANIFEST} does not list this file"
            yield Finding("LW402", corpus.folder + name, 0, f"{where}: remove it, or have the owners freeze the corpus")
    for entry in manifest.entries:
        yield from _compare(corpus, entry)


def _compare(corpus: _Corpus, entry: Entry) -> Iterator[Finding]:
    if entry.name not in corpus.regular:
        text = f"{entry.name!r} is listed here and missing: {_restore(corpus, entry.name)}"
        yield Finding("LW401", corpus.folder + MANIFEST, entry.line, text)
    elif corpus.regular[entry.name] and entry.digest:
        digest = corpus.digest(entry.name)
        if digest != entry.digest:
            what = f"corpus drift: SHA-256 is {digest[:12]}…, the manifest says {entry.digest[:12]}…"
            text = f"{what}: {_restore(corpus, entry.name)}"
            yield Finding("LW401", corpus.folder + entry.name, 0, text)


def _restore(corpus: _Corpus, name: str) -> str:
    """What to do about a file that is not as the manifest says."""
    where = shlex.quote(corpus.folder + name)
    return f"restore it with `git checkout {shlex.quote(corpus.restore)} -- {where}`, {_APPROVE}"


def _unpinned(paths: Sequence[str], pinned: list[str], is_file: Callable[[str], bool]) -> Iterator[Finding]:
    """One finding per outermost folder called ``corpus`` that no manifest covers, and per link in such a place."""
    seen: set[str] = set()
    for path in paths:
        names = path.split("/")
        depth = next((n for n, name in enumerate(names, 1) if fold(name) == _CORPUS), 0)
        folder = "/".join(names[:depth]) + "/"
        if not depth or folder in seen or any(path.startswith(place) for place in pinned):
            continue
        if depth < len(names):
            seen.add(folder)
            yield Finding("LW402", folder + MANIFEST, 0, _NO_MANIFEST)
        elif not is_file(path):
            yield Finding("LW401", path, 0, _LINKED)


# ---------------------------------------------------------------- where files come from


def _digest_of_blob(tree: Mapping[RepoPath, Blob], folder: str, read: Callable[[Blob], bytes]) -> Callable[[str], str]:
    return lambda name: hashlib.sha256(read(tree[RepoPath(folder + name)])).hexdigest()


def _digest_of_file(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise _unreadable(path, error) from error


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise _unreadable(path, error) from error


def _scan(folder: Path, *, missing_ok: bool = False) -> dict[str, bool]:
    """Every file below ``folder``, as a relative name, and whether it is regular. Links are reported, not followed."""
    found: dict[str, bool] = {}
    waiting = [""]
    while waiting:
        prefix = waiting.pop()
        try:
            with os.scandir(folder / prefix) as entries:
                # git keeps nothing that is called .git, so neither can a corpus.
                for entry in (entry for entry in entries if entry.name != ".git"):
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(f"{prefix}{entry.name}/")
                    else:
                        found[prefix + entry.name] = entry.is_file(follow_symlinks=False)
        except (FileNotFoundError, NotADirectoryError) as error:
            if not missing_ok:
                raise UsageError("there is no such folder", path=str(folder / prefix)) from error
        except OSError as error:
            raise _unreadable(folder / prefix, error) from error
    return found


def _unreadable(path: Path, error: OSError) -> ProtectedError:
    return ProtectedError(f"cannot be read: {error.strerror or error}", path=str(path))


def _below(paths: list[RepoPath], folder: str) -> Iterator[RepoPath]:
    for index in range(bisect_left(paths, folder), len(paths)):
        if not paths[index].startswith(folder):
            return
        yield paths[index]


def _folder(path: str) -> str:
    """The folder of ``path`` with a slash at its end, or nothing for the root."""
    return path[: path.rfind("/") + 1]


def _name(path: str) -> str:
    return path[path.rfind("/") + 1 :]
