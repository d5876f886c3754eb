"""Attacks on corpora and relations: each makes a relation say nothing, or something about other inputs.

The project has a trusted relation over ``orders.jsonl``. A patch changes the product, and tries to get its lines
witnessed without a comparison over the frozen inputs.
"""

from __future__ import annotations

import hashlib
import json
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

import pytest

from linewitness.case import Question
from linewitness.gate import CheckRequest, check
from linewitness.model import Severity
from linewitness.obligation_map import ObligationMap
from tests.support.repos import Content, Link, Repo

_IS_INSTALLED = any(metadata.distributions(name="linewitness"))
CORPUS = "tests/relations/corpus"
ORDERS = [{"items": [3, 1, 2]}, {"items": [5, 8]}, {"items": [9, 9, 1]}]
HONEST = "def total(order):\n    return sum(order['items'])\n"
CHANGED = "def total(order):\n    found = sum(order['items'])\n    return found\n"
BROKEN = "def total(order):\n    found = order['items'][0]\n    return found\n"
RELATION = """\
from linewitness.relations import compare, relation, reverse, same

from app.shop import total


@relation(corpus="orders.jsonl", at_least=3)
def test_order(order):
    compare(total, order, reverse("items"), same())
"""
PLAIN = """\
import json
from pathlib import Path

from app.shop import total

CORPUS = Path(__file__).parent / "corpus"


def test_order():
    for path in sorted(CORPUS.glob("*.jsonl")):
        for line in path.read_text().splitlines():
            order = json.loads(line)
            {guard}
            assert total(order) == total({{"items": order["items"][::-1]}})
"""


def lines(cases: list[dict[str, list[int]]]) -> str:
    return "".join(json.dumps(case) + "\n" for case in cases)


def manifest(**files: str) -> str:
    return "".join(f"{hashlib.sha256(text.encode()).hexdigest()}  {name}\n" for name, text in sorted(files.items()))


def base(relation: str = RELATION, **corpus: str) -> dict[str, Content]:
    files = {name.replace("__", "."): text for name, text in corpus.items()} or {"orders.jsonl": lines(ORDERS)}
    found: dict[str, Content] = {f"{CORPUS}/{name}": text for name, text in files.items()}
    return {
        "app/__init__.py": "",
        "app/shop.py": HONEST,
        "tests/relations/test_order.py": relation,
        f"{CORPUS}/MANIFEST.sha256": manifest(**files),
        **found,
    }


class Attack(NamedTuple):
    """What base has, what the patch brings besides ``app/shop.py``, and how the gate answers."""

    base: dict[str, Content]
    patch: dict[str, Content]
    status: int
    codes: frozenset[str]


def attack(
    status: int, codes: str, patch: dict[str, Content] | None = None, at_base: dict[str, Content] | None = None
) -> Attack:
    return Attack(at_base or base(), {"app/shop.py": CHANGED, **(patch or {})}, status, frozenset(codes.split()))


