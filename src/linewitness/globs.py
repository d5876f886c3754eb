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
from collections.abc import Callable, Iterable
from typing import NamedTuple

from linewitness.errors import UsageError

Test = Callable[[str], bool]

_SPECIAL = re.compile(r"[*?\[\]\\]")
_META = "*?[]!\\/#"
# What HFS+ leaves out when it compares names (git's core.protectHFS has the same list).
_IGNORED = dict.fromkeys([0x00AD, *range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x2070), 0xFEFF])


class _Rule(NamedTuple):
    takes: bool
    test: Test


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
        self._rules = tuple(reversed(rules))

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


def _rule(pattern: str, folded: bool) -> _Rule:
    _refuse(pattern)
    if pattern.startswith("!"):
        return _Rule(False, _test(pattern[1:], pattern))
    return _Rule(True, _test(fold(pattern) if folded else pattern, pattern))


def _test(body: str, pattern: str) -> Test:
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


def _literal(body: str) -> Test | None:
    """A test without regular expressions, and so without importing anything, for the shapes that settings mostly have.

    ``text`` is the path between two slashes: then a whole name, a folder and a suffix are all plain substrings.
    """
    if body in ("**", "*", "/**"):
        return _anything
    core = body.removesuffix("/**").removesuffix("/")
    below = core != body
    anchored = "/" in body.rstrip("/")
    if anchored and core.startswith("**/") and "/" not in core[3:]:
        anchored, core = False, core[3:]
    if core.startswith("/*") and not below and (end := core[2:]) and "/" not in end and not _SPECIAL.search(end):
        return lambda text: text.partition("/")[2].partition("/")[0].endswith(end)
    star = not anchored and core.startswith("*") and not core.startswith("**")
    core = core[1:] if star else core
    if not star and not below and (start := core.removesuffix("*")) != core:
        return _begins(start, anchored)
    if not core or _SPECIAL.search(core):
        return None
    needle = core.strip("/") + "/" if star else "/" + core.strip("/") + "/"
    if anchored:
        return _starts(needle, below)
    return _within(needle) if below else lambda text: needle in text


def _begins(start: str, anchored: bool) -> Test | None:
    """``name*``: what follows runs up to the next slash, and below that there may be anything."""
    stem = start.strip("/")
    if not stem or start.endswith("/") or _SPECIAL.search(stem):
        return None
    needle = f"/{stem}"
    return (lambda text: text.startswith(needle)) if anchored else (lambda text: needle in text)


def _anything(_text: str) -> bool:
    return True


def _starts(needle: str, below: bool) -> Test:
    least = len(needle) + below
    return lambda text: len(text) >= least and text.startswith(needle)


def _within(needle: str) -> Test:
    # Below the folder, not the folder's name itself: the closing slash of the text must not be the needle's.
    return lambda text: text.find(needle, 0, len(text) - 1) >= 0


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
