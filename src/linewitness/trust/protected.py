"""What the author of a patch may not touch, and the comparison that shows whether it was touched.

Two trees are compared by path, mode and object id; nothing is called a rename, so a trusted test that was moved away is
one that was removed. Names are compared folded (see :func:`linewitness.globs.fold`): ``tests/Trusted`` is
``tests/trusted`` on half of the machines that will check it out. Exemptions are never folded.
"""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import Final

from linewitness.globs import Globs, fixed_part, fold
from linewitness.model import Blob, Finding, RepoPath
from linewitness.settings import Settings
from linewitness.trust.approvers import revocations_beside
from linewitness.trust.builtin import BUILT_IN, IMPLICIT, ON_THE_WAY, Guarded
from linewitness.trust.tables import SHARED_FILES, protected_differences
from linewitness.trust.undo import approve_command, remove_command, restore_command, show_command

Tree = Mapping[RepoPath, Blob]
Read = Callable[[Blob], bytes]

_LINK: Final = 0o120000
_SUBMODULE: Final = 0o160000
_TYPES: Final = {_LINK: "a symbolic link", _SUBMODULE: "a submodule"}
_TEST_FOLDERS: Final = frozenset({"test", "tests", "testing"})
_WINDOWS: Final = frozenset("\\:~")
_SHORT: Final = re.compile(r"([^.~]{1,6})~[0-9](?:\.([^.]{1,3}))?")
_NOT_PRODUCT: Final = frozenset({"__init__.py", "conftest.py", "setup.py"})


def protected_paths(settings: Settings) -> tuple[str, ...]:
    """The git-style globs of protected content as one list, for tools that see a path and no trees.

    They deny a little more than the gate: names that matter on the way to trusted tests are listed at any depth,
    negations among the settings' own globs are left out. Files of which only some tables count are not listed.
    """
    tests = (*settings.trusted, *settings.relations)
    generated = tuple(glob.removeprefix("!") if glob.startswith("!") else f"!{glob}" for glob in settings.generated)
    guards = tuple(glob for guard in _guards(settings) for glob in guard.globs)
    names = tuple(name for name in ON_THE_WAY if name != "__init__.py")
    packages = tuple(f"/{_join(folder, '__init__.*')}" for folder in sorted(_certain_folders(settings)))
    steering = tuple(_exactly(path) for path in sorted(named_files(settings)) if "." in _split(path)[1])
    added = tuple(glob for glob in settings.protected if not glob.startswith("!"))
    return (*tests, *generated, *guards, *names, *packages, *steering, *added)


