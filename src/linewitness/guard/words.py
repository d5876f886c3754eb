"""What a word of a shell may become: every value that can be seen, with marks where only the shell will know."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from linewitness.guard.fence import CLOSE, MARKS, ONE, OPEN, STAR, UNKNOWN
from linewitness.guard.lexer import UnclearError, Word

_BRACE, _COMMA, _END = "\ue005", "\ue006", "\ue007"
_PRIVATE: Final = MARKS | {_BRACE, _COMMA, _END}
_SPECIAL: Final = {"*": STAR, "?": ONE, "[": OPEN, "]": CLOSE, "{": _BRACE, ",": _COMMA, "}": _END}
_PLAIN: Final = {mark: char for char, mark in _SPECIAL.items()}
_MOST: Final = 256
_OPERATORS: Final = (":-", ":=", ":+", ":?", "-", "=", "+", "?")

Values = Mapping[str, Sequence[str]]
Run = Callable[[str], Sequence[str]]


def expand(word: Word, values: Values, environ: Mapping[str, str], run: Run) -> list[str]:
    """The fields that a word may become. ``run`` tells what a command substitution may print.

    Errors: :class:`UnclearError` for more values than anybody means.
    """
    found = [""]
    for number, part in enumerate(word):
        if _PRIVATE & set(part.text):
            raise UnclearError
        if part.kind == "text":
            texts: Sequence[str] = [part.text if part.quoted else _marked(part.text, environ, first=number == 0)]
        elif part.kind == "command":
            texts = _fields(run(part.text), quoted=part.quoted)
        else:
            texts = _fields(variable(part.text, values, environ), quoted=part.quoted)
        found = [before + after for before in found for after in texts or [""]]
        if len(found) > _MOST:
            raise UnclearError
    return [plain for each in found for plain in _braces(each)]


def literal(text: str) -> str:
    """A marked word as its author wrote it."""
    return "".join(_PLAIN.get(char, "$…" if char == UNKNOWN else char) for char in text)


def variable(expression: str, values: Values, environ: Mapping[str, str]) -> Sequence[str]:
    """The values that ``${expression}`` may have."""
    name = expression.removeprefix("!")
    stem = ""
    while name[len(stem) :] and (stem + name[len(stem)]).isidentifier():
        stem += name[len(stem)]
    rest = name[len(stem) :].removeprefix("[@]").removeprefix("[*]")
    known = _known(stem, values, environ) if stem and not expression.startswith(("!", "#")) else None
    if not rest:
        return known if known is not None else [UNKNOWN]
    operator = next((each for each in _OPERATORS if rest.startswith(each)), None)
    if operator is None:
        return [UNKNOWN] if known is None else _trimmed(known, rest)
    other = rest[len(operator) :].strip("'\"")
    if "$" in other or "`" in other:
        other = UNKNOWN
    if operator.endswith("+"):
        return [other, ""]
    return [*(known or [UNKNOWN]), other] if known is None or "" in known else known


def _known(name: str, values: Values, environ: Mapping[str, str]) -> Sequence[str] | None:
    if name in values:
        return values[name]
    return [environ[name]] if name in environ and not _PRIVATE & set(environ[name]) else None


def _trimmed(known: Sequence[str], rest: str) -> Sequence[str]:
    """``${name%suffix}`` and ``${name#prefix}`` for plain text; anything else leaves the value open."""
    for operator, cut in (
        ("%%", str.removesuffix),
        ("%", str.removesuffix),
        ("##", str.removeprefix),
        ("#", str.removeprefix),
    ):
        if rest.startswith(operator):
            text = rest[len(operator) :]
            plain = text and not any(char in "*?[$\\'\"`" for char in text)
            return [cut(value, text) for value in known] if plain else [UNKNOWN]
    return [UNKNOWN]


def _fields(texts: Sequence[str], *, quoted: bool) -> list[str]:
    if quoted:
        return list(texts)
    split = [field for text in texts for field in text.split()]
    return ["".join(_SPECIAL[char] if char in "*?[]" else char for char in field) for field in split]


def _marked(text: str, environ: Mapping[str, str], *, first: bool) -> str:
    if first and (text == "~" or text.startswith("~/")):
        text = environ.get("HOME", UNKNOWN) + text[1:]
    return "".join(_SPECIAL.get(char, char) for char in text)


def _braces(text: str) -> Iterator[str]:
    """The texts that ``a{b,c}d`` stands for. Braces without a comma stay what they are."""
    end = text.find(_END)
    start = text.rfind(_BRACE, 0, end) if end >= 0 else -1
    if start < 0:
        yield text.replace(_BRACE, "{").replace(_COMMA, ",").replace(_END, "}")
        return
    inner = text[start + 1 : end].split(_COMMA)
    if len(inner) == 1:
        inner = [f"{{{inner[0]}}}"] if ".." not in inner[0] else [UNKNOWN]
    for each in inner:
        yield from _braces(text[:start] + each + text[end + 1 :])
