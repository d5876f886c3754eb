"""Changes to the waiver file that leave every other character of it alone.

Records are added and removed as lines of text, so that comments, quotes and line endings stay as people wrote them. The
result is read again and compared with what was meant; a file that is not valid is never touched.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Collection, Sequence
from typing import Final

from linewitness.errors import UsageError
from linewitness.model import Waiver
from linewitness.trust import strict_yaml
from linewitness.trust.strict_yaml import Fields, Items, Node, Scalar
from linewitness.trust.waivers import identity, is_guessed, parse

_PLAIN: Final = re.compile(r"[A-Za-z_./][A-Za-z0-9_./@+-]*")
_END_MARK: Final = re.compile(r"^\.\.\.(?:\s|$)", re.MULTILINE)
_ESCAPES: Final = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t"}
_HEADER: Final = (
    "# Lines that may go without a witness, each for a reason, until a day. Protected: people change this file.\n"
)


def append(data: bytes | None, path: str, waiver: Waiver) -> bytes:
    """The waiver file at ``path`` with one more record at its end; ``None`` stands for no file.

    Errors: :class:`UsageError` when the file is not valid, holds a record for that line, or has no place for another.
    """
    before = _valid(data, path)
    for twin in before:
        if identity(twin) == identity(waiver):
            message = "this record waives the same line already: renew it by hand, or prune it first"
            raise UsageError(message, path=path, line=twin.at)
    bom, text = _split(data or b"")
    newline = "\r\n" if "\r\n" in text else "\n"
    text, column, offset = _opened(text if text.strip() else _HEADER, path)
    if text and not text.endswith("\n"):
        text += newline
    return _checked(bom + (text + _record(waiver, column, offset, newline)).encode(), path, [*before, waiver])


def prune(data: bytes, path: str, lines: Collection[int]) -> bytes:
    """The waiver file at ``path`` without the records that begin on these lines. Comments between records stay.

    Errors: :class:`UsageError` when the file is not valid, or its list is written in brackets.
    """
    before = _valid(data, path)
    bom, text = _split(data)
    if not lines:
        return data
    key, value = _list(text, path)
    if not isinstance(value, Items) or value.flow:
        raise _manual("the list is written in brackets", path)
    rows = text.splitlines(keepends=True)
    gone: set[int] = set()
    for item in value.items:
        if item.place.line in lines:
            gone.update(range(_first_line(rows, item, value), _last_line(text, item) + 1))
    if len(value.items) == len(set(lines) & {item.place.line for item in value.items}):
        row = key.place.line - 1
        head, colon, tail = rows[row].partition(":")
        rows[row] = f"{head}{colon} []{tail}"
    kept = "".join(row for number, row in enumerate(rows, 1) if number not in gone)
    return _checked(bom + kept.encode(), path, [waiver for waiver in before if waiver.at not in lines])


# ---------------------------------------------------------------- where a record goes


def _opened(text: str, path: str) -> tuple[str, int, int]:
    """The text with room for a record at its end, the column of its dash and, counted from there, of its keys."""
    if _END_MARK.search(text):
        raise _manual("the file ends with the mark `...`", path)
    if strict_yaml.parse(text) is None:
        return text.rstrip() + "\nwaivers:\n", 2, 2
    _, value = _list(text, path)
    if isinstance(value, Items) and not value.flow:
        column = value.place.column - 1
        return text, column, max(2, value.items[-1].place.column - value.place.column)
    if isinstance(value, Items) and value.items:
        raise _manual("the list is written in brackets", path)
    start, end = value.place.start, value.place.end
    return text[:start].rstrip(" ") + text[end:] if start != end else text, 2, 2


def _list(text: str, path: str) -> tuple[Scalar, Node]:
    root = strict_yaml.parse(text)
    if not isinstance(root, Fields) or root.flow or not root.items:
        raise _manual("the file is written in braces", path)
    return root.items[0]


def _first_line(rows: Sequence[str], item: Node, items: Items) -> int:
    """The line with the dash of a record, which may stand above its first key."""
    number = item.place.line
    while rows[number - 1][items.place.column - 1 : items.place.column] != "-":
        number -= 1
    return number


def _last_line(text: str, node: Node) -> int:
    """The last line on which a character of ``node`` stands; the range of a block text ends with what follows it."""
    if isinstance(node, Scalar):
        return text.count("\n", 0, max(len(text[: node.place.end].rstrip()), node.place.start)) + 1
    parts = [value for _, value in node.items] if isinstance(node, Fields) else node.items
    ends = [_last_line(text, part) for part in parts]
    if node.flow:
        ends.append(text.count("\n", 0, node.place.end) + 1)
    return max(ends, default=node.place.line)


# ---------------------------------------------------------------- how a record is written


def _record(waiver: Waiver, column: int, offset: int, newline: str) -> str:
    fields = [
        ("path", _scalar(waiver.path)),
        ("line_hash", waiver.line_hash and _quoted(waiver.line_hash)),
        ("blob", waiver.blob and _quoted(waiver.blob)),
        ("scope", None if waiver.scope is None else _scalar(waiver.scope)),
        ("occurrence", waiver.occurrence and str(waiver.occurrence)),
        ("reason", waiver.reason.value),
        ("owner", _scalar(waiver.owner)),
        ("expires", _quoted(waiver.expires)),
        ("note", waiver.note and _quoted(waiver.note)),
    ]
    lines = [f"{key}: {value}" for key, value in fields if value]
    first = " " * column + "-" + " " * (offset - 1)
    return first + f"{newline}{' ' * (column + offset)}".join(lines) + newline


def _scalar(text: str) -> str:
    return text if _PLAIN.fullmatch(text) and not is_guessed(text) else _quoted(text)


def _quoted(text: str) -> str:
    """A double-quoted scalar (YAML 1.2.2, section 5.7) on one line, without characters that cannot be seen."""
    return '"' + "".join(_ESCAPES.get(char) or (char if char.isprintable() else _escape(char)) for char in text) + '"'


def _escape(char: str) -> str:
    code = ord(char)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


# ---------------------------------------------------------------- safety


def _valid(data: bytes | None, path: str) -> tuple[Waiver, ...]:
    waivers, findings = parse(data, path)
    if findings:
        first = findings[0]
        message = f"{first.message} ({len(findings)} in all); the file was not touched: mend it first"
        raise UsageError(message, code=first.code, path=path, line=first.line)
    return waivers


def _split(data: bytes) -> tuple[bytes, str]:
    bom = codecs.BOM_UTF8 if data.startswith(codecs.BOM_UTF8) else b""
    return bom, data.removeprefix(bom).decode()


def _checked(data: bytes, path: str, meant: Sequence[Waiver]) -> bytes:
    waivers, findings = parse(data, path)
    if findings or [waiver._replace(at=0) for waiver in waivers] != [waiver._replace(at=0) for waiver in meant]:
        raise _manual(
            findings[0].message if findings else "the list is laid out in a way that hides where it ends", path
        )
    return data


def _manual(why: str, path: str) -> UsageError:
    return UsageError(f"{why}: the file was not touched, edit it by hand", path=path)
