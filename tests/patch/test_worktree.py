from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from linewitness.errors import PatchError
from linewitness.model import Blob, RepoPath
from linewitness.patch.diff import GitPatch
from linewitness.patch.worktree import working_tree
from tests.patch.conftest import OpenRepository
from tests.patch.reading import changed_lines
from tests.support.repos import Executable, Link, Repo

Look = Callable[[], dict[str, bytes | None]]


@pytest.fixture
def look(repo: Repo, opened: OpenRepository) -> Look:
    """Head's bytes of every path in which the work tree differs from ``HEAD``, read the way the gate reads them."""

    def read() -> dict[str, bytes | None]:
        repository = opened(repo.root)
        patch = GitPatch(repository, repository.resolve("HEAD"), working_tree(repository))
        return {change.path: patch.text(change).head for change in patch.patch.changes}

    return read


def everything(root: Path) -> dict[str, tuple[int, int, str]]:
    """Mode, time and digest of every file below a folder, git's own folder included."""
    found = {}
    for folder, _, names in os.walk(root):
        for name in names:
            path = Path(folder, name)
            status = path.lstat()
            content = os.readlink(path).encode() if path.is_symlink() else path.read_bytes()
            found[str(path)] = status.st_mode, status.st_mtime_ns, hashlib.sha256(content).hexdigest()
    return found


def test_a_clean_work_tree_is_the_tree_of_head(repo: Repo, opened: OpenRepository) -> None:
    repo.commit(files={"a.py": b"1\n", "d/b": Executable("#!\n"), "l": Link("d/b"), b"n\n\xe9": b"x"})
    repository = opened(repo.root)
    assert working_tree(repository) == (None, repo.tree())


def test_changed_untracked_and_deleted_files_are_seen(repo: Repo, look: Look) -> None:
    repo.commit(files={"a.py": b"1\n", "gone.py": b"1\n", "same.py": b"1\n"})
    repo.write({"a.py": b"2\n", "new dir/n\tew.py": b"3\n"})
    repo.remove("gone.py")
    assert look() == {"a.py": b"2\n", "gone.py": None, "new dir/n\tew.py": b"3\n"}


def test_what_is_staged_does_not_count_but_what_lies_on_disk(repo: Repo, look: Look) -> None:
    repo.commit(files={"a.py": b"1\n", "b.py": b"1\n"})
    repo.write({"a.py": b"staged\n", "c.py": b"staged\n"})
    repo.git("add", "-A")
    repo.git("rm", "-q", "--cached", "b.py")
    repo.write({"a.py": b"disk\n"})
    repo.remove("c.py")
    assert look() == {"a.py": b"disk\n"}


def test_neither_index_nor_files_nor_objects_are_touched(repo: Repo, opened: OpenRepository) -> None:
    repo.commit(files={"a.py": b"1\n", "b.py": b"1\n", ".gitattributes": b"* text=auto eol=crlf\n"})
    repo.write({"a.py": b"2\n", "b.py": b"staged\n", "new.py": b"3\n"})
    repo.git("add", "b.py")
    os.utime(repo.root / "b.py", (1, 1))
    before = everything(repo.root)
    repository = opened(repo.root)
    tree = working_tree(repository)
    GitPatch(repository, repository.resolve("HEAD"), tree)
    assert everything(repo.root) == before
    repository.close()
    assert repo.run("cat-file", "-e", tree.tree, check=False).returncode != 0


