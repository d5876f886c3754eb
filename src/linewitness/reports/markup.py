"""Text and addresses for documents with markup: what came with a patch is made printable first, then escaped."""

from __future__ import annotations

from html import escape
from urllib.parse import quote

from linewitness.console import safe


def text(value: str) -> str:
    """``value`` as text or as a quoted attribute of XML or HTML: no markup, no character that XML forbids."""
    return escape(safe(value))


def prose(message: str) -> str:
    """A message of ours as HTML: what stands between backticks, and may be the patch's own, as code."""
    parts = text(message).split("`")
    if len(parts) % 2 == 0:
        return text(message)
    return "".join(f"<code>{part}</code>" if at % 2 else part for at, part in enumerate(parts))


def address(path: str) -> str:
    """A path as a relative reference: its bytes percent-encoded, and no colon left that would make a scheme of it."""
    try:
        raw = path.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        raw = path.encode("utf-8", "backslashreplace")
    return quote(raw, safe="/")
