"""Files that a project's conftest leaves out of collection."""

from __future__ import annotations

from pathlib import Path

from linewitness.case import Question
from linewitness.gate import CheckRequest, check
from linewitness.obligation_map import ObligationMap
from tests.support.repos import Repo

SUITE = '[[suite]]\nrunner = "pytest"\npaths = ["tests/trusted/**", "!tests/trusted/test_later.py"]\n'


def judged(tmp_path: Path, settings: str) -> ObligationMap:
    repo = Repo(tmp_path / "repo")
    base = {
        "linewitness.toml": settings,
        "shop.py": "def one():\n    return 1\n",
        "tests/trusted/conftest.py": "collect_ignore = ['test_later.py']\n",
        "tests/trusted/test_later.py": "def test_later():\n    assert 0\n",
        "tests/trusted/test_one.py": "from shop import one\n\n\ndef test_one():\n    assert one() > 0\n",
    }
    repo.commit("base", base)
    repo.tag("base")
    repo.commit("head", {"shop.py": "def one():\n    return 2\n"})
    return check(CheckRequest(repo.root, Question("base", "HEAD")), lambda _: None)


def test_every_trusted_file_is_collected_whatever_a_conftest_ignores(tmp_path: Path) -> None:
    artifact = judged(tmp_path, "")
    assert (artifact.exit, [row.path for row in artifact.findings]) == (3, ["tests/trusted/test_later.py"])


def test_the_settings_can_leave_a_file_out_of_the_run(tmp_path: Path) -> None:
    artifact = judged(tmp_path, SUITE)
    assert (artifact.exit, artifact.trusted_hit, artifact.findings) == (0, 1, ())
