"""What a patch may change without owing, and the trusted run uses all the same: the check after the run."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from linewitness.case import Question
from linewitness.gate import CheckRequest, check
from linewitness.model import Severity
from linewitness.obligation_map import ObligationMap
from tests.support.repos import Content, Link, Repo

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


READS = "def read(path):\n    return open(path).read()\n"
FINDS = (
    "import os\n\n\ndef read(folder):\n"
    "    return [open(os.path.join(folder, name)).read() for name in os.listdir(folder)]\n"
)


def handing(what: str) -> str:
    return (
        "import reading\nimport shop\n\n\ndef test_it():\n"
        f"    assert shop.total([1]) and reading.read({what!r}) is not None\n"
    )


HANDED: Mapping[str, tuple[str, str, dict[str, Content], tuple[str, ...]]] = {
    "a file is changed": (READS, "examples/a.json", {"examples/a.json": "[2]"}, ()),
    "a file of a folder is changed": (FINDS, "examples", {"examples/a.json": "[2]"}, ()),
    "a file is added to a folder": (FINDS, "examples", {"examples/b.json": "[2]"}, ()),
    "a file is taken from a folder": (FINDS, "examples", {}, ("examples/a.json",)),
}


@pytest.mark.parametrize("case", HANDED)
def test_what_a_check_names_and_has_the_product_open_is_the_checks_own_input(tmp_path: Path, case: str) -> None:
    product, what, patch, removed = HANDED[case]
    base: Mapping[str, Content] = {
        "reading.py": product,
        "examples/a.json": "[1]",
        "examples/z.json": "[1]",
        "tests/trusted/test_it.py": handing(what),
    }

    artifact = judge(tmp_path, base, patch, *removed)
    assert told(artifact) == closed_by(*patch, *removed)
    assert "names it" in artifact.findings[0].message


def test_data_among_the_tests_is_no_product_data_even_when_nobody_names_it(tmp_path: Path) -> None:
    base: Mapping[str, Content] = {
        "reading.py": READS,
        "tests/data/case_1.json": "[1]",
        "tests/trusted/test_it.py": handing("x").replace("'x'", "'/'.join(['tests', 'da' + 'ta', f'case_{1}.json'])"),
    }

    assert told(judge(tmp_path, base, {"tests/data/case_1.json": "[2]"})) == closed_by("tests/data/case_1.json")


def test_what_the_product_opens_and_no_check_names_is_the_products_own_data(tmp_path: Path) -> None:
    base: Mapping[str, Content] = {
        "reading.py": "def read():\n    return open('examples/a.json').read()\n",
        "examples/a.json": "[1]",
        "tests/trusted/test_it.py": "import reading\nimport shop\n\n\ndef test_it():\n"
        "    assert shop.total([1]) and reading.read()\n",
    }

    assert told(judge(tmp_path, base, {"examples/a.json": "[2]"})) == []


def test_data_inside_of_the_product_that_a_check_names_is_a_warning(tmp_path: Path) -> None:
    """A new rate belongs to the product, although a check names the file that holds it."""
    base: Mapping[str, Content] = {
        "reading/__init__.py": READS,
        "reading/data/a.json": "[1]",
        "tests/trusted/test_it.py": handing("reading/data/a.json"),
    }

    artifact = judge(tmp_path, base, {"reading/data/a.json": "[2]"})
    assert (artifact.exit, told(artifact)) == (0, [("LW302", "reading/data/a.json", Severity.WARNING)])


@pytest.mark.parametrize("link", ["tests/trusted/data", "tests/trusted/data/a.json"], ids=["folder", "file"])
def test_what_a_check_opens_through_a_link_is_known_by_the_file_behind_it(tmp_path: Path, link: str) -> None:
    behind = "shared" if link.endswith("data") else "shared/a.json"
    base: Mapping[str, Content] = {
        "shared/a.json": "[1]",
        link: Link("../" * link.count("/") + behind),
        "tests/trusted/test_it.py": "from pathlib import Path\n\nimport shop\n\n\ndef test_it():\n"
        "    assert shop.total([1]) and Path(__file__).with_name('data').joinpath('a.json').read_text()\n",
    }

    assert told(judge(tmp_path, base, {"shared/a.json": "[2]"})) == closed_by("shared/a.json")


SAME = "def same(a, b):\n    return a == b\n"
SLOPPY = "def same(a, b):\n    found = (a, b)\n    return bool(found)\n"


@pytest.mark.parametrize("path", ["tests/helping.py", "shop_tests/tests/helping.py", "testing/helping.py"])
def test_a_helper_among_the_tests_that_a_check_imports_closes_the_gate_although_its_lines_run(
    tmp_path: Path, path: str
) -> None:
    module = path.removesuffix(".py").replace("/", ".")
    packages = {f"{folder}/__init__.py": "" for folder in {path.partition("/")[0], path.rpartition("/")[0]}}
    base: Mapping[str, Content] = {
        **packages,
        path: SAME,
        "tests/trusted/test_shop.py": f"from {module} import same\nfrom shop import total\n\n\n"
        "def test_total():\n    assert same(total([1, 2]), 3)\n",
    }

    assert told(judge(tmp_path, base, {path: SLOPPY})) == closed_by(path)


def test_a_package_of_the_product_that_is_called_testing_owes_like_any_other(tmp_path: Path) -> None:
    base: Mapping[str, Content] = {
        "kit/__init__.py": "",
        "kit/testing/__init__.py": SAME,
        "tests/trusted/test_shop.py": "from kit.testing import same\nfrom shop import total\n\n\n"
        "def test_total():\n    assert same(total([1, 2]), 3)\n",
    }

    artifact = judge(tmp_path, base, {"kit/testing/__init__.py": SLOPPY})
    assert (artifact.exit, told(artifact)) == (0, [])


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
