"""Git-style globs over repository paths: the one place where a setting's pattern becomes a question about a path.

Patterns are those of gitignore(5), relative to the root: a pattern with a slash in it is anchored there, one without
matches at any depth, naming a folder names everything below it, ``!`` takes back what earlier patterns gave. Unlike
in an ignore file the *last* pattern that matches always decides, so that ``["tests/**", "!tests/generated/"]`` means
what it says. Comparison is on code points; bytes that are not UTF-8 arrive as surrogate escapes and are ordinary.
"""

from __future__ import annotations

import re
import unicodedata
import warnings
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from itertools import groupby
from typing import Final, Literal

from linewitness.errors import UsageError
from linewitness.patterns import late
from linewitness.values import NamedTuple

Test = Callable[[str], bool]
How = Literal["any", "starts", "below", "name", "under", "holds", "inside", "top"]

_SPECIAL = late(r"[*?\[\]\\]")
_META = "*?[]!\\/#"
# What HFS+ leaves out when it compares names (git's core.protectHFS has the same list).
_IGNORED = dict.fromkeys([0x00AD, *range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x2070), 0xFEFF])


class _Shape(NamedTuple):
    """A pattern without regular expressions: how a piece of text has to lie in the path between two slashes."""

    how: How
    text: str = ""


class _Rule(NamedTuple):
    takes: bool
    test: Test | _Shape


class Globs:
    """An ordered list of git-style patterns; compiled once, then asked many times.

    With ``folded`` both the patterns and the paths go through :func:`fold` first, so that names which some file
    system takes for the same are the same; negations stay exact, so that folding only ever takes more. Errors:
    :class:`UsageError` that names the first pattern which can match no path (empty, comment, ``..``, an open
    bracket, a range that runs backwards).
    """

    def __init__(self, patterns: Iterable[str], *, folded: bool = False) -> None:
        self.patterns = tuple(patterns)
        self.folded = folded
        rules = [_rule(pattern, folded) for pattern in self.patterns]
        groups = groupby(reversed(rules), lambda rule: rule.takes)
        self._rules: tuple[tuple[bool, Test], ...] = tuple(
            (takes, test) for takes, group in groups for test in _merged(rule.test for rule in group)
        )

    def match(self, path: str) -> bool:
        """Whether the last pattern that matches ``path`` takes it. Without any such pattern: no."""
        # No pattern may contain a newline, and regular expressions treat it apart: to them it becomes another control.
        exact = f"/{path}/".replace("\n", "\x01")
        text = f"/{fold(path)}/".replace("\n", "\x01") if self.folded else exact
        for takes, test in self._rules:
            if test(text if takes else exact):
                return takes
        return False

    def __repr__(self) -> str:
        return f"Globs({list(self.patterns)!r}{', folded=True' if self.folded else ''})"


def fold(path: str) -> str:
    """The form in which two names are equal when *any* common file system takes them for the same.

    NFKC and full case folding (Unicode Standard, section 3.13, "toNFKC_Casefold"), without the code points that HFS+
    ignores and without the dots and spaces that Windows drops from the end of a name.
    """
    if path.isascii():
        text = path.lower()
    else:
        text = unicodedata.normalize("NFKC", path).translate(_IGNORED).casefold()
        text = unicodedata.normalize("NFKC", text)
    if "./" in text or " /" in text or text.endswith((".", " ")):
        text = "/".join(name.rstrip(". ") or name for name in text.split("/"))
    return text


def fixed_part(pattern: str) -> str:
    """The leading names of an anchored pattern that hold no wildcard, joined; empty for patterns of any depth.

    ``tests/trusted/**`` gives ``tests/trusted``, ``docs/*.md`` gives ``docs``, ``/a/b`` gives ``a/b``, and
    ``conftest.py`` and ``docs/`` give the empty text. What the pattern matches is this path or lies below it.
    """
    text = pattern.removeprefix("!")
    plain: list[str] = []
    if "/" in text.rstrip("/"):
        for name in text.strip("/").split("/"):
            if _SPECIAL.search(name):
                break
            plain.append(name)
    return "/".join(plain)


# ---------------------------------------------------------------- one pattern


@lru_cache(maxsize=1024)
def _rule(pattern: str, folded: bool) -> _Rule:
    """The built-in patterns are a part of many lists: each is looked at once."""
    _refuse(pattern)
    if pattern.startswith("!"):
        return _Rule(False, _test(pattern[1:], pattern))
    return _Rule(True, _test(fold(pattern) if folded else pattern, pattern))


def _test(body: str, pattern: str) -> Test | _Shape:
    return _literal(body) or _regex(body, pattern)


