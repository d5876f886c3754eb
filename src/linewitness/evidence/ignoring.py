"""Whether a conftest file leaves a file out for good: by its text alone, whatever the product says.

Only the plain form is understood: one list of constants, the only mention of its kind on the way from the root.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path
from typing import Final

from linewitness.patterns import late

_MENTION: Final = late(rb"\bcollect_ignore(?:_glob)?\b|\bpytest_ignore_collect\b|\bpytest_plugins\b")


def is_plainly_ignored(root: Path, path: str) -> bool:
    """Whether the file at ``path`` below ``root`` is left out whenever its conftest files are as they are."""
    folders = [*(root / path).parents]
    conftests = [folder / "conftest.py" for folder in folders[: folders.index(root) + 1]]
    texts = [(file.parent, file.read_bytes()) for file in conftests if file.is_file()]
    said = [(folder, text) for folder, text in texts for _ in _MENTION.findall(text)]
    if len(said) != 1:
        return False
    (folder, text), file = said[0], root / path
    around = [file, *file.parents]
    # ``collect_ignore`` names paths, ``collect_ignore_glob`` patterns of paths, both from the conftest's folder on.
    return any(
        place == folder / value or (is_glob and fnmatch(str(place), str(folder / value)))
        for is_glob, value in _values(text)
        for place in around[: around.index(folder)]
    )


def _values(text: bytes) -> Iterator[tuple[bool, str]]:
    try:
        module = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    for node in module.body:
        target = node.targets[0] if isinstance(node, ast.Assign) and len(node.targets) == 1 else None
        name = target.id if isinstance(target, ast.Name) else ""
        value = node.value if isinstance(node, ast.Assign) else None
        if name in {"collect_ignore", "collect_ignore_glob"} and isinstance(value, ast.List | ast.Tuple):
            for each in value.elts:
                if isinstance(each, ast.Constant) and isinstance(each.value, str):
                    yield name.endswith("_glob"), each.value
