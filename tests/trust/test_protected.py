"""Protected content: whatever way a patch takes to touch it, there is a finding; whatever is not it, there is none."""

from __future__ import annotations

import hashlib
import re
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from linewitness.case import Question, open_case
from linewitness.globs import Globs
from linewitness.model import Blob, Finding, ObjectId, RepoPath
from linewitness.patch.repository import Repository
from linewitness.settings import Settings, Suite
from linewitness.trust.protected import Protection, freeze, protected_paths
from linewitness.trust.tables import protected_differences
from linewitness.trust.undo import remove_command, restore_command, shell_quote
from tests.support.repos import Executable, Link, Repo, environment

FILE, PROGRAM, LINK, SUBMODULE = 0o100644, 0o100755, 0o120000, 0o160000
PLAIN = Settings()
WHOLE = Settings(trusted=("tests/**", "!tests/generated/**"))


class Trees:
    """Trees from plain text, and the store that their blobs are read from."""

    def __init__(self) -> None:
        self.store: dict[ObjectId, bytes] = {}

    def tree(self, files: dict[str, str | bytes | tuple[int, str]]) -> dict[RepoPath, Blob]:
        tree = {}
        for name, content in files.items():
            mode, text = content if isinstance(content, tuple) else (FILE, content)
            data = text.encode() if isinstance(text, str) else text
            oid = ObjectId(hashlib.sha1(data, usedforsecurity=False).hexdigest())
            self.store[oid] = data
            tree[RepoPath(name)] = Blob(mode, oid)
        return tree

    def read(self, blob: Blob) -> bytes:
        return self.store[blob.oid]


Entry = str | bytes | tuple[int, str]
Files = dict[str, Entry]


def findings(base: Files, head: Files, settings: Settings = PLAIN) -> tuple[Finding, ...]:
    trees = Trees()
    return freeze(trees.tree(base), trees.tree(head), settings, trees.read)


def flagged(base: Files, head: Files, settings: Settings = PLAIN) -> list[str]:
    found = findings(base, head, settings)
    assert {finding.code for finding in found} <= {"LW301"}
    return [finding.path for finding in found]


BASE: Files = {
    "src/app.py": "x = 1\n",
    "src/pkg/__init__.py": "",
    "tests/trusted/test_app.py": "def test(): ...\n",
    "tests/relations/test_r.py": "def test(): ...\n",
    "tests/relations/corpus/a.json": "{}",
    "tests/relations/corpus/MANIFEST.sha256": "x",
    "tests/waivers.yaml": "waivers: []\n",
    "pyproject.toml": '[project]\nversion = "1"\n[tool.pytest.ini_options]\naddopts = "-q"\n',
}


def changed(path: str, content: str | bytes | tuple[int, str] | None = "new") -> Files:
    head = dict(BASE)
    if content is None:
        del head[path]
    else:
        head[path] = content
    return head


def test_equal_trees_are_quiet() -> None:
    assert findings(BASE, dict(BASE)) == ()


def test_product_code_and_generated_tests_may_change() -> None:
    head = BASE | {
        "src/app.py": "x = 2\n",
        "tests/generated/test_g.py": "",
        "tests/generated/conftest.py": "",
        "README.md": "",
    }

    assert findings(BASE, head) == ()
    assert findings(BASE, head, WHOLE) == ()


@pytest.mark.parametrize(
    "path",
    [
        "tests/trusted/test_app.py",
        "tests/relations/test_r.py",
        "tests/relations/corpus/a.json",
        "tests/relations/corpus/MANIFEST.sha256",
        "tests/waivers.yaml",
    ],
)
def test_a_change_a_removal_and_a_mode_of_protected_content_are_each_a_finding(path: str) -> None:
    same = BASE[path]
    assert isinstance(same, str)

    assert flagged(BASE, changed(path)) == [path]
    assert flagged(BASE, changed(path, None)) == [path]
    assert flagged(BASE, changed(path, (PROGRAM, same))) == [path]
    assert flagged(BASE, changed(path, (LINK, same))) == [path]


