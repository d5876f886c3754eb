from __future__ import annotations

import itertools
import subprocess
from pathlib import Path

import pytest

from linewitness.errors import Exit, PatchError
from linewitness.model import FileText, Hunk
from linewitness.patch.diff import Owes, never
from linewitness.patch.diff_file import DiffPatch
from tests.patch.reading import changed_lines, each, lines_by_path
from tests.patch.test_git_patch import BODY, EDITED, IMITATIONS, NEW, ODD_NAMES, OLD
from tests.support.repos import Executable, Link, Repo


def read(diff: bytes, root: Path, owes: Owes = never) -> dict[str, FileText]:
    """Every change of a diff by path."""
    patch = DiffPatch(diff, root, owes)
    return {change.path: patch.text(change) for change in patch.patch.changes}


def diff(repo: Repo, *options: str) -> bytes:
    """What `git diff` says between the tag `base` and HEAD."""
    return repo.run("diff", *options, "base", "HEAD").stdout


def two_commits(repo: Repo, old: dict[str, bytes], new: dict[str, bytes]) -> None:
    """Tag the first commit `base`."""
    repo.commit(files=old)
    repo.tag("base")
    repo.commit(files=new)


# ---------------------------------------------------------------- forms of a diff


@pytest.mark.parametrize("context", [0, 1, 3, 1000])
def test_any_number_of_context_lines_gives_the_same_hunks(repo: Repo, context: int) -> None:
    two_commits(repo, {"a.py": b"1\n2\n3\n4\n5\n6\n7\n"}, {"a.py": b"0\n1\n2\nthree\n4\n6\n7\n"})
    text = read(diff(repo, f"-U{context}"), repo.root)["a.py"]
    assert text.hunks == (Hunk(1, 0, 1, 1), Hunk(3, 1, 4, 1), Hunk(5, 1, 6, 0))
    assert text.base == b"1\n2\n3\n4\n5\n6\n7\n"


@pytest.mark.parametrize(
    "options",
    [
        ("--no-prefix",),
        ("--src-prefix=i/", "--dst-prefix=w/"),
        ("--src-prefix=c/", "--dst-prefix=i/"),
        ("--src-prefix=old/", "--dst-prefix=new/"),
        ("--src-prefix=one/two/", "--dst-prefix=one/three/"),
        ("-R", "--src-prefix=b/", "--dst-prefix=a/"),
        ("--full-index",),
        ("--function-context",),
        ("--patience",),
        ("--inter-hunk-context=5",),
        ("--binary",),
    ],
)
def test_prefixes_and_forms_of_git_are_understood(repo: Repo, options: tuple[str, ...]) -> None:
    names = ["pkg/mod.py", "pkg2 b/mod.py", "a/a.py", "b/b.py", "sp ace.py", "t\tab.py"]
    two_commits(repo, {**dict.fromkeys(names, OLD), "gone b/x": b"1\n"}, dict.fromkeys(names, NEW))
    repo.remove("gone b/x")
    repo.commit(files={"new b/x.py": b"1\n"})
    commits = ("HEAD", "base") if "-R" in options else ("base", "HEAD")
    texts = read(repo.run("diff", "-U0", *options, *commits).stdout, repo.root)
    expected = each(names, [3, 4, 5, 6]) | {b"gone b/x": [], b"new b/x.py": [1]}
    assert lines_by_path(texts) == expected
    assert texts["gone b/x"].base == b"1\n"


@pytest.mark.parametrize("quote", ["true", "false"])
def test_no_name_is_lost(repo: Repo, quote: str) -> None:
    repo.commit(files=dict.fromkeys(ODD_NAMES, OLD))
    repo.tag("base")
    repo.commit(files=dict.fromkeys(ODD_NAMES, NEW))
    printed = repo.run("-c", f"core.quotePath={quote}", "diff", "-U0", "base", "HEAD").stdout
    assert lines_by_path(read(printed, repo.root)) == each(ODD_NAMES, [3, 4, 5, 6])


