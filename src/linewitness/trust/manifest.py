"""``MANIFEST.sha256``: the lines of ``sha256sum``, read strictly and written so that ``sha256sum -c`` accepts them.

The format is the one that the GNU coreutils manual describes under "cksum output modes": a digest, a space, a space or
an asterisk, a name; a backslash before the digest when the name has escapes. Only relative, normalised names of
files beside or below the manifest are accepted, although ``sha256sum`` would follow any path.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, NamedTuple

from linewitness.model import Finding

MANIFEST: Final = "MANIFEST.sha256"

_LINE: Final = re.compile(rb"(\\?)([0-9A-Fa-f]+) ([ *]?)(.+)", re.DOTALL)
_DIGEST_LENGTH: Final = 64
_ESCAPE: Final = re.compile(r"\\(.?)", re.DOTALL)
_UNESCAPED: Final = {"\\": "\\", "n": "\n", "r": "\r"}
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
            entry, trouble = _entry(line, number)
            if entry and entry.name in entries:
                trouble = trouble or f"{entry.name!r} is listed already, on line {entries[entry.name].line}"
            if trouble:
                findings.append(Finding("LW401", path, number, trouble))
            if entry:
                entries.setdefault(entry.name, entry)
    if not entries and not findings:
        findings.append(Finding("LW401", path, 0, "the manifest lists no file: an empty corpus proves nothing"))
    return Manifest(tuple(entries.values()), tuple(comments), tuple(findings))


def render(digests: Mapping[str, str], comments: tuple[bytes, ...] = ()) -> bytes:
    """The manifest of files with these digests: comments first, then one line per file, sorted by the names' bytes."""
    lines = {name.encode("utf-8", "surrogateescape"): _line(name, digest) for name, digest in digests.items()}
    return b"".join(line + b"\n" for line in (*comments, *(lines[name] for name in sorted(lines))))


def _line(name: str, digest: str) -> bytes:
    escaped = "".join(_ESCAPED.get(char, char) for char in name)
    mark = "\\" if escaped != name else ""
    return f"{mark}{digest}  {escaped}".encode("utf-8", "surrogateescape")


def _entry(line: bytes, number: int) -> tuple[Entry | None, str]:
    match = _LINE.fullmatch(line)
    if not match:
        return None, "this line is not `<SHA-256>  <name>`; `linewitness corpus freeze` writes the manifest"
    mark, digest, _, raw = match.groups()
    name = raw.decode("utf-8", "surrogateescape")
    if mark:
        try:
            name = _ESCAPE.sub(lambda found: _UNESCAPED[found[1]], name)
        except KeyError:
            return None, "this name has an escape other than \\\\, \\n and \\r"
    if trouble := _misplaced(name):
        return None, trouble
    if len(digest) != _DIGEST_LENGTH:
        have = f"{len(digest)} hex digits where SHA-256 has {_DIGEST_LENGTH}"
        return Entry(name, "", number), f"the digest of {name!r} is a placeholder or of another kind: {have}"
    return Entry(name, digest.decode("ascii").lower(), number), ""


def _misplaced(name: str) -> str:
    if name == MANIFEST:
        return "a manifest cannot list itself"
    if name.startswith("/") or "\0" in name or set(name.split("/")) & {"", ".", ".."}:
        return f"{name!r} is no name of a file beside or below the manifest: names are relative, without `.` and `..`"
    return ""