BUILT_IN = [
    "linewitness.toml",
    ".linewitness/approvers",
    ".linewitness/other",
    "CODEOWNERS",
    "docs/CODEOWNERS",
    ".github/CODEOWNERS",
    "src/CODEOWNERS",
    ".gitattributes",
    "src/.gitattributes",
    ".gitmodules",
    ".github/workflows/ci.yml",
    ".github/hooks/pre.json",
    ".gitlab-ci.yml",
    ".ci/run",
    "Jenkinsfile",
    ".claude/settings.json",
    "web/.claude/settings.local.json",
    ".codex/config.toml",
    ".gemini/settings.json",
    ".cursor/hooks.json",
    ".openhands/hooks.json",
    ".aider.conf.yml",
    "web/.mcp.json",
    ".venv/bin/python",
    "venv/lib/site.py",
    "tools/pyvenv.cfg",
    "tests/__init__.pyc",
    "__init__.cpython-311-x86_64-linux-gnu.so",
    ".linewitness/revoked",
    ".build.yml",
    "Jenkinsfile.nightly",
    "conftest.py",
    "__init__.py",
    "tests/conftest.py",
    "tests/__init__.py",
    "pytest.ini",
    ".pytest.ini",
    "pytest.toml",
    ".pytest.toml",
    "tests/pytest.ini",
    ".coveragerc",
    ".coveragerc.toml",
    "sitecustomize.py",
    "src/usercustomize.py",
    "src/sitecustomize/__init__.py",
    "src/evil.pth",
    "evil.egg-info/entry_points.txt",
    "src/evil.dist-info/METADATA",
    "data/MANIFEST.sha256",
]


@pytest.mark.parametrize("path", BUILT_IN)
def test_adding_what_can_influence_the_run_or_the_gate_is_a_finding(path: str) -> None:
    assert flagged(BASE, changed(path)) == [path]


@pytest.mark.parametrize(
    "path",
    [
        "src/conftest.py",
        "src/pkg/sub/__init__.py",
        "docs/pytest.ini",
        "src/CODEOWNERS.md",
        "src/linewitness.toml",
        "src/.github/x",
        "src/codeowners.py",
        "src/mysitecustomize.py",
        "tests/helper.py",
        "tests/generated/__init__.py",
        "src/path.pth.py",
        "gitattributes",
        "docs",
        "src/.venv",
        "AGENTS.md",
        "requirements.txt",
        "Makefile",
        "uv.lock",
        "tests/init.py",
        "tests/__init__",
    ],
)
def test_a_near_miss_of_a_protected_name_is_quiet(path: str) -> None:
    assert findings(BASE, changed(path)) == ()


def test_settings_add_to_the_protected_paths_and_never_remove() -> None:
    settings = Settings(protected=("data/**", "!data/cache/**", "!tests/**", "!.github/**"))

    head = BASE | {"data/a": "", "data/cache/a": "", "tests/trusted/new.py": "", ".github/x": ""}
    assert flagged(BASE, head, settings) == [".github/x", "data/a", "tests/trusted/new.py"]


def test_the_waiver_file_and_the_approvers_are_where_the_settings_say() -> None:
    settings = Settings(waivers="gate/w*ivers.yaml", approvers="gate/keys")

    head = BASE | {"gate/w*ivers.yaml": "", "gate/waivers.yaml": "", "gate/keys": "", "gate/revoked": ""}
    assert flagged(BASE, head, settings) == ["gate/keys", "gate/revoked", "gate/w*ivers.yaml"]


SUITE = Settings(
    suite=(
        Suite(
            runner="pytest",
            setup=(
                "pip install -r requirements/dev.txt -rmore.in --constraint=pins.txt && ./tools/build.sh",
                "uv sync",
            ),
            args=("-c", "config/pytest.ini"),
            python="tools/python",
            plugins=("tests.plugins.clock", "shop.testing"),
        ),
        Suite(name="web", run="npm test; bash 'tools/run web.sh'", export="lcov.info"),
    )
)


@pytest.mark.parametrize(
    "path",
    [
        *(
            "requirements/dev.txt",
            "more.in",
            "pins.txt",
            "tools/build.sh",
            "uv.lock",
            "config/pytest.ini",
            "tools/python",
        ),
        *("tests/plugins/clock.py", "tests/plugins/clock/__init__.py", "package.json", "package-lock.json"),
        *("tools/run web.sh", "Requirements/DEV.txt"),
    ],
)
def test_a_file_that_a_suite_uses_decides_what_the_checks_run_with(path: str) -> None:
    assert flagged(BASE, changed(path), SUITE) == [path]
    assert findings(BASE, changed(path)) == () or path.startswith("tests/plugins/clock/")


