"""Which file of the repository an export means by a path.

Exports are written on other machines, in other folders, by tools with a dozen conventions. A path is credited to a file
only when there is one way to read it. Everything here is text: no file is looked at because an export names it.
"""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Final
from urllib.parse import unquote

from linewitness.evidence.formats.go_modules import module_folders
from linewitness.model import Finding, RepoPath, Severity
from linewitness.values import NamedTuple

#: In a name: whatever folders lie between the module in front and the rest of the path behind.
ANY_FOLDERS: Final = "/**/"
_DRIVE: Final = re.compile(r"([A-Za-z]):(?=/|$)")
_REMOTE: Final = re.compile(r"https?://", re.IGNORECASE)
_URL: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+)://([^/]*)")
_SHOWN = 3
#: Folders that hold copies of files: installed packages, and what a build made of the sources.
_COPIES: Final = re.compile(
    r"(?:^|/)(?:node_modules|bower_components|site-packages|dist-packages|build/lib|dist|\.next|\.nuxt)(?:/|$)"
)


class Checkout(NamedTuple):
    """What an export is matched against: the root that was judged, all paths in head, and those with obligations."""

    root: Path
    known: Collection[RepoPath]
    wanted: Collection[RepoPath]


class Reading(NamedTuple):
    """One way to read a path: ``shift`` taken from its front, or put there when it ends in ``+``, gives ``path``."""

    path: RepoPath
    shift: str

    @property
    def at_home(self) -> bool:
        """Whether the path was relative, or began with the root."""
        return self.shift == "=" or self.shift.endswith("+")


class Matches(NamedTuple):
    """``found`` maps a wanted file to the paths by which the export calls it."""

    found: Mapping[RepoPath, tuple[str, ...]]
    findings: tuple[Finding, ...]


def normalised(name: str) -> str:
    """A path with forward slashes, an upper-case drive, and without ``.`` and ``..`` where these can be resolved.

    A ``file:`` URL is the path that it spells, any other URL the path on its host.
    """
    name = _without_scheme(name)
    if "\\" in name and ("/" not in name or re.match(r"[A-Za-z]:\\|\\\\", name)):
        name = name.replace("\\", "/")
    name = _DRIVE.sub(lambda match: match[1].upper() + ":", name, count=1)
    plain = posixpath.normpath(name) if name else ""
    # two leading slashes survive normpath, which is right for network shares only
    return "/" + plain.lstrip("/") if plain.startswith("//") and not name.startswith("//") else plain


def _without_scheme(name: str) -> str:
    url = _URL.match(name)
    if url is None:
        return name
    path = name[url.end() :]
    if url[1].lower() == "file":
        path = unquote(re.split(r"[?#]", path, maxsplit=1)[0], errors="surrogateescape")
        path = path[1:] if re.match(r"/[A-Za-z]:(?:/|$)", path) else path
    return path


def match(
    names: Collection[str],
    bases: Sequence[str],
    checkout: Checkout,
    path_maps: Sequence[tuple[str, str]],
    shown: str,
) -> Matches:
    """Find the wanted files among the paths of one export, which findings call ``shown``.

    A path that begins with the root, and a path that ``path_maps`` rewrites, is taken at its word. Any other is read by
    moving its front: all paths of an export were written in one folder, so the reading that fits most of them wins, and
    a tie between two files is ambiguous: it is a finding, and the path is evidence for neither. Where some paths are
    relative to the root, an absolute one elsewhere is outside of it. Of two fronts one of which lies below the other
    only one can be the root: what fewer paths tell of is a copy inside of it, or a folder around it.
    """
    index = _Index(checkout)
    modules = module_folders(checkout.root, checkout.known) if any(map(_is_import_path, names)) else ()
    rewrites = (*path_maps, *modules)
    readings = {name: index.readings(_spellings(name, bases, rewrites)) for name in names}
    if any(several for name, several in readings.items() if not _REMOTE.match(name)):
        readings = {name: () if _REMOTE.match(name) else several for name, several in readings.items()}
    votes = Counter(shift for each in readings.values() for shift in {reading.shift for reading in each})
    if votes["="] or votes["+"]:
        readings = {name: tuple(each for each in several if each.at_home) for name, several in readings.items()}
    beaten = _beaten(votes)
    readings = {name: tuple(each for each in several if each.shift not in beaten) for name, several in readings.items()}
    wanted = frozenset(checkout.wanted)
    found: dict[RepoPath, list[str]] = {}
    findings: list[Finding] = []
    unmatched: list[str] = []
    for name in sorted(readings):
        best = _best(readings[name], votes)
        if not best:
            unmatched.append(name)
        elif len(best) == 1:
            found.setdefault(best[0], []).append(name)
        elif wanted.intersection(best):
            findings.append(_ambiguous(name, best, shown))
    mine: dict[RepoPath, tuple[str, ...]] = {}
    for path in sorted(wanted & found.keys()):
        if _are_rivals(path, [readings[name] for name in found[path]]):
            findings.append(_rivals(path, found[path], shown))
        else:
            mine[path] = tuple(found[path])
    if wanted and not found and not findings:
        findings.append(_nothing(names, checkout, shown))
    else:
        findings.extend(_near_misses(wanted - mine.keys(), unmatched, shown))
    return Matches(mine, tuple(findings))