EASY = lines([{"items": [1]}])
TOLERANT = PLAIN.format(guard="try: total(order)\n            except Exception: continue")
RAISES = "def total(order):\n    raise KeyError('not for this one')\n"
SAYS_NO = (
    "from linewitness.relations import not_applicable\n\n\ndef total(order):\n    not_applicable('not for this one')\n"
)
SKIPS = "import pytest\n\n\ndef total(order):\n    pytest.skip('not for this one')\n"
KNOWS = (
    "KNOWN = {(3, 1, 2): 6, (5, 8): 13, (9, 9, 1): 19, (2, 1, 3): 6, (8, 5): 13, (1, 9, 9): 19}\n\n\n"
    "def total(order):\n    return KNOWN.get(tuple(order['items']), len(KNOWN))\n"
)
DRAWN = """\
from linewitness.relations import compare, relation, reverse, same, seeded

from app.shop import total


def longer(order, source):
    return {"items": [*order["items"], *(source.randrange(10**9) for _ in range(3))]}


@relation(corpus="orders.jsonl", at_least=3)
def test_order(order):
    fresh = seeded(longer)(order)
    compare(total, fresh, reverse("items"), same())
    assert total(fresh) > total(order)
"""
ATTACKS = {
    "M1 a file that the manifest does not list": attack(5, "LW402", at_base={**base(), f"{CORPUS}/extra.jsonl": EASY}),
    "M1 the same, brought by the patch": attack(5, "LW301 LW402", {f"{CORPUS}/extra.jsonl": EASY}),
    "M2 an entry that leads out of the corpus": attack(
        5, "LW401", at_base={**base(), f"{CORPUS}/MANIFEST.sha256": f"{'0' * 64}  ../test_order.py\n"}
    ),
    "M2 an absolute entry": attack(
        5, "LW401", at_base={**base(), f"{CORPUS}/MANIFEST.sha256": f"{'0' * 64}  /etc/hostname\n"}
    ),
    "M3 a link in the place of the corpus file": attack(
        5, "LW401", at_base={**base(), "easy.jsonl": EASY, f"{CORPUS}/orders.jsonl": Link("../../../easy.jsonl")}
    ),
    "M3 a link in the place of the folder": attack(
        5,
        "LW401",
        at_base={
            "app/__init__.py": "",
            "app/shop.py": HONEST,
            "tests/relations/test_order.py": PLAIN.format(guard="pass"),
            CORPUS: Link("../../data"),
            "data/orders.jsonl": EASY,
        },
    ),
    "M4 an empty file": attack(1, "LW403 LW101", at_base=base(orders__jsonl="")),
    "M4 an empty file and a plain loop": attack(
        1, "LW403 LW101", {"app/shop.py": BROKEN}, base(PLAIN.format(guard="pass"), orders__jsonl="")
    ),
    "M4 the files are moved away by the patch": attack(5, "LW301 LW401", {"moved": "y", f"{CORPUS}/orders.jsonl": b""}),
    "M5 a relation that leaves everything out": attack(
        1, "LW403 LW101", at_base=base(PLAIN.format(guard="total(order)\n            continue"))
    ),
    "M5 the same with the library": attack(
        1,
        "LW403 LW101",
        at_base=base(
            RELATION.replace("    compare(", "    total(order)\n    not_applicable('x')\n    compare(").replace(
                "import compare", "import not_applicable, compare"
            )
        ),
    ),
    "M6 one case many times": attack(1, "LW403 LW101", at_base=base(orders__jsonl=lines(ORDERS[:1]) * 50)),
    "M6 one case in many spellings": attack(
        1, "LW403 LW101", at_base=base(orders__jsonl='{"items": [3, 1]}\n{"items":[3,1]}\n{ "items" : [3, 1] }\n')
    ),
    "M7 an exception of the code": attack(3, "LW501", {"app/shop.py": RAISES}),
    "M7 an exception that a plain relation tolerates": attack(
        1, "LW403 LW101", {"app/shop.py": RAISES}, base(TOLERANT)
    ),
    "M7 the code says that the case is not applicable": attack(3, "LW501", {"app/shop.py": SAYS_NO}),
    "M7 the code skips": attack(3, "LW501", {"app/shop.py": SKIPS}),
    "M8 corpus and manifest edited together": attack(
        5, "LW301", {f"{CORPUS}/orders.jsonl": EASY, f"{CORPUS}/MANIFEST.sha256": manifest(**{"orders.jsonl": EASY})}
    ),
    "M9 code that knows the corpus": attack(3, "LW501", {"app/shop.py": KNOWS}, base(DRAWN)),
    "a relation of the patch's own": attack(
        5, "LW301", {"app/shop.py": BROKEN, "tests/relations/test_mine.py": "def test_mine():\n    assert True\n"}
    ),
    "a library of the patch's own": attack(
        # where linewitness is installed for the tests, the package is seen to take its place before anything runs
        5 if _IS_INSTALLED else 3,
        "LW303" if _IS_INSTALLED else "LW501",
        {
            "app/shop.py": BROKEN,
            "linewitness/__init__.py": "",
            "linewitness/relations.py": "compare = reverse = same = lambda *_: None\n"
            "relation = lambda *_, **__: lambda function: lambda: function({'items': [1]})\n",
        },
    ),
}


def judge(home: Path, wanted: Attack) -> ObligationMap:
    repo = Repo(home)
    first = repo.commit("base", wanted.base)
    repo.commit("patch", wanted.patch)
    return check(CheckRequest(home, Question(first)), lambda _: None)


def errors(artifact: ObligationMap) -> dict[str, str]:
    return {found.code: found.message for found in artifact.findings if found.severity is Severity.ERROR}


@pytest.mark.parametrize("trick", ATTACKS)
def test_the_attack_closes_the_gate(tmp_path: Path, trick: str) -> None:
    wanted = ATTACKS[trick]
    artifact = judge(tmp_path, wanted)
    assert artifact.exit == wanted.status, errors(artifact)
    assert wanted.codes <= errors(artifact).keys(), errors(artifact)


@pytest.mark.parametrize("relation", [RELATION, PLAIN.format(guard="pass"), DRAWN], ids=["library", "plain", "drawn"])
def test_the_honest_patch_opens_it(tmp_path: Path, relation: str) -> None:
    artifact = judge(tmp_path, attack(0, "", at_base=base(relation)))
    assert (artifact.exit, artifact.trusted_hit) == (0, 2), errors(artifact)
