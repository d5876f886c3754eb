"""What a command line is about to do to files, as far as it can be seen without running it.

Each effect is judged at the moment it is seen, and the first that may not happen ends the reading. What a program does
on its own account (a build, a script in a file, an obfuscated one-liner) cannot be seen here.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Final

from linewitness.guard import mentions
from linewitness.guard.agents import DeniedError
from linewitness.guard.fence import PLANT, TAKE, UNKNOWN, WRITE, Effect, Fence
from linewitness.guard.lexer import Command, Pipeline, Redirect, UnclearError, Word, parse
from linewitness.guard.words import expand, literal
from linewitness.values import NamedTuple

_WRITING: Final = frozenset({">", ">>", ">|", "&>", "&>>", "<>", ">&"})
_DEEPEST: Final = 12
_LARGEST_TEXT: Final = 1 << 20


class Given(NamedTuple):
    """What a program reads from its standard input: the text, and the names in it; ``None`` where it cannot be seen."""

    text: str | None = None
    names: tuple[str, ...] | None = None


NOTHING: Final = Given()


class Call(NamedTuple):
    """A program that is about to be started. ``words`` are its arguments, without its name."""

    name: str
    words: tuple[str, ...]
    given: Given
    shell: Shell


class Shell:
    """The state of a shell while its text is read. ``folders`` are those in which it may be."""

    def __init__(self, fence: Fence, environ: Mapping[str, str], folder: str, depth: int = 0) -> None:
        self.fence = fence
        self.environ = environ
        self.folders: tuple[str, ...] = (folder,)
        self.values: dict[str, Sequence[str]] = {"PWD": (folder,)}
        self.stack: list[tuple[str, ...]] = []
        self.depth = depth

    # ------------------------------------------------------------ effects

    def do(self, act: str, path: str, source: str = "") -> None:
        """Judge one effect. Errors: :class:`DeniedError`."""
        if not path or path == UNKNOWN:
            return
        for folder in self.folders:
            whole = os.path.join(folder, source) if source and UNKNOWN not in source else ""
            if why := self.fence.reason(Effect(act, path, whole), folder):
                raise DeniedError(why)

    def names(self, text: str) -> str | None:
        """Why a text touches something protected, when it names any such path, or a folder above one; else ``None``."""
        for name in mentions.paths(text):
            for folder in self.folders:
                act = TAKE if self._is_folder(name, folder) else WRITE
                if why := self.fence.reason(Effect(act, name), folder):
                    return why
        places = (place for each in self.fence.places for rules in each.rules for place in rules.places())
        found = next((place for place in places if mentions.is_spelt(text, place)), None)
        return f"it spells the protected {found}" if found else None

    @staticmethod
    def _is_folder(name: str, folder: str) -> bool:
        return os.path.normpath(name) not in {".", "..", "/"} and os.path.isdir(os.path.join(folder, name))

    def source_code(self, text: str, language: str) -> None:
        """Judge the source of a program that stands in the command line. Errors: :class:`DeniedError`."""
        if mentions.may_write(text) and (why := self.names(text)):
            raise DeniedError(f"a {language} text can change files, and {why}")

    def patch(self, text: str, strip: int | None = None, below: str = "") -> None:
        """Judge the files that a patch names. Errors: :class:`DeniedError`."""
        for name in mentions.in_patch(text, strip):
            self.do(WRITE, os.path.join(below, name))

    # ------------------------------------------------------------ running

    def script(self, text: str) -> None:
        """Judge a whole script. What cannot be read is denied when it names anything protected.

        Errors: :class:`DeniedError`.
        """
        if self.depth > _DEEPEST:
            raise DeniedError("the command line is nested more deeply than can be followed")
        if len(text) > _LARGEST_TEXT:
            raise DeniedError("the command line is longer than 1 MiB")
        try:
            pipelines = parse(text, self.depth)
        except UnclearError:
            self._unclear(text)
            return
        self.depth += 1
        for pipeline in pipelines:
            self._guarded(pipeline, text)
        self.depth -= 1

    def _guarded(self, pipeline: Pipeline, text: str) -> None:
        try:
            self.pipeline(pipeline)
        except UnclearError:
            self._unclear(text)

    def _unclear(self, text: str) -> None:
        if why := self.names(text):
            raise DeniedError(f"the command line cannot be read, and {why}")

    def copy(self) -> Shell:
        """A shell of its own, as parentheses start one."""
        other = Shell(self.fence, self.environ, self.folders[0], self.depth + 1)
        other.folders, other.values, other.stack = self.folders, dict(self.values), list(self.stack)
        return other

    def pipeline(self, pipeline: Pipeline) -> None:
        """Judge commands of which each reads what the one before it writes."""
        given = NOTHING
        for command in pipeline:
            given = self._command(command, given)

    def _command(self, command: Command, given: Given) -> Given:
        for name, word in command.assigned:
            self.values[name] = self.expand(word)
        for redirect in command.redirects:
            given = self._redirect(redirect, given)
        if command.inner is not None:
            inner = self.copy()
            for pipeline in command.inner:
                inner.pipeline(pipeline)
        words = [field for word in command.words for field in self.expand(word)]
        return self.program(words, given) if words else given

    def _redirect(self, redirect: Redirect, given: Given) -> Given:
        if redirect.body is not None:
            text = "".join(map(literal, self.expand(redirect.body)[:1]))
            return Given(text, tuple(text.split()))
        for target in self.expand(redirect.target):
            if redirect.operator in _WRITING:
                if not (redirect.operator == ">&" and (target.isdigit() or target == "-")):
                    self.do(WRITE, target)
            elif redirect.operator == "<":
                content = self.content(target)
                given = Given(content, tuple(content.split()) if content is not None else None)
        return given

    def program(self, words: Sequence[str], given: Given = NOTHING) -> Given:
        """Judge the start of a program, and tell what it may print. ``words`` begin with its name."""
        from linewitness.guard.programs import judge

        name = os.path.basename(literal(words[0]))
        if self.depth > _DEEPEST:
            raise DeniedError("the command line is nested more deeply than can be followed")
        return judge(Call(name, tuple(words[1:]), given, self))

    # ------------------------------------------------------------ words and files

    def expand(self, word: Word) -> list[str]:
        """The fields that a word may become. Errors: :class:`UnclearError`."""
        return expand(word, self.values, self.environ, self.printed)

    def printed(self, text: str) -> Sequence[str]:
        """What a command substitution may print, with its effects judged."""
        inner = self.copy()
        if inner.depth > _DEEPEST:
            raise DeniedError("the command line is nested more deeply than can be followed")
        given = NOTHING
        for pipeline in parse(text, inner.depth):
            given = NOTHING
            for command in pipeline:
                given = inner._command(command, given)  # noqa: SLF001 - another shell of this class
        if given.text is not None:
            return [given.text.strip()]
        return given.names if given.names is not None else [UNKNOWN]

    def content(self, path: str) -> str | None:
        """The text of a small file, or ``None``."""
        if any(mark in path for mark in (UNKNOWN,)):
            return None
        for folder in self.folders:
            whole = os.path.join(folder, path)
            try:
                if os.path.isfile(whole) and os.path.getsize(whole) <= _LARGEST_TEXT:
                    with open(whole, encoding="utf-8", errors="surrogateescape") as stream:
                        return stream.read()
            except OSError:
                return None
        return None

    def enter(self, target: str) -> None:
        """Go to another folder. Where it cannot be seen which one, or whether that works, several are kept in mind."""
        if UNKNOWN in target:
            tops = tuple(place.top for place in self.fence.places)
            self.folders = tuple(dict.fromkeys((*self.folders, *tops)))
            return
        moved = tuple(os.path.normpath(os.path.join(folder, target)) for folder in self.folders)
        there = tuple(folder for folder in moved if os.path.isdir(folder))
        self.folders = there or tuple(dict.fromkeys((*moved, *self.folders)))
        self.values["PWD"] = self.folders[:1]

    def put(self, source: str, target: str, *, link: bool = False) -> None:
        """Judge a copy, a move or a link of ``source`` to ``target``, which may be the folder to put it into."""
        name = os.path.basename(source.rstrip("/"))
        inside = os.path.join(target, name)
        is_folder = any(os.path.isdir(os.path.join(folder, target)) for folder in self.folders)
        new = not any(os.path.lexists(os.path.join(folder, target)) for folder in self.folders)
        if name and (is_folder or new or target.endswith("/")):
            self.do(PLANT, inside, "" if link else source)
        if not is_folder:
            self.do(PLANT, target, "" if link else source)
