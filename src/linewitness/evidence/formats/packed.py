"""Exports that are packed with gzip, as gcov writes its own. They are unpacked into memory, up to a limit."""

from __future__ import annotations

import zlib
from typing import Final

from linewitness.evidence.formats.facts import broken
from linewitness.evidence.formats.source import MAX_WHOLE, ExportFile

_MAGIC: Final = b"\x1f\x8b"
#: Tells zlib to expect the header of gzip.
_GZIP: Final = 31


class _Unpacked(ExportFile):
    """The content of a packed file, under the name of that file."""

    def __init__(self, packed: ExportFile, data: bytes) -> None:
        self.path = packed.path
        self.size = len(data)
        self._data = data

    def read(self, start: int, end: int) -> bytes:
        """The bytes from ``start`` up to, not including, ``end``."""
        return self._data[start:end]

    def whole(self) -> bytes:
        """All bytes."""
        return self._data


def unpacked(export: ExportFile) -> ExportFile:
    """The export itself, or its content when it is packed.

    Errors: ``EvidenceError`` for a file that is cut off, damaged, or unpacks to more than is ever read whole.
    """
    if export.read(0, min(2, export.size)) != _MAGIC:
        return export
    return _Unpacked(export, _content(export))


def _content(export: ExportFile) -> bytes:
    """All members of the file, one after the other. What follows the last one is an error, unless it is padding."""
    pieces: list[bytes] = []
    total = 0
    inflater = zlib.decompressobj(_GZIP)
    for window in export.windows(0):
        data = window.data
        while data:
            if inflater.eof:
                data = data.lstrip(b"\0")
                inflater = zlib.decompressobj(_GZIP) if data else inflater
                continue
            try:
                piece = inflater.decompress(data, MAX_WHOLE + 1 - total)
            except zlib.error as error:
                raise broken(export, f"it is packed, and damaged ({error})") from error
            pieces.append(piece)
            total += len(piece)
            if total > MAX_WHOLE:
                raise broken(export, f"it unpacks to more than {MAX_WHOLE} bytes")
            data = inflater.unused_data if inflater.eof else inflater.unconsumed_tail
    if not inflater.eof:
        raise broken(export, "it is packed, and cut off")
    content = b"".join(pieces)
    if not content:
        raise broken(export, "it is packed, and there is nothing in it")
    return content
