"""What a patch may change without owing, and the trusted run uses all the same: the check after the run."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from linewitness.case import Question
from linewitness.gate import CheckRequest, check
from linewitness.model import Severity
from linewitness.obligation_map import ObligationMap
from tests.support.repos import Content, Repo

SHOP = "def total(prices):\n    return sum(prices)\n"
REWRITTEN = "def total(prices):\n    found = sum(prices)\n    return found\n"
ORDER_FREE = """\
import json
import pathlib
from shop import total

CORPUS = pathlib.Path(__file__).parents[2] / "corpus"


def test_total_is_order_free():
    for path in sorted(CORPUS.glob("*.json")):
        prices = json.loads(path.read_text())
        assert total(prices) == total(prices[::-1])
    assert total([3]) == 3
"""


def judge(home: Path, base: Mapping[str, Content], patch: Mapping[str, Content], *removed: str) -> ObligationMap:
    repo = Repo(home)
    first = repo.commit("base", {"shop.py": SHOP, **base})
    repo.remove(*removed)
    repo.commit("patch", {"shop.py": REWRITTEN, **patch})
    return check(CheckRequest(home, Question(first)), lambda _: None)


def told(artifact: ObligationMap) -> list[tuple[str, str, Severity]]:
    return [(found.code, found.path, found.severity) for found in artifact.findings]


def closed_by(*paths: str) -> list[tuple[str, str, Severity]]:
    return [("LW302", path, Severity.ERROR) for path in paths]


CORPUS: Mapping[str, Content] = {
    "corpus/a.json": "[1, 2]",
    "corpus/b.json": "[5, 6, 7]",
    "tests/trusted/test_shop.py": ORDER_FREE,
}


def test_a_corpus_that_the_patch_moves_away_closes_the_gate(tmp_path: Path) -> None:
    artifact = judge(tmp_path, CORPUS, {}, "corpus/a.json", "corpus/b.json")

    assert artifact.exit == 5
    # the folder went with its last file, and the check that lists it finds nothing
    assert told(artifact) == closed_by("corpus/a.json", "corpus/b.json")


@pytest.mark.parametrize("name", ["corpus/a.json", "corpus/c.json"])
def test_a_corpus_file_that_the_patch_changes_or_adds_closes_the_gate(tmp_path: Path, name: str) -> None:
    assert told(judge(tmp_path, CORPUS, {name: "[1]"})) == closed_by(name)


def test_a_corpus_that_is_protected_is_the_business_of_its_owners(tmp_path: Path) -> None:
    artifact = judge(tmp_path, {**CORPUS, "linewitness.toml": 'protected = ["corpus/**"]\n'}, {"corpus/a.json": "[1]"})

    assert {code for code, _, _ in told(artifact)} == {"LW301"}


def test_a_corpus_beside_the_patch_does_not_matter(tmp_path: Path) -> None:
    artifact = judge(tmp_path, {**CORPUS, "notes/a.json": "[1]"}, {"notes/a.json": "[2]"})

    assert (artifact.exit, told(artifact)) == (0, [])


TEMPLATE = """\
from pathlib import Path

def page():
    return (Path(__file__).parent / "page.json").read_text()
"""


def test_a_template_that_the_product_reads_may_change_with_its_code(tmp_path: Path) -> None:
    base = {
        "site/__init__.py": TEMPLATE,
        "site/page.json": "<p>",
        "tests/trusted/test_site.py": "import shop\nimport sites\n\n\ndef test_page():\n"
        "    assert shop.total([1]) and '<' in sites.page()\n",
    }
    base = {name.replace("site/", "sites/"): text for name, text in base.items()}

    assert told(judge(tmp_path, base, {"sites/page.json": "<b>"})) == []


@pytest.mark.parametrize("name", ["README.md", "docs/guide.json", "sites/page.json", "pyproject.toml"])
def test_what_a_check_may_be_about_is_a_warning(tmp_path: Path, name: str) -> None:
    check_of_text = f"import shop\n\n\ndef test_it():\n    assert shop.total([1]) and open({name!r}).read()\n"
    base: Mapping[str, Content] = {name: "[1]\n", "sites/__init__.py": "", "tests/trusted/test_it.py": check_of_text}
    artifact = judge(tmp_path, base, {name: "[2]\n"})

    assert artifact.exit == 0
    assert told(artifact) == ([("LW302", name, Severity.WARNING)] if name != "pyproject.toml" else [])


def test_a_generated_helper_that_a_check_imports_closes_the_gate(tmp_path: Path) -> None:
    base: Mapping[str, Content] = {
        "tests/generated/helping.py": "def expected():\n    return 3\n",
        "tests/trusted/test_shop.py": "import sys\n\nsys.path.insert(0, 'tests/generated')\nimport helping\n"
        "from shop import total\n\n\ndef test_total():\n    assert total([1, 2]) == helping.expected()\n",
    }
    artifact = judge(tmp_path, base, {"tests/generated/helping.py": "def expected():\n    return 1 + 2\n"})

    assert (artifact.exit, told(artifact)) == (5, closed_by("tests/generated/helping.py"))


def test_a_helper_outside_of_sources_closes_the_gate_and_one_inside_owes(tmp_path: Path) -> None:
    base: Mapping[str, Content] = {
        "linewitness.toml": 'sources = ["shop.py"]\n',
        "helping.py": "def expected():\n    return 3\n",
        "tests/trusted/test_shop.py": "import helping\nfrom shop import total\n\n\ndef test_total():\n"
        "    assert total([1, 2]) == helping.expected()\n",
    }
    patch = {"helping.py": "def expected():\n    return 1 + 2\n"}

    assert told(judge(tmp_path / "outside", base, patch)) == closed_by("helping.py")
    assert told(judge(tmp_path / "inside", {**base, "linewitness.toml": ""}, patch)) == []


def test_a_fixture_file_that_only_the_product_opens_is_no_finding_although_a_check_names_it(tmp_path: Path) -> None:
    """Nothing tells such a file from a template: the limits page says so."""
    base: Mapping[str, Content] = {
        "reading.py": "def read(path):\n    return open(path).read()\n",
        "examples/a.json": "[1]",
        "tests/trusted/test_it.py": "import reading\nimport shop\n\n\ndef test_it():\n"
        "    assert shop.total([1]) and reading.read('examples/a.json')\n",
    }

    assert told(judge(tmp_path, base, {"examples/a.json": "[2]"})) == []


def test_a_conftest_reads_for_the_checks(tmp_path: Path) -> None:
    base: Mapping[str, Content] = {
        "data/cases.json": "[1]",
        "tests/trusted/conftest.py": "import json\nimport pytest\n\n\n@pytest.fixture\ndef cases():\n"
        "    with open('data/cases.json') as file:\n        return json.load(file)\n",
        "tests/trusted/test_it.py": "import shop\n\n\ndef test_it(cases):\n    assert shop.total(cases) >= 0\n",
    }

    assert told(judge(tmp_path, base, {"data/cases.json": "[0]"})) == closed_by("data/cases.json")


def test_a_source_that_is_rewritten_during_the_run_closes_the_gate(tmp_path: Path) -> None:
    base: Mapping[str, Content] = {
        "tests/trusted/test_it.py": "import shop\n\n\ndef test_it():\n    assert shop.total([1])\n"
    }
    again = REWRITTEN + "open(__file__, 'a').close()\nopen(__file__, 'r+').write('def')\n"
    artifact = judge(tmp_path, base, {"shop.py": again})

    assert ("LW505", "shop.py", Severity.ERROR) in told(artifact)
    assert artifact.trusted_hit == 0
