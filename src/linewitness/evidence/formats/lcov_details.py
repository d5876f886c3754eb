"""What a record of a tracefile says besides lines: functions and conditions (geninfo(1), "FILES").

These are extras. A line of them that cannot be read is left out, which claims nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from linewitness.evidence.formats.facts import Condition, FunctionHit
from linewitness.evidence.formats.numbers import hit_count, line_number

_BEGINS: Final = re.compile(rb"^FN:(\d{1,9}),(?:(\d{1,9}),)?([^\r\n]+?)\r?$", re.MULTILINE)
_ENTERED: Final = re.compile(rb"^FNDA:([^,\r\n]+),([^\r\n]+?)\r?$", re.MULTILINE)
_BEGINS_BY_INDEX: Final = re.compile(rb"^FNL:(\d{1,9}),(\d{1,9})(?:,(\d{1,9}))?\r?$", re.MULTILINE)
_ENTERED_BY_INDEX: Final = re.compile(rb"^FNA:(\d{1,9}),([^,\r\n]+),([^\r\n]+?)\r?$", re.MULTILINE)
_SENSE: Final = re.compile(rb"^MCDC:(\d{1,9}),U?\d{1,9},([tf]),([^,\r\n]+),(\d{1,9}),([^\r\n]*?)\r?$", re.MULTILINE)


def functions(record: bytes) -> Iterator[FunctionHit]:
    """Functions with their counts: ``FN`` and ``FNDA`` meet by name, ``FNL`` and ``FNA`` (2.2 and later) by index."""
    entered: dict[bytes, int] = {}
    for count, name in _ENTERED.findall(record):
        entered[name] = max(hit_count(count) or 0, entered.get(name, 0))
    for first, last, name in _BEGINS.findall(record):
        line = line_number(first)
        if line is not None and name in entered:
            yield FunctionHit(line, name.decode("utf-8", "replace"), entered[name], line_number(last))
    numbered = _BEGINS_BY_INDEX.findall(record)
    places = {index: (line_number(first), line_number(last)) for index, first, last in numbered}
    for index, count, name in _ENTERED_BY_INDEX.findall(record):
        line, end = places.get(index, (None, None))
        hits = hit_count(count)
        if line is not None and hits is not None:
            yield FunctionHit(line, name.decode("utf-8", "replace"), hits, end)


def conditions(record: bytes) -> Iterator[Condition]:
    """Conditions of MC/DC. A count tells that the outcome once decided the whole; zero does not say it never came."""
    for place, sense, taken, index, text in _SENSE.findall(record):
        line = line_number(place)
        if line is not None:
            seen = True if hit_count(taken) else None
            named = text.decode("utf-8", "replace") or f"condition {index.decode()}"
            yield Condition(line, named, seen if sense == b"t" else None, seen if sense == b"f" else None)
