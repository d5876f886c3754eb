"""Patches that break the product and see to it that the check which would fail does not apply any more.

The check's own text is left alone: the product gives it the reason, and a second check goes on passing, so that every
changed line has a witness. The honest twins are checks that do not apply for reasons of the host, or of base too.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from linewitness.model import Severity
from linewitness.obligation_map import ObligationMap
from tests.attacks.shop import HONEST, SEEN, errors, judge
from tests.support.repos import Content
from tests.support.signing import Key, signed

CHECK = "tests/trusted/test_shop.py"
FOUR = "def total(prices):\n    return 4\n"
ASSERTS = "def test_total():\n    assert shop.total([1, 2]) == 3\n"
SKIPIF = f"import pytest\nfrom app import shop\n\n\n@pytest.mark.skipif(shop.OFF, reason='off')\n{ASSERTS}"
CASES = (
    "import pytest\nfrom app.shop import CASES, total\n\n\n@pytest.mark.parametrize(('given', 'wanted'), CASES)\n"
    "def test_total(given, wanted):\n    assert total(given) == wanted\n"
)
IMPORTS = f"import pytest\n\nshop = pytest.importorskip('app.shop')\n\n\n{ASSERTS}"
LATE = (
    "import pytest\nfrom app import shop\n\n\n@pytest.fixture(autouse=True)\ndef needed():\n    if shop.OFF:\n"
    f"        pytest.skip('off')\n\n\n{ASSERTS}"
)
UNIT = (
    "import unittest\n\nfrom app import shop\n\n\nclass TestShop(unittest.TestCase):\n"
    "    @unittest.skipIf(shop.OFF, 'off')\n    def test_total(self):\n"
    "        self.assertEqual(shop.total([1, 2]), 3)\n"
)
BELOW = f"from app import shop\n\nif not shop.OFF:\n\n    {ASSERTS.replace(chr(10) + ' ', chr(10) + '     ')}"
MADE = (
    "from app import shop\n\nfor name, (given, wanted) in shop.CASES.items():\n\n"
    "    def test(given=given, wanted=wanted):\n        assert shop.total(given) == wanted\n\n"
    "    globals()[f'test_{name}'] = test\n"
)
FORGES = """\
import os

import pytest

NAME = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "tests/trusted/test_shop.py")


def total(prices):
    if len(prices) > 1:
        exec(compile("pytest.skip('later')", NAME, "exec"), {"pytest": pytest})
    return 4
