"""The tree that a merge would produce, whatever the clone's settings say about merging."""

from __future__ import annotations

from pathlib import Path

import pytest

from linewitness.errors import PatchError
from linewitness.patch.merging import merged
from linewitness.patch.repository import Repository
from tests.support.repos import Repo

LINES = {"a.txt": "one\ntwo\nthree\nfour\nfive\n"}


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    """``topic`` was cut from main's first commit; both went on."""
    repo = Repo(tmp_path / "repo")
    repo.commit("first", LINES)
    repo.git("branch", "topic")
    return repo


def go_on(repo: Repo, main: dict[str, str], topic: dict[str, str]) -> None:
    repo.commit("on main", main)
    repo.git("checkout", "-q", "topic")
    repo.commit("on topic", topic)


def tree_of(repo: Repo, onto: str = "main", head: str = "topic") -> str:
    with Repository(repo.root) as repository:
        return merged(repository, repository.resolve(onto), repository.resolve(head)).tree


def test_the_tree_is_the_one_that_git_merge_makes(repo: Repo) -> None:
    go_on(repo, {"a.txt": "ONE\ntwo\nthree\nfour\nfive\n"}, {"a.txt": "one\ntwo\nthree\nfour\nFIVE\n", "b.txt": "b\n"})
    found = tree_of(repo)
    repo.git("checkout", "-q", "main")
    repo.git("merge", "-q", "--no-ff", "-m", "merge", "topic")
    assert found == repo.tree()


def test_a_head_that_only_adds_is_itself(repo: Repo) -> None:
    repo.git("checkout", "-q", "topic")
    head = repo.commit("on topic", {"b.txt": "b\n"})
    with Repository(repo.root) as repository:
        assert merged(repository, repository.resolve("main"), repository.resolve("topic")).commit == head


def test_a_head_that_is_merged_already_changes_nothing(repo: Repo) -> None:
    repo.commit("on main", {"b.txt": "b\n"})
    assert tree_of(repo) == repo.tree("main")


def test_a_conflict_is_refused_and_names_its_files(repo: Repo) -> None:
    go_on(repo, {"a.txt": "main\n", "né w.txt": "1\n"}, {"a.txt": "topic\n", "né w.txt": "2\n"})
    with pytest.raises(PatchError, match=r"conflicts in a\.txt, né w\.txt"):
        tree_of(repo)


def test_a_file_that_one_side_deleted_and_the_other_changed_is_a_conflict(repo: Repo) -> None:
    repo.remove("a.txt")
    go_on(repo, {}, {"a.txt": "topic\n"})
    with pytest.raises(PatchError, match=r"conflicts in a\.txt"):
        tree_of(repo)


@pytest.mark.parametrize("attribute", ["merge=union", "merge=ours", "merge=evil", "-merge", "binary"])
@pytest.mark.parametrize("place", ["tree", "clone"])
def test_no_attribute_decides_how_files_are_merged(repo: Repo, attribute: str, place: str, tmp_path: Path) -> None:
    seen = tmp_path / "driver-ran"
    repo.git("config", "merge.evil.driver", f"touch {seen}; true")
    line = f"* {attribute}\n"
    if place == "tree":
        repo.commit("attributes", {".gitattributes": line})
    else:
        info = repo.root / ".git" / "info"
        info.mkdir(exist_ok=True)
        (info / "attributes").write_text(line, encoding="ascii")
    go_on(repo, {"a.txt": "main\n"}, {"a.txt": "topic\n"})
    with pytest.raises(PatchError, match="conflict"):
        tree_of(repo)
    assert not seen.exists()


@pytest.mark.parametrize("setting", ["merge.renames=false", "merge.directoryRenames=true", "merge.default=union"])
def test_no_setting_decides_how_files_are_merged(repo: Repo, setting: str) -> None:
    repo.git("config", *setting.split("="))
    repo.git("mv", "a.txt", "moved.txt")
    repo.commit_index("moved")
    repo.git("checkout", "-q", "topic")
    repo.commit("on topic", {"a.txt": "ONE\ntwo\nthree\nfour\nfive\n"})
    with Repository(repo.root) as repository:
        tree = merged(repository, repository.resolve("main"), repository.resolve("topic")).tree
        assert [str(path) for path in repository.ls_tree(tree)] == ["moved.txt"]


def test_unrelated_histories_are_refused(repo: Repo) -> None:
    repo.git("checkout", "-q", "--orphan", "other")
    repo.commit("other", {"c.txt": "c\n"})
    with pytest.raises(PatchError, match="no merge base"):
        tree_of(repo, head="other")


def test_nothing_is_written_into_the_repository(repo: Repo) -> None:
    go_on(repo, {"a.txt": "ONE\ntwo\nthree\nfour\nfive\n"}, {"b.txt": "b\n"})
    before = repo.git("count-objects", "-v"), repo.git("status", "--porcelain"), repo.git("for-each-ref")
    tree_of(repo)
    assert (repo.git("count-objects", "-v"), repo.git("status", "--porcelain"), repo.git("for-each-ref")) == before


def test_repositories_with_long_ids_are_merged_too(tmp_path: Path) -> None:
    root = tmp_path / "long"
    root.mkdir()
    repo = Repo(root, init=False)
    repo.git("init", "-q", "--template=", "-b", "main", "--object-format=sha256")
    repo.commit("first", LINES)
    repo.git("branch", "topic")
    go_on(repo, {"c.txt": "c\n"}, {"b.txt": "b\n"})
    assert len(tree_of(repo)) == 64
