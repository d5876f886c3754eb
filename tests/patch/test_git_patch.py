from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from linewitness.errors import PatchError
from linewitness.model import Blob, FileChange, Hunk, ObjectId, RepoPath
from linewitness.patch.diff import GitPatch
from tests.patch.conftest import OpenRepository, ReadPatch
from tests.patch.reading import changed_lines, each, lines_by_path
from tests.support.repos import Executable, Link, Repo

OLD = b"def total(prices):\n    return sum(prices)\n"
NEW = OLD + b"\n\ndef refund(prices, rate):\n    return total(prices) * rate\n"

ODD_NAMES = [
    b"plain.py",
    b"with space.py",
    b" lead.py",
    b"trail.py ",
    b'quo"te.py',
    b"back\\slash.py",
    b"tab\t.py",
    b"new\nline.py",
    b"cr\r.py",
    "rembours\u00e9.py".encode(),
    b"latin-\xe9.py",
    "\ud55c\uae00.py".encode(),
    b"pkg2 b/mod.py",
    b"a/a/b/b.py",
    b"b/x.py",
    b"-O.py",
    b"--no-index",
    b":(exclude)x.py",
    b"*.py",
    b"dev/null",
    "u\u2028sep.py".encode(),
]


# ---------------------------------------------------------------- which lines


def test_added_changed_and_removed_lines_become_hunks(repo: Repo, read_patch: ReadPatch) -> None:
    base = repo.commit(files={"a.py": b"1\n2\n3\n4\n5\n6\n7\n"})
    repo.commit(files={"a.py": b"0\n1\n2\nthree\n4\n6\n7\n"})
    assert read_patch(base)["a.py"].hunks == (Hunk(1, 0, 1, 1), Hunk(3, 1, 4, 1), Hunk(5, 1, 6, 0))


def test_an_added_and_a_deleted_file_change_from_the_first_line_to_the_last(repo: Repo, read_patch: ReadPatch) -> None:
    base = repo.commit(files={"gone.py": b"1\n2\n"})
    repo.remove("gone.py")
    repo.commit(files={"new.py": b"1\n2\n3"})
    texts = read_patch(base)
    assert texts["gone.py"].hunks == (Hunk(1, 2, 1, 0),)
    assert (texts["gone.py"].base, texts["gone.py"].head) == (b"1\n2\n", None)
    assert texts["new.py"].hunks == (Hunk(1, 0, 1, 3),)
    assert (texts["new.py"].base, texts["new.py"].head) == (None, b"1\n2\n3")


def test_no_name_hides_a_change(repo: Repo, read_patch: ReadPatch) -> None:
    base = repo.commit(files=dict.fromkeys(ODD_NAMES, OLD))
    repo.commit(files=dict.fromkeys(ODD_NAMES, NEW))
    assert lines_by_path(read_patch(base)) == each(ODD_NAMES, [3, 4, 5, 6])


@pytest.mark.parametrize(
    "attributes",
    [
        "*.py -diff",
        "*.py binary",
        "*.py diff=blind",
        "*.py text eol=crlf",
        "*.py ident",
        "*.py filter=blind",
        "*.py working-tree-encoding=UTF-16",
        "*.py -text",
        "*.py export-ignore",
        "*.py whitespace=cr-at-eol",
    ],
)
@pytest.mark.parametrize("place", [".gitattributes", ".git/info/attributes"])
def test_no_attribute_hides_a_change(repo: Repo, read_patch: ReadPatch, attributes: str, place: str) -> None:
    (repo.root / ".git/info").mkdir()
    for key in ("diff.blind.textconv", "diff.blind.command", "filter.blind.clean", "filter.blind.smudge"):
        repo.git("config", key, "true")
    repo.git("config", "diff.blind.binary", "true")
    base = repo.commit_raw("base", {"a.py": OLD})
    repo.commit_raw("head", {"a.py": NEW})
    repo.write({place: attributes + "\n"})
    text = read_patch(base)["a.py"]
    assert changed_lines(text) == [3, 4, 5, 6]
    assert text.head == NEW


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("diff.noprefix", "true"),
        ("diff.mnemonicPrefix", "true"),
        ("diff.srcPrefix", "x/"),
        ("diff.relative", "true"),
        ("diff.context", "9"),
        ("diff.interHunkContext", "9"),
        ("diff.renames", "copies"),
        ("diff.external", "true"),
        ("diff.orderFile", "/nonexistent"),
        ("diff.algorithm", "histogram"),
        ("diff.ignoreSubmodules", "all"),
        ("diff.suppressBlankEmpty", "true"),
        ("diff.wsErrorHighlight", "all"),
        ("diff.colorMoved", "zebra"),
        ("diff.statGraphWidth", "1"),
        ("color.ui", "always"),
        ("color.diff", "always"),
        ("core.quotePath", "false"),
        ("core.bigFileThreshold", "1"),
        ("core.attributesFile", "attributes"),
        ("core.autocrlf", "true"),
        ("core.whitespace", "cr-at-eol"),
        ("core.pager", "true"),
    ],
)
def test_no_setting_of_the_clone_hides_a_change(repo: Repo, read_patch: ReadPatch, key: str, value: str) -> None:
    base = repo.commit_raw("base", {"a.py": OLD, "attributes": b"*.py -diff\n"})
    repo.commit_raw("head", {"a.py": NEW})
    repo.git("config", key, value)
    assert changed_lines(read_patch(base)["a.py"]) == [3, 4, 5, 6]


