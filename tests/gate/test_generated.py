"""Tests that the author of a patch wrote, where the settings call every other test a trusted one."""

from __future__ import annotations

from pathlib import Path

from linewitness.case import Question
from linewitness.gate import CheckRequest, check
from tests.support.repos import Repo


def test_a_generated_test_below_the_trusted_ones_witnesses_nothing(tmp_path: Path) -> None:
    repo = Repo(tmp_path / "repo")
    one = "from shop import one\n\n\ndef test_one():\n    assert one() == 1\n"
    settings = 'trusted = ["tests/**"]\n'
    product = "def one():\n    return 1\n"
    repo.commit("base", {"linewitness.toml": settings, "shop.py": product, "tests/test_one.py": one})
    repo.tag("base")
    two = "from shop import two\n\n\ndef test_two():\n    assert two() == 2\n"
    repo.commit("head", {"shop.py": f"{product}\n\ndef two():\n    return 2\n", "tests/generated/test_two.py": two})
    artifact = check(CheckRequest(repo.root, Question("base", "HEAD")), lambda _: None)
    assert (artifact.verdict, artifact.unwitnessed, artifact.trusted_hit) == ("closed", 2, 0)