@pytest.mark.parametrize("path", ["requirements.txt", "Makefile", "src/shop/testing.py", "lcov.info", "prefix/uv.lock"])
def test_a_file_that_no_suite_uses_may_change(path: str) -> None:
    assert findings(BASE, changed(path), SUITE) == ()


def test_a_command_with_an_open_quotation_mark_still_names_its_files() -> None:
    settings = Settings(suite=(Suite(run="bash 'tools/run.sh", export="x"),))

    assert flagged(BASE, changed("tools/run.sh"), Settings(suite=(Suite(run="bash tools/run.sh", export="x"),)))
    assert findings(BASE, changed("README.md"), settings) == ()


@pytest.mark.parametrize(
    "path",
    [
        *(
            "CONFTE~1.PY",
            "tests/CONFTE~1.PY",
            "PYPROJ~1.TOM",
            "LINEWI~1.TOM",
            "GITHUB~1/workflows/ci.yml",
            "PYTEST~2.INI",
        ),
        *("conftest.py::$DATA", "tests\\trusted\\test_a.py", "tests/trusted:x/y.py", "pyproject.toml:x"),
    ],
)
def test_a_name_that_windows_takes_for_a_protected_one_is_a_finding(path: str) -> None:
    assert flagged(BASE, changed(path)) == [path]


@pytest.mark.parametrize("path", ["notes~1.txt", "src/a:b.py", "docs/x\\y.md", "CONFTE~A.PY", "src/CONFTE~1.PY", "a~"])
def test_other_names_that_windows_would_not_have_are_quiet(path: str) -> None:
    assert findings(BASE, changed(path)) == ()


def test_a_trusted_test_that_is_moved_away_was_removed() -> None:
    head = changed("tests/trusted/test_app.py", None) | {"tests/old/test_app.py": BASE["tests/trusted/test_app.py"]}

    (finding,) = findings(BASE, head)
    assert finding.path == "tests/trusted/test_app.py"
    assert "removed or moved away" in finding.message


@pytest.mark.parametrize(
    "path",
    [
        "tests/Trusted/test_x.py",
        "TESTS/trusted/x.py",
        "tests/tru\u200bsted/x.py",
        "Conftest.py",
        ".GitHub/workflows/x",
        "tests/\uff54rusted/x.py",
    ],
)
def test_a_name_that_some_file_system_takes_for_a_protected_one_is_protected(path: str) -> None:
    assert flagged(BASE, changed(path)) == [path]


def test_an_exemption_is_not_folded() -> None:
    assert flagged(BASE, changed("tests/Generated/test_x.py"), WHOLE) == ["tests/Generated/test_x.py"]


@pytest.mark.parametrize(
    "path", ["tests/trust\u0435d/test_x.py", "t\u0435sts/trusted/x.py", "conft\u0435st.py", "tests/w\u0430ivers.yaml"]
)
def test_a_look_alike_of_a_protected_place_is_a_finding(path: str) -> None:
    expected = (
        [] if path.startswith("conft") else [path]
    )  # a name without a fixed place has nothing beside it to imitate

    assert flagged(BASE, changed(path)) == expected


@pytest.mark.parametrize(
    "path",
    [
        "tests/\u6570\u636e/x.py",
        "\u0434\u043e\u043a\u0438/x",
        "docs/caf\u00e9.md",
        "src/\u0442\u0435\u0441\u0442/trusted",
    ],
)
def test_names_in_other_scripts_are_quiet(path: str) -> None:
    assert findings(BASE, changed(path)) == ()


@pytest.mark.parametrize("mode", [LINK, SUBMODULE])
@pytest.mark.parametrize("path", ["tests", "tests/trusted", "Tests", "docs", ".linewitness"])
def test_a_link_or_a_submodule_at_or_above_a_protected_path_is_a_finding(path: str, mode: int) -> None:
    base: Files = {"src/app.py": "x"}

    assert flagged(base, base | {path: (mode, "elsewhere")}) == [path]


