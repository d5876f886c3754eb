"""Whether something that is about to be done to a path may be done.

Names are followed as the system would follow them (links, ``..``) and compared as the gate compares them (folded). A
path may hold :data:`UNKNOWN`, a part that only the shell will know, and the marks of a shell's wildcards.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Final

from linewitness.globs import fold
from linewitness.guard.places import Place, around, find, shares_objects
from linewitness.values import NamedTuple

UNKNOWN: Final = "\ue000"
STAR: Final = "\ue001"
ONE: Final = "\ue002"
OPEN: Final = "\ue003"
CLOSE: Final = "\ue004"
MARKS: Final = frozenset({UNKNOWN, STAR, ONE, OPEN, CLOSE})
WILD: Final = frozenset({STAR, ONE, OPEN})

WRITE: Final = "write"
"""A file is created or changed, through links."""
TAKE: Final = "take"
"""Something goes away, with all that is below it."""
PLANT: Final = "plant"
"""Something is put at a path as a whole: a file, a link, or a folder with all that is below it."""
MODE: Final = "mode"
"""Permissions or owners change, of a path and perhaps of all that is below it."""
STYLE: Final = "style"
"""A program may change files below the path, which it does only where they are not in order."""

# Beneath git's own folder: what steers git, and what the gate believes. Anybody may write an index or a message.
_STEERS_GIT: Final = frozenset({"hooks", "config", "config.worktree", "info", "refs", "packed-refs", "head", "objects"})
_STEERS_GIT_TOO: Final = frozenset({"commondir", "gitdir", "shallow", "modules", "worktrees", "reftable"})
# Settings of agents outside of any repository: each can switch hooks off. The notes beside them may be written.
AT_HOME: Final = (
    *(
        ".claude/settings.json",
        ".claude/settings.local.json",
        ".claude/hooks",
        ".codex/config.toml",
        ".codex/hooks.json",
    ),
    *(".codex/hooks", ".codex/rules", ".gemini/settings.json", ".gemini/policies", ".gemini/hooks"),
    *(".cursor/hooks.json", ".cursor/hooks", ".copilot/settings.json", ".copilot/config.json", ".copilot/hooks"),
    *(".openhands/hooks.json", ".openhands/hooks", ".gitconfig", ".config/git/config"),
)
_OF_THE_MACHINE: Final = ("/etc/claude-code", "/etc/codex", "/etc/cursor", "/etc/github-copilot", "/etc/gemini-cli")
# May go away although something in them may be protected: they are made again, and are no part of a patch.
_HARMLESS_BELOW: Final = frozenset(
    {"__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".venv", "venv", "node_modules", ".tox", ".nox"}
)
_WHOLE: Final = frozenset({TAKE, PLANT, MODE})
_MANY: Final = 4000


class Effect(NamedTuple):
    """Something that is about to be done to a path. ``source`` is what is put there, where that is known."""

    act: str
    path: str
    source: str = ""


class Fence:
    """What is protected around some folders. ``folders`` are absolute; the first is where relative paths start."""

    def __init__(self, folders: Sequence[str], home: str = "") -> None:
        self.start = folders[0]
        self.places = find(folders)
        self._home = os.path.realpath(home) if home else ""

    def reason(self, effect: Effect, folder: str) -> str | None:
        """Why the effect may not happen, in words for people, or ``None``. Relative paths start at ``folder``."""
        path = effect.path
        if path.startswith(UNKNOWN):
            return self._somewhere(path)
        if WILD & set(path):
            return self._matched(effect, folder)
        whole = os.path.join(folder, path.replace(UNKNOWN, "x"))
        return next((why for form in _forms(whole, effect.act) if (why := self._judge(form, effect))), None)

    def is_protected(self, place: Place, relative: str) -> bool:
        """Whether people own what lies at a path from the top of a place."""
        return self._what(place, relative) is not None

    def tracked(self, place: Place) -> tuple[str, ...]:
        """The protected paths that a place has: what git tracks, and what has a fixed place. Relative, sorted."""
        return self._present[place.top]

    def below(self, path: str, folder: str) -> tuple[str, ...]:
        """The absolute paths of protected content at or below a path."""
        whole = os.path.realpath(os.path.join(folder, path))
        found = []
        for place in self.places:
            relative = place.relative(whole)
            inside = place.top == whole or place.top.startswith(whole.rstrip("/") + "/")
            for each in self.tracked(place) if inside or relative is not None else ():
                found += [f"{place.top}/{each}"] if inside or not relative or _is_below(each, relative) else []
        return tuple(found)

    # ------------------------------------------------------------ one path

    def _judge(self, path: str, effect: Effect) -> str | None:
        if why := self._outside(path, effect.act):
            return why
        for place in self._around(path):
            relative = place.relative(path)
            if relative is None:
                if effect.act in _WHOLE and place.top.startswith(path.rstrip("/") + "/"):
                    return _said(path, "the folder that holds the whole repository")
                continue
            if why := self._in_place(place, relative, effect):
                return why
        return None

    def _around(self, path: str) -> Iterator[Place]:
        yield from self.places
        if all(place.relative(path) is None for place in self.places):
            other = around(os.path.dirname(path))
            if shares_objects(other, self.places):
                yield other

    def _in_place(self, place: Place, relative: str, effect: Effect) -> str | None:
        if relative == "":
            whole = effect.act in {TAKE, MODE} or (effect.act == PLANT and not effect.source)
            return _said(place.top, "the whole repository") if whole else self._spread(place, relative, effect)
        parts = fold(relative).split("/")
        if parts[0] == ".git":
            return _git_reason(relative, parts, effect.act)
        if effect.act == TAKE and _HARMLESS_BELOW & set(parts):
            return None
        return self._own(place, relative, effect.act) or self._inside(place, relative, effect)

    def _own(self, place: Place, relative: str, act: str) -> str | None:
        """Why a path itself is not the agent's to touch."""
        if what := self._what(place, relative):
            return _said(relative, what)
        is_place = any(fold(each) == fold(relative) for each in self._fixed(place))
        touched = is_place and (act != WRITE or _no_dir(place, relative))
        return _said(relative, "a folder of protected content") if touched else None

    def _inside(self, place: Place, relative: str, effect: Effect) -> str | None:
        """Why what is below a path is not the agent's to touch."""
        if effect.act in {TAKE, MODE}:
            return self._holds(place, relative)
        return self._spread(place, relative, effect) if effect.act == PLANT else None

    def _what(self, place: Place, relative: str) -> str | None:
        for rules in place.rules:
            if rules.only_trees_tell(relative):
                from linewitness.guard.trees import reason

                what = reason(place.top, relative)
            else:
                what = rules.reason(relative)
            if what:
                return what
        return None

    def _fixed(self, place: Place) -> tuple[str, ...]:
        return tuple(each for rules in place.rules for each in rules.places())

    def _holds(self, place: Place, relative: str) -> str | None:
        """Why a folder may not go away: what is protected below it."""
        found = next((each for each in self.tracked(place) if _is_below(fold(each), fold(relative))), None)
        return _said(relative, f"a folder that holds the protected {found}") if found else None

    def _spread(self, place: Place, relative: str, effect: Effect) -> str | None:
        """Why a folder's content may not be put at a path: what of it would lie where protected content belongs."""
        if not effect.source or not os.path.isdir(effect.source):
            return None
        for number, name in enumerate(_files(effect.source)):
            if number >= _MANY:
                break
            target = f"{relative}/{name}" if relative else name
            if what := self._what(place, target):
                return _said(target, what)
        return None

    def _outside(self, path: str, act: str) -> str | None:
        """Settings of agents and of git that lie in no repository, and git folders that lie elsewhere."""
        known = [f"{self._home}/{name}" for name in AT_HOME] if self._home else []
        for each in (*known, *_OF_THE_MACHINE):
            if path == each or path.startswith(each + "/") or (act == TAKE and each.startswith(path.rstrip("/") + "/")):
                if act == TAKE and not os.path.lexists(each):
                    continue
                return _said(path, "a settings file of an agent or of git")
        for place in self.places:
            git = place.git_dir
            if git and git != f"{place.top}/.git" and path.startswith(git + "/"):
                inner = path[len(git) + 1 :]
                return _git_reason(path, [".git", *fold(inner).split("/")], act)
        return None

    # ------------------------------------------------------------ paths that only the shell will know

    def _somewhere(self, path: str) -> str | None:
        """A path below an unknown folder: protected when its visible end is the end of something protected."""
        rest = path.replace(UNKNOWN, "", 1).replace(UNKNOWN, "x").strip("/")
        if not path[1:].startswith("/") or not rest or WILD & set(rest) or rest.endswith("__init__.py"):
            return None
        for place in self.places:
            if what := self._what(place, rest):
                return _said(f"…/{rest}", f"{what} if the unknown folder is the repository's")
            for fixed in self._fixed(place):
                parts = fold(fixed).split("/")
                ends = ("/".join(parts[at:]) for at in range(1, len(parts)))
                if any(_is_below(fold(rest), end) for end in ends):
                    return _said(f"…/{rest}", f"{fixed} if the unknown folder is the one above it")
        return None

    def _matched(self, effect: Effect, folder: str) -> str | None:
        """A pattern: the protected paths and the folders above them that it may stand for."""
        pattern = os.path.normpath(os.path.join(folder, effect.path.replace(UNKNOWN, STAR)))
        expression = _expression(pattern)
        for place in self.places:
            for name in _with_parents(self.tracked(place)):
                whole = f"{place.top}/{name}"
                if expression.fullmatch(whole) and (why := self._judge(whole, effect)):
                    return why
        # Without a match a shell takes the pattern for a name; what surely lies below a protected folder is denied too.
        sure = pattern[: min(pattern.index(mark) for mark in WILD if mark in pattern)].rpartition("/")[0]
        return self._judge(f"{sure}/x", Effect(WRITE, "")) if sure else None

    @cached_property
    def _present(self) -> dict[str, tuple[str, ...]]:
        return {place.top: tuple(sorted(self._list(place))) for place in self.places}

    def _list(self, place: Place) -> set[str]:
        found = {each for each in self._fixed(place) if os.path.lexists(f"{place.top}/{each}")}
        if place.git_dir:
            from linewitness.patch import glance

            found |= {name for name in glance.tracked(place.top) if self._what(place, name)}
        return found


