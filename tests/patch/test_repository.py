from __future__ import annotations

import os
from pathlib import Path

import pytest

from linewitness.errors import PatchError
from linewitness.model import Commit, ObjectId, RepoPath
from linewitness.patch.repository import Repository
from tests.patch.conftest import OpenRepository
from tests.support.repos import Executable, Link, Repo

# ---------------------------------------------------------------- finding the repository


def test_the_top_is_found_from_any_folder(repo: Repo, opened: OpenRepository) -> None:
    repo.commit(files={"a/b/c.py": "x\n"})
    assert opened(repo.root / "a" / "b").root == repo.root


def test_a_bare_repository_is_read_too(repo: Repo, opened: OpenRepository, tmp_path: Path) -> None:
    oid = repo.commit(files={"a.py": "x\n"})
    repo.git("clone", "-q", "--bare", str(repo.root), str(tmp_path / "bare.git"))
    bare = opened(tmp_path / "bare.git")
    assert bare.bare
    assert bare.resolve("main").commit == oid


def test_a_linked_work_tree_is_read_like_the_main_one(repo: Repo, opened: OpenRepository, tmp_path: Path) -> None:
    repo.commit(files={"a.py": "x\n"})
    repo.git("worktree", "add", "-q", str(tmp_path / "linked"), "-b", "side")
    linked = opened(tmp_path / "linked")
    assert linked.root == tmp_path / "linked"
    assert linked.common_dir == repo.root / ".git"


def test_a_folder_outside_of_any_repository_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PatchError, match="not inside of a git repository"):
        Repository(tmp_path)


def test_a_folder_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PatchError, match="not a folder"):
        Repository(tmp_path / "absent")


def test_a_missing_git_is_said(repo: Repo, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(PatchError, match="git was not found"):
        Repository(repo.root)


def test_a_git_in_the_judged_folder_is_not_run(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    repo.write({"git": Executable("#!/bin/sh\ntouch ran\n")})
    monkeypatch.chdir(repo.root)
    monkeypatch.setenv("PATH", f"{os.pathsep}.{os.pathsep}{os.environ['PATH']}")
    with Repository(repo.root):
        pass
    assert not (repo.root / "ran").exists()
    monkeypatch.setenv("PATH", f"{repo.root}{os.pathsep}{os.environ['PATH']}")
    with pytest.raises(PatchError):
        Repository(repo.root)


def test_core_worktree_that_points_elsewhere_is_refused(repo: Repo, tmp_path: Path) -> None:
    repo.commit(files={"a.py": "x\n"})
    (tmp_path / "elsewhere").mkdir()
    repo.git("config", "core.worktree", str(tmp_path / "elsewhere"))
    with pytest.raises(PatchError, match="work tree"):
        Repository(repo.root)


def test_git_s_own_folder_is_not_a_work_tree(repo: Repo) -> None:
    repo.commit(files={"a.py": "x\n"})
    with pytest.raises(PatchError, match="work tree"):
        Repository(repo.root / ".git")


def test_the_environment_of_a_hook_does_not_lead_to_another_repository(
    repo: Repo, opened: OpenRepository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    oid = repo.commit(files={"a.py": "x\n"})
    other = Repo(tmp_path / "other")
    other.commit(files={"b.py": "y\n"})
    monkeypatch.setenv("GIT_DIR", str(other.root / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other.root))
    monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "no-index"))
    monkeypatch.setenv("GIT_OBJECT_DIRECTORY", str(other.root / ".git/objects"))
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "core.bare")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "nonsense")
    assert opened(repo.root).resolve("HEAD").commit == oid


