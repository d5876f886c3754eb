"""The part of YAML that a file which opens gates may use: plain mappings, lists and text, each said once.

Every YAML reader guesses types and lets later keys win; anchors make one line stand for many. Here nothing is guessed:
a scalar is its text and whether it was quoted, duplicate keys, anchors, aliases, tags, directives and further documents
are refused. The grammar itself is ruamel.yaml's; only its stream of events is used, so nothing is ever constructed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from linewitness.values import NamedTuple

if TYPE_CHECKING:
    from ruamel.yaml.events import Event

LIMIT: Final = 1 << 20
_DEEPEST: Final = 8
# C0 and C1 controls, lone carriage returns, line and paragraph separators, bidirectional and zero-width controls.
_HIDDEN: Final = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|\r(?!\n)"
)


class Refused(Exception):  # noqa: N818 - a file is refused; the caller turns this into a finding
    """The file is not acceptable. ``line`` and ``column`` are 1-based, 0 when no place can be named."""

    def __init__(self, message: str, line: int = 0, column: int = 0) -> None:
        super().__init__(message)
        self.message = message
        self.line = line
        self.column = column


class Place(NamedTuple):
    """Where a node stands: 1-based line and column of its first character, and its range of characters in the text.

    For block collections the end of the range is where the *next* thing starts, as in the events.
    """

    line: int
    column: int
    start: int
    end: int


class Scalar(NamedTuple):
    """A scalar as text. ``plain`` tells that it was not quoted, ``block`` that it is a ``|`` or ``>`` text."""

    text: str
    plain: bool
    block: bool
    place: Place


class Items(NamedTuple):
    """A sequence. ``flow`` tells that it is written in brackets."""

    items: tuple[Node, ...]
    flow: bool
    place: Place


class Fields(NamedTuple):
    """A mapping with distinct keys, in file order. ``flow`` tells that it is written in braces."""

    items: tuple[tuple[Scalar, Node], ...]
    flow: bool
    place: Place


Node = Scalar | Items | Fields


def decode(data: bytes) -> str:
    """The text of a file, without a byte order mark. Errors: :class:`Refused` (size, encoding, hidden characters)."""
    if len(data) > LIMIT:
        raise Refused(f"the file has {len(data)} bytes; more than {LIMIT} are refused")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Refused("the file is not UTF-8", *_position(data[: error.start].decode("utf-8", "replace"))) from None
    hidden = _HIDDEN.search(text)
    if hidden:
        raise Refused(f"hidden character U+{ord(hidden[0][0]):04X}", *_position(text[: hidden.start()]))
    return text


def parse(text: str) -> Node | None:
    """The one document of ``text``, or ``None`` when there is none. Errors: :class:`Refused`, with the place."""
    from ruamel.yaml import YAML
    from ruamel.yaml.error import MarkedYAMLError, YAMLError

    try:
        return _document(iter(YAML(typ="safe", pure=True).parse(text)))
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = (mark.line + 1, mark.column + 1) if mark else (0, 0)
        raise Refused(f"not valid YAML: {error.problem or error.context}", *place) from None
    # The scanner passes on what it cannot turn into a character or a number.
    except (YAMLError, ValueError, OverflowError) as error:
        raise Refused(f"not valid YAML: {str(error).splitlines()[0] if str(error) else type(error).__name__}") from None


def _document(events: Iterator[Event]) -> Node | None:
    from ruamel.yaml.events import DocumentStartEvent, StreamEndEvent

    next(events)
    first: Any = next(events)
    if isinstance(first, StreamEndEvent):
        return None
    if first.version or first.tags:
        raise _refused("directives are refused", first)
    node = _node(next(events), events, 0)
    next(events)
    after = next(events)
    if isinstance(after, DocumentStartEvent):
        raise _refused("a second document is refused", after)
    return node


def _node(event: Any, events: Iterator[Event], depth: int) -> Node:
    from ruamel.yaml.events import AliasEvent, MappingStartEvent, ScalarEvent

    if isinstance(event, AliasEvent):
        raise _refused("aliases are refused: say it again", event)
    if event.anchor:
        raise _refused("anchors are refused", event)
    if event.tag:
        raise _refused(f"tags are refused, and this is {event.tag!r}", event)
    if depth > _DEEPEST:
        raise _refused("the file is nested too deeply", event)
    if isinstance(event, ScalarEvent):
        block = event.style in {"|", ">"}
        return Scalar(event.value, event.style is None or event.style == "", block, _place(event, event))
    if isinstance(event, MappingStartEvent):
        return _fields(event, events, depth)
    return _items(event, events, depth)


def _items(start: Any, events: Iterator[Event], depth: int) -> Items:
    from ruamel.yaml.events import SequenceEndEvent

    items: list[Node] = []
    for event in events:
        if isinstance(event, SequenceEndEvent):
            return Items(tuple(items), bool(start.flow_style), _place(start, event))
        items.append(_node(event, events, depth + 1))
    raise AssertionError("the events of a sequence end")


def _fields(start: Any, events: Iterator[Event], depth: int) -> Fields:
    from ruamel.yaml.events import MappingEndEvent

    items: dict[str, tuple[Scalar, Node]] = {}
    for event in events:
        if isinstance(event, MappingEndEvent):
            return Fields(tuple(items.values()), bool(start.flow_style), _place(start, event))
        key = _node(event, events, depth + 1)
        if not isinstance(key, Scalar):
            raise _refused("a key has to be text", event)
        if key.text in items:
            raise _refused(f"the key {key.text!r} was given already, on line {items[key.text][0].place.line}", event)
        items[key.text] = key, _node(next(events), events, depth + 1)
    raise AssertionError("the events of a mapping end")


def _place(first: Any, last: Any) -> Place:
    mark = first.start_mark
    return Place(mark.line + 1, mark.column + 1, mark.index, last.end_mark.index)


def _refused(message: str, event: Any) -> Refused:
    return Refused(message, event.start_mark.line + 1, event.start_mark.column + 1)


def _position(before: str) -> tuple[int, int]:
    return before.count("\n") + 1, len(before) - before.rfind("\n")
