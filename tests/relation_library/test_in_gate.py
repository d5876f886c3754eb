"""Relations as witnesses: what the gate counts, what it drops as vacuous, and what the map says about it."""

from __future__ import annotations

from importlib import metadata
from pathlib import Path

import pytest
from msgspec import UNSET

from linewitness import reports
from linewitness.obligation_map import ObligationMap, RelationRow, Status, decode, encode
from tests.relation_library.projects import BILLING, ORDERS, frozen, judge, lines, project, told
from tests.support.repos import Content

HEAD = "from linewitness.relations import *\nfrom app.billing import price_order\nimport json\nimport pytest\n"
HEAD += "from pathlib import Path\n\nCORPUS = Path(__file__).parent / 'corpus' / 'orders.jsonl'\n\n\n"
NODE = "tests/relations/test_orders.py::test_it"
PATCH: dict[str, Content] = {"app/billing.py": BILLING.replace("    return", "    total += 0\n    return")}
# The example of the published article, word for word but for the package's name.
PUBLISHED = """\
# tests/relations/test_batch_permutation.py — proposed example
import json
from pathlib import Path
from app.billing import price_order  # application under test

CORPUS = Path(__file__).parent / "corpus" / "orders.jsonl"

def test_it():
    for raw in CORPUS.read_text().splitlines():
        order = json.loads(raw)
        items = list(order["items"])
        if len(items) < 2:
            continue
        base = price_order(order)
        flipped = dict(order, items=list(reversed(items)))
        assert price_order(flipped)["total"] == base["total"]
"""


def declared(body: str, at_least: int = 3, corpus: str = "orders.jsonl") -> str:
    return HEAD + f'@relation(corpus="{corpus}", at_least={at_least})\ndef test_it(order):\n    {body}\n'


def looped(body: str, before: str = "") -> str:
    return (
        HEAD
        + f"def test_it():\n    {before or 'pass'}\n    for raw in CORPUS.read_text().splitlines():\n"
        + (f"        order = json.loads(raw)\n        {body}\n")
    )


COMPARED = declared('compare(price_order, order, permute("items"), same("total"))')


def seen(artifact: ObligationMap) -> list[tuple[int, Status]]:
    return [(row.line, row.status) for row in artifact.rows]


def row_of(artifact: ObligationMap) -> RelationRow:
    assert isinstance(artifact.relations, tuple)
    (row,) = artifact.relations
    return row


HIT = [(3, Status.TRUSTED_HIT)]
OPEN = [(3, Status.UNWITNESSED)]


def suite(python_path: str) -> dict[str, Content]:
    return {"linewitness.toml": f'[[suite]]\nrunner = "pytest"\npython = "{python_path}"\n'}


def test_a_relation_of_the_library_witnesses_in_every_interpreter(tmp_path: Path, python_path: str) -> None:
    artifact = judge(tmp_path, {**project(COMPARED), **suite(python_path)}, PATCH)
    assert (artifact.exit, seen(artifact)) == (0, HIT), told(artifact)
    row = row_of(artifact)
    assert (row.node, row.assertions, row.suite) == (NODE, 3, "python")
    assert row.cases is not None
    assert (row.cases.tried, row.cases.checked, row.cases.skipped, row.cases.at_least) == (4, 3, 1, 3)
    assert [corpus.path for corpus in row.corpora] == ["tests/relations/corpus/orders.jsonl"]
    assert isinstance(row.seed, int)
    assert decode(b"".join(encode(artifact))) == artifact


def test_the_published_relation_witnesses_as_it_stands(tmp_path: Path, python_path: str) -> None:
    artifact = judge(tmp_path, {**project(PUBLISHED), **suite(python_path)}, PATCH)
    assert (artifact.exit, seen(artifact)) == (0, HIT), told(artifact)
    row = row_of(artifact)
    assert (row.cases, row.assertions, row.seed, row.vacuous) == (None, 3, UNSET, UNSET)
    assert [corpus.path for corpus in row.corpora] == ["tests/relations/corpus/orders.jsonl"]