def test_objects_in_quarantine_are_seen_by_a_hook_of_that_repository_only(
    repo: Repo, opened: OpenRepository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo.commit(files={"a.py": "x\n"})
    pushed = Repo(tmp_path / "pushed")
    oid = pushed.commit(files={"b.py": "y\n"})
    inside = repo.root / ".git/objects/tmp_objdir-incoming-1"
    (pushed.root / ".git/objects").rename(inside)
    monkeypatch.setenv("GIT_QUARANTINE_PATH", str(inside))
    assert opened(repo.root).resolve(oid).commit == oid
    inside.rename(tmp_path / "outside")
    monkeypatch.setenv("GIT_QUARANTINE_PATH", str(tmp_path / "outside"))
    with pytest.raises(PatchError, match="names no commit"):
        opened(repo.root).resolve(oid)


def test_nothing_that_the_clone_configures_is_run(repo: Repo, opened: OpenRepository, tmp_path: Path) -> None:
    trap = tmp_path / "trap"
    trap.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    trap.chmod(0o755)
    head = repo.commit(files={"a.py": "x\n"})
    for key in ("core.fsmonitor", "core.sshCommand", "diff.external", "core.pager", "core.editor"):
        repo.git("config", key, str(trap))
    repository = opened(repo.root)
    repository.ls_tree(repository.resolve(head).tree)
    repository.run("ls-files", "--others")
    assert not (tmp_path / "ran").exists()


# ---------------------------------------------------------------- names of commits


def test_names_of_every_kind_resolve(repo: Repo, opened: OpenRepository) -> None:
    first = repo.commit("1", {"a.py": "1\n"})
    repo.git("tag", "-a", "v1", "-m", "annotated")
    second = repo.commit("2", {"a.py": "2\n"})
    repository = opened(repo.root)
    for name in (first, first[:10], "v1", "refs/tags/v1", "HEAD~1", "main^", "v1^{commit}", "@~"):
        assert repository.resolve(name).commit == first, name
    assert repository.resolve("HEAD") == Commit(ObjectId(second), ObjectId(repo.tree()))


@pytest.mark.parametrize(
    "name", ["", "absent", "--help", "-n1", "HEAD:a.py", "HEAD^{tree}", "a..b", "a\nb", "a\0b", "HEAD^{/(}", "\udcff"]
)
def test_what_names_no_commit_is_refused(repo: Repo, opened: OpenRepository, name: str) -> None:
    repo.commit(files={"a.py": "1\n"})
    with pytest.raises(PatchError):
        opened(repo.root).resolve(name)


def test_a_name_that_is_a_branch_and_a_tag_is_refused_and_both_are_named(repo: Repo, opened: OpenRepository) -> None:
    first = repo.commit("1", {"a.py": "1\n"})
    repo.tag("main")
    second = repo.commit("2", {"a.py": "2\n"})
    repository = opened(repo.root)
    with pytest.raises(PatchError, match=r"refs/heads/main.*refs/tags/main"):
        repository.resolve("main")
    with pytest.raises(PatchError, match="ambiguous"):
        repository.resolve("main~0")
    assert repository.resolve("refs/heads/main").commit == second
    assert repository.resolve("refs/tags/main").commit == first


def test_a_name_for_one_commit_in_several_places_is_accepted(repo: Repo, opened: OpenRepository) -> None:
    oid = repo.commit(files={"a.py": "1\n"})
    repo.tag("main")
    assert opened(repo.root).resolve("main").commit == oid


def test_several_names_are_resolved_at_once_as_each_is_alone(repo: Repo, opened: OpenRepository) -> None:
    first = repo.commit("1", {"a.py": "1\n"})
    second = repo.commit("2", {"a.py": "2\n"})
    repo.tag("v1", first)
    repository = opened(repo.root)
    names = ("v1", "main", "HEAD", "HEAD~1", first, "refs/heads/main")
    assert [each.commit for each in repository.resolve_all(*names)] == [first, second, second, first, first, second]
    assert repository.resolve_all() == []
    with pytest.raises(PatchError, match="'nowhere' names no commit"):
        repository.resolve_all("main", "nowhere")


def test_a_branch_named_like_head_is_refused(repo: Repo, opened: OpenRepository) -> None:
    first = repo.commit("1", {"a.py": "1\n"})
    repo.commit("2", {"a.py": "2\n"})
    repo.git("update-ref", "refs/heads/HEAD", first)
    with pytest.raises(PatchError, match="ambiguous"):
        opened(repo.root).resolve("HEAD")


def test_a_branch_named_like_the_beginning_of_an_id_is_refused(repo: Repo, opened: OpenRepository) -> None:
    first = repo.commit("1", {"a.py": "1\n"})
    repo.commit("2", {"a.py": "2\n"})
    repo.branch(first[:8])
    with pytest.raises(PatchError, match="ambiguous"):
        opened(repo.root).resolve(first[:8])


def test_a_ref_named_like_a_full_id_does_not_shadow_the_commit(repo: Repo, opened: OpenRepository) -> None:
    first = repo.commit("1", {"a.py": "1\n"})
    second = repo.commit("2", {"a.py": "2\n"})
    repo.git("update-ref", f"refs/heads/{first}", second)
    assert opened(repo.root).resolve(first).commit == first


# ---------------------------------------------------------------- history


@pytest.mark.parametrize("is_packed", [False, True])
def test_replace_refs_are_refused_and_have_no_effect(repo: Repo, opened: OpenRepository, *, is_packed: bool) -> None:
    first = repo.commit("1", {"a.py": "1\n"})
    second = repo.commit("2", {"a.py": "2\n"})
    tree = repo.tree(first)
    repo.git("replace", first, second)
    if is_packed:
        repo.git("pack-refs", "--all", "--prune")
        assert not list((repo.root / ".git/refs/replace").glob("*"))
    repository = opened(repo.root)
    assert repository.resolve(first).tree == tree
    with pytest.raises(PatchError, match=f"git replace -d {first}"):
        repository.check_trustworthy()


def test_grafts_are_refused_and_have_no_effect(repo: Repo, opened: OpenRepository) -> None:
    first = repo.commit("1", {"a.py": "1\n"})
    second = repo.commit("2", {"a.py": "2\n"})
    (repo.root / ".git/info").mkdir(exist_ok=True)
    (repo.root / ".git/info/grafts").write_text(second + "\n")
    repository = opened(repo.root)
    assert repository.merge_base(repository.resolve(first), repository.resolve(second)).commit == first
    with pytest.raises(PatchError, match="grafts"):
        repository.check_trustworthy()


def test_a_plain_clone_is_trustworthy(repo: Repo, opened: OpenRepository) -> None:
    repo.commit(files={"a.py": "1\n"})
    opened(repo.root).check_trustworthy()


def test_the_merge_base_is_where_the_branch_was_cut(repo: Repo, opened: OpenRepository) -> None:
    fork = repo.commit("fork", {"a.py": "1\n"})
    repo.branch("topic")
    repo.commit("topic", {"b.py": "2\n"})
    repo.git("checkout", "-q", "main")
    repo.commit("main moved on", {"c.py": "3\n"})
    repository = opened(repo.root)
    assert repository.merge_base(repository.resolve("main"), repository.resolve("topic")).commit == fork


def test_a_criss_cross_takes_the_base_that_git_diff_takes(repo: Repo, opened: OpenRepository) -> None:
    repo.commit("root", {"a.py": "1\n"})
    repo.branch("left")
    left = repo.commit("left", {"l.py": "1\n"})
    repo.git("checkout", "-q", "main")
    right = repo.commit("right", {"r.py": "1\n"})
    repo.git("merge", "-q", "--no-edit", left)
    repo.git("checkout", "-q", "left")
    repo.git("merge", "-q", "--no-edit", right)
    repository = opened(repo.root)
    assert len(repo.git("merge-base", "--all", "main", "left").split()) == 2
    chosen = repository.merge_base(repository.resolve("main"), repository.resolve("left"))
    assert chosen.commit == repo.git("merge-base", "main", "left")


def test_unrelated_histories_have_no_merge_base(repo: Repo, opened: OpenRepository) -> None:
    repo.commit("1", {"a.py": "1\n"})
    repo.git("checkout", "-q", "--orphan", "other")
    repo.commit("2", {"b.py": "1\n"})
    repository = opened(repo.root)
    with pytest.raises(PatchError, match="unrelated"):
        repository.merge_base(repository.resolve("main"), repository.resolve("other"))


def test_a_shallow_clone_without_the_merge_base_says_how_to_get_it(
    repo: Repo, opened: OpenRepository, tmp_path: Path
) -> None:
    root = repo.commit("1", {"a.py": "1\n"})
    repo.branch("topic")
    repo.commit("topic", {"b.py": "1\n"})
    repo.git("checkout", "-q", "main")
    repo.commit("2", {"c.py": "1\n"})
    shallow = repo.clone(tmp_path / "shallow", "--depth=1", "--no-single-branch")
    repository = opened(shallow.root)
    with pytest.raises(PatchError, match=r"git fetch --unshallow.*fetch-depth: 0"):
        repository.merge_base(repository.resolve("origin/main"), repository.resolve("origin/topic"))
    with pytest.raises(PatchError, match="git fetch --unshallow"):
        repository.resolve(root)


def test_commits_are_listed_newest_first_with_their_trees(repo: Repo, opened: OpenRepository) -> None:
    base = repo.commit("1", {"a.py": "1\n"})
    middle = repo.commit("2", {"a.py": "2\n"})
    head = repo.commit("3", {"a.py": "3\n"})
    repository = opened(repo.root)
    expected = tuple(Commit(ObjectId(oid), ObjectId(repo.tree(oid))) for oid in (head, middle))
    assert repository.commits(ObjectId(base), ObjectId(head)) == expected
    assert repository.commits(ObjectId(head), ObjectId(head)) == ()


def test_before_the_first_commit_that_is_what_is_said(tmp_path: Path, opened: OpenRepository) -> None:
    repository = opened(Repo(tmp_path / "fresh").root)
    with pytest.raises(PatchError, match="nothing has been committed"):
        repository.resolve("HEAD")
    with pytest.raises(PatchError, match="nothing has been committed"):
        repository.default_base()


def test_the_default_base_is_what_the_remote_calls_its_branch(
    repo: Repo, opened: OpenRepository, tmp_path: Path
) -> None:
    repo.commit(files={"a.py": "1\n"})
    repo.git("branch", "develop")
    clone = repo.clone(tmp_path / "clone")
    repository = opened(clone.root)
    assert repository.default_base() == "refs/remotes/origin/HEAD"
    assert repository.default_base("develop") == "refs/remotes/origin/develop"
    clone.git("remote", "set-head", "origin", "-d")
    assert repository.default_base() == "refs/remotes/origin/main"
    clone.git("remote", "remove", "origin")
    assert repository.default_base() == "refs/heads/main"
    with pytest.raises(PatchError, match="--base"):
        repository.default_base("develop")


def test_without_any_branch_the_error_names_the_option(repo: Repo, opened: OpenRepository) -> None:
    repo.commit(files={"a.py": "1\n"})
    repo.git("branch", "-m", "trunk")
    with pytest.raises(PatchError, match="--base"):
        opened(repo.root).default_base()


# ---------------------------------------------------------------- trees and blobs


def test_a_tree_is_listed_with_modes_and_any_name(repo: Repo, opened: OpenRepository) -> None:
    repo.write({b"caf\xe9 \t\n\"'\\.py": b"1", b"x": Executable("#!"), b"d/l": Link("../x")})
    repo.submodule("sub", "1" * 40)
    repo.commit()
    repository = opened(repo.root)
    listed = repository.ls_tree(repository.resolve("HEAD").tree)
    modes = {name.encode("utf-8", "surrogateescape"): entry.mode for name, entry in listed.items()}
    assert modes == {b"caf\xe9 \t\n\"'\\.py": 0o100644, b"d/l": 0o120000, b"sub": 0o160000, b"x": 0o100755}


def test_a_path_is_found_literally(repo: Repo, opened: OpenRepository) -> None:
    repo.commit(files={"a.py": "1\n", "d/b.py": "2\n", "*.txt": "3\n", ":(top)x": "4\n"})
    repository = opened(repo.root)
    tree = repository.resolve("HEAD").tree
    found = repository.find(tree, RepoPath("d/b.py"))
    assert found
    assert repository.read(found.oid) == b"2\n"
    assert repository.find(tree, RepoPath("*.txt"))
    assert repository.find(tree, RepoPath(":(top)x"))
    assert repository.find(tree, RepoPath("*.py")) is None
    assert repository.find(tree, RepoPath("d")) is None
    assert list(repository.ls_tree(tree, RepoPath("d"))) == ["d/b.py"]


def test_a_missing_object_is_an_error_and_reading_goes_on(repo: Repo, opened: OpenRepository) -> None:
    repo.commit(files={"a.py": "1\n"})
    repository = opened(repo.root)
    with pytest.raises(PatchError, match="not in this repository"):
        repository.read(ObjectId("1" * 40))
    assert repository.read(ObjectId(repo.git("rev-parse", "HEAD:a.py"))) == b"1\n"


@pytest.mark.parametrize("name", ["HEAD", "HEAD:a.py", "1234567", "x\n", ""])
def test_only_full_ids_are_read(repo: Repo, opened: OpenRepository, name: str) -> None:
    repo.commit(files={"a.py": "1\n"})
    with pytest.raises(PatchError, match="not a full object id"):
        opened(repo.root).read(ObjectId(name))


def test_a_tree_is_not_read_as_a_file(repo: Repo, opened: OpenRepository) -> None:
    repo.commit(files={"a.py": "1\n"})
    repository = opened(repo.root)
    with pytest.raises(PatchError, match="is a tree"):
        repository.read(repository.resolve("HEAD").tree)
    assert repository.read(ObjectId(repo.git("rev-parse", "HEAD:a.py"))) == b"1\n"


def test_an_object_with_other_content_than_its_id_says_is_damaged(repo: Repo, opened: OpenRepository) -> None:
    repo.commit(files={"a.py": "1\n", "b.py": "2\n"})
    a, b = (repo.git("rev-parse", f"HEAD:{name}") for name in ("a.py", "b.py"))
    objects = repo.root / ".git/objects"
    target = objects / a[:2] / a[2:]
    target.chmod(0o644)
    target.write_bytes((objects / b[:2] / b[2:]).read_bytes())
    with pytest.raises(PatchError, match="damaged"):
        opened(repo.root).read(ObjectId(a))


def test_a_partial_clone_fetches_nothing_and_says_so(repo: Repo, opened: OpenRepository, tmp_path: Path) -> None:
    repo.commit("1", {"a.py": "1\n"})
    old = repo.git("rev-parse", "HEAD:a.py")
    repo.commit("2", {"a.py": "2\n"})
    repo.git("config", "uploadpack.allowFilter", "true")
    partial = repo.clone(tmp_path / "partial", "--filter=blob:none")
    repository = opened(partial.root)
    with pytest.raises(PatchError, match="without --filter"):
        repository.read(ObjectId(old))
    assert repository.read(ObjectId(partial.git("rev-parse", "HEAD:a.py"))) == b"2\n"
    missing = partial.git("rev-list", "--objects", "--all", "--missing=print")
    assert f"?{old}" in missing


def test_git_s_own_failure_is_reported_while_streaming(repo: Repo, opened: OpenRepository) -> None:
    repo.commit(files={"a.py": "1\n"})
    with pytest.raises(PatchError, match="git diff-tree"), opened(repo.root).stream("diff-tree", "absent") as printed:
        assert printed.read() == b""


def test_a_sha256_repository_is_read(tmp_path: Path, opened: OpenRepository) -> None:
    repo = Repo(tmp_path / "sha256", init=False)
    repo.root.mkdir()
    repo.git("init", "-q", "--object-format=sha256", "-b", "main")
    oid = repo.commit(files={"a.py": "1\n"})
    repository = opened(repo.root)
    assert repository.resolve(oid).commit == oid
    assert repository.read(ObjectId(repo.git("rev-parse", "HEAD:a.py"))) == b"1\n"


def test_a_forgotten_repository_leaves_no_process_and_no_folder(repo: Repo) -> None:
    repo.commit(files={"a.py": "1\n"})
    repository = Repository(repo.root)
    repository.read(ObjectId(repo.git("rev-parse", "HEAD:a.py")))
    scratch = repository.scratch()
    repository.read(ObjectId(repo.git("rev-parse", "HEAD:a.py")))
    del repository
    assert not scratch.exists()


def test_many_blobs_are_read_in_their_order_and_leaving_early_harms_nothing(repo: Repo, opened: OpenRepository) -> None:
    repo.commit(files={f"{number:04}": f"{number}\n" * number for number in range(500)})
    repository = opened(repo.root)
    blobs = repository.ls_tree(repository.resolve("HEAD").tree)
    wanted = [blob.oid for blob in blobs.values()]

    assert list(repository.read_all(wanted)) == [f"{number}\n".encode() * number for number in range(500)]
    early = repository.read_all(wanted)
    assert [next(early) for _ in range(3)] == [b"", b"1\n", b"2\n2\n"]
    early.close()
    assert repository.read(wanted[7]) == b"7\n" * 7


def test_one_missing_blob_among_many_is_an_error_and_the_next_question_is_answered(
    repo: Repo, opened: OpenRepository
) -> None:
    repo.commit(files={"a": "1\n", "b": "2\n", "c": "3\n"})
    repository = opened(repo.root)
    oids = [blob.oid for blob in repository.ls_tree(repository.resolve("HEAD").tree).values()]
    with pytest.raises(PatchError, match="not in this repository"):
        list(repository.read_all([oids[0], ObjectId("0" * 40), oids[1]]))

    assert repository.read(oids[2]) == b"3\n"