class Protection:
    """What is protected under one set of settings, in a given pair of trees.

    The trees tell which folders lead to a trusted test; without them, only the settings' globs do.
    """

    def __init__(self, settings: Settings, base: Tree | None = None, head: Tree | None = None) -> None:
        self._settings = settings
        self._base: Tree = base or {}
        self._head: Tree = head or {}
        self._guards = _guards(settings)
        self._guarded = Globs((glob for guard in self._guards for glob in guard.globs), folded=True)
        self._added = Globs(settings.protected, folded=True)
        self._tests = Globs(settings.trusted, folded=True)
        self._relations = Globs(settings.relations, folded=True)
        self._generated = Globs(settings.generated)
        self._named = frozenset(map(fold, named_files(settings)))

    def is_protected(self, path: str) -> bool:
        """Whether people own all of ``path``. False for files of which only some tables count."""
        return self.reason(path) is not None

    def reason(self, path: str) -> str | None:
        """What kind of protected content ``path`` is, in words for people, or ``None``."""
        if self._is_test(path):
            return "a relation or part of its corpus" if self._relations.match(path) else "a trusted test"
        if self._guarded.match(path):
            return next(guard.what for guard in self._guards if Globs(guard.globs, folded=True).match(path))
        if self._added.match(path):
            return "a path that the settings protect"
        if fold(path) in self._named:
            return "a file that the suites of the settings use"
        folder, name = _split(fold(path))
        name = "__init__.py" if name.startswith("__init__.") else name
        if name not in ON_THE_WAY or folder not in self._way:
            return None
        return None if name == "__init__.py" and self._is_product(path) else ON_THE_WAY[name]

    def shares(self, path: str) -> bool:
        """Whether ``path`` is a settings file of which some tables are protected."""
        folder, name = _split(fold(path))
        return name in SHARED_FILES and folder in self._way

    def lies_below(self, path: str) -> str | None:
        """The protected place at or below ``path``, or ``None``: what a link or a submodule there would replace."""
        here = fold(path)
        return next((place for place in self._places if place == here or place.startswith(here + "/")), None)

    def imitated(self, path: str) -> str | None:
        """The protected place that ``path`` is easily taken for, or ``None``.

        By people, as some letters are not ASCII; by Windows, as a short name, or with a stream or a backslash in it.
        """
        if path.isascii():
            return self._windows_name(path)
        parts = fold(path).split("/")
        for place in self._places:
            names = place.split("/")
            same = next((n for n, pair in enumerate(zip(parts, names, strict=False)) if pair[0] != pair[1]), None)
            if same is not None and _alike(parts[same], names[same]):
                return place
        return None

    def _windows_name(self, path: str) -> str | None:
        if not _WINDOWS & set(path):
            return None
        plain = "/".join(part.partition(":")[0] for part in path.replace("\\", "/").split("/"))
        if plain != path and (self.reason(plain) or self.shares(plain)):
            return plain
        parts = fold(plain).split("/")
        names = (*self._places, *(_join(folder, name) for folder in self._way for name in (*ON_THE_WAY, *SHARED_FILES)))
        return next((place for place in sorted(names) if _is_short_for(parts, place.split("/"))), None)

    def _is_test(self, path: str) -> bool:
        return (self._tests.match(path) or self._relations.match(path)) and not self._generated.match(path)

    def _is_product(self, path: str) -> bool:
        """Whether this package file belongs to the code under test, like ``pkg/__init__.py`` above ``pkg/tests/``.

        The tests import it as they import the modules beside it, and its lines owe as theirs do: protecting it would
        close no hole, and would close the gate for every release. Base decides, so that no patch can make it so.
        """
        folder, _ = _split(path)
        may_be = path in self._base and bool(folder) and not _TEST_FOLDERS & set(fold(folder).split("/"))
        return may_be and folder in self._product

    @cached_property
    def _product(self) -> frozenset[str]:
        """The folders of base that hold a Python module which is neither a test nor there for the tests."""
        modules = ((path, *_split(path)) for path in self._base if path.endswith(".py"))
        names = ((path, folder) for path, folder, name in modules if name not in _NOT_PRODUCT)
        return frozenset(f for path, f in names if not self._is_test(path) and not self._generated.match(path))

    @cached_property
    def _way(self) -> frozenset[str]:
        """Every folder from the root to a trusted test or relation, folded; the root is the empty text."""
        folders = _certain_folders(self._settings)
        # Below a folder that is trusted whole there is nothing left to find.
        if not all(_is_whole_folder(glob) for glob in (*self._settings.trusted, *self._settings.relations)):
            for path in self._base.keys() | self._head.keys():
                if self._is_test(path):
                    _climb(_split(fold(path))[0], folders)
        return frozenset(folders)

    @cached_property
    def _places(self) -> tuple[str, ...]:
        """The folded paths of protected content with a fixed place, sorted, folders before what is in them."""
        places = {fold(fixed_part(glob)) for glob in protected_paths(self._settings) if not glob.startswith("!")}
        return tuple(sorted(places - {""}))


