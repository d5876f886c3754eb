"""R14: code under test opens the files of the checks to look answers up; and who may open them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from linewitness.model import Severity
from linewitness.obligation_map import ObligationMap
from tests.attacks.shop import Patch, judge
from tests.support.repos import Content

ROOT = "from pathlib import Path\n\nROOT = Path(__file__).parents[1]\n"
TOTAL = "\n\ndef total(prices):\n    %s\n    return sum(prices)\n"
TEST = "tests/trusted/test_shop.py"
SMOKE = "tests/trusted/test_smoke.py"
ANSWERS = "tests/trusted/answers.json"
BESIDE = (
    "import json\nfrom pathlib import Path\n\nfrom app.shop import total\n\n"
    "CASES = json.loads(Path(__file__).with_name('answers.json').read_text())\n\n\n"
    "def test_cases():\n    assert all(total(prices) == wanted for prices, wanted in CASES)\n"
)


def told(artifact: ObligationMap) -> list[tuple[str, str, str]]:
    return [(found.code, found.path, found.severity.value) for found in artifact.findings]


def error(*paths: str) -> list[tuple[str, str, str]]:
    return [("LW302", path, Severity.ERROR.value) for path in paths]


def warning(*paths: str) -> list[tuple[str, str, str]]:
    return [("LW302", path, Severity.WARNING.value) for path in paths]


LOOKED_UP: Mapping[str, str] = {
    "by its name, in a call": ROOT + TOTAL % f"(ROOT / '{TEST}').read_text()",
    "by its name, while it is imported": f"{ROOT}TEXT = (ROOT / '{TEST}').read_text()\n" + TOTAL % "pass",
    "by a name put together": ROOT + TOTAL % "open(str(ROOT) + '/te' + 'sts/trus' + 'ted/test_' + 'shop.py').read()",
    "found in the folder of the checks": ROOT
    + TOTAL % "[each.read_text() for each in (ROOT / 'tests').rglob('test_shop.py')]",
    "by the frame of the caller": "import sys\n" + TOTAL % "open(sys._getframe(1).f_code.co_filename).read()",
    "line by line": "import linecache\nimport sys\n"
    + TOTAL % "linecache.clearcache() or linecache.getline(sys._getframe(1).f_code.co_filename, 5)",
    "in a thread": ROOT.replace("from pathlib", "import threading\nfrom pathlib")
    + TOTAL % f"[(it := threading.Thread(target=(ROOT / '{TEST}').read_text)).start(), it.join()]",
}


@pytest.mark.parametrize("how", LOOKED_UP)
def test_r14_a_trusted_test_that_the_product_opens_by_itself_closes_the_gate(tmp_path: Path, how: str) -> None:
    artifact = judge(tmp_path, {"app/shop.py": LOOKED_UP[how]})
    # what asks for the file of its caller gets that of both checks
    assert artifact.exit == 5
    assert told(artifact) in (error(TEST), error(TEST, SMOKE))


def test_r14_the_data_of_a_check_that_the_product_opens_by_itself_is_told(tmp_path: Path) -> None:
    """The check names the file, so nobody can say for certain that it did not tell the product of it."""
    base: dict[str, Content] = {ANSWERS: "[[[1, 2], 3]]", "tests/trusted/test_cases.py": BESIDE}
    artifact = judge(tmp_path, {"app/shop.py": ROOT + TOTAL % f"(ROOT / '{ANSWERS}').read_text()"}, base)
    assert told(artifact) == warning(ANSWERS)


def test_r14_a_helper_that_is_old_and_told_where_to_look_closes_the_gate(tmp_path: Path) -> None:
    base: dict[str, Content] = {"app/files.py": "def load(path):\n    return open(path).read()\n"}
    patch: Patch = {"app/shop.py": "from app.files import load\n" + TOTAL % f"load('{TEST}')"}
    assert told(judge(tmp_path, patch, base)) == error(TEST)


LOADS = (
    "import sys\n\n\ndef load(path):\n    with open(path) as stream:\n        return stream.read()\n" + TOTAL % "pass"
)
HANDED: Mapping[str, str] = {
    "its own file": "assert shop.load(__file__)",
    "a name": f"assert shop.load('{ANSWERS}')",
    "a path in a variable": "place = Path('tests') / 'trusted' / 'answers.json'\n    assert shop.load(place)",
    "a folder": "import os\n    assert shop.load(os.path.join(FOLDER, 'answers' + '.json'))",
    "a list": "paths = [FOLDER / 'answers.json']\n    assert all(map(shop.load, paths))",
}


@pytest.mark.parametrize("how", HANDED)
def test_a_file_that_a_check_hands_to_the_product_may_be_opened(tmp_path: Path, how: str) -> None:
    check = (
        "from pathlib import Path\n\nfrom app import shop\n\nFOLDER = Path(__file__).parent\n\n\n"
        f"def test_load():\n    {HANDED[how]}\n"
    )
    base: dict[str, Content] = {"tests/trusted/test_load.py": check, ANSWERS: "[]"}
    artifact = judge(tmp_path, {"app/shop.py": LOADS}, base)
    assert (artifact.exit, artifact.findings) == (0, ())


PAGES = """\
import os