def test_ignored_files_are_left_out_by_the_repository_s_own_rules(
    repo: Repo, look: Look, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo.commit(files={".gitignore": b"*.log\n", "kept.log": b"tracked\n"})
    (repo.root / ".git/info").mkdir()
    (repo.root / ".git/info/exclude").write_text("local/\n")
    (tmp_path / "git").mkdir()
    (tmp_path / "git/ignore").write_text("*.py\n")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    repo.git("config", "core.excludesFile", str(tmp_path / "git/ignore"))
    repo.write({"x.log": b"1\n", "local/y": b"2\n", "z.py": b"3\n", "kept.log": b"changed\n"})
    assert look() == {"kept.log": b"changed\n", "z.py": b"3\n"}


@pytest.mark.parametrize("bit", ["--assume-unchanged", "--skip-worktree", "--fsmonitor-valid"])
def test_no_bit_of_the_index_hides_an_edit(repo: Repo, look: Look, bit: str) -> None:
    repo.commit(files={"a.py": b"1\n"})
    repo.git("update-index", bit, "a.py")
    repo.write({"a.py": b"2\n"})
    assert look() == {"a.py": b"2\n"}


def test_an_edit_with_the_old_size_and_time_is_seen(repo: Repo, look: Look) -> None:
    repo.commit(files={"a.py": b"1\n"})
    status = (repo.root / "a.py").stat()
    (repo.root / "a.py").write_bytes(b"2\n")
    os.utime(repo.root / "a.py", ns=(status.st_atime_ns, status.st_mtime_ns))
    assert look() == {"a.py": b"2\n"}


def test_a_file_outside_of_a_sparse_checkout_is_not_deleted(repo: Repo, look: Look) -> None:
    repo.commit(files={"in/a.py": b"1\n", "out/b.py": b"1\n"})
    repo.git("sparse-checkout", "set", "in")
    assert not (repo.root / "out").exists()
    assert look() == {}


def test_a_deleted_file_that_is_assumed_unchanged_is_deleted(repo: Repo, look: Look) -> None:
    repo.commit(files={"a.py": b"1\n"})
    repo.git("update-index", "--assume-unchanged", "a.py")
    repo.remove("a.py")
    assert look() == {"a.py": None}


def test_files_that_are_only_intended_to_be_added_are_seen(repo: Repo, look: Look) -> None:
    repo.commit(files={"a.py": b"1\n"})
    repo.write({"new.py": b"2\n", "gone.py": b"3\n"})
    repo.git("add", "-N", "new.py", "gone.py")
    repo.remove("gone.py")
    assert look() == {"new.py": b"2\n"}


def test_the_executable_bit_counts_unless_the_file_system_has_none(repo: Repo, look: Look) -> None:
    repo.commit(files={"a.py": b"1\n"})
    (repo.root / "a.py").chmod(0o755)
    assert look() == {"a.py": b"1\n"}
    repo.git("config", "core.fileMode", "false")
    assert look() == {}


def test_links_are_taken_as_links(repo: Repo, look: Look) -> None:
    repo.commit(files={"a.py": b"1\n", "l": Link("a.py")})
    repo.write({"l": Link("elsewhere"), "new": Link("/etc/passwd"), "a.py": Link("l")})
    assert look() == {"a.py": b"l", "l": b"elsewhere", "new": b"/etc/passwd"}


def test_what_lies_behind_a_link_to_a_folder_is_deleted(repo: Repo, look: Look, tmp_path: Path) -> None:
    repo.commit(files={"pkg/a.py": b"1\n"})
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere/a.py").write_bytes(b"1\n")
    repo.write({"pkg": Link(str(tmp_path / "elsewhere"))})
    assert look() == {"pkg": str(tmp_path / "elsewhere").encode(), "pkg/a.py": None}


def test_no_filter_runs_and_no_line_end_is_converted(repo: Repo, look: Look, tmp_path: Path) -> None:
    repo.commit(files={"a.py": b"1\n", "b.txt": b"1\n"})
    repo.git("config", "filter.blind.clean", f"touch {tmp_path}/ran; git show HEAD:%f")
    repo.git("config", "filter.blind.process", f"touch {tmp_path}/ran")
    repo.git("config", "core.autocrlf", "input")
    repo.write({".gitattributes": b"*.py filter=blind\n*.txt text ident working-tree-encoding=UTF-16\n"})
    repo.write({"a.py": b"2\n", "b.txt": b"$Id: x$\r\n"})
    seen = look()
    assert seen["a.py"] == b"2\n"
    assert seen["b.txt"] == b"$Id: x$\r\n"
    assert not (tmp_path / "ran").exists()


def test_a_checkout_with_converted_line_ends_has_no_changed_lines(repo: Repo, opened: OpenRepository) -> None:
    repo.commit(files={"a.py": b"1\n2\n"})
    repo.write({"a.py": b"1\r\ntwo\r\n"})
    repository = opened(repo.root)
    patch = GitPatch(repository, repository.resolve("HEAD"), working_tree(repository))
    assert changed_lines(patch.text(patch.patch.changes[0])) == [2]


def test_an_unfinished_merge_is_refused(repo: Repo, look: Look) -> None:
    repo.commit("base", {"a.py": b"1\n"})
    repo.branch("topic")
    repo.commit("topic", {"a.py": b"2\n"})
    repo.git("checkout", "-q", "main")
    repo.commit("main", {"a.py": b"3\n"})
    assert repo.run("merge", "topic", check=False).returncode
    with pytest.raises(PatchError, match=r"a\.py: has an unfinished merge"):
        look()


def test_submodules_are_taken_at_the_commit_that_is_checked_out(
    repo: Repo, opened: OpenRepository, tmp_path: Path
) -> None:
    library = Repo(tmp_path / "library")
    first = library.commit("1", {"x": b"1\n"})
    second = library.commit("2", {"x": b"2\n"})
    repo.git("submodule", "add", "-q", str(library.root), "lib")
    Repo(repo.root / "lib", init=False).git("checkout", "-q", first)
    repo.submodule("empty", "1" * 40)
    repo.commit()
    Repo(repo.root / "lib", init=False).git("checkout", "-q", second)
    repository = opened(repo.root)
    tree = repository.ls_tree(working_tree(repository).tree)
    assert tree[RepoPath("lib")] == Blob(0o160000, second)  # type: ignore[arg-type]
    assert tree[RepoPath("empty")].oid == "1" * 40


def test_a_repository_inside_of_the_work_tree_is_a_submodule_that_nobody_registered(repo: Repo, look: Look) -> None:
    repo.commit(files={"a.py": b"1\n"})
    nested = Repo(repo.root / "nested")
    oid = nested.commit(files={"evil.py": b"1\n"})
    assert look() == {"nested": b"Subproject commit " + oid.encode() + b"\n"}


def test_a_file_that_became_a_pipe_is_refused_without_waiting_for_it(repo: Repo, look: Look) -> None:
    repo.commit(files={"a.py": b"1\n"})
    repo.remove("a.py")
    os.mkfifo(repo.root / "a.py")
    with pytest.raises(PatchError, match=r"a\.py: is neither a file nor a link"):
        look()


def test_a_file_that_became_a_folder_is_replaced_by_its_files(repo: Repo, look: Look) -> None:
    repo.commit(files={"a": b"1\n", "d/x": b"1\n"})
    repo.write({"a/b.py": b"2\n", "d": b"3\n"})
    assert look() == {"a": None, "a/b.py": b"2\n", "d": b"3\n", "d/x": None}


def test_a_repository_without_a_commit_has_a_work_tree_too(repo: Repo, opened: OpenRepository) -> None:
    repo.write({"a.py": b"1\n"})
    repository = opened(repo.root)
    assert list(repository.ls_tree(working_tree(repository).tree)) == ["a.py"]


def test_all_of_the_work_tree_counts_from_any_folder(repo: Repo, opened: OpenRepository) -> None:
    repo.commit(files={"a.py": b"1\n", "sub/b.py": b"1\n"})
    repo.write({"a.py": b"2\n", "c.py": b"2\n"})
    repository = opened(repo.root / "sub")
    patch = GitPatch(repository, repository.resolve("HEAD"), working_tree(repository))
    assert [change.path for change in patch.patch.changes] == ["a.py", "c.py"]


def test_a_bare_repository_has_no_work_tree(repo: Repo, opened: OpenRepository, tmp_path: Path) -> None:
    repo.commit(files={"a.py": b"1\n"})
    repo.git("clone", "-q", "--bare", str(repo.root), str(tmp_path / "bare.git"))
    with pytest.raises(PatchError, match="--head"):
        working_tree(opened(tmp_path / "bare.git"))


def test_a_folder_with_a_colon_or_a_quote_in_its_name_works(tmp_path: Path, opened: OpenRepository) -> None:
    repo = Repo(tmp_path / 'odd:"name\\')
    repo.commit(files={"a.py": b"1\n"})
    repo.write({"a.py": b"2\n"})
    repository = opened(repo.root)
    patch = GitPatch(repository, repository.resolve("HEAD"), working_tree(repository))
    assert patch.text(patch.patch.changes[0]).head == b"2\n"