def freeze(
    base: Tree, head: Tree, settings: Settings, read: Read, *, base_name: str = "BASE", approved: Tree | None = None
) -> tuple[Finding, ...]:
    """One ``LW301`` per protected path that ``head`` adds, removes or changes against ``base``, sorted by path.

    ``settings`` are base's. ``read`` gives the bytes of a regular file's blob and is asked only for shared settings
    files. ``base_name`` is what commands in messages call base: give a full commit id. With ``approved`` head is
    compared with that tree instead. What is protected is decided by base all the same: a patch could otherwise bring
    along, in a tree that people approve for another reason, what makes a path unprotected. Errors: those of ``read``.
    """
    before = base if approved is None else approved
    protection = Protection(settings, base, head if approved is None else {**approved, **head})
    owners = _owners_do(settings, base, base_name)
    findings = []
    for path in sorted(_touched(before, head)):
        trouble = _trouble(path, before.get(path), head.get(path), protection, read)
        if trouble:
            todo = f"{_undo(path, base, protection, base_name)}, or {owners}."
            findings.append(Finding("LW301", path, 0, f"{trouble}. {todo}"))
    return tuple(findings)


def _owners_do(settings: Settings, base: Tree, base_name: str) -> str:
    """How people make the change their own: by a signature, where base lists somebody who may sign."""
    if RepoPath(settings.approvers) in base:
        return f"have an approver vouch for it (`{approve_command(base_name)}`)"
    return "have the owners land it on the target branch first"


def _undo(path: RepoPath, base: Tree, protection: Protection, base_name: str) -> str:
    undo = restore_command(base_name, path) if path in base else remove_command(path)
    if protection.shares(path):  # the rest of the file may stay as the patch has it
        return f"Take that part back (`{show_command(base_name, path)}` shows it, `{undo}` takes back the whole file)"
    return f"Take it back (`{undo}`)"


def _touched(base: Tree, head: Tree) -> set[RepoPath]:
    touched = {path for path, blob in base.items() if head.get(path) != blob}
    return touched | (head.keys() - base.keys())


def _trouble(path: RepoPath, before: Blob | None, after: Blob | None, protection: Protection, read: Read) -> str:
    """Why this difference is not the author's to make, as a sentence without a full stop; empty when it is."""
    if reason := protection.reason(path):
        return f"{reason} was {_how(before, after)}"
    if protection.shares(path):
        return _shared(path, before, after, read)
    if after and not after.is_regular and (place := protection.lies_below(path)):
        return f"{_type(after)} was put where the protected {place} belongs"
    if before is None and (place := protection.imitated(path)):
        how = "is another name on Windows for" if path.isascii() else "imitates, with letters that are not ASCII,"
        return f"the name {how} the protected {place}"
    return ""


def _how(before: Blob | None, after: Blob | None) -> str:
    if before is None:
        return "added" if after is None or after.is_regular else f"added as {_type(after)}"
    if after is None:
        return "removed or moved away"
    if before.mode & 0o170000 != after.mode & 0o170000:
        return f"replaced by {_type(after)}"
    if before.oid == after.oid:
        return f"given another mode ({before.mode:o} became {after.mode:o})"
    return "changed"


def _shared(path: RepoPath, before: Blob | None, after: Blob | None, read: Read) -> str:
    """A shared settings file may change in any table that steers no test run."""
    if odd := next((side for side in (after, before) if side and not side.is_regular), None):
        return f"settings of the test run may lie in this file, and it is {_type(odd)}"
    name = _split(fold(path))[1]
    tables = protected_differences(name, before and read(before), after and read(after))
    if not tables:
        return ""
    verb = "was" if len(tables) == 1 else "were"
    return f"{', '.join(tables)} {verb} changed, which may steer the trusted run"


def _type(blob: Blob) -> str:
    return _TYPES.get(blob.mode & 0o170000, "a regular file")


# ---------------------------------------------------------------- names


def _guards(settings: Settings) -> tuple[Guarded, ...]:
    own = (
        Guarded("the waiver file", (_exactly(settings.waivers),)),
        Guarded("the list of approvers", (_exactly(settings.approvers),)),
        Guarded("the list of revoked keys", (_exactly(revocations_beside(settings.approvers)),)),
    )
    return (*own, *BUILT_IN)