@pytest.mark.parametrize("mode", [LINK, SUBMODULE])
def test_a_link_or_a_submodule_elsewhere_is_not_about_protected_content(mode: int) -> None:
    assert findings(BASE, changed("src/vendored", (mode, "elsewhere"))) == ()


def test_a_folder_of_trusted_tests_that_becomes_a_link_is_reported_with_every_test_it_held() -> None:
    head = {path: content for path, content in BASE.items() if not path.startswith("tests/trusted/")}

    assert flagged(BASE, head | {"tests/trusted": (LINK, "generated")}) == [
        "tests/trusted",
        "tests/trusted/test_app.py",
    ]


def test_a_corpus_that_is_changed_together_with_its_manifest_is_changed_all_the_same() -> None:
    corpus = "tests/relations/corpus/"
    head = BASE | {corpus + "a.json": "easier", corpus + "MANIFEST.sha256": "its digest"}

    assert flagged(BASE, head) == [corpus + "MANIFEST.sha256", corpus + "a.json"]


def test_first_adoption_is_an_addition_that_nobody_approved() -> None:
    base: Files = {"app.py": "x"}

    assert flagged(base, base | {"linewitness.toml": "", "tests/trusted/test_a.py": ""}) == [
        "linewitness.toml",
        "tests/trusted/test_a.py",
    ]


# ---------------------------------------------------------------- tests that live beside the code


IN_PACKAGE = Settings(trusted=("**/tests/**",), relations=())
PACKAGE: Files = {
    "pkg/__init__.py": "1",
    "pkg/core.py": "1",
    "pkg/deep/__init__.py": "1",
    "pkg/deep/tests/test_a.py": "1",
    "other/__init__.py": "1",
    "other/core.py": "1",
}


def test_conftest_files_on_the_way_to_tests_inside_a_package_are_protected() -> None:
    head = PACKAGE | {"pkg/conftest.py": "", "pkg/deep/conftest.py": "", "other/conftest.py": "", "conftest.py": ""}

    assert flagged(PACKAGE, head, IN_PACKAGE) == ["conftest.py", "pkg/conftest.py", "pkg/deep/conftest.py"]


def test_the_package_file_of_code_under_test_is_product_code() -> None:
    assert findings(PACKAGE, PACKAGE | {"pkg/__init__.py": "2"}, IN_PACKAGE) == ()


def test_a_package_file_without_code_beside_it_is_there_for_the_tests() -> None:
    assert flagged(PACKAGE, PACKAGE | {"pkg/deep/__init__.py": "2"}, IN_PACKAGE) == ["pkg/deep/__init__.py"]


def test_a_patch_cannot_make_a_package_file_product_code() -> None:
    head = PACKAGE | {"pkg/deep/__init__.py": "2", "pkg/deep/core.py": ""}

    assert flagged(PACKAGE, head, IN_PACKAGE) == ["pkg/deep/__init__.py"]


def test_a_package_file_in_a_folder_of_tests_is_never_product_code() -> None:
    base = BASE | {"tests/__init__.py": "", "tests/helper.py": ""}

    assert flagged(base, base | {"tests/__init__.py": "evil"}) == ["tests/__init__.py"]


# ---------------------------------------------------------------- settings files that several tools share


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        ("pyproject.toml", '[project]\nversion = "1"\n', '[project]\nversion = "2"\n'),
        (
            "pyproject.toml",
            "[tool.black]\nx = 1\n[tool.pytest]\na = 1\nb = 2\n",
            "[tool.pytest]\nb = 2\n# why\na = 1\n",
        ),
        (
            "setup.cfg",
            "[metadata]\nversion = 1\n[tool:pytest]\naddopts = -q\n",
            "[tool:pytest]\n\naddopts = -q\n# c\n[metadata]\nversion = 2\n",
        ),
        ("tox.ini", "[tox]\nenvlist = a\n", "[tox]\nenvlist = b\r\n"),
        ("tox.ini", "", "[testenv]\ncommands = pytest\n"),
    ],
)
def test_a_table_that_steers_no_test_run_may_change(name: str, before: str, after: str) -> None:
    assert protected_differences(name, before.encode(), after.encode()) == ()
    assert findings({name: before}, {name: after}) == ()


