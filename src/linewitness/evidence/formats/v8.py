"""What V8 itself writes (``NODE_V8_COVERAGE``, one file per process, and the temporary files of c8).

Each function has nested ranges in UTF-16 units from the start of the script, the first being the function whole; the
innermost range counts. A function that never ran has no inner ranges. Ranges with the count of the code around them are
left out, so that an arm without a range ran as often as its surroundings.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Annotated, Final

import msgspec

from linewitness.evidence.formats.facts import FileFacts, Grain, WithoutContexts, broken, combine
from linewitness.evidence.formats.json_text import JsonText, Value, clamped, read
from linewitness.evidence.formats.regions import Part, Regions, Scope, Unit, flat
from linewitness.evidence.formats.source import ExportFile
from linewitness.model import Pos, Span

_MAX_OFFSET: Final = 1 << 30
_COUNTED: Final = frozenset({Part.OPERAND, Part.FUNCTION})

_Offset = Annotated[int, msgspec.Meta(ge=0, le=_MAX_OFFSET)]


class _Range(msgspec.Struct, rename="camel"):
    start_offset: _Offset
    end_offset: _Offset
    count: int


class _Function(msgspec.Struct, rename="camel"):
    ranges: list[_Range]
    is_block_coverage: bool = True


class _Script(msgspec.Struct):
    url: str
    functions: list[_Function]


class Report(WithoutContexts):
    """An opened file: where the entries of each script are."""

    def __init__(self, export: ExportFile) -> None:
        self._export = export
        text = JsonText(export)
        top = text.members(text.top)
        if "result" not in top:
            raise broken(export, "there is no result in it, as V8 writes it")
        self._scripts: dict[str, list[Value]] = {}
        for value in text.items(top["result"]):
            url = text.members(value).get("url")
            name = text.decode(url, str) if url is not None else ""
            if name and not name.startswith(("node:", "evalmachine.", "internal/")):
                self._scripts.setdefault(name, []).append(value)
        mapped = top.get("source-map-cache")
        self._transpiled = frozenset(text.members(mapped)) if mapped is not None else frozenset()
        if not self._scripts:
            raise broken(export, "there is no script of a file in it")

    @property
    def names(self) -> Collection[str]:
        """The URLs of all scripts that are files."""
        return self._scripts.keys()

    def facts(self, name: str) -> FileFacts:
        """All that is said of one script. Errors: ``EvidenceError`` for offsets of transpiled text, or of none."""
        if name in self._transpiled:
            raise broken(
                self._export,
                f"the offsets of {name!r} are those of transpiled text (it has a source map); "
                "pass the report that c8 or Vitest writes from them",
            )
        scripts = [read(self._export, value, _Script) for value in self._scripts[name]]
        lengths = {_length(script) for script in scripts}
        if len(lengths) > 1:
            raise broken(self._export, f"{name!r} was loaded as {len(lengths)} different texts")
        return combine(*(_facts(script) for script in scripts))


def _length(script: _Script) -> int:
    return max((each.end_offset for function in script.functions for each in function.ranges), default=0)


def _facts(script: _Script) -> FileFacts:
    pieces = flat(_ranges(script), later_is_inner=True)
    return FileFacts(Grain.STATEMENTS, {}, regions=Regions(pieces, Scope.BLOCKS, _COUNTED, Unit.OFFSET))


def _ranges(script: _Script) -> Iterator[tuple[Span, int]]:
    for function in script.functions:
        for each in function.ranges:
            span = Span(Pos(0, each.start_offset), Pos(0, each.end_offset))
            if span.start < span.end:
                yield span, clamped(each.count)
