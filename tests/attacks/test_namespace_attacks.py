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


SAME = "def same(a, b):\n    return a == b\n\n\nclass Same:\n    def ask(self, a, b, why=''):\n        return a == b\n"
ASKS = "import helpers\nfrom app.shop import total\n\n\ndef test_total():\n    assert {}(total([1, 2]), 3)\n"
HELPED: dict[str, Content] = {
    "tests/trusted/helpers.py": SAME,
    "tests/trusted/test_shop.py": ASKS.format("helpers.same"),
    "tests/trusted/test_smoke.py": "import helpers\n\n\ndef test_smoke():\n    assert helpers.Same().ask(1, 1)\n",
}
IN_PACKAGE: dict[str, Content] = {
    "tests/__init__.py": "",
    "tests/trusted/__init__.py": "",
    "tests/trusted/helpers.py": SAME,
    "tests/trusted/test_shop.py": ASKS.format("helpers.same").replace("import helpers", "from . import helpers"),
    "tests/trusted/test_smoke.py": "def test_smoke():\n    assert 1\n",
}
FOUR = "\n\ndef total(prices):\n    return 4\n"
DURING = "import sys\n\n\ndef total(prices):\n    helpers = sys.modules['helpers']\n    {}\n    return 4\n"
PLANTS = "import sys\nimport types\n\nplanted = types.ModuleType({!r})\nplanted.same = lambda *_: True\n"
# What the product is, the trusted tests, and what is said of the helper.
REACHED: dict[str, tuple[str, dict[str, Content], str]] = {
    "C12 a module of its own under the helper's name": (
        PLANTS.format("helpers") + "sys.modules['helpers'] = planted\n" + FOUR,
        HELPED,
        "another module stands under its name",
    ),
    "C12 something that is no module": (
        "import sys\n\n\nclass Planted:\n    same = print\n\n\nsys.modules['helpers'] = Planted\n" + FOUR,
        HELPED,
        "another module stands under its name",
    ),
    "C12 a module that says it is the helper's file": (
        PLANTS.format("helpers") + "planted.__file__ = __file__[: -len('app/shop.py')] + 'tests/trusted/helpers.py'\n"
        "sys.modules['helpers'] = planted\n" + FOUR,
        HELPED,
        "`same` was replaced by somebody else",
    ),
    "C12 a helper in a package": (
        PLANTS.format("tests.trusted.helpers") + "sys.modules['tests.trusted.helpers'] = planted\n" + FOUR,
        IN_PACKAGE,
        "another module stands under its name",
    ),
    "C12 a function of the helper, before the tests import it": (
        "import helpers\n\nhelpers.same = lambda *_: True\n" + FOUR,
        {**HELPED, "tests/trusted/test_0.py": "from app import shop\n\n\ndef test_0():\n    assert shop\n"},
        "`same` was replaced by somebody else",
    ),
    "C12 a class of the helper": (
        DURING.format("helpers.Same.ask = lambda *_: True"),
        HELPED,
        "Same.ask was replaced by code of app/shop.py",
    ),
    "C12 the code of a function": (
        DURING.format("helpers.same.__code__ = (lambda *_: True).__code__"),
        HELPED,
        "__code__ of same() was replaced by code of app/shop.py",
    ),
    "C12 code that has no file": (
        DURING.format("helpers.same.__code__ = compile('lambda *_: True', '<x>', 'eval').co_consts[0]"),
        HELPED,
        "__code__ of same() was replaced by code without a file",
    ),
    "C12 default values": (
        DURING.format("helpers.Same.ask.__defaults__ = ('x',)"),
        HELPED,
        "__defaults__ of Same.ask() was replaced",
    ),
    "R19 a class in the place of pytest's": (
        "import pytest\n\n\nclass Any:\n    __init__ = print\n\n    def __eq__(self, _):\n        return True\n\n\n"
        "pytest.approx = Any\n" + FOUR,
        {**HELPED, "tests/trusted/test_shop.py": ASKS.format("__import__('pytest').approx(3).__eq__") + "# 3\n"},
        "pytest.approx was replaced by code of app/shop.py",
    ),
}


@pytest.mark.parametrize("trick", REACHED)
def test_what_code_under_test_does_to_the_helpers_of_trusted_tests_is_told(tmp_path: Path, trick: str) -> None:
    product, tests, said = REACHED[trick]
    artifact = judge(tmp_path, {"app/shop.py": product}, tests)
    told = [found.message for found in artifact.findings if found.code == "LW505"]
    assert artifact.exit == 3
    assert any(said in message for message in told), (told, errors(artifact))


OWN_HELPERS: dict[str, Content] = {
    **HELPED,
    "app/kit.py": "class Base:\n    def ask(self):\n        return 1\n\n\ndef plain(function):\n    return function\n",
    "tests/relations/helpers.py": "# another of the same name\n",
    "tests/trusted/test_more.py": "import helpers\nfrom app import shop\nfrom app.kit import Base, plain\n\n\n"
    "class Mine(Base):\n    pass\n\n\n@plain\ndef helping():\n    return 1\n\n\nalias = shop.total\n\n\n"
    "def test_patched(monkeypatch):\n    monkeypatch.setattr(helpers, 'same', shop.total)\n"
    "    assert helpers.same([1, 2]) == 3\n\n\ndef test_replaced():\n    helpers.same = lambda a, b: a == b\n"
    "    helpers.Same.ask.__code__ = (lambda self, a, b, why='': a == b).__code__\n    assert helpers.same(1, 1)\n"
    "    assert Mine().ask() == helping() == alias([1])\n",
}


def test_what_tests_do_to_their_own_helpers_is_their_business(tmp_path: Path) -> None:
    artifact = judge(tmp_path, {"app/shop.py": SEEN}, OWN_HELPERS)
    assert (artifact.exit, errors(artifact)) == (0, {})


def test_a_product_may_exchange_the_code_of_its_own_functions(tmp_path: Path) -> None:
    lazy = "def swap(function, text):\n    function.__code__ = compile(text, '<lazy>', 'exec').co_consts[0]\n"
    rates = "from app.lazy import swap\n\n\ndef rate():\n    swap(rate, 'def rate(): return 2')\n    return 2\n"
    check = "from app.rates import rate\n\n\ndef test_rate():\n    assert rate() == rate() == 2\n"
    base: dict[str, Content] = {"app/lazy.py": lazy, "app/rates.py": rates, "tests/trusted/test_rate.py": check}
    artifact = judge(tmp_path, {"app/shop.py": SEEN}, base)
    assert (artifact.exit, errors(artifact)) == (0, {})


HALVES = {
    "pytest.ini": "[pytest]\naddopts = --import-mode=importlib\n",
    "tests/trusted/test_one.py": "from app.shop import total\n\n\ndef test_it():\n    assert total([1]) == 1\n",
}
LATER_SKIP = "import pytest\n\npytest.importorskip('not_there')\n\n\ndef test_more():\n    assert 1\n"
LATER_ERROR = "import not_there\n\n\ndef test_more():\n    assert 1\n"


@pytest.mark.parametrize(("text", "code"), [(LATER_SKIP, 0), (LATER_ERROR, 3)])
def test_the_half_of_a_module_that_was_executed_is_no_sign(tmp_path: Path, text: str, code: int) -> None:
    artifact = judge(tmp_path, {"app/shop.py": SEEN}, HALVES | {"tests/trusted/test_more.py": text})
    assert artifact.exit == code
    assert "LW505" not in {finding.code for finding in artifact.findings}
