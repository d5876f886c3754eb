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


def test_cases_that_are_gone_are_pointed_out_while_others_are_left(tmp_path: Path) -> None:
    """A product may have fewer of something; that its own table cuts a check short is for a reviewer to see."""
    base: dict[str, Content] = {"app/shop.py": f"CASES = [([4], 4), ([1, 2], 3)]\n{HONEST}", CHECK: CASES}
    artifact = judge(tmp_path, {"app/shop.py": f"CASES = [([4], 4)]\n{FOUR}"}, base)

    told = [(found.code, found.path) for found in artifact.findings if found.severity is Severity.WARNING]
    assert (artifact.exit, told) == (0, [("LW501", CHECK)])
    assert "test_total[given1-3]" in artifact.findings[0].message


HOST = """\
import sys

import pytest


@pytest.mark.skipif(sys.platform != "win32", reason="for Windows alone")
def test_windows():
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