def named_files(settings: Settings) -> frozenset[str]:
    """Paths of the files that the commands and arguments of suites name, and of those that their programs look for.

    ``setup`` and ``run`` are shell commands, ``args`` go to pytest, ``python`` is a path; all of them run in the tree
    of the patch, so a requirements file or a script that they name decides what the checks run with. Words that name
    no file are among the result: it is meant for comparing with paths of a tree.
    """
    found: set[str] = set()
    for suite in settings.suite:
        for command in (*suite.setup, suite.run):
            found.update(*(IMPLICIT.get(_split(word)[1], ()) for word in _words(command)))
        for text in (*suite.setup, suite.run, *suite.args, suite.python):
            found.update(path for word in _words(text) for path in _paths_in(word))
        found.update(path for name in suite.plugins for path in _plugin_files(name))
    return frozenset(found)


def _words(command: str) -> list[str]:
    try:
        lexer = shlex.shlex(command, posix=True, punctuation_chars=True)
        lexer.whitespace_split = True
        return list(lexer)
    except ValueError:
        return command.split()


def _paths_in(word: str) -> Iterator[str]:
    """What in a word may be a path: all of it, what follows an equals sign, what is glued to a one-letter option."""
    for text in {word, word.rpartition("=")[2], word[2:] if word.startswith("-") else word}:
        path = posixpath.normpath(text.partition("[")[0].partition("::")[0] or ".")
        if path != "." and not path.startswith(("/", "..", "-")):
            yield path


def _plugin_files(name: str) -> Iterator[str]:
    """The files of a plugin that lies among the tests. Elsewhere a plugin is code under test, and owes as such."""
    parts = name.split(".")
    if _TEST_FOLDERS & set(parts[:-1]):
        yield from (f"{'/'.join(parts)}.py", f"{'/'.join(parts)}/__init__.py")


def _exactly(path: str) -> str:
    """A glob that matches ``path`` and nothing else."""
    return "/" + "".join(f"\\{char}" if char in "*?[\\" else char for char in path)


def _certain_folders(settings: Settings) -> set[str]:
    """The folders on the way to tests that the globs alone prove, folded, the root among them."""
    folders = {""}
    for glob in (*settings.trusted, *settings.relations):
        if not glob.startswith("!"):
            _climb(fold(fixed_part(glob)), folders)
    return folders


def _is_whole_folder(glob: str) -> bool:
    return glob.startswith("!") or glob.strip("/") == f"{fixed_part(glob)}/**"


def _climb(folder: str, into: set[str]) -> None:
    while folder not in into:
        into.add(folder)
        folder = _split(folder)[0]


def _alike(name: str, place: str) -> bool:
    """Same length, and apart from letters outside ASCII, of which there is one, letter by letter the same."""
    if name.isascii() or len(name) != len(place):
        return False
    pairs = list(zip(name, place, strict=True))
    return all(a == b or not a.isascii() for a, b in pairs) and any(a == b for a, b in pairs)


def _is_short_for(parts: list[str], place: list[str]) -> bool:
    """Whether the first parts of a path are ``place``, some as the short names that Windows gives (``CONFTE~1.PY``)."""
    if len(parts) < len(place):
        return False
    pairs = list(zip(parts, place, strict=False))
    return all(part == name or _short(part, name) for part, name in pairs) and any(map(str.__ne__, parts, place))


def _short(part: str, name: str) -> bool:
    match = _SHORT.fullmatch(part)
    if not match:
        return False
    stem, _, suffix = name.lstrip(".").rpartition(".") if "." in name.lstrip(".") else (name.lstrip("."), "", "")
    stem, suffix = ("".join(char for char in text if char.isalnum() or char in "_-") for text in (stem, suffix))
    return stem[:6] == match[1] and suffix[:3] == (match[2] or "")


def _split(path: str) -> tuple[str, str]:
    folder, _, name = path.rpartition("/")
    return folder, name


def _join(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name
