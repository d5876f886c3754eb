"""The files of the demonstration: a shop that adds up orders, and what an agent and a person do to it."""

from __future__ import annotations

from typing import Final

PERSON: Final = {
    "GIT_AUTHOR_NAME": "Demo",
    "GIT_AUTHOR_EMAIL": "demo@example.org",
    "GIT_AUTHOR_DATE": "2026-09-01T09:00:00+00:00",
    "GIT_COMMITTER_NAME": "Demo",
    "GIT_COMMITTER_EMAIL": "demo@example.org",
    "GIT_COMMITTER_DATE": "2026-09-01T09:00:00+00:00",
}
"""Who commits in the demonstration, and when: the same ids on every machine."""

CORPUS: Final = "tests/relations/corpus"

_BILLING: Final = '''\
"""Prices of orders, in cents."""


def total(order):
    """The sum of all items."""
    return sum(item["price"] * item["quantity"] for item in order["items"])
'''

_DISCOUNT: Final = '''\
"""Prices of orders, in cents."""

DISCOUNT_FROM = 100_00


def total(order):
    """The sum of all items, a tenth less from 100.00 on."""
    amount = sum(item["price"] * item["quantity"] for item in order["items"])
    if amount > DISCOUNT_FROM:
        amount -= amount // 10
    return amount
'''

_TRUSTED: Final = """\
from shop.billing import total


def test_a_total_is_the_sum_of_the_items():
    items = [{"price": 250, "quantity": 2}, {"price": 100, "quantity": 1}]

    assert total({"items": items}) == 600
"""

_RELATION: Final = """\
import json
from pathlib import Path

from shop.billing import total

CORPUS = Path(__file__).parent / "corpus" / "orders.jsonl"


def test_the_order_of_the_items_does_not_matter():
    for line in CORPUS.read_text().splitlines():
        order = json.loads(line)
        turned = {"items": order["items"][::-1]}

        assert total(turned) == total(order)
"""

_ORDERS: Final = """\
{"items": [{"price": 120, "quantity": 3}, {"price": 999, "quantity": 1}]}
{"items": [{"price": 5, "quantity": 40}, {"price": 80, "quantity": 2}, {"price": 1, "quantity": 1}]}
"""

_GENERATED: Final = """\
from shop.billing import total


def order_of(cents):
    return {"items": [{"price": cents, "quantity": 1}]}


def test_a_large_order_is_a_tenth_cheaper():
    assert total(order_of(200_00)) == 180_00


def test_an_order_at_the_limit_costs_the_full_price():
    assert total(order_of(100_00)) == 100_00
"""

PERSONS_ASSERTION: Final = """\
def test_an_order_of_exactly_100_gets_the_discount():
    items = [{"price": 100_00, "quantity": 1}]
    assert total({"items": items}) == 90_00
"""

_SETTINGS: Final = """\
target-branch = "main"
trusted = ["tests/trusted/**"]
"""

_IGNORED: Final = """\
/linewitness-map.json
/.coverage
/coverage.json
__pycache__/
"""

PROJECT: Final = {
    ".gitignore": _IGNORED,
    "linewitness.toml": _SETTINGS,
    "shop/__init__.py": "",
    "shop/billing.py": _BILLING,
    "tests/trusted/test_billing.py": _TRUSTED,
    "tests/relations/test_item_order.py": _RELATION,
    f"{CORPUS}/orders.jsonl": _ORDERS,
    "tests/waivers.yaml": "waivers: []\n",
}
"""What is on the target branch at the start."""

PATCH: Final = {"shop/billing.py": _DISCOUNT, "tests/generated/test_discount.py": _GENERATED}
"""The agent's first attempt, with its own tests, which share its mistake."""

PERSONS_CHECK: Final = {"tests/trusted/test_discount.py": f"from shop.billing import total\n\n\n{PERSONS_ASSERTION}"}
"""The check that a person lands on the target branch."""

MENDED: Final = {
    "shop/billing.py": _DISCOUNT.replace("amount > DISCOUNT_FROM", "amount >= DISCOUNT_FROM"),
    "tests/generated/test_discount.py": _GENERATED.replace("costs_the_full_price", "is_cheaper_too").replace(
        "total(order_of(100_00)) == 100_00", "total(order_of(100_00)) == 90_00"
    ),
}
"""The agent's second attempt."""
