"""What the author of a patch may not touch, and the comparison that shows whether it was touched.

Two trees are compared by path, mode and object id; nothing is called a rename, so a trusted test that was moved away is
one that was removed. Names are compared folded (see :func:`linewitness.globs.fold`): ``tests/Trusted`` is
``tests/trusted`` on half of the machines that will check it out. Exemptions are never folded.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Final

from linewitness.globs import fixed_part, fold
from linewitness.model import Blob, Finding, RepoPath
from linewitness.patterns import late
from linewitness.settings import Settings
from linewitness.trust.builtin import ON_THE_WAY, SHARED_FILES
from linewitness.trust.names import Names, climb, exactly, is_shared, join, on_the_way, split
from linewitness.trust.steering import included_files, may_be_included, named_files
from linewitness.trust.undo import approve_command, remove_command, restore_command, show_command

Tree = Mapping[RepoPath, Blob]
Read = Callable[[Blob], bytes]

_LINK: Final = 0o120000
_SUBMODULE: Final = 0o160000
_TYPES: Final = {_LINK: "a symbolic link", _SUBMODULE: "a submodule"}
_TEST_FOLDERS: Final = frozenset({"test", "tests", "testing"})
_WINDOWS: Final = frozenset("\\:~")
_SHORT: Final = late(r"([^.~]{1,6})~[0-9](?:\.([^.]{1,3}))?")
_NOT_PRODUCT: Final = frozenset({"__init__.py", "conftest.py", "setup.py"})


def protected_paths(settings: Settings) -> tuple[str, ...]:
    """The globs of :meth:`linewitness.trust.names.Names.globs`, and those of the files that suites name."""
    steering = (exactly(path) for path in sorted(named_files(settings)) if "." in split(path)[1])
    return (*Names(settings).globs(), *steering)


class Protection:
    """What is protected under one set of settings, in a given pair of trees.

    The trees tell which folders lead to a trusted test; without them, only the settings' globs do.
    """

    def __init__(self, settings: Settings, base: Tree | None = None, head: Tree | None = None) -> None:
        self._settings = settings
        self._base: Tree = base or {}
        self._head: Tree = head or {}
        self._names = Names(settings)
        self._named = frozenset(map(fold, named_files(settings)))
        self._reasons: dict[str, str | None] = {}

    def is_protected(self, path: str) -> bool:
        """Whether people own all of ``path``. False for files of which only some tables count."""
        return self.reason(path) is not None

    def reason(self, path: str) -> str | None:
        """What kind of protected content ``path`` is, in words for people, or ``None``."""
        # several steps ask about every path of a tree
        if path not in self._reasons:
            self._reasons[path] = self._reason(path)
        return self._reasons[path]

    def _reason(self, path: str) -> str | None:
        if reason := self._names.reason(path):
            return reason
        if fold(path) in self._named:
            return "a file that the suites of the settings use"
        folder, name = on_the_way(path)
        if name not in ON_THE_WAY or folder not in self._way:
            return None
        return None if name == "__init__.py" and self._is_product(path) else ON_THE_WAY[name]

    def shares(self, path: str) -> bool:
        """Whether ``path`` is a settings file of which some tables are protected."""
        folder, shared = is_shared(path)
        return shared and folder in self._way

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
        names = (*self._places, *(join(folder, name) for folder in self._way for name in (*ON_THE_WAY, *SHARED_FILES)))
        return next((place for place in sorted(names) if _is_short_for(parts, place.split("/"))), None)

    def _is_product(self, path: str) -> bool:
        """Whether this package file belongs to the code under test, like ``pkg/__init__.py`` above ``pkg/tests/``.

        The tests import it as they import the modules beside it, and its lines owe as theirs do: protecting it would
        close no hole, and would close the gate for every release. Base decides, so that no patch can make it so.
        """
        folder, _ = split(path)
        may_be = path in self._base and bool(folder) and not _TEST_FOLDERS & set(fold(folder).split("/"))
        return may_be and folder in self._product

    @cached_property
    def _product(self) -> frozenset[str]:
        """The folders of base that hold a Python module which is neither a test nor there for the tests."""
        modules = ((path, *split(path)) for path in self._base if path.endswith(".py"))
        names = ((path, folder) for path, folder, name in modules if name not in _NOT_PRODUCT)
        return frozenset(f for path, f in names if not self._names.is_test(path) and not self._names.is_generated(path))

    @cached_property
    def _way(self) -> frozenset[str]:
        """Every folder from the root to a trusted test or relation, folded; the root is the empty text."""
        folders = set(self._names.way)
        if not self._names.way_is_known:
            for path in self._base.keys() | self._head.keys():
                if self._names.is_test(path):
                    climb(split(fold(path))[0], folders)
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
    touched = sorted(_touched(before, head))
    included = included_files(named_files(settings), base, read) if any(map(may_be_included, touched)) else frozenset()
    for path in touched:
        trouble = _trouble(path, before.get(path), head.get(path), protection, read)
        if not trouble and path in included:
            trouble = f"a file that the suites' requirements include was {_how(before.get(path), head.get(path))}"
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
    from linewitness.trust.tables import protected_differences

    name = split(fold(path))[1]
    tables = protected_differences(name, before and read(before), after and read(after))
    if not tables:
        return ""
    verb = "was" if len(tables) == 1 else "were"
    return f"{', '.join(tables)} {verb} changed, which may steer the trusted run"


def _type(blob: Blob) -> str:
    return _TYPES.get(blob.mode & 0o170000, "a regular file")


# ---------------------------------------------------------------- names


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
