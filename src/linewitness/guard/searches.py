"""Programs that print names, for whoever reads these: ``find``, ``grep -l``, ``ls``, ``echo``."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Final

from linewitness.guard.fence import TAKE, UNKNOWN, WRITE
from linewitness.guard.options import split
from linewitness.guard.shell import NOTHING, Call, Given
from linewitness.guard.words import literal
from linewitness.values import NamedTuple

_MOST: Final = 400
_PATTERNS: Final = frozenset({"-name", "-iname", "-path", "-ipath", "-wholename", "-iwholename"})
_RUN: Final = frozenset({"-exec", "-execdir", "-ok", "-okdir"})
_TO_FILES: Final = frozenset({"-fprint", "-fprint0", "-fls", "-fprintf"})


# ---------------------------------------------------------------- find


class _Test(NamedTuple):
    kind: str
    pattern: str
    negated: bool

    def holds(self, printed: str) -> bool:
        text = printed if "path" in self.kind or "wholename" in self.kind else os.path.basename(printed.rstrip("/"))
        pattern = literal(self.pattern)
        if self.kind.startswith("-i"):
            text, pattern = text.lower(), pattern.lower()
        return fnmatchcase(text, pattern) is not self.negated


def find(call: Call) -> Given:
    """Judge ``-delete`` and ``-exec`` for the protected files that the tests let through; print their names."""
    words = list(call.words)
    starts = []
    while words and (not words[0].startswith(("-", "(", "!")) or words[0] in {"-H", "-L", "-P"}):
        starts.append(words.pop(0))
    starts = [each for each in starts if not each.startswith("-")] or ["."]
    names = _let_through(call, starts, words)
    for at, word in enumerate(words):
        if word == "-delete":
            for name in names:
                call.shell.do(TAKE, name)
        elif word in _RUN:
            _execute(call, words[at + 1 :], names)
        elif word in _TO_FILES and at + 1 < len(words):
            call.shell.do(WRITE, words[at + 1])
    return Given(None, tuple(names))


def _let_through(call: Call, starts: Sequence[str], words: Sequence[str]) -> list[str]:
    tests = [
        _Test(word, words[at + 1], at > 0 and words[at - 1] in {"!", "-not"})
        for at, word in enumerate(words[:-1])
        if word in _PATTERNS
    ]
    never = [test for test in tests if test.negated]
    always = [test for test in tests if not test.negated]
    enough = any if "-o" in words or "-or" in words else all
    kind = words[words.index("-type") + 1] if "-type" in words[:-1] else ""
    found = []
    for whole, printed in _candidates(call, starts):
        fits = all(test.holds(printed) for test in never)
        fits = fits and (not always or enough(test.holds(printed) for test in always))
        if fits and _is_kind(whole, kind) and ("-empty" not in words or _is_empty(whole)):
            found.append(printed)
    return found[:_MOST]


def _candidates(call: Call, starts: Sequence[str]) -> list[tuple[str, str]]:
    """Protected files below the starting points and the folders above them, as they are and as find prints them."""
    found: dict[tuple[str, str], None] = {}
    for start in starts:
        for folder in () if UNKNOWN in start else call.shell.folders:
            top = os.path.realpath(os.path.join(folder, start))
            for each in call.shell.fence.below(start, folder):
                path = each
                while path == top or path.startswith(top.rstrip("/") + "/"):
                    printed = os.path.normpath(os.path.join(start, os.path.relpath(path, top)))
                    dotted = f"./{printed}" if start.startswith(".") and not printed.startswith(".") else printed
                    found[path, dotted] = None
                    if path == top:
                        break
                    path = os.path.dirname(path)
    # A starting point that leads to everything is not what a test by name means.
    return [pair for pair in found if pair[1] not in {".", ".."}]


def _is_kind(whole: str, kind: str) -> bool:
    if kind == "f":
        return os.path.isfile(whole)
    return os.path.isdir(whole) if kind == "d" else True


def _is_empty(whole: str) -> bool:
    try:
        return not os.listdir(whole) if os.path.isdir(whole) else os.path.getsize(whole) == 0
    except OSError:
        return True


def _execute(call: Call, words: Sequence[str], names: Sequence[str]) -> None:
    end = next((at for at, word in enumerate(words) if word in {";", "+"}), len(words))
    command = list(words[:end])
    if not command:
        return
    for name in (*names, UNKNOWN):
        call.shell.program([word.replace("{}", name) for word in command])


# ---------------------------------------------------------------- lists of names


def listing(call: Call) -> Given:
    """``grep -l``, ``rg --files``, ``ls``, ``fd``: the protected names that they may print."""
    if call.name == "ls":
        return _ls(call)
    parsed = split(
        call.words, ("-e", "-f", "-g", "-A", "-B", "-C", "-m", "-t", "-T", "--glob", "--include", "--exclude-dir")
    )
    lists = call.name in {"fd", "fdfind"} or parsed.has(
        "-l", "-L", "--files", "--files-with-matches", "--files-without-match"
    )
    operands = parsed.operands if parsed.has("-e", "-f", "--files") else parsed.operands[1:]
    if not lists:
        return NOTHING
    left_out = [
        value.lstrip("!").strip("/*") for value in parsed.values("-g", "--glob", "--exclude-dir", "-E") if value
    ]
    only = [literal(value) for value in parsed.values("--include")] + [
        literal(value) for value in parsed.values("-g", "--glob") if not value.startswith("!")
    ]
    left_out = [value for value in left_out if value and not any(value in each for each in only)]
    names = [name for name in below(call, operands or (".",)) if not set(left_out) & set(name.split("/"))]
    return Given(
        None, tuple(name for name in names if not only or any(fnmatchcase(os.path.basename(name), o) for o in only))
    )


def below(call: Call, operands: Sequence[str]) -> list[str]:
    """The protected paths at or below some operands, absolute."""
    found: list[str] = []
    for operand in operands:
        for folder in () if UNKNOWN in operand else call.shell.folders:
            found += call.shell.fence.below(operand, folder)
    return found[:_MOST]


def _ls(call: Call) -> Given:
    names: list[str] = []
    for operand in split(call.words, ("-I", "-w", "-T")).operands or (".",):
        for folder in call.shell.folders:
            whole = os.path.join(folder, operand)
            if os.path.isdir(whole) and not any(word.startswith("-") and "d" in word for word in call.words):
                names += sorted(os.listdir(whole))[:_MOST]
            else:
                names.append(operand)
    return Given("\n".join(names), tuple(names))


# ---------------------------------------------------------------- plain printers


def _echo(call: Call) -> Given:
    words = [
        literal(word) if UNKNOWN not in word else word for word in call.words if word not in {"-n", "-e", "-E", "-ne"}
    ]
    text = " ".join(words)
    if any(word in {"-e", "-ne", "-en"} for word in call.words):
        text = text.replace("\\n", "\n").replace("\\t", "\t")
    return Given(text + "\n", tuple(text.split()))


def _printf(call: Call) -> Given:
    words = [word for word in call.words if word != "--"]
    if not words:
        return NOTHING
    form = literal(words[0]).replace("\\n", "\n").replace("\\0", "\n").replace("\\t", "\t")
    pieces, rest = form.split("%s"), list(words[1:])
    text = form if len(pieces) == 1 else ""
    while len(pieces) > 1:
        for piece in pieces[:-1]:
            text += piece + (rest.pop(0) if rest else "")
        text += pieces[-1]
        if not rest:
            break
    return Given(text, tuple(text.split()))


def _cat(call: Call) -> Given:
    operands = [word for word in call.words if word == "-" or not word.startswith("-")]
    if not operands or operands == ["-"]:
        return call.given
    texts = [call.shell.content(operand) for operand in operands]
    known = [text for text in texts if text is not None]
    text = "".join(known) if len(known) == len(texts) else None
    return Given(text, tuple(text.split()) if text is not None else None)


def _same(call: Call) -> Given:
    return call.given


def _where(call: Call) -> Given:
    return Given(None, call.shell.folders)


def _temporary(call: Call) -> Given:
    folder = call.shell.environ.get("TMPDIR", "/tmp")  # noqa: S108 - what mktemp itself falls back to
    return Given(None, (f"{folder}/{UNKNOWN}",))


def _named(change: Callable[[str], str]) -> Callable[[Call], Given]:
    def named(call: Call) -> Given:
        return Given(None, tuple(change(word) for word in call.words if not word.startswith("-")))

    return named


def _real(call: Call) -> Given:
    operands = [word for word in call.words if not word.startswith("-") and UNKNOWN not in word]
    return Given(None, tuple(os.path.realpath(os.path.join(f, word)) for word in operands for f in call.shell.folders))


def _base64(call: Call) -> Given:
    import base64
    import binascii

    if call.given.text is None or not any(word in {"-d", "-D", "--decode", "-di"} for word in call.words):
        return NOTHING
    try:
        text = base64.b64decode(call.given.text.encode(), validate=False).decode()
    except (binascii.Error, UnicodeDecodeError):
        return NOTHING
    return Given(text, tuple(text.split()))


PRINTERS: Final[Mapping[str, Callable[[Call], Given]]] = {
    "echo": _echo,
    "printf": _printf,
    "cat": _cat,
    "pwd": _where,
    "mktemp": _temporary,
    "dirname": _named(os.path.dirname),
    "basename": _named(os.path.basename),
    "realpath": _real,
    "readlink": _real,
    "base64": _base64,
    **dict.fromkeys(
        ("head", "tail", "tac", "shuf", "tr", "cut", "column", "nl", "less", "more", "pv", "xxd", "rev"), _same
    ),
}
