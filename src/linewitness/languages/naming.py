"""Which of the equal lines of its scope a line is: what makes an obligation's identity stable."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from itertools import compress, count, repeat

from linewitness.model import FileText, Kind, Obligation
from linewitness.patch.identity import decode_lines, hashes_of, lines_of

# This runs for every line of a patch, and the constructor of a named tuple is a call of Python.
_OBLIGATION: Callable[[tuple[object, ...]], Obligation] = partial(tuple.__new__, Obligation)


def _occurrences(lines: Sequence[bytes], wanted: Collection[int], scope_of: Callable[[int], str]) -> dict[int, int]:
    """For each wanted line the number, from 1, that it has among the equal lines of its scope in the whole file."""
    texts = {lines[number - 1] for number in wanted}
    equal = list(compress(count(1), map(texts.__contains__, lines)))
    if len(equal) == len(texts):
        return dict.fromkeys(equal, 1)
    places: dict[bytes, list[int]] = {}
    for number in equal:
        places.setdefault(lines[number - 1], []).append(number)
    found: dict[int, int] = {}
    for numbers in places.values():
        if len(numbers) == 1:
            found[numbers[0]] = 1
            continue
        seen: dict[str, int] = {}
        for number in numbers:
            scope = scope_of(number)
            seen[scope] = found[number] = seen.get(scope, 0) + 1
    return found


def obligations(
    text: FileText, kinds: Mapping[int, Kind], ranges: Mapping[int, tuple[int, int]], scope_of: Callable[[int], str]
) -> tuple[Obligation, ...]:
    """The obligations of lines, in line order, with their identities."""
    if not kinds:
        return ()
    lines = lines_of(text.head or b"")
    numbers = _occurrences(lines, kinds, scope_of)
    wanted = sorted(kinds)
    texts = [lines[line - 1] for line in wanted]
    columns = (
        wanted,
        hashes_of(texts),
        decode_lines(texts),
        map(kinds.__getitem__, wanted),
        map(scope_of, wanted),
        map(numbers.__getitem__, wanted),
        map(ranges.__getitem__, wanted),
    )
    return tuple(map(_OBLIGATION, zip(repeat(text.change.path), *columns, repeat(""))))
