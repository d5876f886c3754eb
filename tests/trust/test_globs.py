"""Globs decide what is protected, so what a pattern takes has to be what git would take, for every possible name."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pathspec import GitIgnoreSpec
from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

from linewitness.errors import UsageError
from linewitness.globs import Globs, fixed_part, fold
from tests.support.repos import Repo


@pytest.mark.parametrize(
    ("pattern", "taken", "left"),
    [
        ("**", ["a", "a/b/c", "\n"], []),
        (
            "tests/trusted/**",
            ["tests/trusted/a", "tests/trusted/b/c.py"],
            ["tests/trusted", "tests/trusted2/a", "x/tests/trusted/a"],
        ),
        (
            "tests/waivers.yaml",
            ["tests/waivers.yaml", "tests/waivers.yaml/below"],
            ["tests/waivers.yaml2", "x/tests/waivers.yaml"],
        ),
        ("conftest.py", ["conftest.py", "a/b/conftest.py", "conftest.py/x"], ["conftest.pyc", "myconftest.py"]),
        ("/conftest.py", ["conftest.py"], ["a/conftest.py"]),
        ("*.pth", ["a.pth", ".pth", "x/y.pth", "y.pth/z"], ["a.pth2", "pth"]),
        ("**/auth/**", ["auth/a", "x/auth/y/z"], ["auth", "x/author/y"]),
        ("docs/", ["docs/a", "x/docs/a"], ["docs", "x/docs"]),
        ("a/*/c.py", ["a/b/c.py"], ["a/c.py", "a/b/b/c.py", "x/a/b/c.py"]),
        ("a/**/c.py", ["a/c.py", "a/b/b/c.py"], ["a/bc.py"]),
        ("test_[ab]?.py", ["test_a1.py", "x/test_bx.py"], ["test_c1.py", "test_a/.py"]),
        (r"\#x", ["#x"], ["x"]),
    ],
)
def test_a_pattern_takes_what_git_would_take(pattern: str, taken: list[str], left: list[str]) -> None:
    globs = Globs([pattern])

    assert [path for path in taken if not globs.match(path)] == []
    assert [path for path in left if globs.match(path)] == []


def test_the_last_pattern_that_matches_decides() -> None:
    globs = Globs(["tests/**", "!tests/generated/", "tests/generated/keep.py"])

    assert globs.match("tests/test_a.py")
    assert not globs.match("tests/generated/test_b.py")
    assert globs.match("tests/generated/keep.py")


def test_no_patterns_take_nothing() -> None:
    assert not Globs([]).match("a")
    assert not Globs(["!a"]).match("a")


@pytest.mark.parametrize("pattern", ["*.py", "x", "a/**/b.py", "**", "a/**", "**/b.py", "a/b?"])
def test_a_newline_in_a_name_is_a_character_like_any_other(pattern: str) -> None:
    globs = Globs([pattern])

    assert globs.match("a/\n/b.py") is globs.match("a/_/b.py")
    assert globs.match("a/b.py\n") is globs.match("a/b.py_")
    assert globs.match("\nx.py") is globs.match("_x.py")
    assert globs.match("x\n") is globs.match("x_")


def test_bytes_that_are_not_utf8_are_ordinary_characters() -> None:
    name = b"tests/trusted/caf\xe9.py".decode("utf-8", "surrogateescape")

    assert Globs(["tests/trusted/**"]).match(name)
    assert Globs(["tests/*/caf?.py"]).match(name)


@pytest.mark.parametrize(
    "pattern",
    [
        "",
        " ",
        "!",
        "/",
        "!/",
        "#x",
        "../x",
        "a/../b",
        "./a",
        "a//b",
        "a\nb",
        "a ",
        "[a",
        "a/[z-a].py",
        "a\\",
        "x***y",
        "[[:alpha:]]",
        "a\0",
        "trusted\uff0fx",
        "\uff0a.py",
    ],
)
def test_a_pattern_that_can_match_nothing_is_refused_by_name(pattern: str) -> None:
    with pytest.raises(UsageError) as caught:
        Globs(["ok", pattern])

    assert repr(pattern) in str(caught.value)


@pytest.mark.parametrize(
    "name",
    [
        "tests/Trusted/x.py",
        "TESTS/trusted/x.py",
        "\uff54ests/trusted/x.py",
        "tests/tru\u200bsted/x.py",
        "tests/trusted./x.py",
        "tests/tru\ufb06ed/x.py",
    ],
)
def test_folded_globs_take_every_spelling_that_a_file_system_may_take_for_the_same(name: str) -> None:
    assert Globs(["tests/trusted/**"], folded=True).match(name)


def test_folded_globs_fold_their_patterns_too() -> None:
    assert Globs(["Tests/Straße/**"], folded=True).match("tests/STRASSE/x")


def test_a_negation_is_never_folded() -> None:
    globs = Globs(["tests/**", "!tests/generated/**"], folded=True)

    assert not globs.match("tests/generated/x.py")
    assert globs.match("tests/Generated/x.py")


@given(st.text())
def test_folding_twice_changes_nothing(text: str) -> None:
    assert fold(fold(text)) == fold(text)


@pytest.mark.parametrize(
    ("pattern", "prefix"),
    [
        ("tests/trusted/**", "tests/trusted"),
        ("docs/*.md", "docs"),
        ("conftest.py", ""),
        ("/a/b", "a/b"),
        ("/a", "a"),
        ("a/b/", "a/b"),
        ("**/x", ""),
        ("!a/b/**", "a/b"),
        ("a/[b]/c", "a"),
        ("tests", ""),
        ("tests/", ""),
    ],
)
def test_the_fixed_part_holds_all_that_the_pattern_can_match(pattern: str, prefix: str) -> None:
    assert fixed_part(pattern) == prefix


NAMES = st.sampled_from(["a", "b", "ab", "a.py", ".py", "tests", "x\udce9", "é", "-"])
PATHS = st.lists(NAMES, min_size=1, max_size=4).map("/".join)
PIECES = st.sampled_from(["a", "b", "*", "**", "*.py", "a.py", "tests", "?", "[ab]", "a*", ".py", "*b"])
PATTERNS = st.tuples(
    st.sampled_from(["", "!", "/", "!/"]),
    st.lists(PIECES, min_size=1, max_size=4).map("/".join),
    st.sampled_from(["", "/"]),
).map("".join)


@given(PATTERNS, PATHS)
def test_the_shortcuts_agree_with_the_library_on_every_single_pattern(pattern: str, path: str) -> None:
    body = pattern.removeprefix("!")
    source, _ = GitIgnoreSpecPattern.pattern_to_regex(body)
    assert source is not None

    assert Globs([body]).match(path) is (re.search(source, path) is not None)


@given(st.lists(PATTERNS, max_size=4), PATHS)
def test_lists_agree_with_last_match_wins(patterns: list[str], path: str) -> None:
    decided = [p for p in patterns if GitIgnoreSpec.from_lines([p.removeprefix("!")]).match_file(path)]
    expected = bool(decided) and not decided[-1].startswith("!")

    assert Globs(patterns).match(path) is expected


GIT_PATHS = [
    "a",
    "a/b",
    "x/a",
    "x/a/b",
    "b.py",
    "x/b.py",
    "x/y/b.py",
    "a/x/y/b.py",
    "docs/c.md",
    "x/docs/c.md",
    "a b",
    "#x",
    "caf\u00e9",
]


GIT_PATTERNS = ["a", "/a", "a/", "a/**", "**/a", "**/a/**", "*.py", "/*.py", "x/*", "x/**/b.py", "**", "*", "/*", "*/"]


@pytest.mark.parametrize("pattern", [*GIT_PATTERNS, "[ab]", "[!a]", "?", r"a\ b", r"\#x", "a/*/y", "ca*", "docs/*.md"])
def test_git_itself_takes_the_same_paths(pattern: str, tmp_path: Path) -> None:
    repo = Repo(tmp_path)
    (tmp_path / ".git/info").mkdir(exist_ok=True)
    (tmp_path / ".git/info/exclude").write_text(pattern + "\n", encoding="utf-8")
    names = "\0".join(GIT_PATHS).encode() + b"\0"
    ignored = repo.run("check-ignore", "--no-index", "-z", "--stdin", stdin=names, check=False).stdout.decode()

    assert [path for path in GIT_PATHS if Globs([pattern]).match(path)] == ignored.split("\0")[:-1]


@given(st.text(max_size=12), st.text(max_size=12), st.booleans())
def test_any_text_as_a_pattern_compiles_or_is_refused(pattern: str, path: str, folded: bool) -> None:
    try:
        globs = Globs([pattern], folded=folded)
    except UsageError:
        return
    assert globs.match(path) in {True, False}


def test_the_default_settings_need_no_glob_library() -> None:
    code = (
        "import sys; from linewitness.globs import Globs;"
        "Globs(['**', 'tests/trusted/**', 'tests/waivers.yaml', 'conftest.py', '*.pth', '**/auth/**']).match('a/b');"
        "sys.exit('pathspec' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
