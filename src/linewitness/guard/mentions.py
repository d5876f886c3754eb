"""Which paths a text names: the source of a one-liner, a patch, a command line that could not be read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from linewitness.globs import fold

_QUOTED: Final = re.compile(r"'([^'\n]{1,400})'|\"([^\"\n]{1,400})\"|`([^`\n]{1,400})`")
_BARE: Final = re.compile(r"[\w.~/@+-]{2,400}")
_CALM: Final = re.compile(r"[^0-9a-z]+")
_PATCH: Final = re.compile(
    r"^(?:\+\+\+|---|(?:rename|copy) (?:from|to)|Index:|\*\*\* (?:Add|Update|Delete) File:|\*\*\* Move to:) ?(.*)$",
    re.MULTILINE,
)
_GIT_LINE: Final = re.compile(r"^diff --(?:git|cc|combined) (.*)$", re.MULTILINE)
# Anything with which a program can change a file, or hide that it does. A text without any of these only reads.
_DOES: Final = re.compile(
    r"""write|unlink|remove|rename|replace|rmtree|rmdir|rm[_ -]|\brm\b|copy|copytree|move|mkdir|touch|truncate|chmod
    |chown|link|dump|save|put|store|append|create|delete|del\b|destroy|mode\s*=|open\s*\([^)]*,|fopen|sysopen|spawn
    |popen|system|subprocess|exec|eval|compile|getattr|__import__|import_module|importlib|base64|decode|fromhex|chr\(
    |shutil|sh\.|child_process|Deno\.|Bun\.|os\.open|fdopen|mmap|patch|edit|inplace|\$\^I|\[::-1\]
    |print\s*(?:\(\s*)?>|>>?\s*["'\w$/.]|\|\s*["']|tofile|to_\w+\(|\.tar|zip|-i\b|qx|`""",
    re.VERBOSE | re.IGNORECASE,
)
_SHORTEST: Final = 8


def paths(text: str) -> Iterator[str]:
    """Everything in a text that looks like the name of a file, each once."""
    seen = set()
    for match in _QUOTED.finditer(text):
        seen.add(next(group for group in match.groups() if group is not None))
    for word in _BARE.findall(text):
        seen.add(word.strip("."))
        seen.add(word)
    yield from sorted(each for each in seen if each.strip("./~"))


def is_spelt(text: str, place: str) -> bool:
    """Whether the letters of a place of several names stand in a text one after the other, whatever is between them.

    ``os.path.join("tests", "trusted")`` and ``"tests/" + "trusted"`` spell ``tests/trusted``.
    """
    letters = _CALM.sub("", fold(place))
    return "/" in place and len(letters) >= _SHORTEST and letters in _CALM.sub("", fold(text))


def may_write(text: str) -> bool:
    """Whether the source of a program has any means of changing files in it."""
    return _DOES.search(text) is not None


def in_patch(text: str, strip: int | None = None) -> tuple[str, ...]:
    """The paths that a patch names, in unified, git's or ``apply_patch`` form.

    ``strip`` is how many folders the program takes off each name; without it, git's own ``a/`` and ``b/`` are.
    """
    names = [line.partition("\t")[0] for line in _PATCH.findall(text)]
    for line in _GIT_LINE.findall(text):
        middle = line.find(" b/")
        names += (line[:middle], line[middle + 1 :]) if middle > 0 else line.split()
    plain = (_unquoted(name.strip()) for name in names)
    return tuple(
        dict.fromkeys(each for name in plain if name and name != "/dev/null" for each in _stripped(name, strip))
    )


def _stripped(name: str, strip: int | None) -> tuple[str, ...]:
    if strip is None:
        return (name, name[2:]) if name[:2] in {"a/", "b/", "i/", "w/", "c/", "o/"} else (name,)
    return ("/".join(name.split("/")[strip:]) or name,)


def _unquoted(name: str) -> str:
    if len(name) < 2 or not name.startswith('"') or not name.endswith('"'):
        return name
    raw = name[1:-1].encode("latin-1", "backslashreplace").decode("unicode_escape", "replace")
    return raw.encode("latin-1", "replace").decode("utf-8", "surrogateescape")