def _refuse(pattern: str) -> None:
    text = pattern.removeprefix("!")
    names = text.strip("/").split("/")
    if not text.strip().strip("/"):
        _invalid(pattern, "it is empty")
    if pattern.startswith("#"):
        _invalid(pattern, "it reads as a comment; write \\# for a name that begins with #")
    if text != text.strip():
        _invalid(pattern, "it begins or ends with white space")
    if any(ord(char) < 0x20 or ord(char) == 0x7F for char in text):
        _invalid(pattern, "it contains a control character")
    if any(name in ("", ".", "..") for name in names):
        _invalid(pattern, "paths are relative to the root and have no empty, '.' or '..' parts")
    if "***" in text:
        _invalid(pattern, "more than two stars in a row mean nothing more than one")
    if not text.isascii() and any(
        meta in unicodedata.normalize("NFKC", char) for char in text if char > "\x7f" for meta in _META
    ):
        _invalid(pattern, "it contains a look-alike of a special character; write the ASCII one")


def _literal(body: str) -> _Shape | None:
    """The shape of a pattern as settings mostly have them, tested without importing anything."""
    if body in ("**", "*", "/**"):
        return _Shape("any")
    core = body.removesuffix("/**").removesuffix("/")
    below = core != body
    anchored = "/" in body.rstrip("/")
    if anchored and core.startswith("**/") and "/" not in core[3:]:
        anchored, core = False, core[3:]
    if core.startswith("/*") and not below and (end := core[2:]) and "/" not in end and not _SPECIAL.search(end):
        return _Shape("top", end)
    star = not anchored and core.startswith("*") and not core.startswith("**")
    core = core[1:] if star else core
    if not star and not below and (start := core.removesuffix("*")) != core:
        return _begins(start, anchored)
    if not core or _SPECIAL.search(core):
        return None
    core = core.strip("/")
    if star or anchored:
        kinds: tuple[How, How] = ("holds", "inside") if star else ("starts", "below")
        return _Shape(kinds[below], f"{core}/" if star else f"/{core}/")
    return _Shape("under" if below else "name", core)


def _begins(start: str, anchored: bool) -> _Shape | None:
    """``name*``: what follows runs up to the next slash, and below that there may be anything."""
    stem = start.strip("/")
    if not stem or start.endswith("/") or _SPECIAL.search(stem):
        return None
    return _Shape("starts" if anchored else "holds", f"/{stem}")


def _merged(tests: Iterable[Test | _Shape]) -> list[Test]:
    """Tests of which any may be true, with one for all shapes of a kind: every path is asked about dozens of them."""
    merged: list[Test] = []
    shapes: dict[str, list[str]] = {}
    for test in tests:
        if isinstance(test, _Shape):
            shapes.setdefault(test.how, []).append(test.text)
        else:
            merged.append(test)
    if "any" in shapes:
        return [_anything]
    return [_TESTS[how](tuple(texts)) for how, texts in shapes.items()] + merged


def _anything(_text: str) -> bool:
    return True


def _named(names: frozenset[str], end: int | None) -> Test:
    return lambda text: not names.isdisjoint(text.split("/")[:end])


# ``text`` is the path between two slashes. Below a folder is not the folder's own name: the closing slash of the text
# must not be the needle's.
_TESTS: Final[Mapping[str, Callable[[tuple[str, ...]], Test]]] = {
    "starts": lambda needles: lambda text: text.startswith(needles),
    "below": lambda needles: lambda text: text.startswith(needles, 0, len(text) - 1),
    "name": lambda names: _named(frozenset(names), None),
    "under": lambda names: _named(frozenset(names), -2),
    "holds": lambda needles: lambda text: any(needle in text for needle in needles),
    "inside": lambda needles: lambda text: any(text.find(needle, 0, len(text) - 1) >= 0 for needle in needles),
    "top": lambda ends: lambda text: text.partition("/")[2].partition("/")[0].endswith(ends),
}


def _regex(body: str, pattern: str) -> Test:
    from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

    try:
        source, _ = GitIgnoreSpecPattern.pattern_to_regex(body)
        with warnings.catch_warnings():
            # "Possible nested set" is how ``re`` says that a bracket means something else to git than to it.
            warnings.simplefilter("error", FutureWarning)
            compiled = re.compile(source or "")
    except (ValueError, re.error, FutureWarning) as problem:
        raise UsageError(f"the pattern {pattern!r} is not a git-style glob: {problem}") from None
    if not source:
        _invalid(pattern, "a bracket is open, or its range means nothing")
    return lambda text: compiled.search(text[1:-1]) is not None


def _invalid(pattern: str, why: str) -> None:
    raise UsageError(f"the pattern {pattern!r} can match nothing: {why}")