@pytest.mark.parametrize(
    ("name", "before", "after", "table"),
    [
        ("pyproject.toml", "", '[tool.pytest.ini_options]\naddopts = "-p evil"\n', "[tool.pytest]"),
        ("pyproject.toml", "[tool.pytest]\na = 1\n", "", "[tool.pytest]"),
        ("pyproject.toml", "[tool.pytest]\na = 1\n", "[tool.pytest]\na = true\n", "[tool.pytest]"),
        ("pyproject.toml", "[tool.coverage.run]\n", '[tool.coverage.run]\nplugins = ["evil"]\n', "[tool.coverage]"),
        ("pyproject.toml", "", "[tool.linewitness]\n", "[tool.linewitness]"),
        ("pyproject.toml", "", "[tool.pytest_env]\nX = 1\n", "[tool.pytest_env]"),
        ("pyproject.toml", "", 'tool = {pytest = {addopts = "-x"}}\n', "[tool.pytest]"),
        ("setup.cfg", "[tool:pytest]\n", "[tool:pytest]\naddopts = -k x\n", "[tool:pytest]"),
        ("setup.cfg", "", "[coverage:run]\nomit = *\n", "[coverage:run]"),
        ("tox.ini", "[pytest]\naddopts = -q\n", "[pytest]\naddopts = -q\n  -p evil\n", "[pytest]"),
        ("tox.ini", "[a]\n", "[a]\n [pytest]\naddopts = -p evil\n", "[pytest]"),
        ("tox.ini", "", "[DEFAULT]\nomit = *\n", "[default]"),
        ("tox.ini", "[a]\nx = 1\n", "y = 2\n[a]\nx = 1\n", "(before the first section)"),
        ("tox.ini", "[pytest]\n[b]\n", "[pytest]\n  [b]\naddopts = -p evil\n", "[pytest]"),
    ],
)
def test_a_table_that_steers_the_test_run_is_named(name: str, before: str, after: str, table: str) -> None:
    named = {"[tool.pytest]": "[tool.pytest"}.get(table, table)

    assert any(named in found for found in protected_differences(name, before.encode(), after.encode()))
    (finding,) = findings({name: before}, {name: after})
    assert (finding.path, named in finding.message) == (name, True)


@pytest.mark.parametrize(
    ("name", "odd"),
    [
        ("pyproject.toml", b"[broken"),
        ("pyproject.toml", b"\xff"),
        ("pyproject.toml", b"a = " + b"[" * 5000 + b"]" * 5000),
        ("pyproject.toml", b"a = " + b"9" * 5000),
        ("tox.ini", b"\xff"),
        ("tox.ini", b"\xef\xbb\xbf[a]\n"),
        ("tox.ini", "[pytest]\na = # \u2028[b]\n -p evil\n".encode()),
        ("setup.cfg", b"# x\r[tool:pytest]\raddopts = -p evil\n"),
        ("setup.cfg", b"[a]\n" * (1 << 19)),
    ],
)
def test_a_shared_file_that_cannot_be_read_with_certainty_counts_whole(name: str, odd: bytes) -> None:
    for pair in ((odd, b"x"), (b"", odd), (None, odd), (odd, None)):
        assert protected_differences(name, *pair) == ("the whole file",)
    assert protected_differences(name, odd, odd) == ()


def test_a_shared_file_that_becomes_a_link_is_a_finding() -> None:
    (finding,) = findings(BASE, changed("pyproject.toml", (LINK, "elsewhere.toml")))

    assert "symbolic link" in finding.message


def test_a_shared_file_matters_only_on_the_way_to_trusted_tests() -> None:
    text = '[tool.pytest.ini_options]\naddopts = "-x"\n'

    assert findings(BASE, changed("docs/pyproject.toml", text)) == ()
    assert flagged(BASE, changed("tests/pyproject.toml", text)) == ["tests/pyproject.toml"]


