"""Code under test that reaches into the modules of trusted tests, so that pytest leaves tests out in silence.

All attacks are one patch: a product module that each trusted module imports meddles with whoever imports it. The
honest twins are trusted modules that do the same to themselves.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from linewitness.model import Severity
from linewitness.obligation_map import ObligationMap
from tests.attacks.shop import SEEN, ask, errors, judge
from tests.support.repos import Content, Repo

REACH = """\
import sys

import pytest


def importer():
    frame = sys._getframe()
    while frame is not None:
        if frame.f_globals.get("__name__", "").rpartition(".")[2].startswith("test_"):
            return frame.f_globals
        frame = frame.f_back
    return {}


"""
TEST = (
    "import app.%s\n\n\ndef test_it():\n    assert app.%s\n\n\n"
    "class TestMore:\n    def test_more(self):\n        assert 1\n"
)
# The product module's name, what it does, and what is said of the trusted module that imports it.
MEDDLING = {
    "hides": ("importer()['__test__'] = False\n", "`__test__` was put into its module"),
    "marks": ("importer()['pytestmark'] = pytest.mark.skip\n", "`pytestmark` was put into its module"),
    "expects": ("importer()['pytestmark'] = [pytest.mark.xfail]\n", "`pytestmark` was put into its module"),
    "plugs": ("importer()['setup_module'] = lambda: pytest.skip('x')\n", "`setup_module` was put into its module"),
}
# The same to a module that has been imported already: test_0_NAME, before this product module is.
LATER = {
    "removes": ("del module.test_it\n", "`test_it` was taken out of its module"),
    "empties": ("module.test_it = None\n", "`test_it` was taken out of its module"),
    "skips": ("module.test_it.pytestmark = [pytest.mark.skip.mark]\n", "`pytestmark` was put on `test_it`"),
    "unclasses": ("module.TestMore.__test__ = False\n", "`__test__` was put on `TestMore`"),
    "marks_class": ("module.TestMore.pytestmark = [pytest.mark.skip.mark]\n", "`pytestmark` was put on `TestMore`"),
}
LATE = "next(m for n, m in list(sys.modules.items()) if n.endswith('test_0_{}'))"


def trusted(kind: str) -> str:
    return f"tests/trusted/{'test_0' if kind in LATER else 'test_1'}_{kind}.py"


@pytest.fixture(scope="module")
def meddled(tmp_path_factory: pytest.TempPathFactory) -> ObligationMap:
    base: dict[str, Content] = {"app/__init__.py": "", "tests/trusted/test_2_sound.py": "def test_sound():\n    pass\n"}
    patch: dict[str, Content] = {"app/reach.py": REACH}
    for kind, (code, _) in (MEDDLING | LATER).items():
        late = f"import sys\n\nimport pytest\n\nmodule = {LATE.format(kind)}\n" if kind in LATER else ""
        patch[f"app/{kind}.py"] = (late or "import pytest\n\nfrom app.reach import importer\n\n") + code
        base |= {trusted(kind): TEST % ((kind, kind) if not late else ("plain", "plain"))}
        base |= {f"app/{kind}.py": ""}
    base |= {"app/plain.py": "", "tests/trusted/test_1_all.py": "".join(f"import app.{kind}\n" for kind in LATER)}
    repo = Repo(tmp_path_factory.mktemp("meddled"))
    first = repo.commit("base", base)
    repo.commit("patch", patch)
    return ask(repo.root, first)


@pytest.mark.parametrize("kind", [*MEDDLING, *LATER])
def test_what_code_under_test_puts_into_a_trusted_module_is_told(meddled: ObligationMap, kind: str) -> None:
    told = {f.message for f in meddled.findings if f.code == "LW505" and f.severity is Severity.ERROR}
    assert meddled.exit == 3
    assert any(text.startswith(f"{trusted(kind)}: {(MEDDLING | LATER)[kind][1]}") for text in told), told


HONEST = {
    "tests/trusted/test_marks.py": "import pytest\n\npytestmark = pytest.mark.filterwarnings('default')\n\n\n"
    "@pytest.mark.skip\ndef test_later():\n    assert 0\n\n\n@pytest.mark.xfail(strict=False)\nclass TestLater:\n"
    "    pytestmark = [pytest.mark.filterwarnings('default')]\n\n    def test_more(self):\n        assert 1\n",
    "tests/trusted/test_helpers.py": "class TestData:\n    __test__ = False\n\n\nclass TestOther:\n    pass\n\n\n"
    "TestOther.__test__ = False\n\n\ndef test_it():\n    assert TestData\n\n\ntest_it.__test__ = True\n",
    "tests/trusted/test_removed.py": "def test_it():\n    assert 0\n\n\ndel test_it\n\n\n"
    "def test_other():\n    assert 1\n",
    "tests/trusted/test_made.py": "def check(n):\n    assert n\n\n\nfor n in (1, 2):\n"
    "    globals()[f'test_{n}'] = lambda n=n: check(n)\nglobals()['pytestmark'] = []\n",
    "tests/trusted/test_texts.py": 'TEXT = """\ndef test_gone():\n    pass\n"""\n\n\ndef test_it():\n    assert TEXT\n',
    "tests/trusted/test_fixture.py": "import pytest\n\n\n@pytest.fixture\ndef test_client():\n    return 1\n\n\n"
    "def test_it(test_client, monkeypatch):\n    monkeypatch.setattr('app.shop.total', sum)\n    assert test_client\n",
    "tests/trusted/test_conditional.py": "import sys\n\n\ndef test_it():\n    assert 1\n\n\nif sys.platform == 'x':\n"
    "    test_it = None\n\n\ndef setup_module():\n    global pytest_state\n    pytest_state = 1\n",
    "tests/trusted/inner/__init__.py": "",
    "tests/trusted/inner/pytest_helpers.py": "X = 1\n",
    "tests/trusted/inner/test_inner.py": "from .pytest_helpers import X\n\n\ndef test_inner():\n    assert X\n",
    "tests/trusted/conftest.py": "import pytest\n\n\n@pytest.hookimpl(tryfirst=True)\n"
    "def pytest_collection_modifyitems(items):\n    for item in items:\n        item.add_marker('all')\n\n\n"
    "def pytest_configure(config):\n    config.addinivalue_line('markers', 'all: all')\n",
}


def test_what_trusted_modules_do_to_themselves_is_their_own_business(tmp_path: Path) -> None:
    artifact = judge(tmp_path, {"app/shop.py": SEEN}, HONEST)
    assert (artifact.exit, errors(artifact)) == (0, {})


def test_types_that_are_run_after_all_are_told(tmp_path: Path) -> None:
    hidden = "from typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    total = sum\n"
    switch = "import typing\n\ntyping.TYPE_CHECKING = True\n\nfrom app.hidden import total\n"
    artifact = judge(tmp_path, {"app/shop.py": switch, "app/hidden.py": hidden})
    assert (artifact.exit, "LW505" in errors(artifact)) == (3, True)
