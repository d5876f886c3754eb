"""The parts of shared settings files that steer a test run.

``pyproject.toml``, ``setup.cfg`` and ``tox.ini`` hold many people's settings. Only the tables that pytest, coverage.py
and this tool read are protected; everything else in them may change. Wherever it is not certain what a reader
would make of a file, the whole file counts.

Which names are read: https://docs.pytest.org/en/stable/reference/customize.html and
https://coverage.readthedocs.io/en/latest/config.html.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from typing import Any, Final

# Larger than any settings file, small enough that parsing two of them is never the cost of a check.
_LIMIT: Final = 1 << 20
_TOOLS: Final = ("pytest", "coverage", "linewitness")
_SECTIONS: Final = tuple(prefix + tool for tool in _TOOLS for prefix in ("", "tool:"))


def protected_differences(name: str, base: bytes | None, head: bytes | None) -> tuple[str, ...]:
    """The protected tables in which two versions of the shared file ``name`` differ, sorted, as ``[tool.pytest]``.

    ``None`` is a file that is not there. When one side cannot be parsed with certainty and the bytes differ, the
    result is the one text ``the whole file``.
    """
    if base == head:
        return ()
    read = _toml_tables if name.endswith(".toml") else _ini_sections
    try:
        before, after = read(base or b""), read(head or b"")
    # ValueError covers syntax, encoding and numbers that are too long; deep nesting exhausts the parser's stack.
    except (ValueError, RecursionError):
        return ("the whole file",)
    return tuple(sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name)))


def _toml_tables(data: bytes) -> dict[str, str]:
    if len(data) > _LIMIT:
        raise ValueError("too large")
    tool = tomllib.loads(data.decode()).get("tool", {})
    if not isinstance(tool, dict):
        return {"tool": _canonical(tool)}
    return {f"[tool.{name}]": _canonical(table) for name, table in tool.items() if name.startswith(_TOOLS)}


def _canonical(value: Any) -> str:
    """Text that is equal for equal TOML values only: ``1``, ``1.0`` and ``true`` differ, the order of keys does not."""
    if isinstance(value, dict):
        return "{" + ",".join(f"{key!r}:{_canonical(value[key])}" for key in sorted(value)) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(_canonical, value)) + "]"
    return repr(value)


def _ini_sections(data: bytes) -> dict[str, str]:
    """The lines of every section that pytest or coverage may read, comments and blank lines aside.

    The two read INI files with different parsers (iniconfig, configparser). Lines are therefore only grouped, in the
    way that gives a protected section the most: whatever looks like its header begins it, even indented, and only a
    header in the first column ends it. Values in DEFAULT are inherited by every section.
    """
    if len(data) > _LIMIT:
        raise ValueError("too large")
    text = data.decode()
    lines = text.replace("\r\n", "\n").split("\n")
    if lines != [*text.splitlines(), *([""] if not text or text.endswith("\n") else [])] or "\ufeff" in text:
        raise ValueError("line terminators on which parsers disagree")
    sections: dict[str, list[str]] = {}
    for section, line in _grouped(lines):
        if section and line.strip() and line[0] not in "#;":
            sections.setdefault(section, []).append(line.rstrip())
    return {name: "\n".join(lines) for name, lines in sections.items()}


def _grouped(lines: list[str]) -> Iterator[tuple[str, str]]:
    # Before the first header nothing belongs to any section, and readers refuse or ignore it: compared, to be certain.
    section = "(before the first section)"
    for line in lines:
        header = line.strip()
        if header.startswith("["):
            name = header[1:].partition("]")[0].strip().casefold()
            if name.startswith(_SECTIONS) or name == "default":
                section = f"[{name}]"
            elif line.startswith("["):
                section = ""
        yield section, line
