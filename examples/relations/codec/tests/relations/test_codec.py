"""Coding loses nothing, and coded pieces can be put together."""

from __future__ import annotations

from random import Random

from runs import decode, encode

from linewitness.relations import additive, relation, round_trip, seeded


def stretch(data: bytes, source: Random) -> bytes:
    """Longer runs at a place that is drawn, so that no code can know the input."""
    at = source.randrange(len(data) + 1)
    return data[:at] + bytes([source.randrange(256)]) * source.randrange(200, 600) + data[at:]


@relation(corpus="samples", at_least=5)
def test_decoding_gives_back_what_was_encoded(data: bytes) -> None:
    round_trip(encode, decode, data)
    round_trip(encode, decode, seeded(stretch)(data))


@relation(corpus="samples", at_least=5)
def test_coded_pieces_can_be_put_together(data: bytes) -> None:
    half = len(data) // 2
    coded = [encode(data[:half]), encode(data[half:])]
    additive(decode, coded, b"".join(coded), b"".join)
    assert len(encode(data)) <= len(coded[0]) + len(coded[1])
