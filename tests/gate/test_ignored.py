"""Files that a project leaves out of collection: by its conftest files, its pytest settings, and the suite's."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from linewitness.case import Question
from linewitness.gate import CheckRequest, check
from linewitness.obligation_map import LeftOutRow, ObligationMap
from linewitness.reports.words import evidence_line
from tests.support.repos import Repo

LATER = "tests/trusted/new/test_later.py"
CONFTEST = "tests/trusted/conftest.py"
HOOK = "def pytest_ignore_collect(collection_path):\n    return True if 'later' in collection_path.name else None\n"
# What leaves the file out, and who is told to have done it.
WAYS: dict[str, tuple[Mapping[str, str], str]] = {
    "a list": ({CONFTEST: "collect_ignore = ['new/test_later.py']\n"}, CONFTEST),
    "its folder in a list": ({CONFTEST: "collect_ignore = ['new']\n"}, CONFTEST),
    "a pattern": ({CONFTEST: "collect_ignore_glob = ['*later*']\n"}, CONFTEST),
    "a hook": ({CONFTEST: HOOK}, CONFTEST),
    "a conftest file beside it": ({"tests/trusted/new/conftest.py": HOOK}, "tests/trusted/new/conftest.py"),
    "a conftest file in the root": ({"conftest.py": "collect_ignore = ['tests/trusted/new']\n"}, "conftest.py"),
    "a condition of the host": (
        {CONFTEST: "import sys\ncollect_ignore = []\nif sys.version_info < (9,):\n    collect_ignore += ['new']\n"},
        CONFTEST,
    ),
    "an option of the suite": (
        {"linewitness.toml": f'[[suite]]\nrunner = "pytest"\nargs = ["--ignore={LATER}"]\n'},
        "options",
    ),
    "an option of the project": ({"pytest.ini": f"[pytest]\naddopts = -x --ignore {LATER}\n"}, "options"),
    "a pattern of the project": ({"pytest.ini": "[pytest]\naddopts = --ignore-glob=*/test_later*\n"}, "options"),
}
SUITE = f'[[suite]]\nrunner = "pytest"\npaths = ["tests/trusted/**", "!{LATER}"]\n'


def judged(tmp_path: Path, files: Mapping[str, str]) -> ObligationMap:
    repo = Repo(tmp_path / "repo")
    base = {
        "shop.py": "def one():\n    return 1\n",
        LATER: "def test_later():\n    assert 0\n",
        "tests/trusted/test_one.py": "from shop import one\n\n\ndef test_one():\n    assert one() > 0\n",
        **files,
    }
    repo.commit("base", base)
    repo.tag("base")
    repo.commit("head", {"shop.py": "def one():\n    return 2\n"})
    return check(CheckRequest(repo.root, Question("base", "HEAD")), lambda _: None)


@pytest.mark.parametrize("way", WAYS)
def test_a_file_that_the_project_leaves_out_is_not_collected_and_named(tmp_path: Path, way: str) -> None:
    files, by = WAYS[way]
    artifact = judged(tmp_path, files)
    assert (artifact.exit, artifact.trusted_hit, artifact.findings) == (0, 1, ())
    assert [source.left_out for source in artifact.evidence] == [(LeftOutRow(by, LATER),)]
    assert f", 1 trusted file left out by {by}: {LATER}" in evidence_line(artifact.evidence[0])


def test_a_file_that_nobody_leaves_out_is_collected(tmp_path: Path) -> None:
    artifact = judged(tmp_path, {CONFTEST: "collect_ignore = ['test_late.py']\n"})
    assert (artifact.exit, [row.path for row in artifact.findings]) == (3, [LATER])
    assert "left out" not in evidence_line(artifact.evidence[0])


def test_a_project_that_leaves_everything_out_has_no_check(tmp_path: Path) -> None:
    artifact = judged(tmp_path, {"conftest.py": "collect_ignore = ['tests']\n"})
    assert (artifact.exit, artifact.findings[0].code) == (3, "LW502")


def test_processes_that_share_the_tests_leave_the_same_out(tmp_path: Path) -> None:
    suite = '[[suite]]\nrunner = "pytest"\nplugins = ["xdist"]\nargs = ["-n", "2"]\n'
    artifact = judged(tmp_path, {"linewitness.toml": suite, CONFTEST: "collect_ignore = ['new']\n"})
    assert (artifact.exit, artifact.findings) == (0, ())
    assert [source.left_out for source in artifact.evidence] == [(LeftOutRow(CONFTEST, LATER),)]


def test_the_settings_can_leave_a_file_out_of_the_run(tmp_path: Path) -> None:
    artifact = judged(tmp_path, {"linewitness.toml": SUITE})
    assert (artifact.exit, artifact.trusted_hit, artifact.findings) == (0, 1, ())
