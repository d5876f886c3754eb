"""``check --onto``: the gate on what a merge would change, so that the target's newest checks take part."""

from __future__ import annotations

from pathlib import Path

import pytest

from linewitness.case import Question
from linewitness.gate import CheckRequest, check
from linewitness.obligation_map import CommitRef, ObligationMap, encode
from linewitness.patch.repository import Repository
from linewitness.verification import differences, present, unsound
from tests.support.repos import Repo

CALLER = "from shop import half\n\n\ndef test_half():\n    assert half(4) == 2\n"


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    """The branch ``topic`` adds a function; since it was cut, main got a trusted test that calls the function."""
    repo = Repo(tmp_path / "repo")
    other = "from shop import one\n\n\ndef test_one():\n    assert one() == 1\n"
    repo.commit("first", {"shop.py": "def one():\n    return 1\n", "tests/trusted/test_one.py": other})
    repo.git("branch", "topic")
    repo.git("checkout", "-q", "topic")
    repo.commit("half", {"shop.py": "def one():\n    return 1\n\n\ndef half(n):\n    return n // 2\n"})
    repo.git("checkout", "-q", "main")
    return repo


def judge(repo: Repo, question: Question) -> ObligationMap:
    return check(CheckRequest(repo.root, question), lambda _: None)


def test_a_trusted_test_that_came_later_takes_part(repo: Repo) -> None:
    main = repo.commit("a test", {"tests/trusted/test_half.py": CALLER})
    alone = judge(repo, Question("main", "topic"))
    assert (alone.verdict, alone.unwitnessed) == ("closed", 2)
    merged = judge(repo, Question(head="topic", onto="main"))
    assert (merged.verdict, merged.trusted_hit) == ("open", 2)
    assert merged.base.commit == main
    assert merged.head.commit == ""
    topic = repo.git("rev-parse", "topic", "topic^{tree}").split()
    assert merged.merge == CommitRef(*topic)


def test_a_trusted_test_that_came_later_can_fail(repo: Repo) -> None:
    repo.commit("a test", {"tests/trusted/test_half.py": CALLER.replace("== 2", "== 3")})
    artifact = judge(repo, Question(head="topic", onto="main"))
    assert artifact.exit == 3
    assert "LW501" in {row.code for row in artifact.findings}


def test_only_what_the_merge_changes_is_owed(repo: Repo) -> None:
    repo.commit("another module", {"other.py": "x = 1\n"})
    artifact = judge(repo, Question(head="topic", onto="main"))
    assert {row.path for row in artifact.rows} == {"shop.py"}


def test_a_conflict_closes_the_gate_with_status_4(repo: Repo) -> None:
    repo.commit("one, otherwise", {"shop.py": "def two():\n    return 2\n"})
    artifact = judge(repo, Question(head="topic", onto="main"))
    assert (artifact.verdict, artifact.exit) == ("closed", 4)
    assert "conflicts in shop.py" in artifact.findings[0].message


@pytest.mark.parametrize("question", [Question("main", "topic", onto="main"), Question(working_tree=True, onto="main")])
def test_onto_excludes_other_choices_of_base_and_head(repo: Repo, question: Question) -> None:
    artifact = judge(repo, question)
    assert artifact.exit == 2
    assert "--onto" in artifact.findings[0].message


def test_the_map_of_a_merge_can_be_verified(repo: Repo) -> None:
    repo.commit("a test", {"tests/trusted/test_half.py": CALLER})
    artifact = judge(repo, Question(head="topic", onto="main"))
    assert list(unsound(artifact, b"".join(encode(artifact)))) == []
    with Repository(repo.root) as repository:
        assert list(differences(artifact, present(repository, "topic", artifact))) == []
        assert list(differences(artifact, present(repository, "main", artifact)))