class Pages:
    def __init__(self, folder):
        self.folder = folder

    def page(self, name):
        with open(os.path.join(self.folder, name)) as stream:
            return stream.%s


def total(prices):
    return sum(prices)
"""
WALKS = """\
import os


def lint():
    count = 0
    for folder, _, names in os.walk('.'):
        for name in names:
            if name.endswith('.py'):
                with open(os.path.join(folder, name)) as stream:
                    count += len(stream.read())
    return count
"""


def test_a_tool_that_goes_through_the_whole_tree_is_a_warning(tmp_path: Path) -> None:
    check = "from app import lint\n\n\ndef test_lint():\n    assert lint.lint() > 0\n"
    base: dict[str, Content] = {"tests/trusted/test_lint.py": check, "app/lint.py": "def lint():\n    return 1\n"}
    artifact = judge(tmp_path, {"app/lint.py": WALKS}, base)
    assert artifact.exit == 0
    assert told(artifact) == warning(*(f"tests/trusted/test_{name}.py" for name in ("lint", "shop", "smoke")))


def test_a_tool_that_a_check_points_to_the_tree_is_let_be(tmp_path: Path) -> None:
    check = "from app import lint\n\n\ndef test_lint():\n    assert lint.lint('.') > 0\n"
    base: dict[str, Content] = {"tests/trusted/test_lint.py": check, "app/lint.py": "def lint(top):\n    return 1\n"}
    patch: Patch = {"app/lint.py": WALKS.replace("lint()", "lint(top)").replace("'.')", "top)")}
    artifact = judge(tmp_path, patch, base)
    assert (artifact.exit, artifact.findings) == (0, ())


def test_lines_of_a_check_that_a_traceback_shows_are_let_be(tmp_path: Path) -> None:
    shows = "import linecache\nimport traceback\n" + TOTAL % "linecache.clearcache() or traceback.format_stack()"
    artifact = judge(tmp_path, {"app/shop.py": shows})
    assert (artifact.exit, artifact.findings) == (0, ())


def test_data_that_a_fixture_of_a_check_handed_over_is_let_be(tmp_path: Path) -> None:
    base: dict[str, Content] = {
        "tests/trusted/data/page.txt": "3",
        "tests/trusted/conftest.py": "import pytest\nfrom app.shop import Pages\n\n\n@pytest.fixture\ndef pages():\n"
        "    return Pages('tests/trusted/data')\n",
        "tests/trusted/test_pages.py": "def test_page(pages):\n    assert pages.page('page.txt') == '3'\n",
        "app/shop.py": PAGES % "read()",
    }
    artifact = judge(tmp_path, {"app/shop.py": PAGES % "read().strip()"}, base)
    assert (artifact.exit, artifact.findings) == (0, ())


def test_a_product_that_reads_its_own_files_and_settings_is_let_be(tmp_path: Path) -> None:
    reads = ROOT + TOTAL % "(ROOT / 'pyproject.toml').read_text() + (ROOT / 'app/shop.py').read_text()"
    base: dict[str, Content] = {"pyproject.toml": "[tool.app]\nrate = 1\n"}
    artifact = judge(tmp_path, {"app/shop.py": reads}, base)
    assert (artifact.exit, artifact.findings) == (0, ())
