"""Which changed files that owe nothing were executed as code during the trusted run.

Runs in the *tested* interpreter (3.9 and later, standard library only), where :mod:`reads` listens. The interpreter
tells of every text that it compiles and of every code object that is run or made into a function, but not which came
of which. So three things have to come together: somebody opened the file, code under test had a piece of its text
compiled, and code was started all of whose names are in that text. A formatter compiles what nobody starts, and what
``dataclasses`` starts is no text of a file.
"""

from __future__ import annotations

import keyword
import os
import re
import sys
from collections.abc import Iterator
from types import CodeType
from typing import Any

from .codekey import walk

EVENTS = frozenset({
    "compile", "exec", "function.__new__", "object.__setattr__", "marshal.loads", "pickle.find_class",
})  # fmt: skip
IMPORT_SYSTEM = "<frozen importlib"
_LEAST = 8  # characters, white space left out, that a piece has to share with the file
_LEAST_WHOLE = 3  # when the piece is a whole line, or a whole string
_LARGEST = 1 << 20
_NAME = re.compile(r"[^\W\d]\w*")
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"|\'((?:[^\'\\]|\\.)*)\'|`([^`]*)`')
_CODE_LIKE = re.compile(r"[(=.+*/%<>\[:-]|\b(?:and|or|not|in|is|if|return|pass|raise)\b")
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r"}
_PICKLED = re.compile(rb"\x80[\x02-\x05]|[(\]}]*c[\w.]+\n[\w.]+\n")


class _Text:
    """One changed file, as it was before anything of the project ran. ``numbers`` are its changed lines, from 1."""

    def __init__(self, path: str, raw: bytes, numbers: list[int]) -> None:
        self.path, self.raw = path, raw
        self._spans: list[tuple[int, int]] = []
        pieces: set[str] = set()
        changed = frozenset(numbers)
        parts: list[str] = []
        at = 0
        for number, line in enumerate(raw.decode("utf-8", "replace").splitlines(), 1):
            text = _squeeze(line)
            if number in changed and text:
                self._spans.append((at, at + len(text)))
                pieces.update(_pieces(line))
            parts.append(text)
            at += len(text)
        self.squeezed = "".join(parts)
        self._pieces = sorted(((_squeeze(each), each) for each in pieces), key=lambda pair: len(pair[0]))

    def gave(self, source: str) -> tuple[bool, frozenset[str]]:
        """Whether ``source`` is made of the file's changed lines, and the names of the piece that it has in it."""
        text = _squeeze(source)
        nothing: frozenset[str] = frozenset()
        if len(text) >= _LEAST and self._touches(text):
            return True, nothing
        for piece, written in self._pieces:
            if piece == text or (len(text) >= _LEAST and text in piece):
                return True, nothing
            if _LEAST <= len(piece) <= len(text) and piece in text:
                names = _names_of_text(written)
                if names:
                    return True, names
        return False, nothing

    def _touches(self, text: str) -> bool:
        at = self.squeezed.find(text)
        while at >= 0:
            if any(start < at + len(text) and at < end for start, end in self._spans):
                return True
            at = self.squeezed.find(text, at + 1)
        return False

    def holds(self, data: bytes) -> bool:
        """Whether marshalled ``data`` lies in the file."""
        return len(data) >= _LEAST and data in self.raw

    def is_pickle_of(self, module: str, name: str) -> bool:
        """Whether the file is a pickle in which this name is looked up."""
        return bool(_PICKLED.match(self.raw)) and all(each.encode() in self.raw for each in (module, name))


