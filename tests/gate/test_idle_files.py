"""Big patches: what no check seems to load is not observed, and nothing is lost where that was a wrong guess."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from linewitness import trusted_run
from linewitness.case import Question
from linewitness.evidence.reach import out_of_reach
from linewitness.gate import CheckRequest, check
from linewitness.model import RepoPath
from linewitness.obligation_map import ObligationMap
from tests.support.repos import Repo

AGAIN = "they run again"
TREE = {
    "pkg/__init__.py": "",
    "pkg/near.py": "def near():\n    return 1\n",
    "pkg/far.py": "def far():\n    return 1\n",
    "tests/trusted/test_it.py": "from pkg.near import near\n\n\ndef test_it():\n    assert near() > 0\n",
}


def reached(files: Mapping[str, str]) -> set[RepoPath]:
    tree = {RepoPath(path): text for path, text in {**TREE, **files}.items()}
    checks = [path for path in tree if path.startswith("tests/")]
    return set(tree) - out_of_reach(tree, tree, checks, lambda path: tree[path].encode())


def test_a_file_is_in_reach_when_a_check_or_what_it_loads_says_its_name() -> None:
    assert "pkg/far.py" not in reached({})
    assert {"pkg/near.py", "pkg/__init__.py"} <= reached({})
    assert "pkg/far.py" in reached({"pkg/near.py": "from . import far\n"})
    assert "pkg/far.py" in reached({"pkg/__init__.py": "from .far import far\n"})
    assert "pkg/far/__init__.py" in reached({"pkg/far/__init__.py": "", "pkg/near.py": "import pkg.far\n"})


@pytest.mark.parametrize("finder", ["importlib", "__import__", "pkgutil", "subprocess", "exec", "runpy", "glob"])
def test_everything_is_in_reach_of_code_that_finds_modules_without_their_names(finder: str) -> None:
    assert "pkg/far.py" in reached({"pkg/near.py": f"import x\nx.{finder}(y)\n"})


def judged(tmp_path: Path, check_: str, monkeypatch: pytest.MonkeyPatch) -> tuple[ObligationMap, str]:
    monkeypatch.setattr(trusted_run, "_WORTH_A_GUESS", 1)
    repo = Repo(tmp_path / "repo")
    repo.commit("base", {**TREE, "tests/trusted/test_it.py": check_})
    repo.tag("base")
    repo.commit("head", {f"pkg/{name}.py": f"def {name}():\n    return 2\n" for name in ("near", "far")})
    news: list[str] = []
    return check(CheckRequest(repo.root, Question("base", "HEAD")), news.append), "\n".join(news)


def test_a_file_that_nothing_leads_to_stays_unwitnessed_and_the_checks_run_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    artifact, news = judged(tmp_path, TREE["tests/trusted/test_it.py"], monkeypatch)
    assert {(row.path, row.status) for row in artifact.rows} == {
        ("pkg/near.py", "trusted-hit"),
        ("pkg/far.py", "unwitnessed"),
    }
    assert AGAIN not in news


def test_a_file_that_is_loaded_against_every_sign_is_witnessed_by_a_second_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hidden = (
        "import sys\n\n\ndef test_it():\n    load = sys.modules['import' + 'lib'].__dict__['import' + '_module']\n"
        "    assert load('pkg.' + 'fa' + 'r').__dict__['fa' + 'r']() == 2\n"
    )
    artifact, news = judged(tmp_path, hidden, monkeypatch)
    assert {(row.path, row.status) for row in artifact.rows} == {
        ("pkg/near.py", "unwitnessed"),
        ("pkg/far.py", "trusted-hit"),
    }
    assert AGAIN in news