def _beaten(votes: Counter[str]) -> frozenset[str]:
    """The fronts of absolute paths that are not the root, as more paths tell of a front below or above them."""
    pairs = [(front, outer) for front in votes for outer in _folders_above(front) if outer in votes]
    return frozenset(min(pair, key=votes.__getitem__) for pair in pairs if votes[pair[0]] != votes[pair[1]])


def _are_rivals(path: RepoPath, readings: Iterable[Sequence[Reading]]) -> bool:
    """Whether paths are read as one file by fronts one of which lies below the other."""
    fronts = {each.shift for several in readings for each in several if each.path == path}
    return any(outer in fronts for front in fronts for outer in _folders_above(front))


def _folders_above(front: str) -> Iterator[str]:
    """The folders around the front of an absolute path, the root last; none for any other front."""
    while _is_absolute(front) and posixpath.dirname(front) != front:
        front = posixpath.dirname(front)
        yield front


class _Index:
    """The known paths, and on demand every tail of them."""

    def __init__(self, checkout: Checkout) -> None:
        self._known = frozenset(checkout.known)
        self._roots = _roots(checkout.root)
        self._tails: dict[str, list[RepoPath]] | None = None

    def readings(self, spellings: Iterable[tuple[str, bool]]) -> tuple[Reading, ...]:
        """All ways to read a path that is spelled in one of these ways; the flag says that one is beyond doubt."""
        certain: set[RepoPath] = set()
        moved: dict[Reading, None] = {}
        for spelling, settled in spellings:
            local = self._under_root(spelling)
            if local is not None or settled:
                path = RepoPath(spelling if local is None else local)
                certain.update({path} & self._known)
            else:
                moved.update(dict.fromkeys(self._shifted(spelling)))
        return tuple(Reading(path, "=") for path in sorted(certain)) or tuple(moved)

    def _under_root(self, spelling: str) -> str | None:
        for root in self._roots:
            if spelling.startswith(root):
                return spelling[len(root) :]
        return None

    def _shifted(self, spelling: str) -> Iterator[Reading]:
        if _is_absolute(spelling):
            yield from self._cut(spelling)
        elif ANY_FOLDERS in spelling:
            yield from self._in_module(*spelling.split(ANY_FOLDERS, 1))
        elif not spelling.startswith("../"):
            for path in self._ending_with(spelling):
                yield Reading(path, path[: len(path) - len(spelling)] + "+")

    def _cut(self, spelling: str) -> Iterator[Reading]:
        """An absolute path without its first folders; on a drive, where capitals mean nothing, in any of these."""
        parts = spelling.split("/")
        tails = [(RepoPath("/".join(parts[cut:])), "/".join(parts[:cut]) or "/") for cut in range(1, len(parts))]
        tails = [(tail, front) for tail, front in tails if not _COPIES.search(front)]
        exact = [Reading(tail, front) for tail, front in tails if tail in self._known]
        yield from exact
        if not exact and _DRIVE.match(spelling):
            for tail, front in tails:
                for path in self._by_fold.get(tail.casefold(), ()):
                    yield Reading(path, front)

    def _in_module(self, module: str, tail: str) -> Iterator[Reading]:
        """Files with this tail below a folder that is called as the module is; without such a folder, all of them."""
        paths = self._ending_with(tail)
        folder = posixpath.basename(module)
        inside = [path for path in paths if folder in path[: len(path) - len(tail)].split("/")]
        for path in inside or paths:
            yield Reading(path, f"{module}: {path[: len(path) - len(tail)]}+")

    @cached_property
    def _by_fold(self) -> dict[str, list[RepoPath]]:
        folded: dict[str, list[RepoPath]] = {}
        for path in self._known:
            folded.setdefault(path.casefold(), []).append(path)
        return folded

    def _ending_with(self, tail: str) -> Sequence[RepoPath]:
        if self._tails is None:
            self._tails = {}
            for path in self._known:
                at = 0
                while at >= 0:
                    self._tails.setdefault(path[at:], []).append(path)
                    slash = path.find("/", at)
                    at = slash + 1 if slash >= 0 else -1
        return self._tails.get(tail, ())