class Executions:
    """What is known of each changed file, and ``found``: the paths of those that were executed."""

    def __init__(self, config: dict[str, Any]) -> None:
        self.found: set[str] = set()
        self._texts = {text.path: text for text in _read(config["export"], config["loose"])}
        self._opened: list[_Text] = []
        self._waiting: dict[tuple[str, str, str], frozenset[str]] = {}
        self._modules: dict[str, str] = {}
        self._inside = config["export"] + os.sep

    def is_about(self, path: str) -> bool:
        """Whether a path is one of the changed files."""
        return path in self._texts

    def opened(self, path: str) -> None:
        """Somebody other than a check opened it: what is in it may be executed from now on."""
        text = self._texts[path]
        if text not in self._opened:
            self._opened.append(text)

    def hear(self, event: str, arguments: tuple[Any, ...], frame: Any, reader: Any) -> None:
        """One audited event of :data:`EVENTS`; ``reader`` tells of a frame whether a check or the product acts."""
        if not self._opened:
            return
        if event == "compile":
            source, name = arguments
            if isinstance(source, (bytes, str)) and reader(frame) == "product":
                self._compiled(source, name, frame)
        elif event == "marshal.loads":
            data = bytes(arguments[0])
            self.found.update(text.path for text in self._opened if text.holds(data))
        elif event == "pickle.find_class":
            if reader(frame) == "product":
                self.found.update(text.path for text in self._opened if text.is_pickle_of(*arguments))
        elif self._waiting and (event != "object.__setattr__" or arguments[1] == "__code__"):
            code = arguments[-1 if event == "object.__setattr__" else 0]
            if isinstance(code, CodeType):
                self._started(code, is_import=frame.f_code.co_filename.startswith(IMPORT_SYSTEM))

    def _compiled(self, source: Any, name: Any, frame: Any) -> None:
        text = source.decode("utf-8", "replace") if isinstance(source, bytes) else source
        for each in self._opened:
            key = (each.path, text, str(name))
            if each.path in self.found or key in self._waiting:
                continue
            is_of_it, names = each.gave(text)
            if is_of_it and not _is_constant(text, frame) and not self._is_in_a_module(text):
                self._waiting[key] = names

    def _is_in_a_module(self, source: str) -> bool:
        """Whether the text stands in a module of the project, as an annotation does: there its line owes."""
        text = _squeeze(source)
        for module in list(sys.modules.values()):
            place = getattr(module, "__file__", None)
            if isinstance(place, str) and place.startswith(self._inside) and place not in self._modules:
                self._modules[place] = _code_of(place)
        return any(text in code for code in self._modules.values())

    def _started(self, code: CodeType, *, is_import: bool) -> None:
        names = _names_of_code(code)
        for (path, source, name), wanted in self._waiting.items():
            is_same = code.co_filename == name
            if (is_import and not is_same) or not (is_same or names):
                continue
            if all(_is_written(each, source) for each in names) and len(wanted & names) * 3 >= len(wanted) * 2:
                self.found.add(path)
        if self.found:
            self._waiting = {key: names for key, names in self._waiting.items() if key[0] not in self.found}


def _code_of(place: str) -> str:
    """The text of a module of Python, without comments."""
    try:
        if not place.endswith(".py") or os.path.getsize(place) > _LARGEST:
            return ""
        with open(place, encoding="utf-8", errors="replace") as stream:
            return _squeeze("\n".join(line.partition("#")[0] for line in stream))
    except OSError:
        return ""


OWN_READING = _code_of.__code__
"""What opens files for this module, while the product waits."""


def _read(export: str, loose: dict[str, list[int]]) -> Iterator[_Text]:
    for path, numbers in loose.items():
        place = os.path.join(export, path)
        try:
            if os.path.getsize(place) <= _LARGEST:
                with open(place, "rb") as stream:
                    yield _Text(path, stream.read(), numbers)
        except OSError:
            continue  # a link to nowhere: nobody can execute it


def _is_constant(source: str, frame: Any) -> bool:
    """Whether the text stands in code that runs: it came from there, whatever the file says besides."""
    text = _squeeze(source)
    while frame is not None:
        if any(isinstance(each, str) and _squeeze(each) == text for each in frame.f_code.co_consts):
            return True
        frame = frame.f_back
    return False


def _squeeze(text: str) -> str:
    return "".join(text.split())


def _pieces(line: str) -> Iterator[str]:
    """What a program may take out of a line to execute it: the line, its strings, what stands between marks."""
    found = [line]
    found += [_unescaped("".join(each)) for each in _QUOTED.findall(line)]
    for mark in (":", "=", "|", "\t", ";"):
        found += [line.partition(mark)[2], *line.split(mark)]
    for piece in found:
        text = piece.strip(" \t\r\n,>#*-|")
        if len(text) >= _LEAST_WHOLE and _CODE_LIKE.search(text) and _NAME.search(text):
            yield text


def _unescaped(text: str) -> str:
    return _ESCAPE.sub(lambda m: chr(int(m[1], 16)) if m[1] else _ESCAPED.get(m[2], m[2]), text)


def _names_of_text(text: str) -> frozenset[str]:
    bare = _QUOTED.sub(" ", text).partition("#")[0]
    return frozenset(name for name in _NAME.findall(bare) if not keyword.iskeyword(name))


def _names_of_code(top: CodeType) -> frozenset[str]:
    """The names that code uses, less what the compiler adds."""
    names: set[str] = set()
    for code in walk(top):
        names.update(code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
        names.update(name for each in code.co_consts if isinstance(each, tuple) for name in each if _is_name(name))
        if code is not top:
            names.add(code.co_name)
    return frozenset(name for name in names if not name.startswith(("__", ".", "<")))


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and value.isidentifier()


def _is_written(name: str, source: str) -> bool:
    # names that a class keeps for itself have the class's name in front
    return name in source or ("__" in name and name[name.index("__") :] in source)
