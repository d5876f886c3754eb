"""Attacks on relations by the product that they run: it answers so that nothing is compared, or meddles with the judge.

The project and the table's form are those of :mod:`tests.attacks.test_relation_attacks`. Where a trick needs the
product and the relation in one process, the same trick is met by ``isolated`` as well.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.attacks.test_relation_attacks import CHANGED, CORPUS, DRAWN, RELATION, Attack, attack, base, errors, judge
from tests.attacks.test_relation_attacks import manifest as manifest_of
from tests.support.repos import Content

_SHOP = "from app.shop import total\n"
_SUBJECT = 'total = isolated("app.shop:total")\n'


def isolated(relation: str) -> str:
    """The same relation, with its subject in an interpreter of its own."""
    return relation.replace(_SHOP, _SUBJECT).replace("import compare", "import compare, isolated")


AGREES = """\
from linewitness.relations import agrees, base, relation

from app.shop import total


@relation(corpus="orders.jsonl", at_least=3)
def test_order(order):
    agrees(total, base("app.shop:total"), order)
"""
FOLDER = RELATION.replace("orders.jsonl", "samples")
CONSTANT = "def total(order):\n    found = 0\n    return found\n"
EQUAL_TO_ITS_KIND = """\
class Total:
    def __eq__(self, other):
        return isinstance(other, Total)

    __hash__ = object.__hash__


def total(order):
    return Total()
"""
ANSWERS_TWICE = """\
last = []


def total(order):
    if last:
        return last.pop()
    last.append(order["items"][0])
    return last[0]
"""
NEVER_ANSWERS = "def total(order):\n    found = None\n    return found\n"
READS = """\
import json

KNOWN = [sorted(json.loads(line)["items"]) for line in open("tests/relations/corpus/{file}") if line[0] == "{{"]


def total(order):
    return sum(order["items"]) if sorted(order["items"]) in KNOWN else 0
"""
READS_THE_SEED = """\
import os

KIT = os.environ["LINEWITNESS_KIT"]
RUN = [open(os.path.join(KIT, name), "rb").read() for name in sorted(os.listdir(KIT)) if name.endswith({suffix!r})]


def total(order):
    return sum(order["items"])
"""
IN_PROCESS = """\
import sys


def total(order):
    tally = sys.modules["_linewitness.relations.tally"]
    laws = sys.modules["_linewitness.relations.comparisons"]
    {trick}
    return order["items"][0]
"""
IMPORTS_OF_BASE = """\
import os

os.environ["PYTHONPATH"] = os.path.join(os.path.dirname(os.path.abspath(__file__)), "site")


def total(order):
    return order["items"][0]
"""
FIRST_ONLY = "import builtins\n\nbuiltins.sum = lambda items: list(items)[0]\n"
WRITES_TO_BASE = """\
import glob
import os


def total(order):
    above = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    for path in glob.glob(os.path.join(above, "base", "**", "shop.py"), recursive=True):
        with open(path, "w") as stream:
            stream.write("def total(order):\\n    return order['items'][0]\\n")
    return order["items"][0]
