"""Packing loses nothing, packed values follow each other in a stream, and extension values are data like any other."""

from __future__ import annotations

import io
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import umsgpack

from linewitness.relations import additive, outcome, relation, round_trip, same


def pack(value: Any) -> bytes:
    packed: bytes = umsgpack.packb(value)
    return packed


def unpack(data: bytes) -> Any:
    return umsgpack.unpackb(data)


def unpack_all(data: bytes) -> list[Any]:
    stream, found = io.BytesIO(data), []
    while stream.tell() < len(data):
        found.append(umsgpack.unpack(stream))
    return found


@relation(corpus="values.jsonl", at_least=15)
def test_what_was_packed_can_be_unpacked(value: Any) -> None:
    round_trip(pack, unpack, value)
    round_trip(pack, unpack, [value] * 20)
    assert same().holds(umsgpack.unpackb(pack({"key": value}), use_ordered_dict=True), {"key": value})


@relation(corpus="values.jsonl", at_least=15)
def test_packed_values_follow_each_other_in_a_stream(value: Any) -> None:
    packed = [pack(value), pack([value]), pack({"a": value})]
    additive(unpack_all, packed, b"".join(packed), lambda parts: [one for part in parts for one in part])


@relation(corpus="values.jsonl", at_least=15)
def test_data_that_is_cut_off_is_noticed_wherever_it_is_cut(value: Any) -> None:
    whole = pack([value, "end"])
    for length in range(max(len(whole) - 20, 0), len(whole)):
        cut = outcome(unpack, whole[:length], raises=(umsgpack.InsufficientDataException,))
        assert cut != [value, "end"]


@relation(corpus="payloads", at_least=6)
def test_extension_values_differ_when_their_type_or_data_do(data: bytes) -> None:
    one, again, other = umsgpack.Ext(5, data), umsgpack.Ext(5, data), umsgpack.Ext(6, data)
    assert one == again
    assert (one != again) is False  # the two operators are written apart from each other
    assert one != other
    assert one != umsgpack.Ext(5, data + b"x")
    assert (one == data) is False
    assert hash(one) == hash(again)
    round_trip(pack, unpack, one)


@relation(corpus="payloads", at_least=6)
def test_the_text_of_an_extension_value_says_whether_it_shows_everything(data: bytes) -> None:
    short = (data * 8)[:8]
    if len(short) == 8:
        whole, longer, longest = (str(umsgpack.Ext(5, short + more)) for more in (b"", b"x", b"yz" * 9))
        assert whole != longer
        assert longer == longest
    assert str(umsgpack.Ext(5, data)) == str(umsgpack.Ext(5, bytes(data)))


@relation(corpus="moments.jsonl", at_least=4)
def test_a_moment_is_the_same_whatever_the_time_zone(seconds: float) -> None:
    moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds)
    elsewhere = moment.astimezone(timezone(timedelta(hours=5, minutes=30)))
    assert pack(moment) == pack(elsewhere) == pack(moment.replace(tzinfo=None))
    assert unpack(pack(elsewhere)) == moment