"""
IS_A_SKIP = "import functools\n\nimport pytest\n\nOFF = False\ntotal = functools.partial(pytest.skip, 'later')\n"


def on(condition: str) -> str:
    """The check, left out on this condition."""
    mark = f"@pytest.mark.skipif({condition}, reason='not here')"
    return f"import os\nimport platform\nimport sys\n\nimport pytest\nfrom app import shop\n\n\n{mark}\n{ASSERTS}"


def lying(statement: str) -> str:
    """A product that tells something wrong about the host while it is imported."""
    return f"import os\nimport platform\nimport sys\n\n{statement}\n{FOUR}"


CLASS = (
    "from app import shop\n\n\nclass TestShop(shop.Base):\n    def test_total(self):\n"
    "        assert shop.total([1, 2]) == 3\n"
)
BASE_CLASS = f"class Base:\n    pass\n\n\n{HONEST}"
DECORATED = f"from app import shop\n\n\n@shop.slow\n{ASSERTS}"
SLOW = f"def slow(function):\n    return function\n\n\n{HONEST}"
INHERITS = "from app import shop\n\n\nclass TestShop(shop.Suite):\n    function = staticmethod(shop.total)\n"
SUITE = f"class Suite:\n    def test_total(self):\n        assert total([1, 2]) == 3\n\n\n{HONEST}"


# What the check is, what the product is at base, and what the patch makes of it.
SILENCED: dict[str, tuple[str, str, str | None]] = {
    "a constant in skipif": (SKIPIF, f"OFF = False\n{HONEST}", f"OFF = True\n{FOUR}"),
    "a constant in xfail": (
        SKIPIF.replace("skipif", "xfail"),
        f"OFF = False\n{HONEST}",
        f"OFF = True\n{FOUR}",
    ),
    "a constant that a fixture asks": (LATE, f"OFF = False\n{HONEST}", f"OFF = True\n{FOUR}"),
    "a constant in unittest's skipIf": (UNIT, f"OFF = False\n{HONEST}", f"OFF = True\n{FOUR}"),
    "a table without cases": (CASES, f"CASES = [([1, 2], 3)]\n{HONEST}", f"CASES = []\n{FOUR}"),
    "an import that fails for want of another": (IMPORTS, HONEST, f"import nothing_of_the_kind\n{FOUR}"),
    "a module that is gone": (IMPORTS, HONEST, None),
    "a test below a condition": (BELOW, f"OFF = False\n{HONEST}", f"OFF = True\n{FOUR}"),
    "a test that a table makes": (
        MADE,
        f"CASES = {{'a': ([4], 4), 'b': ([1, 2], 3)}}\n{HONEST}",
        f"CASES = {{'a': ([4], 4)}}\n{FOUR}",
    ),
    "a skip in the check's own name": (SKIPIF, f"OFF = False\n{HONEST}", f"OFF = False\n{FORGES}"),
    "a constant in a condition that is a text": (on("'shop.OFF'"), f"OFF = False\n{HONEST}", f"OFF = True\n{FOUR}"),
    "a platform that is another's": (on("sys.platform == 'win32'"), HONEST, lying("sys.platform = 'win32'")),
    "a platform in a condition that is a text": (
        on("\"sys.platform == 'win32'\""),
        HONEST,
        lying("sys.platform = 'win32'"),
    ),
    "a version that is another's": (on("sys.version_info < (3, 1)"), HONEST, lying("sys.version_info = (3, 0)")),
    "a machine that is another's": (
        on("platform.machine() == 'vax'"),
        HONEST,
        lying("platform.machine = lambda: 'vax'"),
    ),
    "a variable of the environment": (on("os.environ.get('SHOP_OFF')"), HONEST, lying("os.environ['SHOP_OFF'] = '1'")),
    "a variable that is gone": (on("not os.environ.get('PATH')"), HONEST, lying("del os.environ['PATH']")),
    "a module that was not loaded before": (on("'this' in sys.modules"), HONEST, lying("sys.modules['this'] = sys")),
    "a file of the product": (on("os.path.exists('app/off')"), HONEST, lying("open('app/off', 'w').close()")),
    "a library that is hidden": (
        f"import pytest\n\nfrom app import shop\n\npluggy = pytest.importorskip('pluggy')\n\n\n{ASSERTS}",
        HONEST,
        lying("sys.modules['pluggy'] = None"),
    ),
    "a base class that is no test": (CLASS, BASE_CLASS, f"class Base:\n    __test__ = False\n\n\n{FOUR}"),
    "a base class that is made with arguments": (
        CLASS,
        BASE_CLASS,
        f"class Base:\n    def __init__(self):\n        pass\n\n\n{FOUR}",
    ),
    "a decorator that gives no function": (DECORATED, SLOW, f"def slow(function):\n    return 1\n\n\n{FOUR}"),
    "a suite that has lost its tests": (INHERITS, SUITE, f"class Suite:\n    pass\n\n\n{FOUR}"),
    "a function that is a skip itself": (SKIPIF, f"OFF = False\n{HONEST}", IS_A_SKIP),
}


@pytest.mark.parametrize("trick", SILENCED)
def test_a_check_that_passes_with_the_code_of_base_may_not_fall_silent(tmp_path: Path, trick: str) -> None:
    check, before, after = SILENCED[trick]
    base: dict[str, Content] = {"app/shop.py": before, CHECK: check, "app/more.py": "MORE = 2\n"}
    base["tests/trusted/test_smoke.py"] = "def test_smoke():\n    from app.more import MORE\n\n    assert MORE\n"
    artifact = judge(tmp_path, {"app/shop.py": after, "app/more.py": "MORE = 1\n"}, base)

    assert artifact.exit == 3
    told = [found.message for found in artifact.findings if found.code == "LW501" and found.path == CHECK]
    assert any("with base's code it passes" in message for message in told), errors(artifact)


def test_a_class_that_a_helper_derives_from_the_product_may_not_lose_its_tests(tmp_path: Path) -> None:
    helper = "from app import shop\n\n\nclass Mine(shop.Base):\n    pass\n"
    check = CLASS.replace("from app import shop", "import app.shop as shop\nfrom helping import Mine")
    base: dict[str, Content] = {"app/shop.py": BASE_CLASS, "tests/trusted/helping.py": helper}
    base[CHECK] = check.replace("shop.Base", "Mine")
    artifact = judge(tmp_path, {"app/shop.py": f"class Base:\n    __test__ = False\n\n\n{FOUR}"}, base)
    assert "with base's code it passes, with the patch's it is gone" in errors(artifact)["LW501"]


def test_cases_that_are_gone_are_pointed_out_while_others_are_left(tmp_path: Path) -> None:
    """A product may have fewer of something; that its own table cuts a check short is for a reviewer to see."""
    base: dict[str, Content] = {"app/shop.py": f"CASES = [([4], 4), ([1, 2], 3)]\n{HONEST}", CHECK: CASES}
    artifact = judge(tmp_path, {"app/shop.py": f"CASES = [([4], 4)]\n{FOUR}"}, base)

    told = [(found.code, found.path) for found in artifact.findings if found.severity is Severity.WARNING]
    assert (artifact.exit, told) == (0, [("LW501", CHECK)])
    assert "test_total[given1-3]" in artifact.findings[0].message


HOST = """\
import os
import platform
import sys

