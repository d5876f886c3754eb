"""The price of an order does not depend on how the same goods are listed."""

from __future__ import annotations

from typing import Any

from linewitness.relations import at_least, compare, duplicate, isolated, multiple, permute, relation, same

price = isolated("prices:price")


def one_by_one(order: dict[str, Any]) -> dict[str, Any]:
    """The same goods, each piece on a line of its own."""
    items = [{**item, "quantity": 1} for item in order["items"] for _ in range(item["quantity"])]
    return {**order, "items": items}


@relation(corpus="orders.jsonl", at_least=6)
def test_the_order_of_lines_means_nothing(order: dict[str, Any]) -> None:
    compare(price, order, permute("items"), same())


@relation(corpus="orders.jsonl", at_least=6)
def test_pieces_can_be_listed_one_by_one(order: dict[str, Any]) -> None:
    compare(price, order, one_by_one, same())


@relation(corpus="orders.jsonl", at_least=6)
def test_twice_the_goods_cost_twice_and_earn_no_smaller_discount(order: dict[str, Any]) -> None:
    compare(price, order, duplicate("items"), multiple(2, "goods"))
    compare(price, order, duplicate("items"), at_least("discount"))