"""


def folder(files: dict[str, str], listed: dict[str, str] | None = None) -> dict[str, Content]:
    """A project whose corpus is a folder with these files."""
    project = {path: text for path, text in base(FOLDER).items() if not path.startswith(CORPUS)}
    named = {f"samples/{name}": text for name, text in files.items()}
    return {
        **project,
        **{f"{CORPUS}/{name}": text for name, text in named.items()},
        f"{CORPUS}/MANIFEST.sha256": manifest_of(**(named if listed is None else listed)),
    }


def patched(trick: str, status: int = 3, codes: str = "LW505", relation: str = RELATION) -> Attack:
    return attack(status, codes, {"app/shop.py": IN_PROCESS.format(trick=trick)}, base(relation))


def product(source: str, status: int, codes: str, relation: str = RELATION) -> Attack:
    return attack(status, codes, {"app/shop.py": source}, base(relation))


SKIPS_FREE_ONES = RELATION.replace("import compare", "import compare, not_applicable").replace(
    "    compare(", '    if total(order) is None:\n        not_applicable("free")\n    compare('
)
CHEATS = {
    "an empty folder, and a manifest of nothing": attack(5, "LW401 LW402", at_base=folder({".keep": ""}, {})),
    "a folder of one case in many copies": attack(
        1, "LW403 LW101", at_base=folder(dict.fromkeys(("a.json", "b.json", "c.json"), '{"items": [3, 1, 2]}'))
    ),
    "a manifest that lists fewer files": attack(5, "LW301 LW402", {f"{CORPUS}/MANIFEST.sha256": "# nothing\n"}),
    "the product leaves every case out": product(NEVER_ANSWERS, 1, "LW403 LW101", SKIPS_FREE_ONES),
    "the product decides that nothing is asserted": product(
        CONSTANT, 1, "LW403 LW101", RELATION.replace("    compare(", "    if total(order):\n        compare(")
    ),
    "a constant": product(CONSTANT, 1, "LW403 LW101"),
    "a constant, isolated": product(CONSTANT, 1, "LW403 LW101", isolated(RELATION)),
    "a result that is equal to all of its kind": product(EQUAL_TO_ITS_KIND, 1, "LW403 LW101"),
    "cases that the transformation leaves alone": attack(
        1, "LW403 LW101", at_base=base(orders__jsonl="".join(f'{{"items": [{n}, {n}]}}\n' for n in range(9)))
    ),
    "a relation over other code": attack(1, "LW101", {"app/other.py": "def other():\n    return 1\n"}),
    "the second call gives what the first one gave": product(ANSWERS_TWICE, 3, "LW501"),
    "the same, isolated": product(ANSWERS_TWICE, 3, "LW501", isolated(RELATION)),
    "the product reads the corpus": product(READS.format(file="orders.jsonl"), 3, "LW501", isolated(RELATION)),
    "the product reads the manifest": product(READS.format(file="MANIFEST.sha256"), 3, "LW501", isolated(RELATION)),
    "the product reads the corpus in one process": product(READS.format(file="orders.jsonl"), 5, "LW501 LW302", DRAWN),
    "the product reads the seed": product(READS_THE_SEED.format(suffix=".json"), 3, "LW501", isolated(DRAWN)),
    "the product reads the seed elsewhere": product(READS_THE_SEED.format(suffix=".bin"), 3, "LW501", isolated(DRAWN)),
    "the product replaces what settles": patched("laws._settle = lambda *_: tally.reached()"),
    "the product replaces it and puts it back": patched(
        "old = laws._settle; laws._settle = lambda *_: (tally.reached(), setattr(laws, '_settle', old))"
    ),
    "the product replaces the code that settles": patched("laws._settle.__code__ = (lambda *_: None).__code__"),
    "the product chooses the seed": patched("tally.Tally.current.surroundings = tally.Surroundings(seed=1)"),
    "the product chooses base": patched(
        "now = tally.Tally.current; now.surroundings = now.world._replace(base=now.world.base._replace(root='.'))",
        relation=AGREES,
    ),
    "base starts with what the product put into the environment": attack(
        3, "LW501", {"app/shop.py": IMPORTS_OF_BASE}, {**base(AGREES), "app/site/sitecustomize.py": FIRST_ONLY}
    ),
    "a sitecustomize of the patch's own": attack(
        5, "LW301", {"sitecustomize.py": FIRST_ONLY}, base(isolated(RELATION))
    ),
    "the product writes into the base tree": product(WRITES_TO_BASE, 3, "LW501", AGREES),
    "the patch sets the seed": attack(5, "LW301", {"pytest.ini": "[pytest]\nenv = LINEWITNESS_SEED=1\n"}, base(DRAWN)),
}


@pytest.mark.parametrize("trick", CHEATS)
def test_the_cheat_closes_the_gate(tmp_path: Path, trick: str) -> None:
    wanted = CHEATS[trick]
    artifact = judge(tmp_path, wanted)
    assert artifact.exit == wanted.status, errors(artifact)
    assert wanted.codes <= errors(artifact).keys(), errors(artifact)


@pytest.mark.parametrize(
    "relation", [isolated(RELATION), isolated(DRAWN), AGREES], ids=["isolated", "drawn", "compared with base"]
)
def test_the_honest_patch_opens_it(tmp_path: Path, relation: str) -> None:
    artifact = judge(tmp_path, product(CHANGED, 0, "", relation))
    assert (artifact.exit, artifact.trusted_hit) == (0, 2), errors(artifact)


def test_a_seed_in_the_environment_is_not_the_gates(tmp_path: Path) -> None:
    meddling = "import os\n\nos.environ['LINEWITNESS_SEED'] = '1'\n\n\n" + CHANGED
    artifact = judge(tmp_path, product(meddling, 0, "", DRAWN))
    assert isinstance(artifact.relations, tuple)
    assert artifact.relations[0].seed not in {1, 0}
