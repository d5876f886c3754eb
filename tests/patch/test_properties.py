from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from linewitness.errors import PatchError
from linewitness.model import FileText, Hunk, Patch, RepoPath
from linewitness.patch.diff import GitPatch
from linewitness.patch.diff_file import DiffPatch
from linewitness.patch.identity import split_lines
from linewitness.patch.repository import Repository
from tests.support.repos import Repo

# lines that look like parts of diffs, odd separators, and few enough of each to collide
LINES = [
    b"",
    b"a",
    b"b",
    b"    a",
    b"-- a",
    b"++ b/x",
    b"@@ -1 +1 @@",
    b"\\ No newline at end of file",
    b"diff --git a/x b/x",
]
ODD = [b"\xe2\x80\xa8", b"\x0c", b"\0", b"\xff", b"x\ry"]

line = st.sampled_from([*LINES, *ODD])
ended_lines = st.lists(st.tuples(line, st.just(b"\n")), max_size=12)
plain_text = st.builds(lambda lines: b"".join(part for pair in lines for part in pair), ended_lines)
open_text = st.builds(lambda text, cut: text.removesuffix(b"\n") if cut else text, plain_text, st.booleans())
mixed_text = st.builds(
    lambda lines, cut: b"".join(a + b for a, b in lines)[: -1 if cut and lines else None],
    st.lists(st.tuples(line, st.sampled_from([b"\n", b"\r\n"])), max_size=10),
    st.booleans(),
)
few = settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.too_slow])
some = settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def pairs_of(texts: st.SearchStrategy[bytes]) -> st.SearchStrategy[list[tuple[bytes, bytes]]]:
    """Several pairs at once, because a repository costs more than what is in it."""
    return st.lists(st.tuples(texts, texts), min_size=1, max_size=12)


@contextmanager
def two_commits(pairs: list[tuple[bytes, bytes]]) -> Iterator[Repo]:
    """A repository whose files went from one text to the other between `base` and `head`; the work tree is head's."""
    with tempfile.TemporaryDirectory() as folder:
        repo = Repo(Path(folder) / "repo")
        for branch, side in (("base", 0), ("head", 1)):
            files = {f"f{number:02}.py": pair[side] for number, pair in enumerate(pairs)}
            commit = b"commit refs/heads/%s\ncommitter A <a@x> 0 +0000\ndata 0\n" % branch.encode()
            for name, content in files.items():
                commit += b"M 100644 inline %s\ndata %d\n" % (name.encode(), len(content)) + content + b"\n"
            repo.git("fast-import", "--quiet", stdin=commit)
        repo.write(files)
        yield repo


def by_git(repo: Repo) -> dict[RepoPath, FileText]:
    """The changes as read from git's objects."""
    with Repository(repo.root) as repository:
        base, head = repository.resolve("base"), repository.resolve("head")
        patch = GitPatch(repository, base, head)
        listed = (repository.ls_tree(base.tree), repository.ls_tree(head.tree))
        assert GitPatch(repository, base, head, listed=listed).patch == patch.patch
        return {change.path: patch.text(change) for change in patch.patch.changes}


def by_diff(repo: Repo, *options: str) -> dict[RepoPath, FileText]:
    """The changes as read from what `git diff` prints."""
    patch = DiffPatch(repo.run("diff", "--text", *options, "base", "head").stdout, repo.root)
    return {change.path: patch.text(change) for change in patch.patch.changes}


def applied(base: list[bytes], head: list[bytes], hunks: tuple[Hunk, ...]) -> list[bytes]:
    """Base with the hunks applied, the added lines taken from head."""
    result, reached = [], 0
    for b, n, h, m in hunks:
        result += base[reached : b - 1] + head[h - 1 : h - 1 + m]
        reached = b - 1 + n
    return result + base[reached:]


def changed(pairs: list[tuple[bytes, bytes]]) -> dict[str, tuple[bytes, bytes]]:
    """The pairs that differ, by file name."""
    return {f"f{number:02}.py": pair for number, pair in enumerate(pairs) if pair[0] != pair[1]}