@given(st.binary(max_size=60), st.binary(max_size=60), st.sampled_from(["pyproject.toml", "tox.ini"]))
def test_any_bytes_as_a_shared_file_are_compared_or_count_whole(before: bytes, after: bytes, name: str) -> None:
    tables = protected_differences(name, before, after)

    assert tables == tuple(sorted(tables))
    assert protected_differences(name, before, before) == ()


@given(
    st.lists(
        st.sampled_from(["[pytest]", "[b]", " [pytest]", " [b]", "a = 1", " -p x", "# c", "", "[coverage:run]"]),
        max_size=8,
    )
)
def test_whatever_iniconfig_and_configparser_read_differently_is_reported(lines: list[str]) -> None:
    """An oracle: what the readers of these files themselves make of the two versions."""
    before, after = "[pytest]\na = 0\n", "\n".join(lines) + "\n"

    if not protected_differences("tox.ini", before.encode(), after.encode()):
        assert _as_read(before) == _as_read(after)


def _as_read(text: str) -> object:
    import configparser

    import iniconfig

    parser = configparser.ConfigParser(interpolation=None)
    parser.read_string(text)
    covered = {name: dict(parser[name]) for name in parser.sections() if name.startswith(("pytest", "coverage"))}
    config = iniconfig.IniConfig("x", data=text)
    return covered, {name: dict(config.sections[name]) for name in ("pytest",) if name in config.sections}


# ---------------------------------------------------------------- any patch


PATHS = st.sampled_from(
    [
        *BUILT_IN,
        *BASE,
        "src/a.py",
        "tests/generated/a.py",
        "tests",
        "docs",
        "tests/TRUSTED/x",
        "a\nb",
        "tests/trusted/caf\udce9",
        "tests/x.py",
    ]
)
ENTRIES = st.tuples(st.sampled_from([FILE, PROGRAM, LINK, SUBMODULE]), st.sampled_from(["", "1", "[tool.pytest]"]))
TREES = st.dictionaries(PATHS, ENTRIES, max_size=8)


@given(TREES, TREES)
def test_any_difference_of_a_protected_path_is_found_once_and_in_order(base: Files, head: Files) -> None:
    found = flagged(base, head)
    trees = Trees()
    protection = Protection(PLAIN, trees.tree(base), trees.tree(head))
    touched = {path for path in base.keys() | head.keys() if base.get(path) != head.get(path)}

    assert found == sorted(set(found))
    assert {path for path in touched if protection.is_protected(path)} <= set(found) <= touched


def test_a_path_is_asked_about_without_a_patch() -> None:
    protection = Protection(PLAIN)

    assert [path for path in BASE if protection.is_protected(path)] == [
        "tests/trusted/test_app.py",
        "tests/relations/test_r.py",
        "tests/relations/corpus/a.json",
        "tests/relations/corpus/MANIFEST.sha256",
        "tests/waivers.yaml",
    ]
    assert protection.is_protected("conftest.py") is True
    assert protection.is_protected("pyproject.toml") is False


@given(TREES)
def test_any_tree_against_itself_is_quiet(tree: Files) -> None:
    assert findings(tree, dict(tree)) == ()


@given(PATHS)
def test_the_list_for_outside_tools_denies_at_least_what_the_gate_protects(path: str) -> None:
    if Protection(PLAIN).is_protected(path):
        assert Globs(protected_paths(PLAIN), folded=True).match(path)


# ---------------------------------------------------------------- what people are told


def test_the_message_tells_how_to_take_a_change_back() -> None:
    trees = Trees()
    base = trees.tree(BASE)
    head = trees.tree(BASE | {"tests/trusted/test_app.py": "", "tests/trusted/it's [new].py": ""})

    found = {f.path: f.message for f in freeze(base, head, PLAIN, trees.read, base_name="f00d")}
    assert "`git checkout f00d -- :/tests/trusted/test_app.py`" in found["tests/trusted/test_app.py"]
    assert "git rm -r -- ':(top,literal)tests/trusted/it'\"'\"'s [new].py'" in found["tests/trusted/it's [new].py"]


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        (None, "x", "a trusted test was added. "),
        (None, (LINK, "x"), "a trusted test was added as a symbolic link. "),
        ("x", None, "a trusted test was removed or moved away. "),
        ("x", "y", "a trusted test was changed. "),
        ("x", (PROGRAM, "y"), "a trusted test was changed. "),
        ("x", (PROGRAM, "x"), "a trusted test was given another mode (100644 became 100755). "),
        ("x", (LINK, "x"), "a trusted test was replaced by a symbolic link. "),
        ((LINK, "x"), "x", "a trusted test was replaced by a regular file. "),
        ("x", (SUBMODULE, "x"), "a trusted test was replaced by a submodule. "),
    ],
)
def test_the_message_says_what_happened(before: Entry | None, after: Entry | None, words: str) -> None:
    path = "tests/trusted/a"
    base: Files = {} if before is None else {path: before}
    head: Files = {} if after is None else {path: after}

    (finding,) = findings(base, head)
    assert finding.message.startswith(words)


