from __future__ import annotations

import os
from pathlib import Path

import pytest

from linewitness.errors import PatchError
from linewitness.model import Blob, ObjectId, RepoPath
from linewitness.patch.export import export_tree
from linewitness.patch.names import refuse_unsafe
from linewitness.patch.objects import tree_id
from tests.patch.conftest import OpenRepository
from tests.support.repos import Executable, Link, Repo


def test_files_links_modes_and_names_are_written_as_the_tree_has_them(
    repo: Repo, opened: OpenRepository, tmp_path: Path
) -> None:
    repo.write({"d/a.py": b"1\r\n", "run": Executable("#!/bin/sh\n"), "d/l": Link("../run"), b"\xe9\n": b"\0"})
    repo.submodule("sub", "1" * 40)
    repo.commit()
    repository = opened(repo.root)
    export_tree(repository, repository.resolve("HEAD").tree, tmp_path / "out")
    out = tmp_path / "out"
    assert (out / "d/a.py").read_bytes() == b"1\r\n"
    assert os.access(out / "run", os.X_OK)
    assert not os.access(out / "d/a.py", os.X_OK)
    assert (out / "d/l").readlink() == Path("../run")
    assert (out / os.fsdecode(b"\xe9\n")).read_bytes() == b"\0"
    assert list((out / "sub").iterdir()) == []
    assert not (out / ".git").exists()


def test_no_attribute_changes_what_is_written(repo: Repo, opened: OpenRepository, tmp_path: Path) -> None:
    attributes = b"*.py export-ignore\n*.txt export-subst text eol=crlf ident\n*.dat filter=lfs\n"
    files = {"a.py": b"1\n", "b.txt": b"$Format:%H$ $Id$\n", "c.dat": b"version\n", ".gitattributes": attributes}
    repo.commit_raw("all", files)
    repository = opened(repo.root)
    export_tree(repository, repository.resolve("HEAD").tree, tmp_path / "out")
    assert {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()} == files


def test_replacements_are_written_and_left_out_paths_are_not(
    repo: Repo, opened: OpenRepository, tmp_path: Path
) -> None:
    repo.commit("base", {"tests/t.py": b"honest\n"})
    repository = opened(repo.root)
    honest = repository.ls_tree(repository.resolve("HEAD").tree)[RepoPath("tests/t.py")]
    repo.commit("head", {"tests/t.py": b"cheating\n", "tests/extra.py": b"x\n", "a.py": b"1\n"})
    replace = {RepoPath("tests/t.py"): honest, RepoPath("tests/extra.py"): None, RepoPath("more/n.py"): honest}
    export_tree(repository, repository.resolve("HEAD").tree, tmp_path / "out", replace)
    assert (tmp_path / "out/tests/t.py").read_bytes() == b"honest\n"
    assert (tmp_path / "out/more/n.py").read_bytes() == b"honest\n"
    assert not (tmp_path / "out/tests/extra.py").exists()
    assert (tmp_path / "out/a.py").read_bytes() == b"1\n"


@pytest.mark.parametrize("path", ["a.py/b", "../up", "d/../../up", "/etc/x", ".git/hooks/x", "d/.GIT/x", ""])
def test_a_replacement_cannot_leave_the_export(repo: Repo, opened: OpenRepository, tmp_path: Path, path: str) -> None:
    repo.commit(files={"a.py": b"1\n"})
    repository = opened(repo.root)
    blob = repository.ls_tree(repository.resolve("HEAD").tree)[RepoPath("a.py")]
    with pytest.raises(PatchError):
        export_tree(repository, repository.resolve("HEAD").tree, tmp_path / "out", {RepoPath(path): blob})
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("links", "inside"),
    [
        ({"l": "a.py"}, True),
        ({"l": "absent"}, True),
        ({"d/l": "../a.py"}, True),
        ({"d/l": "../d/../a.py"}, True),
        ({"l": "l"}, True),
        ({"l": "m", "m": "l"}, True),
        ({"l": "d/e", "m": "l/../../a.py"}, True),
        ({"l": "/etc/passwd"}, False),
        ({"l": ".."}, False),
        ({"d/l": "../../x"}, False),
        ({"l": "d", "m": "l/../../x"}, False),
        ({"e/deep/l": "../..", "m": "e/deep/l/../x"}, False),
        ({"l": "."}, True),
    ],
)
def test_links_may_not_lead_out_of_the_export_also_through_other_links(
    repo: Repo, opened: OpenRepository, tmp_path: Path, links: dict[str, str], inside: bool
) -> None:
    repo.commit(files={"a.py": b"1\n", "d/e/x": b"1\n", **{name: Link(target) for name, target in links.items()}})
    repository = opened(repo.root)
    if inside:
        export_tree(repository, repository.resolve("HEAD").tree, tmp_path / "out")
        assert all((tmp_path / "out" / name).is_symlink() for name in links)
    else:
        with pytest.raises(PatchError, match="leads out of the tree"):
            export_tree(repository, repository.resolve("HEAD").tree, tmp_path / "out")