@pytest.mark.parametrize("context", [0, 3])
def test_content_that_imitates_a_diff_hides_nothing(repo: Repo, context: int) -> None:
    old = {f"{n}.py": b"x = 1\n" + text + b"\ny = 2\n" for n, text in enumerate(IMITATIONS)}
    new = {f"{n}.py": b"x = 0\n" + text + b"\ny = 2\n" + text + b"\n" for n, text in enumerate(IMITATIONS)}
    created = {f"c{n}.py": text + b"\n" for n, text in enumerate(IMITATIONS)}
    two_commits(repo, old, new | created)
    texts = read(diff(repo, f"-U{context}"), repo.root)
    assert lines_by_path(texts) == each(new, [1, 4]) | each(created, [1])
    assert {name: texts[name].base for name in old} == old


def test_gnu_diff_is_understood(tmp_path: Path) -> None:
    for side, files in {"old": {"a.py": OLD, "gone.py": b"-- x\n"}, "new": {"a.py": NEW, "n ew.py": b"++ y\n"}}.items():
        for name, content in files.items():
            (tmp_path / side / "pkg").mkdir(parents=True, exist_ok=True)
            (tmp_path / side / "pkg" / name).write_bytes(content)
    printed = subprocess.run(
        ["diff", "-ruN", "old", "new"], cwd=tmp_path, check=False, capture_output=True, env={"PATH": "/usr/bin:/bin"}
    ).stdout
    texts = read(printed, tmp_path / "new")
    assert list(texts) == ["pkg/a.py", "pkg/gone.py", "pkg/n ew.py"]
    assert changed_lines(texts["pkg/a.py"]) == [3, 4, 5, 6]
    assert texts["pkg/gone.py"].head is None
    assert texts["pkg/n ew.py"].base is None


