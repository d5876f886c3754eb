"""Edits of settings files that the trusted run shares: ``pyproject.toml``, ``setup.cfg``, ``tox.ini``."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from linewitness.errors import LinewitnessError


def reason(top: str, path: str, given: Mapping[str, Any]) -> str | None:
    """Why an edit may not happen: the protected tables that it changes. ``None`` where that cannot be foreseen."""
    from linewitness.trust.tables import protected_differences

    before = _content(os.path.join(top, path))
    after = _after(before, given)
    if after is None:
        return None
    name = os.path.basename(path).lower()
    try:
        tables = protected_differences(name, before, after)
    except LinewitnessError as error:
        return f"{path} holds settings of the trusted run and would not be readable: {error}"
    return f"{path} would change {', '.join(tables)}, which steers the trusted run" if tables else None


def _content(path: str) -> bytes | None:
    if not os.path.isfile(path):
        return None
    with open(path, "rb") as stream:
        return stream.read()


def _after(before: bytes | None, given: Mapping[str, Any]) -> bytes | None:
    """The file's bytes after the edit, for the forms in which agents describe one."""
    whole = next((given[key] for key in ("content", "contents", "file_text") if isinstance(given.get(key), str)), None)
    if whole is not None:
        return _bytes(whole)
    if before is None:
        return None
    edits = given.get("edits") if isinstance(given.get("edits"), list) else [given]
    text = before.decode("utf-8", "surrogateescape")
    for edit in edits or ():
        pair = _pair(edit) if isinstance(edit, dict) else None
        if pair is None or pair[0] not in text:
            return None
        text = text.replace(*pair) if edit.get("replace_all") else text.replace(*pair, 1)
    return _bytes(text)


def _pair(edit: Mapping[str, Any]) -> tuple[str, str] | None:
    for old, new in (("old_string", "new_string"), ("old_str", "new_str"), ("oldText", "newText")):
        if isinstance(edit.get(old), str) and isinstance(edit.get(new), str):
            return edit[old], edit[new]
    return None


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
