"""Exports that name their tests: drafts of relations and generated tests are left out (LW404)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from linewitness.case import Question
from linewitness.evidence.acceptance import Acceptance
from linewitness.gate import CheckRequest, Exports, check
from linewitness.globs import Globs
from linewitness.mapper import MapRequest, score
from linewitness.model import RepoPath
from linewitness.obligation_map import ObligationMap, Status
from tests.relation_library.projects import told
from tests.support.repos import Repo

RELATION = "tests/relations/test_r.py"
DRAFT = "tests/relations/test_draft.py"
SHOP = "def price(n):\n    return n\n"
CHANGED = "def price(n):\n    return n + 0\n"
TEXT = "from shop import price\n\n\ndef test_it():\n    assert price(1)\n"


def export(*contexts: str) -> str:
    """A report of coverage.py: line 2 ran, in these contexts."""
    told_by = f'"contexts": {json.dumps({"1": [""], "2": list(contexts)})}, ' if contexts else ""
    summary = '{"covered_lines": 2, "num_statements": 2, "missing_lines": 0, "excluded_lines": 0}'
    entry = f'{{"executed_lines": [1, 2], {told_by}"missing_lines": [], "excluded_lines": [], "summary": {summary}}}'
    meta = (
        f'{{"format": 3, "version": "7.10.0", "branch_coverage": false, "show_contexts": {json.dumps(bool(contexts))}}}'
    )
    return f'{{"meta": {meta}, "files": {{"shop.py": {entry}}}, "totals": {summary}}}'


def repository(tmp_path: Path) -> tuple[Repo, str]:
    repo = Repo(tmp_path / "repo")
    base = repo.commit("base", {"shop.py": SHOP, RELATION: TEXT})
    repo.commit("head", {"shop.py": CHANGED})
    return repo, base


def judged(tmp_path: Path, *contexts: str) -> ObligationMap:
    repo, base = repository(tmp_path)
    (tmp_path / "coverage.json").write_text(export(*contexts))
    return check(CheckRequest(repo.root, Question(base), Exports((tmp_path / "coverage.json",))), lambda _: None)


@pytest.mark.parametrize("name", [f"{RELATION}::test_it|run", "tests.relations.test_r.test_it"])
def test_an_accepted_relation_discharges(tmp_path: Path, name: str) -> None:
    artifact = judged(tmp_path, "", name)
    assert (artifact.exit, artifact.rows[0].status) == (0, Status.TRUSTED_HIT), told(artifact)


@pytest.mark.parametrize("name", [f"{DRAFT}::test_it|run", "tests.relations.test_draft.test_it"])
def test_a_draft_discharges_nothing(tmp_path: Path, name: str) -> None:
    artifact = judged(tmp_path, "", name)
    assert (artifact.exit, artifact.rows[0].status) == (1, Status.UNWITNESSED)
    assert [(f.code, f.path) for f in artifact.findings if f.code == "LW404"] == [("LW404", DRAFT)]


def test_a_draft_beside_an_accepted_relation_takes_nothing_away(tmp_path: Path) -> None:
    artifact = judged(tmp_path, "", f"{DRAFT}::test_it|run", f"{RELATION}::test_it|run")
    assert (artifact.exit, artifact.rows[0].witnesses) == (1, (f"{RELATION}::test_it",))
    assert set(told(artifact)) == {"LW404"}


def test_a_generated_test_discharges_nothing(tmp_path: Path) -> None:
    artifact = judged(tmp_path, "", "tests/generated/test_g.py::test_it|run")
    assert (artifact.exit, artifact.rows[0].status) == (1, Status.UNWITNESSED)
    assert set(told(artifact)) == {"LW101"}


@pytest.mark.parametrize("contexts", [(), ("", f"{DRAFT}::test_it|run")])
def test_a_relation_in_the_diff_is_a_draft_for_map(tmp_path: Path, contexts: tuple[str, ...]) -> None:
    repo, base = repository(tmp_path)
    repo.commit("draft", {DRAFT: TEXT})
    (tmp_path / "coverage.json").write_text(export(*contexts))
    diff = repo.run("diff", "--unified=0", base, "HEAD").stdout
    artifact = score(MapRequest(diff, repo.root, Exports((tmp_path / "coverage.json",))))
    assert artifact.exit == 1
    assert DRAFT in {found.path for found in artifact.findings if found.code == "LW404"}


def test_what_a_test_s_name_may_mean() -> None:
    tree = {RepoPath(RELATION), RepoPath("tests/relations/generated/test_g.py")}
    found = Acceptance(Globs(("tests/relations/**",)), Globs(("tests/relations/generated/**",)), tree)
    assert found.draft(f"{RELATION}::TestIt::test_it[a.py::b]") is None
    assert found.draft("tests.relations.test_r.TestIt.test_it") is None
    assert found.draft("tests/trusted/test_t.py::test_it") is None
    assert found.draft("tests/relations/generated/test_x.py::test_it") is None
    assert found.draft("tests/relations/sub/test_x.py::test_it") == "tests/relations/sub/test_x.py"
    assert found.is_generated("tests.relations.generated.test_g.test_it")
    assert not found.is_generated(f"{RELATION}::test_it")
