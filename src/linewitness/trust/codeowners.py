"""CODEOWNERS: who answers for a path.

Rules: https://docs.github.com/en/repositories/managing-your-repositorys-settings-and-features/customizing-your-repository/about-code-owners
(the last pattern that matches decides; a pattern without owners takes them away; a line that is not valid is skipped;
``docs/*`` does not reach into folders). Section headings of GitLab are skipped.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from linewitness.errors import UsageError
from linewitness.globs import Globs
from linewitness.values import NamedTuple

# In the order in which a host looks; the first that exists counts.
PLACES: Final = (".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS", ".gitlab/CODEOWNERS")

_LIMIT: Final = 3 << 20
_WORD: Final = re.compile(r"(?:\\.|[^\s\\])+")
_OWNER: Final = re.compile(r"@[\w.-]+(?:/[\w.-]+)*|[^\s@]+@[^\s@]+", re.ASCII)


class _Rule(NamedTuple):
    globs: Globs
    shallow: bool
    owners: frozenset[str]

    def match(self, path: str) -> bool:
        if not self.globs.match(path):
            return False
        return not (self.shallow and self.globs.match(path.rpartition("/")[0]))


class CodeOwners:
    """The rules of one CODEOWNERS file. A file over 3 MiB has none, as on the host."""

    def __init__(self, data: bytes) -> None:
        text = data.decode("utf-8", "replace") if len(data) <= _LIMIT else ""
        rules = (_rule(line) for line in text.split("\n"))
        self._rules = tuple(rule for rule in rules if rule)[::-1]

    def owners(self, path: str) -> frozenset[str]:
        """The handles (``@name``, ``@org/team``) and addresses that own ``path``, in lower case; empty for nobody."""
        return next((rule.owners for rule in self._rules if rule.match(path)), frozenset())

    def is_owner(self, owner: str, path: str) -> bool:
        """Whether ``owner`` owns ``path``; the ``@`` before a handle may be left out. Hosts ignore case here."""
        name = owner.casefold()
        return not self.owners(path).isdisjoint({name, f"@{name}"})


def find(read: Callable[[str], bytes | None]) -> CodeOwners | None:
    """The owners that a tree declares. ``read`` gives the bytes of a regular file at a path, or ``None``."""
    data = next((data for place in PLACES if (data := read(place)) is not None), None)
    return None if data is None else CodeOwners(data)


def _rule(line: str) -> _Rule | None:
    words = _WORD.findall(line)
    if not words or words[0].startswith(("#", "[", "^[", "!")):
        return None
    pattern, *rest = words
    comment = next((n for n, word in enumerate(rest) if word.startswith("#")), len(rest))
    owners = rest[:comment]
    if not all(_OWNER.fullmatch(owner) for owner in owners):
        return None
    try:
        globs = Globs([pattern])
    except UsageError:
        return None
    return _Rule(globs, pattern.endswith("/*"), frozenset(owner.casefold() for owner in owners))