VACUOUS = {
    "an empty corpus": (PUBLISHED, [], "its corpus is empty (tests/relations/corpus/orders.jsonl)"),
    "a blank corpus": (
        HEAD + "def test_it():\n    assert CORPUS.read_text() is not price_order({'items': []})\n",
        b"\n \n",
        "its corpus is empty",
    ),
    "every case is skipped": (PUBLISHED, [ORDERS[3]], "no assertion of it was reached"),
    "a loop that leaves out all": (
        looped("price_order(order)\n        continue\n        assert False"),
        ORDERS,
        "no assertion",
    ),
    "no assertion at all": (looped("price_order(order)"), ORDERS, "no assertion of it was reached"),
    "a try that hides the comparison": (
        looped(
            "try:\n            price_order(order)\n            order['no']\n            assert False\n"
            "        except KeyError: pass"
        ),
        ORDERS,
        "no assertion of it was reached",
    ),
    "an empty corpus and an assertion about it": (
        looped("price_order(order)", "assert CORPUS.read_text() == ''; price_order(dict(items=[]))"),
        [],
        "its corpus is empty",
    ),
    "parameters of an empty corpus": (
        HEAD + "@pytest.mark.parametrize('raw', CORPUS.read_text().splitlines())\n"
        "def test_it(raw):\n    assert price_order(json.loads(raw))\n\n\ndef test_other():\n    assert 1\n",
        [],
        "its corpus gave no case to be parametrised with",
    ),
    "a declared relation that leaves out all": (
        declared('price_order(order)\n    not_applicable("no")'),
        ORDERS,
        "it checked 0 distinct cases, and declares at least 3 (4 tried, 4 skipped; skipped: no (4))",
    ),
    "a declared relation without an assertion": (
        declared("price_order(order)"),
        ORDERS,
        "skipped: no assertion was reached (4)",
    ),
    "one case many times": (
        COMPARED,
        [ORDERS[0]] * 40,
        "it checked 1 distinct cases, and declares at least 3 (1 tried, 0 skipped, 39 repeated)",
    ),
    "a declared relation over an empty corpus": (COMPARED, [], "it checked 0 distinct cases, and declares at least 3"),
}


@pytest.mark.parametrize("name", VACUOUS)
def test_a_relation_that_compares_nothing_witnesses_nothing(tmp_path: Path, name: str) -> None:
    relation, cases, why = VACUOUS[name]
    files = project(relation)
    data = cases if isinstance(cases, bytes) else lines(cases)
    artifact = judge(tmp_path, {**files, **frozen({"orders.jsonl": data})}, PATCH)
    assert set(told(artifact)) == {"LW101", "LW403"}, told(artifact)
    assert (artifact.exit, seen(artifact)) == (1, OPEN)
    assert why in " ".join(finding.message for finding in artifact.findings if finding.code == "LW403")


COMPARING = {
    "an assertion": looped("assert price_order(order)['total'] > 0"),
    "an assertion of unittest": HEAD + "import unittest\n\n\nclass TestIt(unittest.TestCase):\n    def test_it(self):\n"
    "        for raw in CORPUS.read_text().splitlines():\n"
    "            self.assertGreater(price_order(json.loads(raw))['total'], 0)\n",
    "an expected exception": looped(
        "del order['items']\n        with pytest.raises(KeyError):\n            price_order(order)\n"
        "        price_order({'items': []})"
    ),
    "an assertion in a helper beside it": "from helper import check\n\n\ndef test_it():\n    check()\n",
    "an assertion in a fixture's helper": HEAD + "@pytest.fixture\ndef check():\n    def inner(order):\n"
    "        assert price_order(order)\n    return inner\n\n\ndef test_it(check):\n"
    "    for raw in CORPUS.read_text().splitlines():\n        check(json.loads(raw))\n",
    "parameters read at import": HEAD + "@pytest.mark.parametrize('raw', CORPUS.read_text().splitlines())\n"
    "def test_it(raw):\n    assert price_order(json.loads(raw))\n",
    "cases in the file itself": HEAD + "def test_it():\n    assert price_order({'items': []})['total'] == 0\n",
    "a future import and a docstring": '"""Doc."""\nfrom __future__ import annotations\n\n'
    + looped("assert price_order(order)"),
}


@pytest.mark.parametrize("name", COMPARING)
def test_a_plain_test_that_compares_something_witnesses(tmp_path: Path, name: str) -> None:
    helper = (
        HEAD
        + "def check():\n    for raw in CORPUS.read_text().splitlines():\n        assert price_order(json.loads(raw))\n"
    )
    artifact = judge(tmp_path, {**project(COMPARING[name]), "tests/relations/helper.py": helper}, PATCH)
    assert (artifact.exit, seen(artifact)) == (0, HIT), told(artifact)


def test_tests_outside_the_relations_are_left_alone(tmp_path: Path) -> None:
    smoke = "from app.billing import price_order\n\n\ndef test_it():\n    price_order({'items': []})\n"
    files = {"pytest.ini": "[pytest]\npythonpath = .\n", "app/__init__.py": "", "app/billing.py": BILLING}
    artifact = judge(tmp_path, {**files, "tests/trusted/test_it.py": smoke}, PATCH)
    assert (artifact.exit, seen(artifact), artifact.relations) == (0, HIT, UNSET)


