"""Prices of orders, in cents."""

from __future__ import annotations

from typing import Any


def price(order: dict[str, Any]) -> dict[str, int]:
    """Goods, discount and total: ten per cent off, rounded down, from 10000 cents on."""
    goods = 0
    for item in order["items"]:
        goods += item["price"] * item["quantity"]
    discount = 0
    if goods >= 10000:
        discount = goods // 10
    return {"goods": goods, "discount": discount, "total": goods - discount}