def test_a_folder_that_is_not_empty_is_refused(repo: Repo, opened: OpenRepository, tmp_path: Path) -> None:
    repo.commit(files={"a.py": b"1\n"})
    repository = opened(repo.root)
    (tmp_path / "out").mkdir()
    (tmp_path / "out/stale.py").write_bytes(b"")
    with pytest.raises(PatchError, match="not empty"):
        export_tree(repository, repository.resolve("HEAD").tree, tmp_path / "out")


def test_a_place_that_cannot_be_written_is_an_error(repo: Repo, opened: OpenRepository, tmp_path: Path) -> None:
    repo.commit(files={"a.py": b"1\n"})
    repository = opened(repo.root)
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(PatchError, match="cannot be written"):
        export_tree(repository, repository.resolve("HEAD").tree, tmp_path / "file" / "out")


def test_what_the_disk_made_of_it_is_read_back(
    repo: Repo, opened: OpenRepository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo.commit(files={"a.py": b"1\n", "b.py": b"2\n"})
    repository = opened(repo.root)
    honest = repository.read_all
    monkeypatch.setattr(repository, "read_all", lambda oids: (content.replace(b"2", b"3") for content in honest(oids)))
    with pytest.raises(PatchError, match=r"b\.py: was not written"):
        export_tree(repository, repository.resolve("HEAD").tree, tmp_path / "out")


def test_a_tree_with_a_file_that_is_missing_is_not_exported(repo: Repo, opened: OpenRepository, tmp_path: Path) -> None:
    repo.commit(files={"a.py": b"1\n"})
    oid = repo.git("rev-parse", "HEAD:a.py")
    (repo.root / ".git/objects" / oid[:2] / oid[2:]).unlink()
    repository = opened(repo.root)
    with pytest.raises(PatchError, match="not in this repository"):
        export_tree(repository, repository.resolve("HEAD").tree, tmp_path / "out")


def raw_tree(repo: Repo, *entries: tuple[str, bytes, str]) -> ObjectId:
    """A tree object with any bytes as names, past all of git's checks."""
    data = b"".join(mode.encode() + b" " + name + b"\0" + bytes.fromhex(oid) for mode, name, oid in entries)
    return ObjectId(repo.git("hash-object", "-t", "tree", "-w", "--literally", "--stdin", stdin=data))


@pytest.mark.parametrize(
    "name",
    [b"..", b".", b".git", b".GIT", b".git ", b".git.", b"git~1", b".git::$INDEX", b"d/../x", "\u200c.git".encode()],
)
def test_names_that_git_would_not_check_out_are_refused(
    repo: Repo, opened: OpenRepository, tmp_path: Path, name: bytes
) -> None:
    repo.commit(files={"a.py": b"1\n"})
    tree = raw_tree(repo, ("100644", name, repo.git("rev-parse", "HEAD:a.py")))
    with pytest.raises(PatchError):
        export_tree(opened(repo.root), tree, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_two_entries_of_one_name_are_refused(repo: Repo, opened: OpenRepository, tmp_path: Path) -> None:
    repo.commit(files={"a.py": b"1\n", "b.py": b"2\n"})
    one, two = (repo.git("rev-parse", f"HEAD:{name}") for name in ("a.py", "b.py"))
    tree = raw_tree(repo, ("100644", b"a.py", one), ("100644", b"a.py", two))
    with pytest.raises(PatchError, match="damaged"):
        export_tree(opened(repo.root), tree, tmp_path / "out")


@pytest.mark.parametrize(
    "path", ["a.py", ".gitignore", ".github/x", "git", ".git2", "a/.gitkeep", "..a", "a..", "git~2"]
)
def test_names_that_only_resemble_git_s_folder_are_fine(path: str) -> None:
    refuse_unsafe(RepoPath(path))
    assert RepoPath(path)


def test_names_that_are_one_on_the_file_system_are_refused(
    repo: Repo, opened: OpenRepository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo.commit(files={"A.py": b"1\n", "a.py": b"2\n"})
    repository = opened(repo.root)
    real = os.open
    # a file system that does not tell capital letters from small ones
    monkeypatch.setattr(os, "open", lambda path, *rest, **more: real(os.fsencode(path).lower(), *rest, **more))
    (tmp_path / "out").mkdir()
    with pytest.raises(PatchError, match="one on this file system"):
        export_tree(repository, repository.resolve("HEAD").tree, tmp_path / "out")


def test_tree_ids_are_git_s_own(repo: Repo, opened: OpenRepository) -> None:
    repo.write({"a.py": b"1\n", "a/b": b"2\n", "a-b": b"3\n", "a0": Executable("4\n"), "z/y/x": Link("../..")})
    repo.submodule("sub", "1" * 40)
    repo.commit()
    repository = opened(repo.root)
    assert tree_id(repository.ls_tree(ObjectId(repo.tree()))) == repo.tree()
    assert tree_id({}) == "4b825dc642cb6eb9a060e54bf8d69288fbee4904"


def test_a_path_of_endless_depth_is_refused() -> None:
    with pytest.raises(PatchError, match="folders deep"):
        tree_id({RepoPath("d/" * 5000 + "f"): Blob(0o100644, ObjectId("1" * 40))})