def test_headers_without_the_line_of_git_are_enough(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_bytes(NEW)
    (tmp_path / "b.py").write_bytes(b"x\n")
    printed = (
        b"--- a/a.py\n+++ b/a.py\n@@ -1,2 +1,6 @@\n def total(prices):\n     return sum(prices)\n+\n+\n"
        b"+def refund(prices, rate):\n+    return total(prices) * rate\n"
        b"--- /dev/null\n+++ b/b.py\n@@ -0,0 +1 @@\n+x\n"
        b"--- a/c.py\n+++ /dev/null\n@@ -1 +0,0 @@\n--- x\n"
    )
    texts = read(printed, tmp_path)
    assert {path: changed_lines(text) for path, text in texts.items()} == {
        "a.py": [3, 4, 5, 6],
        "b.py": [1],
        "c.py": [],
    }
    assert texts["c.py"].base == b"-- x\n"


def test_an_empty_diff_changes_nothing(tmp_path: Path) -> None:
    assert DiffPatch(b"", tmp_path).patch.changes == ()


# ---------------------------------------------------------------- line ends


@pytest.mark.parametrize("context", [0, 3])
def test_files_that_end_in_the_middle_of_a_line_are_rebuilt(repo: Repo, context: int) -> None:
    olds = [b"1\n2\n", b"1\n2", b"1\n", b"", b"2"]
    news = [b"1\n2\n", b"1\n2", b"1\n2\n3", b"1\n2\n3\n", b"", b"2\n3"]
    pairs = {f"{n:02}.py": pair for n, pair in enumerate(itertools.product(olds, news)) if pair[0] != pair[1]}
    two_commits(repo, {n: old for n, (old, _) in pairs.items()}, {n: new for n, (_, new) in pairs.items()})
    texts = read(diff(repo, f"-U{context}"), repo.root)
    assert {path: (text.base, text.head) for path, text in texts.items()} == pairs
    for path, (old, new) in pairs.items():
        added = [n for n, line in enumerate(new.splitlines(), 1) if line not in old.splitlines()]
        assert changed_lines(texts[path]) == added, path


@pytest.mark.parametrize("context", [0, 3])
def test_lines_that_differ_only_in_the_terminator_are_not_changed(repo: Repo, context: int) -> None:
    two_commits(repo, {"a.py": b"1\n2\n3\n4\n5"}, {"a.py": b"1\r\n2\r\nthree\r\n4\r\n5\r\n"})
    text = read(diff(repo, f"-U{context}"), repo.root)["a.py"]
    assert text.hunks == (Hunk(3, 1, 3, 1),)
    assert text.base == b"1\n2\n3\n4\n5"


def test_a_diff_of_the_commit_fits_a_checkout_with_converted_line_ends(repo: Repo) -> None:
    two_commits(repo, {"a.py": OLD}, {"a.py": NEW})
    printed = diff(repo)
    repo.write({"a.py": NEW.replace(b"\n", b"\r\n")})
    assert changed_lines(read(printed, repo.root)["a.py"]) == [3, 4, 5, 6]


def test_a_diff_that_was_converted_as_a_whole_is_converted_back(repo: Repo) -> None:
    two_commits(repo, {"a.py": OLD}, {"a.py": NEW})
    printed = diff(repo).replace(b"\n", b"\r\n")
    assert changed_lines(read(printed, repo.root)["a.py"]) == [3, 4, 5, 6]
    with pytest.raises(PatchError, match="some lines"):
        read(printed.replace(b"rate\r\n", b"rate\n"), repo.root)


def test_a_file_with_carriage_returns_is_no_converted_diff(repo: Repo) -> None:
    two_commits(repo, {"a.py": b"1\r\n2\r\n"}, {"a.py": b"1\r\n2\r\n3\r\n"})
    text = read(diff(repo), repo.root)["a.py"]
    assert text.hunks == (Hunk(3, 0, 3, 1),)
    assert text.base == b"1\r\n2\r\n"


def test_a_lone_carriage_return_does_not_end_a_line_of_the_diff(repo: Repo) -> None:
    two_commits(repo, {"a.py": b"x\n"}, {"a.py": b"x # \rdiff --git a/b b/b\ndef evil(): pass\n"})
    assert changed_lines(read(diff(repo), repo.root)["a.py"]) == [1, 2]


# ---------------------------------------------------------------- kinds of change


def test_modes_types_links_and_submodules_are_told(repo: Repo) -> None:
    repo.write({"run": b"#!\n", "to-link": b"x\n", "link": Link("one"), "from-link": Link("x"), "e d": b""})
    repo.submodule("sub", "1" * 40)
    repo.commit()
    repo.tag("base")
    repo.write({"run": Executable("#!\n"), "to-link": Link("x"), "link": Link("two"), "from-link": b"x\n"})
    repo.write({"empty b/e": b""})
    repo.remove("e d")
    repo.submodule("sub", "2" * 40)
    repo.commit()
    texts = read(diff(repo), repo.root)
    told = {
        path: (
            oct(text.change.base.mode) if text.change.base else "",
            oct(text.change.head.mode) if text.change.head else "",
        )
        for path, text in texts.items()
    }
    assert told == {
        "run": ("0o100644", "0o100755"),
        "to-link": ("0o100644", "0o120000"),
        "from-link": ("0o120000", "0o100644"),
        "link": ("0o120000", "0o120000"),
        "sub": ("0o160000", "0o160000"),
        "empty b/e": ("", "0o100644"),
        "e d": ("0o100644", ""),
    }
    assert texts["run"].hunks == ()
    assert (texts["to-link"].base, texts["to-link"].head) == (b"x\n", b"x")
    assert texts["to-link"].hunks == (Hunk(1, 1, 1, 1),)
    assert texts["sub"].head == b"Subproject commit " + b"2" * 40 + b"\n"
    assert texts["sub"].base == b"Subproject commit " + b"1" * 40 + b"\n"


@pytest.mark.parametrize("options", [(), ("--binary",)])
def test_a_file_that_git_shows_as_binary_is_changed_whole(repo: Repo, options: tuple[str, ...]) -> None:
    two_commits(repo, {"a b/x.py": OLD, ".gitattributes": b"*.py -diff\n"}, {"a b/x.py": NEW, "new.py": OLD})
    repo.commit(files={"z.png": b"\0\1"})
    texts = read(diff(repo, *options), repo.root)
    assert changed_lines(texts["a b/x.py"]) == [1, 2, 3, 4, 5, 6]
    assert changed_lines(texts["new.py"]) == [1, 2]
    assert texts["z.png"].head == b"\0\1"


@pytest.mark.parametrize("content", [BODY, EDITED])
def test_a_rename_is_taken_apart_unless_the_old_path_owes(repo: Repo, content: bytes) -> None:
    two_commits(repo, {"o b/old.py": BODY}, {"n b/new.py": content})
    repo.remove("o b/old.py")
    repo.commit()
    printed = diff(repo, "-M", "-U0")
    assert b"rename from" in printed
    texts = read(printed, repo.root)
    assert list(texts) == ["n b/new.py", "o b/old.py"]
    assert texts["n b/new.py"].change.base is None
    assert len(changed_lines(texts["n b/new.py"])) == content.count(b"\n")
    assert texts["o b/old.py"].base == BODY
    accepted = read(printed, repo.root, lambda path: path == "o b/old.py")
    assert list(accepted) == ["n b/new.py"]
    assert accepted["n b/new.py"].change.base_path == "o b/old.py"
    assert accepted["n b/new.py"].base == BODY
    assert changed_lines(accepted["n b/new.py"]) == ([21] if content == EDITED else [])


def test_a_copy_is_a_new_file(repo: Repo) -> None:
    two_commits(repo, {"a.py": BODY}, {"a.py": EDITED, "b.py": BODY, "c.py": EDITED})
    printed = diff(repo, "-C")
    assert b"copy from" in printed
    texts = read(printed, repo.root, lambda _: True)
    assert {path: len(changed_lines(text)) for path, text in texts.items()} == {"a.py": 1, "b.py": 20, "c.py": 21}


# ---------------------------------------------------------------- diffs that do not fit


def refused(printed: bytes, root: Path) -> str:
    """The message of the error that reading a diff to its end raises."""
    with pytest.raises(PatchError) as caught:
        read(printed, root)
    assert caught.value.exit is Exit.PATCH
    return str(caught.value)


def test_a_line_that_is_not_in_the_tree_is_named(repo: Repo) -> None:
    two_commits(repo, {"pkg/a.py": OLD}, {"pkg/a.py": NEW})
    printed = diff(repo, "-U0", "--abbrev=7").replace(b"index ", b"similarity index ")
    repo.write({"pkg/a.py": NEW.replace(b"* rate", b"/ rate")})
    message = refused(printed, repo.root)
    assert message.startswith("pkg/a.py:6: ")
    assert "git diff --unified=0" in message


def test_a_context_line_that_is_not_in_the_tree_is_named(repo: Repo) -> None:
    two_commits(repo, {"a.py": OLD}, {"a.py": NEW})
    printed = diff(repo, "-U3").replace(b"index ", b"similarity index ")
    repo.write({"a.py": NEW.replace(b"total(prices):", b"sum(prices):")})
    assert refused(printed, repo.root).startswith("a.py:1: ")


def test_an_edit_outside_of_the_hunks_is_found_by_the_blob_id(repo: Repo) -> None:
    two_commits(repo, {"a.py": BODY}, {"a.py": EDITED})
    printed = diff(repo, "-U0")
    repo.write({"a.py": EDITED.replace(b"v3 = 3", b"v3 = 9")})
    assert "blob id" in refused(printed, repo.root)


def test_a_hunk_that_is_missing_is_found_by_the_blob_id(repo: Repo) -> None:
    two_commits(repo, {"a.py": BODY}, {"a.py": EDITED.replace(b"v3 = 3", b"v3 = 9")})
    printed = diff(repo, "-U0")
    start = printed.index(b"@@ -20,0")
    assert "blob id" in refused(printed[:start], repo.root)


def test_a_diff_that_ignores_white_space_is_refused(repo: Repo) -> None:
    two_commits(repo, {"a.py": b"if x:\n    y()\nz()\n"}, {"a.py": b"if x:\n    y()\n    z()\nw()\n"})
    assert "blob id" in refused(diff(repo, "-w", "-U0"), repo.root)


def test_files_that_are_not_where_the_diff_says_are_refused(repo: Repo, tmp_path: Path) -> None:
    two_commits(repo, {"a.py": OLD, "gone.py": b"1\n"}, {"a.py": NEW})
    printed = diff(repo)
    assert "not in the tree" in refused(printed, tmp_path / "elsewhere")
    repo.remove("gone.py")
    repo.commit()
    printed = diff(repo)
    repo.write({"gone.py": b"1\n"})
    assert "is gone according to the diff" in refused(printed, repo.root)


def test_a_new_file_with_more_lines_than_the_diff_shows_is_refused(repo: Repo) -> None:
    two_commits(repo, {"x": b""}, {"a.py": b"1\n"})
    printed = diff(repo).replace(b"index 0000000..", b"similarity index ")
    repo.write({"a.py": b"1\n2\n"})
    assert "more lines" in refused(printed, repo.root)


def test_nothing_is_read_through_a_link_or_outside_of_the_root(repo: Repo, tmp_path: Path) -> None:
    two_commits(repo, {"pkg/a.py": OLD}, {"pkg/a.py": NEW})
    printed = diff(repo)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere/a.py").write_bytes(NEW)
    repo.write({"pkg": Link(str(tmp_path / "elsewhere"))})
    assert "not in the tree" in refused(printed, repo.root)
    repo.write({"pkg/a.py": Link(str(tmp_path / "elsewhere/a.py"))})
    assert "another kind of file" in refused(printed, repo.root)
    for name in (b"../elsewhere/a.py", b"/etc/passwd", b"pkg/../../x", b".git/config", b"pkg//a.py"):
        assert refused(printed.replace(b"pkg/a.py", name), repo.root)


def test_a_file_twice_in_the_diff_is_refused(repo: Repo) -> None:
    two_commits(repo, {"a.py": OLD}, {"a.py": NEW})
    assert "appears twice" in refused(diff(repo) * 2, repo.root)


@pytest.mark.parametrize(
    ("printed", "hint"),
    [
        (b"hello\n", "git diff BASE...HEAD"),
        (b"\n", "no diff"),
        (b" \n\n", "no diff"),
        (b"commit 123\nAuthor: x\n\ndiff --git a/a b/a\n", "git show"),
        (b"From 123 Mon Sep 17\nSubject: x\n", "format-patch"),
        (b"diff --cc a.py\nindex 1,2..3\n--- a/a.py\n+++ b/a.py\n@@@ -1,2 -1,2 +1,3 @@@\n", "combined"),
        (b"diff --combined a.py\nindex 1,2..3\n", "combined"),
        (b"--- a/a.py\n+++ b/a.py\n@@@ -1,2 -1,2 +1,3 @@@\n", "combined"),
        ("diff --git a/a b/a\n".encode("utf-16"), "UTF-16"),
        (b"\xef\xbb\xbfdiff --git a/a b/a\n", "byte order mark"),
        (b"\x1b[1mdiff --git a/a b/a\x1b[m\n", "--no-color"),
        (b"Submodule lib 123..456:\n  > message\n", "--submodule=short"),
        (b"* Unmerged path a.py\n", "unfinished"),
        (b"Only in new: a.py\n", "diff -N"),
        (b"Binary files a/x and b/x differ\n", "use `git diff`"),
        (b"diff -r old/x new/x\nBinary files old/x and new/x differ\n", "use `git diff`"),
        (b"Index: a.py\n====\n--- a.py\n+++ a.py\n", "not a diff of git"),
        (b"diff --git a/a.py b/a.py\n", "lines are not shown"),
        (b"diff --git a/a.py b/a.py\nindex 1234567..89abcde 100644\n", "lines are not shown"),
        (b"diff --git a/a.py b/a.py\nnew file mode 100644\nindex 0000000..89abcde\n", "lines are not shown"),
        (b"diff --git a/a.py b/a.py\ndeleted file mode 100644\nindex 89abcde..0000000\n", "lines are not shown"),
        (b"diff --git a/a.py b/other.py\nold mode 100644\nnew mode 100755\n", "name cannot be told"),
        (b"diff --git a/a.py b/a.py\nold mode 1\nnew mode 100755\n", "cannot be read"),
        (b"diff --git a/a.py b/a.py\nindex zz..yy\n", "cannot be read"),
        (b"--- a/a.py\n", "`\\+\\+\\+` is expected"),
        (b"--- a/a.py\n+++ b/a.py\n", "a hunk"),
        (b"--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n", "fewer lines"),
        (b"--- a/a.py\n+++ b/a.py\n@@ -1,2 +1,2 @@\n-1\n+2\n", "fewer lines"),
        (b"--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-1\n+2", "cut off"),
        (b"--- a/a.py\n+++ b/a.py\n@@ -0,0 +0,0 @@\n", "hunk is empty"),
        (b"--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-1\n+2\n@@ -1 +1 @@\n-1\n+2\n", "overlaps"),
        (b"--- a/a.py\n+++ b/a.py\n@@ -5 +6 @@\n-1\n+2\n", "do not agree"),
        (b"--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-1\n+2\n+3\n", "no diff"),
        (b"--- a/a.py\n+++ b/a.py\n@@ -99999999999 +1 @@\n-1\n+2\n", "header cannot be read"),
        (b"--- a/a.py\n+++ b/a.py\n@@ -1,2 +1 @@\n-1\n\\ No newline at end of file\n-2\n+1\n", "only the last line"),
        (b"--- /dev/null\n+++ /dev/null\n@@ -1 +1 @@\n-1\n+2\n", "no name"),
        (b"--- a/" + b"x" * 70000 + b"\n+++ b/x\n@@ -1 +1 @@\n-1\n+2\n", "too long"),
        (b"--- a/" + b"d/" * 20000 + b"x\n+++ b/" + b"d/" * 20000 + b"x\n@@ -1 +1 @@\n-1\n+2\n", "d/d"),
    ],
)
def test_what_is_no_plain_complete_diff_is_refused_with_advice(tmp_path: Path, printed: bytes, hint: str) -> None:
    (tmp_path / "a.py").write_bytes(b"2\n")
    with pytest.raises(PatchError, match=hint):
        read(printed, tmp_path)


def test_the_line_of_the_diff_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_bytes(b"2\n")
    printed = b"--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-1\n+2\nwhat is this\n"
    assert refused(printed, tmp_path).startswith("line 6 of the diff: ")


def test_a_combined_diff_that_git_makes_is_refused(repo: Repo) -> None:
    repo.commit("base", {"a.py": b"1\n2\n3\n"})
    repo.branch("topic")
    repo.commit("topic", {"a.py": b"1\n2\nthree\n"})
    repo.git("checkout", "-q", "main")
    repo.commit("main", {"a.py": b"one\n2\n3\n"})
    repo.git("merge", "-q", "--no-commit", "topic")
    repo.commit("merge", {"a.py": b"uno\n2\ntres\n"})
    printed = repo.run("diff-tree", "--cc", "--no-commit-id", "HEAD").stdout
    assert printed.startswith(b"diff --cc")
    assert "combined" in refused(printed, repo.root)
