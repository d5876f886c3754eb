"""Run-length coding: pairs of a count from 1 to 255 and a byte."""

from __future__ import annotations


def encode(data: bytes) -> bytes:
    """Each run of equal bytes as its length and the byte; longer runs in pieces."""
    out = bytearray()
    start = 0
    while start < len(data):
        end = start
        while end < len(data) and data[end] == data[start] and end - start < 255:
            end += 1
        out += bytes([end - start, data[start]])
        start = end
    return bytes(out)


def decode(data: bytes) -> bytes:
    """The bytes behind :func:`encode`'s. Errors: ValueError."""
    if len(data) % 2 or 0 in data[::2]:
        raise ValueError("no pairs of a count and a byte")
    return b"".join(bytes([data[at + 1]]) * data[at] for at in range(0, len(data), 2))