import pytest

WINDOWS = sys.platform == "win32"


@pytest.mark.skipif(sys.platform != "win32", reason="for Windows alone")
def test_windows():
    assert 0


@pytest.mark.skipif("sys.platform != 'win32'", reason="for Windows alone")
def test_windows_in_words():
    assert 0


@pytest.mark.skipif(not WINDOWS, reason="for Windows alone")
def test_windows_by_name():
    assert 0


@pytest.mark.skipif(sys.version_info[:2] < (9, 9) or platform.machine().startswith("vax"), reason="for later")
def test_later():
    assert 0


@pytest.mark.skipif("SHOP_SERVER" not in os.environ, reason="needs a server")
def test_server():
    assert 0


@pytest.mark.skip
def test_never():
    assert 0


@pytest.mark.xfail
class TestLater:
    def test_more(self):
        assert 0


def test_optional():
    pytest.importorskip("no_such_library")


def test_service():
    pytest.skip("no service here")
"""
HONEST_PATCHES: dict[str, tuple[str, str, str]] = {
    "reasons of the host": (HOST, HONEST, SEEN),
    "a feature that is off at base too": (SKIPIF, f"OFF = True\n{HONEST}", f"OFF = True\n{SEEN}"),
    "one case more": (CASES, f"CASES = [([4], 4)]\n{HONEST}", f"CASES = [([4], 4), ([1, 2], 3)]\n{SEEN}"),
    "a check that starts to apply": (SKIPIF, f"OFF = True\n{FOUR}", f"OFF = False\n{SEEN}"),
}


NOT_FOUND = f"""\
import unittest

from app import shop


class TestData(dict):
    pass


class Mixin:
    def test_more(self):
        assert shop.total([4]) == 4


class TestMixed(Mixin, unittest.TestCase):
    pass


def wrapped():
    def test_inside():
        assert 0

    return test_inside


{ASSERTS}"""
HONEST_PATCHES["what looks like a test and is none"] = (NOT_FOUND, HONEST, SEEN)
HONEST_PATCHES["a class of the product around a test"] = (CLASS, BASE_CLASS, BASE_CLASS.replace(HONEST, SEEN))
HONEST_PATCHES["a decorator of the product"] = (DECORATED, SLOW, SLOW.replace(HONEST, SEEN))


@pytest.mark.parametrize("name", HONEST_PATCHES)
def test_the_honest_twins_open_the_gate(tmp_path: Path, name: str) -> None:
    check, before, after = HONEST_PATCHES[name]
    artifact = judge(tmp_path, {"app/shop.py": after}, {"app/shop.py": before, CHECK: check})
    assert (artifact.exit, errors(artifact)) == (0, {})


def asked(artifact: ObligationMap) -> list[int]:
    return [source.tests.skipped for source in artifact.evidence if source.tests]


def test_what_owners_have_approved_is_theirs_to_silence(tmp_path: Path) -> None:
    from tests.attacks.shop import BASE, ask
    from tests.support.repos import Repo

    key, repo = Key.make(tmp_path / "keys"), Repo(tmp_path / "repo")
    base = repo.commit("base", {**BASE, ".linewitness/approvers": key.line()})
    skipped = BASE[CHECK]
    assert isinstance(skipped, str)
    repo.write({"app/shop.py": SEEN, CHECK: "import pytest\n" + skipped.replace("def ", "@pytest.mark.skip\ndef ")})
    repo.git("add", "-A")
    signed(repo, key)

    artifact = ask(repo.root, base)
    assert (artifact.exit, errors(artifact), asked(artifact)) == (0, {}, [1])


def test_a_base_that_gives_no_answer_is_told(tmp_path: Path) -> None:
    """Nothing that the patch did: whoever reads the report has to look at the check."""
    late = SKIPIF.replace("    assert", "    import os\n    shop.OFF or os._exit(0)\n    assert")
    base: dict[str, Content] = {"app/shop.py": f"OFF = False\n{HONEST}", CHECK: late}
    artifact = judge(tmp_path, {"app/shop.py": f"OFF = True\n{SEEN}"}, base)
    told = [found for found in artifact.findings if "could not be asked" in found.message]
    assert [(found.code, found.path, found.severity) for found in told] == [("LW501", CHECK, Severity.WARNING)]
