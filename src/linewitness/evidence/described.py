"""An interpreter describes itself: what it is, what it has of pytest, from where it imports.

Run by the tests' interpreter (any version; standard library only) as ``python -I -B -c TEXT PLUGIN...`` with the text
of this module, in isolation, because neither the user's site folder nor ``PYTHON*`` variables take part in the trusted
run. It writes one JSON object, by hand: importing ``json`` or ``importlib.metadata`` would take longer than the rest.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_CHANGE_PATH = ("PYTHONHOME", "PYTHONPATH", "PYTHONPLATLIBDIR")


def main(plugins: list[str]) -> None:
    """Write the description. ``plugins`` are the names of modules that may be importable or not."""
    sys.stdout.write(_json(describe(sys.path, plugins)))


def describe(search_path: list[str], plugins: list[str]) -> dict[str, object]:
    """The description of this interpreter, with that search path."""
    pytest, points = _installed(search_path, with_points=bool(plugins))
    return {
        "version": list(sys.version_info[:3]),
        "build": build(),
        "implementation": sys.implementation.name,
        "pytest": pytest,
        "points": points,
        "importable": [name for name in plugins if _is_importable(name)],
        "prefixes": [sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix],
        "search_path": [entry for entry in search_path if os.path.isabs(entry) and os.path.exists(entry)],
    }


def isolated_path() -> list[str] | None:
    """The search path that this interpreter would have in isolation; ``None`` where something else made it longer."""
    site = sys.modules.get("site")
    if site is None or site.USER_SITE in sys.path or any(map(os.environ.get, _CHANGE_PATH)):
        return None
    # without -P or -I, the folder of the script or the current one comes first
    return sys.path[0 if sys.flags.safe_path else 1 :]


def build() -> str:
    """What two interpreters have in common that make the same code of a text, in one word."""
    magic = getattr(sys.modules.get("_frozen_importlib_external"), "MAGIC_NUMBER", b"")
    return f"{sys.implementation.name}-{sys.hexversion:x}-{magic.hex()}-{getattr(sys, 'abiflags', '')}"


def _installed(search_path: list[str], *, with_points: bool) -> tuple[str, list[list[str]]]:
    """The version of pytest, and the pytest plugins of all distributions as (entry point, value, distribution)."""
    version = ""
    points: list[list[str]] = []
    for folder in search_path:
        try:
            entries = os.listdir(folder)
        except OSError:
            continue
        for entry in entries:
            stem, _, kind = entry.rpartition(".")
            parts = stem.split("-")
            if kind not in ("dist-info", "egg-info") or len(parts) < 2 or not (parts[0] and parts[1]):
                continue
            if parts[0].lower() == "pytest":
                version = version or parts[1]
            if with_points:
                points += _points(os.path.join(folder, entry, "entry_points.txt"), parts[0])
    return version or _version_from_metadata(), points


def _points(path: str, distribution: str) -> Iterator[list[str]]:
    try:
        with open(path, encoding="utf-8") as stream:
            lines = stream.read().splitlines()
    except (OSError, ValueError):
        return
    group = ""
    for line in map(str.strip, lines):
        if line.startswith("["):
            group = line
        elif group == "[pytest11]" and "=" in line and line[:1] not in "#;":
            point, _, value = line.partition("=")
            yield [point.strip(), value.partition("[")[0].strip(), distribution]


def _version_from_metadata() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("pytest")
    except PackageNotFoundError:
        return ""


def _is_importable(name: str) -> bool:
    from importlib.util import find_spec

    try:
        return find_spec(name) is not None
    except (ImportError, ValueError, AttributeError):
        return False


def _json(value: object) -> str:
    if isinstance(value, str):
        return '"' + "".join(map(_letter, map(ord, value))) + '"'
    if isinstance(value, dict):
        return "{" + ",".join(_json(key) + ":" + _json(each) for key, each in value.items()) + "}"
    return "[" + ",".join(map(_json, value)) + "]" if isinstance(value, list) else str(value)


def _letter(code: int) -> str:
    if code > 0xFFFF:
        return _letter(0xD7C0 + (code >> 10)) + _letter(0xDC00 + (code & 0x3FF))
    return chr(code) if 32 <= code < 127 and code not in (34, 92) else f"\\u{code:04x}"


if __name__ == "__main__":
    main(sys.argv[1:])
