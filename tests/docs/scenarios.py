"""The repositories in which the documentation's commands are run."""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from tests.support.repos import Repo

_TOTAL = "def total(prices):\n    return sum(prices)\n"
_DISCOUNT = """\
def total(prices):
    amount = sum(prices)
    if amount > 100:
        amount -= amount // 10
    return amount
"""
_TEST = "from shop import total\n\n\ndef test_total():\n    assert total([1, 2]) == 3\n"
_GENERATED = "from shop import total\n\n\ndef test_discount():\n    assert total([200]) == 180\n"


def shop(folder: Path) -> Repo:
    """A repository with a test on main, and an agent's branch with a test of its own. ``main`` is checked out."""
    repo = Repo(folder)
    repo.commit("A shop", {"shop.py": _TOTAL, "tests/test_shop.py": _TEST})
    repo.branch("agent/discount")
    repo.commit("A discount", {"shop.py": _DISCOUNT, "tests/generated/test_discount.py": _GENERATED})
    repo.git("checkout", "-q", "main")
    return repo


_PRICE_ORDER = """\
def price_order(order):
    total = sum(item["price"] * item["quantity"] for item in order["items"])
    return dict(order, total=total)
"""
_PRICE_ORDER_WITH_COUPONS = """\
def price_order(order):
    total = sum(item["price"] * item["quantity"] for item in order["items"])
    if order.get("coupon"):
        total -= 500
    return dict(order, total=total, currency="EUR")
"""
_TRUSTED = """\
from src.billing import price_order


def test_a_price_is_the_sum_of_the_items():
    assert price_order({"items": [{"price": 250, "quantity": 2}]})["total"] == 500
"""
# The example of the published article, word for word but for its imports' order.
_RELATION = """\
import json
from pathlib import Path
from src.billing import price_order  # application under test

CORPUS = Path(__file__).parent / "corpus" / "orders.jsonl"

def test_item_permutation_preserves_total():
    for raw in CORPUS.read_text().splitlines():
        order = json.loads(raw)
        items = list(order["items"])
        if len(items) < 2:
            continue
        base = price_order(order)
        flipped = dict(order, items=list(reversed(items)))
        assert price_order(flipped)["total"] == base["total"]
"""
_ORDERS = '{"items": [{"price": 120, "quantity": 3}, {"price": 999, "quantity": 1}]}\n'
_WAIVERS = """\
waivers:
  - path: src/codegen/emit.py
    line_hash: "a1b2c3d4e5f6"
    reason: codegen
    owner: platform-reviewers
    expires: "{expires}"
    note: "Line is emitted by the schema compiler; oracle is the .proto file."
"""
_GENERATED_COUPON = """\
from src.billing import price_order


def test_coupon():
    assert price_order({"items": [], "coupon": "A"})["total"] == -500
"""


def published(folder: Path, expires: str) -> Repo:
    """A repository laid out as in the published article, cloned, with an agent's branch checked out."""
    origin = Repo(folder.with_name(f"{folder.name}-origin"))
    digest = hashlib.sha256(_ORDERS.encode()).hexdigest()
    origin.commit(
        "Billing",
        {
            "pyproject.toml": '[tool.pytest.ini_options]\npythonpath = ["."]\n',
            "src/__init__.py": "",
            "src/billing.py": _PRICE_ORDER,
            "tests/trusted/test_billing.py": _TRUSTED,
            "tests/relations/test_batch_permutation.py": _RELATION,
            "tests/relations/corpus/orders.jsonl": _ORDERS,
            "tests/relations/corpus/MANIFEST.sha256": f"{digest}  orders.jsonl\n",
            "tests/waivers.yaml": _WAIVERS.format(expires=expires),
        },
    )
    repo = origin.clone(folder)
    repo.branch("agent/coupons")
    files = {"src/billing.py": _PRICE_ORDER_WITH_COUPONS, "tests/generated/test_coupon.py": _GENERATED_COUPON}
    repo.commit("Coupons", files)
    return repo


def programs(folder: Path) -> Path:
    """A folder for PATH with what a reader has installed, all of it run by this interpreter."""
    folder.mkdir()
    start = "import sys; from linewitness.cli.__main__ import run; sys.exit(run())"
    for name, options in {
        "linewitness": f'-c "{start}"',
        "pytest": "-m pytest -p no:cacheprovider",
        "python3": "",
    }.items():
        program = folder / name
        program.write_text(f'#!/bin/sh\nexec {os.fspath(sys.executable)} {options} "$@"\n')
        program.chmod(0o755)
    return folder


def _shop(home: Path) -> Path:
    return shop(home / "shop").root


def _prepared_shop(home: Path) -> Path:
    """The same with settings on main, which the agent's branch has already."""
    repo = shop(home / "shop")
    repo.commit("Settings", {"linewitness.toml": 'trusted = ["tests/**", "!tests/generated/**"]\n'})
    repo.git("rebase", "-q", "main", "agent/discount")
    repo.git("checkout", "-q", "main")
    return repo.root


_EXTENDED: Final = f"{_TEST}    assert total([200]) == 180\n"


def _approvals(home: Path) -> Path:
    """A trusted test on main, and an agent's branch that extends it for what it builds. ``main`` is checked out."""
    repo = Repo(home / "shop")
    repo.commit("A shop", {"shop.py": _TOTAL, "tests/trusted/test_shop.py": _TEST})
    repo.branch("agent/discount")
    repo.commit("A discount", {"shop.py": _DISCOUNT, "tests/trusted/test_shop.py": _EXTENDED})
    repo.git("checkout", "-q", "main")
    return repo.root


def _stored_map(folder: Path) -> Path:
    """A folder with a map and nothing else: all that a report is made from."""
    stored = Path(__file__).parents[1] / "fixtures" / "maps" / "coupons.json"
    (folder / "map.json").write_bytes(stored.read_bytes())
    return folder


_SLUGS = "def slug(title: str) -> str:\n    return title.lower()\n"
_NEW_SLUGS = """\
def slug(title: str) -> str:
    words = []
    for word in title.lower().split():
        words.append(word.strip(".,;:!?"))
    return "-".join(words)


def clean_tags(tags: list[str]) -> list[str]:
    found = {slug(tag) for tag in tags}
    return sorted(found)
"""
_SLUGS_TEST = "from slugs import slug\n\n\ndef test_slug():\n    assert slug('') == ''\n"


def _drafts(folder: Path) -> Path:
    """A branch that changes one function and adds one, with a check that hardly runs either."""
    repo = Repo(folder / "blog")
    repo.commit("Slugs", {"slugs.py": _SLUGS, "tests/trusted/test_slugs.py": _SLUGS_TEST})
    repo.branch("agent/tags")
    repo.commit("Tags", {"slugs.py": _NEW_SLUGS})
    return repo.root


PAGES: Final[Mapping[str, Callable[[Path], Path]]] = {
    "docs/agents.md": _shop,
    "docs/approvals.md": _approvals,
    "docs/ci.md": _prepared_shop,
    "docs/doctor.md": _prepared_shop,
    "docs/drafting.md": _drafts,
    "docs/map.md": _stored_map,
    "docs/reports.md": _stored_map,
}
"""Pages all of whose commands are run in one shell, with what makes the folder to run them in."""