def _forms(path: str, act: str) -> tuple[str, ...]:
    """A path as it is written, and as the system follows it; what is taken away is the link and not its target."""
    plain = os.path.normpath(path)
    # A link before ".." leads elsewhere than the text says, so the raw path is followed, not the plain one.
    folder, name = os.path.split(path.rstrip("/") or "/")
    if name in {"", ".", ".."}:
        return plain, os.path.realpath(path)
    beside = os.path.join(os.path.realpath(folder), name)
    return (plain, beside) if act == TAKE else (plain, beside, os.path.realpath(path))


def _git_reason(shown: str, parts: Sequence[str], act: str) -> str | None:
    if len(parts) == 1:
        return _said(shown, "git's own folder") if act in {TAKE, PLANT} else None
    if parts[-1].endswith(".lock") and act == TAKE:
        return None
    steers = parts[1] in _STEERS_GIT or parts[1] in _STEERS_GIT_TOO
    return _said(shown, "a part of git's own folder that steers git") if steers else None


def _said(path: str, what: str) -> str:
    return f"{path} is {what}"


def _no_dir(place: Place, relative: str) -> bool:
    return not os.path.isdir(f"{place.top}/{relative}")


def _is_below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder + "/")


def _files(source: str) -> Iterator[str]:
    for folder, _, names in os.walk(source):
        inner = os.path.relpath(folder, source)
        yield from (name if inner == "." else f"{inner}/{name}" for name in names)


def _with_parents(paths: Sequence[str]) -> Iterator[str]:
    seen = set()
    for path in paths:
        while path and path not in seen:
            seen.add(path)
            yield path
            path = path.rpartition("/")[0]  # noqa: PLW2901 - climbing


def _expression(pattern: str) -> re.Pattern[str]:
    """A shell's pattern as a regular expression. Two stars cross folders, as they do where bash's globstar is on."""
    text = re.escape(pattern).replace(f"{STAR}{STAR}", ".*").replace(STAR, "[^/]*").replace(ONE, "[^/]")
    # A set of characters may be negated or a range: any character stands for all of them.
    text = re.sub(f"{OPEN}[^{CLOSE}]*{CLOSE}", "[^/]", text).replace(OPEN, r"\[").replace(CLOSE, r"\]")
    return re.compile(text, re.IGNORECASE)