def test_no_setting_of_the_user_hides_a_change(
    repo: Repo, read_patch: ReadPatch, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = repo.commit(files={"a.py": OLD})
    repo.commit(files={"a.py": NEW})
    (tmp_path / "git").mkdir()
    (tmp_path / "git/attributes").write_text("*.py -diff\n")
    (tmp_path / ".gitconfig").write_text("[core]\nbigFileThreshold = 1\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("GIT_EXTERNAL_DIFF", "true")
    monkeypatch.setenv("GIT_DIFF_OPTS", "-u9")
    monkeypatch.setenv("GIT_CONFIG_PARAMETERS", "'core.bigFileThreshold=1'")
    assert changed_lines(read_patch(base)["a.py"]) == [3, 4, 5, 6]


IMITATIONS = [
    b"++ /dev/null",
    b"++ b/other.py",
    b"-- a/other.py",
    b"@@ -1,9 +1,9 @@",
    b"diff --git a/x b/x",
    b"index " + b"1" * 40 + b".." + b"2" * 40 + b" 100644",
    b"\\ No newline at end of file",
    b"Binary files a/x and b/x differ",
]


@pytest.mark.parametrize("side", ["base", "head", "both"])
def test_content_that_imitates_a_diff_hides_nothing(repo: Repo, read_patch: ReadPatch, side: str) -> None:
    old = {
        f"{n}.py": b"x = 1\n" + (text + b"\n") * (side != "head") + b"y = 2\nz = 3\n"
        for n, text in enumerate(IMITATIONS)
    }
    new = {
        f"{n}.py": b"x = 2\n" + (text + b" \n") * (side != "base") + b"y = 2\nz = 4\n"
        for n, text in enumerate(IMITATIONS)
    }
    base = repo.commit(files=old)
    repo.commit(files=new)
    assert lines_by_path(read_patch(base)) == each(new, [1, 3] if side == "base" else [1, 2, 4])


@pytest.mark.parametrize("separator", ["\u2028", "\u2029", "\x0c", "\x0b", "\x1c", "\x85", "\r"])
def test_no_other_separator_ends_a_line(repo: Repo, read_patch: ReadPatch, separator: str) -> None:
    base = repo.commit(files={"a.py": b"# one\ndef f(): pass\n"})
    head = f"# one {separator}+++ b/docs/none.txt\ndef f(): pass\ndef evil(): pass\n"
    repo.commit(files={"a.py": head.encode()})
    assert changed_lines(read_patch(base)["a.py"]) == [1, 3]


def test_binary_content_has_lines_like_any_other(repo: Repo, read_patch: ReadPatch) -> None:
    base = repo.commit(files={"a.bin": b"\0one\n\xff\ntwo\n"})
    repo.commit(files={"a.bin": b"\0one\n\xfe\ntwo\n"})
    assert read_patch(base)["a.bin"].hunks == (Hunk(2, 1, 2, 1),)


# ---------------------------------------------------------------- line ends


def test_lines_that_differ_only_in_the_terminator_are_not_changed(repo: Repo, read_patch: ReadPatch) -> None:
    base = repo.commit(files={"a.py": b"1\n2\r\n3\n4\n5"})
    repo.commit(files={"a.py": b"1\r\n2\nthree\r\n4\r\n5\r\n"})
    text = read_patch(base)["a.py"]
    assert text.hunks == (Hunk(3, 1, 3, 1),)
    assert text.head == b"1\r\n2\nthree\r\n4\r\n5\r\n"


@pytest.mark.parametrize(
    ("old", "new"), list(itertools.permutations([b"a\nb\n", b"a\nb", b"a\nb\r", b"a\r\nb\r\n", b"a\r\nb"], 2))
)
def test_a_change_of_terminators_alone_has_no_hunk(repo: Repo, read_patch: ReadPatch, old: bytes, new: bytes) -> None:
    base = repo.commit(files={"a.py": old})
    repo.commit(files={"a.py": new})
    text = read_patch(base)["a.py"]
    assert text.hunks == ()
    assert (text.base, text.head) == (old, new)


def test_a_second_carriage_return_is_content(repo: Repo, read_patch: ReadPatch) -> None:
    base = repo.commit(files={"a.py": b"1\r\n2\r\n"})
    repo.commit(files={"a.py": b"1\r\n2\r\r\n"})
    assert changed_lines(read_patch(base)["a.py"]) == [2]


def test_a_line_appended_after_one_without_an_end_is_the_only_change(repo: Repo, read_patch: ReadPatch) -> None:
    base = repo.commit(files={"a.py": b"1\n2"})
    repo.commit(files={"a.py": b"1\n2\n3"})
    assert read_patch(base)["a.py"].hunks == (Hunk(3, 0, 3, 1),)


def test_git_s_own_diff_is_fit_for_all_of_this(
    repo: Repo, read_patch: ReadPatch, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("the slow diff was used")

    monkeypatch.setattr("linewitness.patch.hunks.line_diff", refuse)
    base = repo.commit_raw(
        "base", {"a.py": OLD, "b.py": b"1\r\n2\r\n", "c.py": b"\0\n1\n", "d.py": b"1\n2", "old.py": BODY}
    )
    repo.git("rm", "-q", "--cached", "old.py")
    new = {"a.py": NEW, "b.py": b"1\n2\n3\n", "c.py": b"\0\n2\n", "d.py": b"1\n2\n3", "new.py": EDITED}
    repo.commit_raw("head", new)
    repo.write({".gitattributes": "*.py -diff\na.py diff=blind\n"})
    repo.git("config", "diff.blind.textconv", "true")
    repo.git("config", "core.bigFileThreshold", "1")
    assert lines_by_path(read_patch(base, owes=everything)) == {
        b"a.py": [3, 4, 5, 6],
        b"b.py": [3],
        b"c.py": [2],
        b"d.py": [3],
        b"new.py": [21],
    }


# ---------------------------------------------------------------- modes and types


def test_a_mode_change_is_a_change_without_hunks(repo: Repo, read_patch: ReadPatch) -> None:
    base = repo.commit(files={"run": "#!/bin/sh\n"})
    repo.commit(files={"run": Executable("#!/bin/sh\n")})
    text = read_patch(base)["run"]
    assert text.change.base
    assert text.change.head
    assert (text.change.base.mode, text.change.head.mode) == (0o100644, 0o100755)
    assert text.hunks == ()


def test_a_file_that_becomes_a_link_is_changed_whole(repo: Repo, read_patch: ReadPatch) -> None:
    base = repo.commit(files={"a.py": b"other.py", "b.py": Link("a.py")})
    repo.commit(files={"a.py": Link("other.py"), "b.py": b"1\n2\n"})
    texts = read_patch(base)
    assert texts["a.py"].hunks == (Hunk(1, 1, 1, 1),)
    assert (texts["a.py"].base, texts["a.py"].head) == (b"other.py", b"other.py")
    assert texts["b.py"].hunks == (Hunk(1, 1, 1, 2),)


def test_a_link_that_points_elsewhere_is_changed(repo: Repo, read_patch: ReadPatch) -> None:
    base = repo.commit(files={"l": Link("one")})
    repo.commit(files={"l": Link("two")})
    assert read_patch(base)["l"].hunks == (Hunk(1, 1, 1, 1),)


def test_submodules_are_shown_by_their_commits(repo: Repo, read_patch: ReadPatch) -> None:
    repo.submodule("bumped", "1" * 40)
    repo.submodule("gone", "3" * 40)
    base = repo.commit(files={"became": b"x\n"})
    repo.remove("gone", "became")
    repo.submodule("bumped", "2" * 40)
    repo.git("rm", "-q", "--cached", "became")
    repo.submodule("became", "4" * 40)
    repo.commit()
    texts = read_patch(base)
    assert texts["bumped"].head == b"Subproject commit " + b"2" * 40 + b"\n"
    assert texts["bumped"].hunks == (Hunk(1, 1, 1, 1),)
    assert texts["bumped"].change.head == Blob(0o160000, ObjectId("2" * 40))
    assert texts["gone"].change.head is None
    assert texts["became"].hunks == (Hunk(1, 1, 1, 1),)


def test_a_file_that_becomes_a_folder_is_a_deletion_and_additions(repo: Repo, read_patch: ReadPatch) -> None:
    base = repo.commit(files={"pkg": b"x\n"})
    repo.commit(files={"pkg/a.py": b"x\n"})
    texts = read_patch(base)
    assert texts["pkg"].change.head is None
    assert texts["pkg/a.py"].change.base is None


def test_the_changes_of_an_evil_merge_are_seen(repo: Repo, read_patch: ReadPatch) -> None:
    base = repo.commit("base", {"a.py": OLD})
    repo.branch("topic")
    repo.commit("topic", {"b.py": "1\n"})
    repo.git("checkout", "-q", "main")
    repo.commit("main", {"c.py": "1\n"})
    repo.git("merge", "-q", "--no-commit", "topic")
    repo.commit("merge", {"a.py": NEW})
    texts = read_patch(base)
    assert list(texts) == ["a.py", "b.py", "c.py"]
    assert changed_lines(texts["a.py"]) == [3, 4, 5, 6]


# ---------------------------------------------------------------- renames

BODY = b"".join(b"v%d = %d\n" % (n, n) for n in range(20))
EDITED = BODY + b"extra = 1\n"


def everything(_: RepoPath) -> bool:
    """All paths owe."""
    return True


def test_without_a_reason_to_trust_the_old_path_a_renamed_file_is_new(repo: Repo, read_patch: ReadPatch) -> None:
    base = repo.commit(files={"docs/sample.py": BODY})
    repo.remove("docs/sample.py")
    repo.commit(files={"app.py": BODY})
    texts = read_patch(base)
    assert list(texts) == ["app.py", "docs/sample.py"]
    assert changed_lines(texts["app.py"]) == list(range(1, 21))
    assert texts["app.py"].change.base is None


@pytest.mark.parametrize(("content", "lines"), [(BODY, []), (EDITED, [21])])
def test_a_file_renamed_from_a_path_that_owes_is_compared_with_it(
    repo: Repo, read_patch: ReadPatch, content: bytes, lines: list[int]
) -> None:
    base = repo.commit(files={"old.py": BODY, "docs/x.py": b"1\n" * 5})
    repo.remove("old.py")
    repo.commit(files={"new.py": content})
    texts = read_patch(base, owes=lambda path: path == "old.py")
    assert list(texts) == ["new.py"]
    assert texts["new.py"].change.base_path == "old.py"
    assert texts["new.py"].base == BODY
    assert changed_lines(texts["new.py"]) == lines


def test_a_rename_from_a_path_that_does_not_owe_stays_refused_beside_one_that_does(
    repo: Repo, read_patch: ReadPatch
) -> None:
    other = BODY.replace(b"v", b"w")
    base = repo.commit(files={"src/a.py": BODY, "docs/b.py": other})
    repo.remove("src/a.py", "docs/b.py")
    repo.commit(files={"src/a2.py": EDITED, "src/b2.py": other})
    texts = read_patch(base, owes=lambda path: path.startswith("src/"))
    assert list(texts) == ["docs/b.py", "src/a2.py", "src/b2.py"]
    assert changed_lines(texts["src/a2.py"]) == [21]
    assert changed_lines(texts["src/b2.py"]) == list(range(1, 21))


def test_a_copy_is_a_new_file(repo: Repo, read_patch: ReadPatch) -> None:
    base = repo.commit(files={"a.py": BODY})
    repo.commit(files={"a.py": EDITED, "b.py": BODY})
    texts = read_patch(base, owes=everything)
    assert texts["b.py"].change == FileChange(
        RepoPath("b.py"), RepoPath("b.py"), None, Blob(0o100644, ObjectId(repo.git("rev-parse", "HEAD:b.py")))
    )


def test_a_rename_to_odd_names_is_accepted_too(repo: Repo, read_patch: ReadPatch) -> None:
    base = repo.commit(files={b"o\tld\n.py": BODY})
    repo.remove(b"o\tld\n.py")
    repo.commit(files={b'n"\xe9 b/w.py': EDITED})
    texts = read_patch(base, owes=everything)
    assert changed_lines(texts[RepoPath(b'n"\xe9 b/w.py'.decode("utf-8", "surrogateescape"))]) == [21]


def test_a_link_that_moves_is_not_a_rename(repo: Repo, read_patch: ReadPatch) -> None:
    base = repo.commit(files={"l": Link("a-long-target/which/is/the/same"), "x": b"1\n"})
    repo.remove("l")
    repo.commit(files={"m": Link("a-long-target/which/is/the/same")})
    assert list(read_patch(base, owes=everything)) == ["l", "m"]


# ---------------------------------------------------------------- when git's answer is of no use


def test_hunks_that_do_not_lead_to_head_are_replaced_by_our_own(
    repo: Repo, opened: OpenRepository, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = repo.commit(files={"a.py": b"1\n2\n3\n4\n5\n"})
    repo.commit(files={"a.py": b"1\ntwo\n3\n4\nfive\n"})
    repository = opened(repo.root)
    monkeypatch.setattr("linewitness.patch.diff._PATCH", ("--patch", "--unified=0", "--full-index", "-Gtwo", "-Ifive"))
    patch = GitPatch(repository, repository.resolve(base), repository.resolve("HEAD"))
    assert patch.text(patch.patch.changes[0]).hunks == (Hunk(2, 1, 2, 1), Hunk(5, 1, 5, 1))
    monkeypatch.setattr("linewitness.patch.diff._PATCH", ("--raw",))
    patch = GitPatch(repository, repository.resolve(base), repository.resolve("HEAD"))
    assert patch.text(patch.patch.changes[0]).hunks == (Hunk(2, 1, 2, 1), Hunk(5, 1, 5, 1))


def test_a_missing_blob_is_an_error_and_not_an_absent_change(
    repo: Repo, opened: OpenRepository, tmp_path: Path
) -> None:
    base = repo.commit(files={"a.py": OLD})
    repo.commit(files={"a.py": NEW})
    oid = repo.git("rev-parse", "HEAD:a.py")
    repository = opened(repo.root)
    (repo.root / ".git/objects" / oid[:2] / oid[2:]).rename(tmp_path / "object")
    patch = GitPatch(repository, repository.resolve(base), repository.resolve("HEAD"))
    assert len(patch.patch.changes) == 1
    with pytest.raises(PatchError, match="clone is partial or damaged"):
        patch.text(patch.patch.changes[0])


def test_many_files_are_read_in_any_order(repo: Repo, opened: OpenRepository) -> None:
    base = repo.commit(files={f"d{n % 7}/f{n}.py": b"%d\nsame\n" % n for n in range(60)})
    repo.commit(files={f"d{n % 7}/f{n}.py": b"%d\nsame\nnew\n" % (n % 9) for n in range(60)})
    repository = opened(repo.root)
    patch = GitPatch(repository, repository.resolve(base), repository.resolve("HEAD"))
    changes = patch.patch.changes
    assert [change.path for change in changes] == sorted(f"d{n % 7}/f{n}.py" for n in range(60))
    for change in reversed(changes):
        number = int(change.path.partition("f")[2].removesuffix(".py"))
        assert changed_lines(patch.text(change)) == ([3] if number < 9 else [1, 3])