def test_of_a_shared_file_only_the_part_that_matters_has_to_go_back() -> None:
    (finding,) = findings(BASE, changed("pyproject.toml", ""))

    assert "[tool.pytest] was changed" in finding.message
    assert "`git diff BASE -- :/pyproject.toml` shows it" in finding.message


@given(
    st.text(st.characters(exclude_characters="\0"), min_size=1).filter(
        lambda text: not any("\ud800" <= c <= "\udfff" for c in text)
    )
)
def test_a_shell_reads_a_quoted_name_as_that_name(name: str) -> None:
    quoted = shell_quote(name)
    echoed = subprocess.run(["bash", "-c", f"printf %s {quoted}"], check=True, capture_output=True).stdout

    assert echoed == name.encode()
    assert quoted.isprintable()


def test_a_name_that_is_not_utf8_survives_the_shell() -> None:
    name = b"caf\xe9\n".decode("utf-8", "surrogateescape")

    echoed = subprocess.run(["bash", "-c", f"printf %s {shell_quote(name)}"], check=True, capture_output=True).stdout
    assert echoed == b"caf\xe9\n"
    assert restore_command("HEAD", name) == "git checkout HEAD -- $':/caf\\351\\012'"
    assert remove_command("a") == "git rm -r -- :/a"


_TABLE = "[tool.pytest.ini_options]\n"
COMMAND = re.compile(r"`(git (?:checkout|rm) [^`]+)`")


def test_every_command_of_a_finding_works_in_any_folder_and_together_they_open_the_gate(tmp_path: Path) -> None:
    repo = Repo(tmp_path / "it's here")
    odd = ("tests/trusted/!x.py", "tests/trusted/it's [new].py", "tests/trusted/a*b.py", "tests/trusted/\u00e9\n.py")
    repo.write(dict.fromkeys((*odd, "app.py", "conftest.py", ":x/tests/trusted/x", "!y"), ""))
    repo.write({"linewitness.toml": 'trusted = ["**/trusted/**"]\nprotected = ["?y"]\n'})
    base = repo.commit("base", {"pyproject.toml": _TABLE, "tests/trusted/deep/a.py": "a"})
    repo.branch("patch")
    repo.remove(odd[0], "tests/trusted/deep", "conftest.py", "!y")
    repo.write({"conftest.py/x": "", odd[1]: "2", odd[2]: Executable(""), ":x/tests/trusted/x": "2"})
    repo.write({"tests/trusted/deep": Link("../x"), "tests/trusted/new/a b.py": "", "-rf/trusted/x": ""})
    repo.commit("head", {"pyproject.toml": f"{_TABLE}x = 1\n", ".gitattributes": "x"})
    with Repository(repo.root) as repository:
        found = frozen(repository, base)
        commands = [COMMAND.findall(finding.message)[-1] for finding in found]
        (repo.root / "tests" / "elsewhere").mkdir()
        for command in commands:
            place = repo.root / "tests" / "elsewhere"
            done = subprocess.run(
                ["bash", "-c", command], check=False, cwd=place, env=environment(), capture_output=True
            )
            assert done.returncode == 0, (command, done.stderr)
        repo.commit_index("taken back")

        assert len(commands) >= 10
        assert frozen(repository, base) == ()


def frozen(repository: Repository, base: str) -> tuple[Finding, ...]:
    case = open_case(repository, Question(base))
    return freeze(case.base_tree, case.head_tree, case.loaded.settings, case.read, base_name=base)
