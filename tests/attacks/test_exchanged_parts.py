"""Parts of the harness that code under test exchanges, while tests are collected, for code that no file holds.

A plugin may put its own code there. What has no file, or is a builtin or another part of the harness, nobody wrote to
stand there.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.attacks.shop import BROKEN, SEEN, errors, judge
from tests.support.repos import Content

CASE = (
    "import unittest\n\nfrom app.shop import total\n\n\nclass TestShop(unittest.TestCase):\n"
    "    def test_total(self):\n        self.assertEqual(total([1, 2]), 3)\n"
)
WARNS = (
    "import pytest\n\nfrom app.shop import total\n\n\ndef test_total():\n    with pytest.warns(UserWarning):\n"
    "        total([1, 2])\n"
)


def made(text: str, place: str) -> str:
    """A product that puts a function of this text in a place."""
    module, _, _ = place.rpartition(":")
    target = place.replace(":", ".")
    return f"import {module}\n\nspace = {{}}\nexec({text!r}, space)\n{target} = space['made']\n\n\n{BROKEN}"


IMPORTS = "import _pytest.nodes\nimport _pytest.python\n\n"
NOTHING = "def made(self, *args):\n    return lambda *args, **named: None"
EXCHANGED: dict[str, tuple[str, str, str]] = {
    "what compares for unittest": (
        CASE,
        made(NOTHING, "unittest.case:TestCase._getAssertEqualityFunc"),
        "unittest.case.TestCase._getAssertEqualityFunc was replaced",
    ),
    "what asks whether there was a warning": (
        WARNS,
        made("def made(self, *args):\n    return None", "_pytest.recwarn:WarningsChecker.__exit__"),
        "_pytest.recwarn.WarningsChecker.__exit__ was replaced",
    ),
    "what finds tests": (
        CASE,
        made(
            "def made(self, item, name):\n    return 'total' not in name", "_pytest.python:PyCollector.istestfunction"
        ),
        "_pytest.python.PyCollector.istestfunction was replaced",
    ),
    "what finds tests, by a builtin": (
        CASE,
        f"import _pytest.python\n\n_pytest.python.PyCollector.istestclass = hasattr\n\n\n{BROKEN}",
        "_pytest.python.PyCollector.istestclass was replaced by <built-in function hasattr>",
    ),
    "what sets tests up, by another part": (
        CASE,
        f"{IMPORTS}_pytest.python.Function.setup = _pytest.nodes.Node.teardown\n\n\n{BROKEN}",
        "_pytest.python.Function.setup was replaced",
    ),
}


@pytest.mark.parametrize("trick", EXCHANGED)
def test_what_no_plugin_wrote_may_not_stand_in_the_harness(tmp_path: Path, trick: str) -> None:
    check, patch, told = EXCHANGED[trick]
    base: dict[str, Content] = {"tests/trusted/test_shop.py": check}
    artifact = judge(tmp_path, {"app/shop.py": patch}, base)
    assert artifact.exit == 3
    assert told in errors(artifact)["LW505"]


PLUGIN = """\
import _pytest.python

original = _pytest.python.Function.setup


def setup(self):
    original(self)


_pytest.python.Function.setup = setup
"""


def test_what_people_own_may_change_the_harness(tmp_path: Path) -> None:
    artifact = judge(tmp_path, {"app/shop.py": SEEN}, {"tests/trusted/conftest.py": PLUGIN})
    assert (artifact.exit, errors(artifact)) == (0, {})