def _spellings(name: str, bases: Sequence[str], path_maps: Sequence[tuple[str, str]]) -> Iterator[tuple[str, bool]]:
    """The full forms of a path: under each base when it is relative, rewritten where the user says how."""
    plain = normalised(name)
    joined = [posixpath.join(normalised(base), plain) for base in bases] if not _is_absolute(plain) else []
    for spelling in [normalised(each) for each in joined] or [plain]:
        rewritten = _rewritten(spelling, path_maps)
        yield (spelling, False) if rewritten is None else (rewritten, True)


def _rewritten(spelling: str, path_maps: Sequence[tuple[str, str]]) -> str | None:
    for source, target in path_maps:
        front = normalised(source).rstrip("/")
        if spelling == front or spelling.startswith(front + "/"):
            moved = posixpath.join(normalised(target), spelling[len(front) :].lstrip("/"))
            return normalised(moved)
    return None


def _best(readings: Sequence[Reading], votes: Counter[str]) -> tuple[RepoPath, ...]:
    """The file that the most trusted readings agree on; several files when they do not agree; none without readings."""
    if not readings:
        return ()
    top = max(votes[each.shift] for each in readings)
    best = [each for each in readings if votes[each.shift] == top]
    exact = [each for each in best if each.shift in ("=", "+")]
    paths = sorted({each.path for each in exact or best})
    lonely = top == 1 and not exact and votes and max(votes.values()) > 1
    if lonely and all("/" not in path for path in paths):
        # /usr/lib/somewhere/setup.py is not the setup.py of this repository when everything else comes from /repo
        return ()
    return tuple(paths)


def _roots(root: Path) -> tuple[str, ...]:
    """The root as given and as the file system spells it, each with a slash at the end."""
    spelled = {normalised(str(root.absolute())), normalised(str(root.resolve()))}
    return tuple(sorted(each.rstrip("/") + "/" for each in spelled))


def _is_import_path(name: str) -> bool:
    """Whether a name may be the import path of a Go file: relative, as no other writer of Go's coverage spells it."""
    return name.endswith(".go") and not name.startswith(("/", ".")) and "/" in name


def _is_absolute(path: str) -> bool:
    return path.startswith("/") or _DRIVE.match(path) is not None


def _ambiguous(name: str, files: Sequence[RepoPath], shown: str) -> Finding:
    return Finding(
        "LW507",
        files[0],
        0,
        f"{name!r} in {shown} may be {_listed(files)}; it is evidence for none of them. "
        "Say where its paths start with --path-map FROM=TO.",
    )


def _rivals(path: RepoPath, names: Sequence[str], shown: str) -> Finding:
    return Finding(
        "LW507",
        path,
        0,
        f"{_listed(names)} in {shown} may be this file; none of them is evidence for it. "
        "Say where its paths start with --path-map FROM=TO.",
    )


def _nothing(names: Collection[str], checkout: Checkout, shown: str) -> Finding:
    return Finding(
        "LW507",
        "",
        0,
        f"no path in {shown} is a file of this repository: it names {_listed(sorted(names))}, "
        f"the patch changes {_listed(sorted(checkout.wanted))}. Say where its paths start with --path-map FROM=TO.",
    )


def _near_misses(missing: Collection[RepoPath], unmatched: Sequence[str], shown: str) -> Iterator[Finding]:
    """Files without evidence whose name the export knows from a place that fits no file."""
    by_name: dict[str, list[str]] = {}
    for name in unmatched:
        by_name.setdefault(posixpath.basename(normalised(name)), []).append(name)
    for path in sorted(missing):
        close = by_name.get(posixpath.basename(path))
        if close:
            yield Finding(
                "LW507",
                path,
                0,
                f"{shown} does not name this file, only {_listed(close)}, which is no file of this repository. "
                "If it is meant, say so with --path-map FROM=TO.",
                Severity.WARNING,
            )


def _listed(names: Sequence[str]) -> str:
    some = ", ".join(repr(each) for each in names[:_SHOWN])
    return some if len(names) <= _SHOWN else f"{some} and {len(names) - _SHOWN} more"