def test_a_relation_that_fails_has_failed_and_is_not_vacuous(tmp_path: Path) -> None:
    artifact = judge(
        tmp_path, project(declared('compare(price_order, order, shift("items[].price", 1), same("total"))')), PATCH
    )
    assert "LW501" in told(artifact)
    assert "LW403" not in told(artifact)
    assert "does not hold for 4 of 4 cases; the smallest is orders.jsonl:4" in told(artifact)["LW501"]
    assert artifact.exit == 3


def test_a_skipped_relation_is_told_and_witnesses_nothing(tmp_path: Path) -> None:
    other = "from app.billing import price_order\n\n\ndef test_other():\n    assert price_order({'items': []})\n"
    text = HEAD + "@pytest.mark.skip(reason='not on this machine')\ndef test_it():\n    assert price_order({})\n"
    artifact = judge(tmp_path, {**project(text), "tests/trusted/test_other.py": other}, PATCH)
    assert artifact.exit == 0
    (warning,) = [finding for finding in artifact.findings if finding.code == "LW403"]
    assert (warning.severity, warning.path) == ("warning", "tests/relations/test_orders.py")
    assert artifact.rows[0].witnesses == ("tests/trusted/test_other.py::test_other",)


def test_workers_tell_as_well(tmp_path: Path) -> None:
    files = {**project(COMPARED), "tests/relations/test_plain.py": PUBLISHED.replace("test_it", "test_plain")}
    files["linewitness.toml"] = '[[suite]]\nrunner = "pytest"\nplugins = ["xdist"]\nargs = ["-n", "2"]\n'
    artifact = judge(tmp_path, files, PATCH)
    assert (artifact.exit, seen(artifact)) == (0, HIT), told(artifact)
    assert isinstance(artifact.relations, tuple)
    assert [row.node.partition("::")[2] for row in artifact.relations] == ["test_it", "test_plain"]


def test_two_runs_draw_different_seeds(tmp_path: Path) -> None:
    first = row_of(judge(tmp_path / "a", project(COMPARED), PATCH)).seed
    assert first != row_of(judge(tmp_path / "b", project(COMPARED), PATCH)).seed


def test_a_library_that_the_patch_brings_along_does_not_answer(tmp_path: Path) -> None:
    forged = "def relation(corpus, at_least):\n    return lambda function: function\n"
    names = "compare = permute = same = lambda *_: None\n"
    brought = {"linewitness/__init__.py": "", "linewitness/relations.py": forged + names}
    artifact = judge(tmp_path, project(COMPARED), {**PATCH, **brought})
    if any(metadata.distributions(name="linewitness")):
        # where it is installed for the tests, the package is seen to take its place, and nothing is run
        assert {row.code for row in artifact.findings} == {"LW303"}
        return
    assert {(row.path, row.status) for row in artifact.rows if row.path == "app/billing.py"} == {
        ("app/billing.py", Status.TRUSTED_HIT)
    }
    assert {row.path for row in artifact.rows if row.status is Status.UNWITNESSED} <= set(brought)
    assert row_of(artifact).cases is not None


def test_a_project_called_linewitness_is_judged_by_the_plain_rule(tmp_path: Path) -> None:
    """Its own library is what is being judged, so what it counts is not believed."""
    own = "def relation(corpus, at_least):\n    return lambda function: (lambda: function({'items': []}))\n"
    files = {
        **project(
            HEAD.replace("import *", "import relation") + '@relation("orders.jsonl", at_least=9)\n'
            "def test_it(order):\n    price_order(order)\n"
        ),
        "linewitness/__init__.py": "",
        "linewitness/relations.py": own,
    }
    artifact = judge(tmp_path / "a", files, PATCH)
    assert "no assertion of it was reached" in told(artifact)["LW403"]
    files["tests/relations/test_orders.py"] = str(files["tests/relations/test_orders.py"]).replace(
        "    price", "    assert price"
    )
    artifact = judge(tmp_path / "b", files, PATCH)
    assert (artifact.exit, row_of(artifact).cases) == (0, None)


def test_reports_tell_what_relations_did(tmp_path: Path) -> None:
    artifact = judge(tmp_path, {**project(COMPARED), "tests/relations/test_plain.py": PUBLISHED}, PATCH)
    text = b"".join(reports.render(artifact, "text", reports.View())).decode()
    agent = b"".join(reports.render(artifact, "agent", reports.View())).decode()
    assert f"relation: {NODE}: 3 of 4 distinct cases checked, 1 skipped; corpus" in text
    declared_row, plain = [line for line in agent.splitlines() if line.startswith("relation ")]
    assert declared_row.startswith(
        f"relation {NODE}: 3 of 4 distinct cases checked, 1 skipped; corpus tests/relations/corpus/orders.jsonl ("
    )
    assert "; seed " in declared_row
    assert plain.startswith("relation tests/relations/test_plain.py::test_it: 3 assertions reached; corpus ")
