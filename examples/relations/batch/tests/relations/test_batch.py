"""A batch is what its parts are, in any order and cut anywhere."""

from __future__ import annotations

from typing import Any

from readings import summarize

from linewitness.relations import additive, compare, permute, relation, same

Summary = dict[str, dict[str, int]]


def together(parts: list[Summary]) -> Summary:
    found: Summary = {}
    for part in parts:
        for sensor, entry in part.items():
            known = found.setdefault(sensor, dict.fromkeys(entry, 0))
            for name, number in entry.items():
                known[name] += number
    return found


@relation(corpus="batches.jsonl", at_least=6)
def test_the_order_of_readings_means_nothing(batch: list[dict[str, Any]]) -> None:
    compare(summarize, batch, permute(), same())


@relation(corpus="batches.jsonl", at_least=6)
def test_a_batch_is_the_sum_of_its_parts(batch: list[dict[str, Any]]) -> None:
    for cut in range(1, len(batch)):
        additive(summarize, [batch[:cut], batch[cut:]], batch, together)
