"""``MANIFEST.sha256``: the lines of ``sha256sum``, read strictly and written so that ``sha256sum -c`` accepts them.

The format is the one that the GNU coreutils manual describes under "cksum output modes": a digest, a space, a space or
an asterisk, a name; a backslash before the digest when the name has escapes. What one line may say is decided by
:mod:`linewitness.relations.sums`, which the tested interpreter shares.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Final

from linewitness.model import Finding, Severity
from linewitness.relations.sums import MANIFEST, read_line
from linewitness.values import NamedTuple

__all__ = ["MANIFEST", "Entry", "Manifest", "parse", "render"]

_ESCAPED: Final = {"\\": "\\\\", "\n": "\\n", "\r": "\\r"}


class Entry(NamedTuple):
    """One listed file: its name relative to the manifest's folder, the digest in lower case, the line that lists it.

    ``digest`` is empty when the line names the file but holds no SHA-256; a finding says so.
    """

    name: str
    digest: str
    line: int


class Manifest(NamedTuple):
    """The entries of a manifest in file order, every name once, its comment lines, and what is wrong with it."""

    entries: tuple[Entry, ...]
    comments: tuple[bytes, ...]
    findings: tuple[Finding, ...]


def parse(data: bytes, path: str) -> Manifest:
    """Read the manifest at ``path``. Whatever is not an entry, a comment or blank becomes an ``LW401`` with its line.

    A carriage return before the line feed is tolerated, as ``sha256sum`` does: checkouts on Windows add it.
    """
    entries: dict[str, Entry] = {}
    comments: list[bytes] = []
    findings: list[Finding] = []
    for number, raw in enumerate(data.split(b"\n"), 1):
        line = raw.removesuffix(b"\r")
        if line.startswith(b"#"):
            comments.append(line)
        elif line:
            name, digest, trouble = read_line(line)
            if name in entries:
                trouble = trouble or f"{name!r} is listed already, on line {entries[name].line}"
            if trouble:
                findings.append(Finding("LW401", path, number, trouble))
            if name:
                entries.setdefault(name, Entry(name, digest, number))
    if not entries and not findings:
        findings.append(Finding("LW401", path, 0, "the manifest lists no file: an empty corpus proves nothing"))
    listed = tuple(entries.values())
    return Manifest(listed, tuple(comments), (*findings, *_doubtful(listed, path)))


def _doubtful(entries: Sequence[Entry], path: str) -> Iterator[Finding]:
    """What is no drift and still deserves a look: names out of order, and files that are copies of each other."""
    for before, entry in pairwise(entries):
        if _sort_key(entry.name) < _sort_key(before.name):
            text = (
                f"{entry.name!r} is out of order: names are sorted by their bytes, as `linewitness corpus freeze` does"
            )
            yield Finding("LW401", path, entry.line, text, Severity.WARNING)
            break
    first: dict[str, Entry] = {}
    for entry in entries:
        other = first.setdefault(entry.digest, entry) if entry.digest else entry
        if other is not entry:
            text = (
                f"{entry.name!r} has the bytes of {other.name!r} (line {other.line}): the same case twice counts once"
            )
            yield Finding("LW401", path, entry.line, text, Severity.WARNING)


def _sort_key(name: str) -> bytes:
    return name.encode("utf-8", "surrogateescape")


def render(digests: Mapping[str, str], comments: tuple[bytes, ...] = ()) -> bytes:
    """The manifest of files with these digests: comments first, then one line per file, sorted by the names' bytes."""
    lines = (_line(name, digests[name]) for name in sorted(digests, key=_sort_key))
    return b"".join(line + b"\n" for line in (*comments, *lines))


def _line(name: str, digest: str) -> bytes:
    escaped = "".join(_ESCAPED.get(char, char) for char in name)
    mark = "\\" if escaped != name else ""
    return f"{mark}{digest}  {escaped}".encode("utf-8", "surrogateescape")