@few
@given(pairs_of(mixed_text))
def test_the_hunks_lead_from_base_to_head(pairs: list[tuple[bytes, bytes]]) -> None:
    with two_commits(pairs) as repo:
        texts = by_git(repo)
        assert {path: (text.base, text.head) for path, text in texts.items()} == changed(pairs)
        for text in texts.values():
            old, new = split_lines(text.base or b""), split_lines(text.head or b"")
            assert applied(old, new, text.hunks) == new
            assert (not text.hunks) == (old == new)


@few
@given(pairs_of(plain_text), st.sampled_from(["-U0", "-U1", "-U3"]))
def test_a_diff_file_gives_what_the_objects_give(pairs: list[tuple[bytes, bytes]], context: str) -> None:
    with two_commits(pairs) as repo:
        ours, theirs = by_git(repo), by_diff(repo, context)
        assert {path: text[1:] for path, text in theirs.items()} == {path: text[1:] for path, text in ours.items()}


@few
@given(pairs_of(mixed_text), st.sampled_from(["-U0", "-U2"]))
def test_taking_a_diff_back_agrees_with_git_apply(pairs: list[tuple[bytes, bytes]], context: str) -> None:
    with two_commits(pairs) as repo:
        texts = by_diff(repo, context)
        printed = repo.run("diff", "--text", context, "base", "head").stdout
        if printed:
            repo.run("apply", "-R", "--unidiff-zero", stdin=printed)
        assert {path: (text.base, text.head) for path, text in texts.items()} == changed(pairs)
        for path, text in texts.items():
            assert text.base == repo.path(path).read_bytes()
            old, new = split_lines(text.base or b""), split_lines(text.head or b"")
            assert applied(old, new, text.hunks) == new


HEADERS = [
    b"diff --git a/a.py b/a.py\n",
    b"index 1234567..89abcde 100644\n",
    b"new file mode 100644\n",
    b"deleted file mode 100644\n",
    b"old mode 100644\n",
    b"new mode 120000\n",
    b"rename from a.py\n",
    b"rename to b.py\n",
    b"--- a/a.py\n",
    b"--- /dev/null\n",
    b"+++ b/a.py\n",
    b'+++ "b/\\303\\251.py"\n',
    b"@@ -1 +1 @@\n",
    b"@@ -1,2 +1,3 @@ f\n",
    b"@@ -0,0 +1 @@\n",
    b"@@@ -1 -1 +1 @@@\n",
    b"Binary files a/a.py and b/a.py differ\n",
    b"GIT binary patch\nliteral 1\nzcmZ\n\n",
    b"-1\n",
    b"+1\n",
    b" 1\n",
    b"\n",
    b"\\ No newline at end of file\n",
    b"\xff\xfe\0",
]


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(HEADERS) | st.binary(max_size=8), max_size=12))
def test_any_bytes_are_a_patch_or_a_patch_error(pieces: list[bytes]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "a.py").write_bytes(b"1\n2\n")
        printed = b"".join(pieces)
        try:
            patch = DiffPatch(printed, Path(folder))
            texts = [patch.text(change) for change in patch.patch.changes]
        except PatchError:
            return
        assert isinstance(patch.patch, Patch)
        assert bool(texts) == bool(printed)


@some
@given(open_text, open_text, st.data())
def test_a_damaged_diff_is_refused_or_still_true(old: bytes, new: bytes, data: st.DataObject) -> None:
    with two_commits([(old, new)]) as repo:
        printed = bytearray(repo.run("diff", "--text", "--full-index", "-U1", "base", "head").stdout)
        if not printed:
            return
        for _ in range(10):
            damaged = printed.copy()
            place = data.draw(st.integers(0, len(printed) - 1))
            damaged[place : place + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=3))
            try:
                patch = DiffPatch(bytes(damaged), repo.root)
                texts = {change.path: patch.text(change) for change in patch.patch.changes}
            except PatchError:
                continue
            text = texts.get(RepoPath("f00.py"))
            if text and text.base is not None and text.head is not None:
                assert text.head == new
                assert applied(split_lines(text.base), split_lines(new), text.hunks) == split_lines(new)
