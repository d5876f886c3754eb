r"""One line of ``MANIFEST.sha256``, read strictly: the lines of ``sha256sum``.

The format is the one that the GNU coreutils manual describes under "cksum output modes": a digest, a space, a space or
an asterisk, a name; a backslash before the digest when the name has escapes (``\\``, ``\n``, ``\r``). Only relative,
normalised names of files beside or below the manifest are accepted, although ``sha256sum`` would follow any path.

Standard library only, 3.9 and later: the gate and the relations read manifests by the same rule.
"""

from __future__ import annotations

import re
from typing import NamedTuple

MANIFEST = "MANIFEST.sha256"

_LINE = re.compile(rb"(\\?)([0-9A-Fa-f]+) ([ *]?)(.+)", re.DOTALL)
_DIGEST_LENGTH = 64
_ESCAPE = re.compile(r"\\(.?)", re.DOTALL)
_UNESCAPED = {"\\": "\\", "n": "\n", "r": "\r"}


class Sum(NamedTuple):
    """What one line says. ``name`` is empty when the line is no entry, ``digest`` when it holds no SHA-256.

    ``trouble`` is what is wrong with the line, empty when nothing is.
    """

    name: str
    digest: str
    trouble: str


def read_line(line: bytes) -> Sum:
    """Read one line without its terminator; it is neither blank nor a comment."""
    match = _LINE.fullmatch(line)
    if not match:
        return Sum("", "", "this line is not `<SHA-256>  <name>`; `linewitness corpus freeze` writes the manifest")
    mark, digest, _, raw = match.groups()
    name = raw.decode("utf-8", "surrogateescape")
    if mark:
        try:
            name = _ESCAPE.sub(lambda found: _UNESCAPED[found[1]], name)
        except KeyError:
            return Sum("", "", "this name has an escape other than \\\\, \\n and \\r")
    trouble = misplaced(name)
    if trouble:
        return Sum("", "", trouble)
    if len(digest) != _DIGEST_LENGTH:
        have = f"{len(digest)} hex digits where SHA-256 has {_DIGEST_LENGTH}"
        return Sum(name, "", f"the digest of {name!r} is a placeholder or of another kind: {have}")
    return Sum(name, digest.decode("ascii").lower(), "")


def misplaced(name: str) -> str:
    """Why ``name`` is no name of a file beside or below a manifest; empty when it is one."""
    if name == MANIFEST:
        return "a manifest cannot list itself"
    if name.startswith("/") or "\0" in name or set(name.split("/")) & {"", ".", ".."}:
        return f"{name!r} is no name of a file beside or below the manifest: names are relative, without `.` and `..`"
    return ""
