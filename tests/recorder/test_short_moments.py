"""What is exchanged for a moment only is seen where starts of code are: a function that undoes itself has to run."""

from __future__ import annotations

from pathlib import Path

import pytest

from linewitness.evidence.interpreter import Interpreter
from tests.recorder.runs import TESTS, Ran, trusted_run

PRODUCT = """\
%s

kept = %s


def forged(*arguments):
    %s = kept


def attack():
    %s = forged
    return 1
"""
CHECKS = {
    "unittest.TestCase.assertEqual": (
        "import unittest\nimport product\n\n\nclass TestIt(unittest.TestCase):\n    def test_it(self):\n"
        "        found = product.attack()\n        self.assertEqual(found, 2)\n"
    ),
    "pytest.raises": (
        "import contextlib\nimport pytest\nimport product\n\n\ndef test_it():\n    found = product.attack()\n"
        "    with pytest.raises(KeyError) or contextlib.nullcontext():\n        pass\n"
    ),
    "builtins.isinstance": (
        "import product\n\n\ndef test_it():\n    found = product.attack()\n    assert not isinstance(found, str)\n"
    ),
}


def run(folder: Path, python: Interpreter, name: str, *, honest: bool = False) -> Ran:
    home = name.partition(".")[0]
    product = PRODUCT % (f"import {home}", name, name, name)
    if honest:
        product = product.replace(f"    {name} = forged\n", "    forged\n")
    checks = CHECKS[name].replace("(found, 2)", "(found, 1)") if honest else CHECKS[name]
    return trusted_run(folder, python, {"src/product.py": product, TESTS: checks})


@pytest.mark.parametrize("name", ["unittest.TestCase.assertEqual", "pytest.raises", "builtins.isinstance"])
def test_what_undoes_itself_when_it_is_used_is_seen_where_starts_of_code_are(
    tmp_path: Path, python: Interpreter, name: str
) -> None:
    ran = run(tmp_path, python, name)
    if python.version < (3, 12):
        return  # docs/recorder.md says so
    assert "was replaced by code of src/product.py (seen when forged() ran)" in ran.messages
    assert ("LW505" in ran.codes, ran.record.hits) == (True, {})


@pytest.mark.parametrize("name", ["unittest.TestCase.assertEqual", "builtins.isinstance"])
def test_a_product_that_only_keeps_such_a_function_is_left_alone(
    tmp_path: Path, python: Interpreter, name: str
) -> None:
    ran = run(tmp_path, python, name, honest=True)
    assert (ran.messages, ran.saw("return 1")) == ("", {"TestIt::test_it" if "TestIt" in CHECKS[name] else "test_it"})
