"""Reads settings: sections in brackets, `key = value` lines, comments after `#`."""

from __future__ import annotations


def parse(text: str) -> dict[str, dict[str, str]]:
    """Sections by name; keys before the first section belong to the section without a name."""
    sections: dict[str, dict[str, str]] = {}
    name = ""
    for raw in text.splitlines():
        line = raw.partition("#")[0].strip()
        if not line:
            continue
        if line.startswith("["):
            name = line[1:-1].strip()
            sections.setdefault(name, {})
        else:
            key, _, value = line.partition("=")
            sections.setdefault(name, {})[key.strip()] = value.strip()
    return sections
