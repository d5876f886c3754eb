"""Written records can be read back, and are written in one way only."""

from __future__ import annotations

from records import dumps, loads

from linewitness.relations import change, commutes, compare, relation, reverse, round_trip, same

Records = list[dict[str, str]]


def other_way_round(records: Records) -> Records:
    return [dict(reversed(list(record.items()))) for record in records]


@relation(corpus="records.jsonl", at_least=6)
def test_what_was_written_can_be_read(records: Records) -> None:
    round_trip(dumps, loads, records)


@relation(corpus="records.jsonl", at_least=6)
def test_the_order_of_keys_means_nothing(records: Records) -> None:
    assert dumps(other_way_round(records)) == dumps(records)


@relation(corpus="records.jsonl", at_least=5)
def test_records_in_another_order_are_lines_in_another_order(records: Records) -> None:
    compare(lambda case: sorted(dumps(case).split("\n")), records, reverse(), same())
    commutes(lambda case: loads(dumps(case)), records, reverse(), reverse())


@relation(corpus="records.jsonl", at_least=6)
def test_every_record_has_one_line_whatever_is_in_it(records: Records) -> None:
    nasty = change("", lambda case: [{**record, "note": "a\nb\t\\n"} for record in case], "with a nasty note")
    compare(dumps, records, nasty, same(lambda text: text.count("\n")))
