"""What a name alone tells about protection: the part of the rule that needs no trees and no typed settings.

:class:`linewitness.trust.protected.Protection` adds what only trees and suites tell. ``guard.rules`` uses it as it is:
a hook that is asked before each step of an agent has no time to import the rest.
"""

from __future__ import annotations

from typing import Protocol

from linewitness.globs import Globs, fixed_part, fold
from linewitness.trust.builtin import BUILT_IN, ON_THE_WAY, SHARED_FILES, Guarded, revocations_beside

Patterns = tuple[str, ...]


class Choice(Protocol):
    """The settings that say what is protected."""

    @property
    def trusted(self) -> Patterns:
        """Globs of the checks that people own."""
        ...

    @property
    def relations(self) -> Patterns:
        """Globs of the accepted relations."""
        ...

    @property
    def generated(self) -> Patterns:
        """Globs of tests that agents write."""
        ...

    @property
    def protected(self) -> Patterns:
        """Globs added to the built-in list."""
        ...

    @property
    def waivers(self) -> str:
        """The waiver file."""
        ...

    @property
    def approvers(self) -> str:
        """The list of approvers."""
        ...


class Names:
    """What one choice of settings protects, whatever trees there are. ``way`` are the folders that lead to tests."""

    def __init__(self, choice: Choice) -> None:
        self._choice = choice
        self._guards = _guards(choice)
        self._guarded = Globs((glob for guard in self._guards for glob in guard.globs), folded=True)
        self._added = Globs(choice.protected, folded=True)
        self._trusted = Globs(choice.trusted, folded=True)
        self._relations = Globs(choice.relations, folded=True)
        self._generated = Globs(choice.generated)
        self.way = frozenset(certain_folders(choice))

    @property
    def way_is_known(self) -> bool:
        """Whether the globs alone tell which folders lead to tests: below one that is trusted whole nothing is left."""
        return all(map(_is_whole_folder, (*self._choice.trusted, *self._choice.relations)))

    def reason(self, path: str) -> str | None:
        """What kind of protected content ``path`` is, in words for people, or ``None`` when its name does not tell."""
        if self._guarded.match(path):
            # before the tests, whose folder may be the whole of tests/: the waiver file is no test
            return next(guard.what for guard in self._guards if Globs(guard.globs, folded=True).match(path))
        if self.is_test(path):
            return "a relation or part of its corpus" if self._relations.match(path) else "a trusted test"
        return "a path that the settings protect" if self._added.match(path) else None

    def is_test(self, path: str) -> bool:
        """Whether people own ``path`` as a check, a relation, or what lies beside them."""
        return (self._trusted.match(path) or self._relations.match(path)) and not self.is_generated(path)

    def is_generated(self, path: str) -> bool:
        """Whether ``path`` is a generated test."""
        return self._generated.match(path)

    def globs(self) -> tuple[str, ...]:
        """The git-style globs of protected content as one list, for tools that see a path and no trees.

        They deny a little more than the gate: names that matter on the way to trusted tests are listed at any depth,
        negations among the settings' own globs are left out. Files of which only some tables count are not listed.
        """
        choice = self._choice
        back = (glob.removeprefix("!") if glob.startswith("!") else f"!{glob}" for glob in choice.generated)
        guards = (glob for guard in self._guards for glob in guard.globs)
        names = (name for name in ON_THE_WAY if name != "__init__.py")
        packages = (f"/{join(folder, '__init__.*')}" for folder in sorted(self.way))
        added = (glob for glob in choice.protected if not glob.startswith("!"))
        return (*choice.trusted, *choice.relations, *back, *guards, *names, *packages, *added)


def _guards(choice: Choice) -> tuple[Guarded, ...]:
    own = (
        Guarded("the waiver file", (exactly(choice.waivers),)),
        Guarded("the list of approvers", (exactly(choice.approvers),)),
        Guarded("the list of revoked keys", (exactly(revocations_beside(choice.approvers)),)),
    )
    return (*own, *BUILT_IN)


def exactly(path: str) -> str:
    """A glob that matches ``path`` and nothing else."""
    return "/" + "".join(f"\\{char}" if char in "*?[\\" else char for char in path)


def certain_folders(choice: Choice) -> set[str]:
    """The folders on the way to tests that the globs alone prove, folded, the root (the empty text) among them."""
    folders = {""}
    for glob in (*choice.trusted, *choice.relations):
        if not glob.startswith("!"):
            climb(fold(fixed_part(glob)), folders)
    return folders


def _is_whole_folder(glob: str) -> bool:
    return glob.startswith("!") or glob.strip("/") == f"{fixed_part(glob)}/**"


def climb(folder: str, into: set[str]) -> None:
    """Add a folder and those above it."""
    while folder not in into:
        into.add(folder)
        folder = split(folder)[0]


def on_the_way(path: str) -> tuple[str, str]:
    """The folded folder and name of a path; a compiled package file counts as one in Python."""
    folder, name = split(fold(path))
    return folder, "__init__.py" if name.startswith("__init__.") else name


def is_shared(path: str) -> tuple[str, bool]:
    """The folded folder of a path, and whether it is a settings file of which some tables may count."""
    folder, name = split(fold(path))
    return folder, name in SHARED_FILES


def split(path: str) -> tuple[str, str]:
    """Folder and name."""
    folder, _, name = path.rpartition("/")
    return folder, name


def join(folder: str, name: str) -> str:
    """The path of a name in a folder, which may be the root."""
    return f"{folder}/{name}" if folder else name
