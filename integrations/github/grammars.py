#!/usr/bin/env python3
"""``grammars.py LANGUAGES``: the pins, with their hashes, of what these languages need, for ``pip --require-hashes``.

``LANGUAGES`` are extras of the project (``go typescript``, with blanks or commas between them), or ``languages`` for
all of them. The pins are those of ``requirements/languages.txt``.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def grammars() -> dict[str, str]:
    """The package of each language's grammar, by the name of the extra."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras: Mapping[str, Sequence[str]] = project["optional-dependencies"]
    return {
        extra: re.split(r"[^\w-]", needs[0], maxsplit=1)[0]
        for extra, needs in extras.items()
        if len(needs) == 1 and needs[0].startswith("tree-sitter-")
    }


def pins(text: str) -> Iterator[tuple[str, str]]:
    """Name and text of each pin of a requirements file: a line that is not indented begins one."""
    for pin in re.split(r"^(?=\S)", text, flags=re.MULTILINE):
        if "==" in pin:
            yield pin.partition("==")[0], pin


def main(words: Sequence[str]) -> int:
    """Print the pins; 2 for a language that is not known."""
    known = grammars()
    wanted = dict.fromkeys(word for text in words for word in re.split(r"[\s,]+", text) if word and word != "python")
    unknown = [word for word in wanted if word != "languages" and word not in known]
    if unknown:
        sys.stderr.write(f"no grammar for {', '.join(unknown)}: languages are {', '.join(known)}; `languages` is all\n")
        return 2
    packages = {known[name] for name in (known if "languages" in wanted else wanted)}
    found = dict(pins((ROOT / "requirements" / "languages.txt").read_text(encoding="utf-8")))
    sys.stdout.write("".join(found[name] for name in sorted(packages)))
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
