"""Where settings come from, what they are by default, and how each mistake is told."""

from __future__ import annotations

import re
from collections.abc import Callable

import msgspec.structs
import pytest

from linewitness.errors import Exit, UsageError
from linewitness.settings import LoadedSettings, Settings, Suite, digest, load


def tree(**files: str | bytes) -> Callable[[str], bytes | None]:
    """A tree's reader; ``own`` is linewitness.toml, ``project`` pyproject.toml."""
    names = {"linewitness.toml": files.get("own"), "pyproject.toml": files.get("project")}

    def read(path: str) -> bytes | None:
        content = names[path]
        return content.encode() if isinstance(content, str) else content

    return read


def refusal(text: str | bytes) -> str:
    with pytest.raises(UsageError) as caught:
        load(tree(own=text))
    assert caught.value.exit is Exit.USAGE
    return str(caught.value)


def test_a_tree_without_settings_has_the_defaults() -> None:
    loaded = load(tree())

    assert loaded == LoadedSettings(Settings(), digest(Settings()), "")
    assert loaded.settings.sources == ("**",)


def test_a_project_file_without_our_table_is_as_good_as_none() -> None:
    assert load(tree(project="[tool.other]\nx = 1\n")).origin == ""
    assert load(tree(project="tool = 1\n")).origin == ""


def test_both_places_hold_the_same_settings_with_the_same_digest() -> None:
    own = load(tree(own='branches = "arms"\n'))
    shared = load(tree(project='[project]\nname = "x"\n[tool.linewitness]\nbranches = "arms"\n'))

    assert own.settings == shared.settings
    assert own.settings.branches == "arms"
    assert own.digest == shared.digest
    assert (own.origin, shared.origin) == ("linewitness.toml", "pyproject.toml")


def test_settings_in_both_places_are_refused_even_when_one_is_empty() -> None:
    with pytest.raises(UsageError, match=r"pyproject\.toml:2: .*only one may be"):
        load(tree(own="", project="x = 1\n[tool.linewitness]\n"))


def test_the_digest_is_about_the_effective_settings_and_about_each_of_them() -> None:
    assert load(tree(own='deletions = "owe"\n')).digest == load(tree()).digest
    changed = {
        "target_branch": "x",
        "sources": ("a",),
        "generated": (),
        "trusted": (),
        "relations": (),
        "waivers": "w",
        "protected": ("p",),
        "inert": ("i",),
        "sensitive": ("s",),
        "owners": ("o",),
        "approvers": "a",
        "branches": "arms",
        "reformatted": "owe",
        "deletions": "ignore",
        "import_hits": "owe",
        "hazards": "ignore",
        "data": "owe",
        "imported_evidence": "refuse",
        "inline_tests": "generated",
        "draft_examples": 0,
        "max_waiver_days": msgspec.structs.replace(Settings().max_waiver_days, vendor=3),
        "suite": (Suite(runner="pytest"),),
    }

    assert set(changed) == set(Settings.__struct_fields__)
    digests = {digest(msgspec.structs.replace(Settings(), **{name: value})) for name, value in changed.items()}
    assert len(digests | {digest(Settings())}) == len(changed) + 1


def test_every_setting_of_the_documentation_is_understood() -> None:
    loaded = load(
        tree(
            own="""
            target-branch = "main"
            sources   = ["**"]
            generated = ["tests/generated/**"]
            trusted   = ["tests/**", "!tests/generated/**"]
            relations = ["tests/relations/**"]
            waivers   = "tests/waivers.yaml"
            protected = ["tools/[a-c]*/**"]
            inert     = ["*.svg"]
            sensitive = ["**/auth/**", "**/crypto/**"]
            owners    = ["platform-reviewers"]
            approvers = ".linewitness/approvers"
            branches = "line"
            reformatted = "prove"
            deletions = "owe"
            import-hits = "count"
            data = "owe"
            imported-evidence = "refuse"
            max-waiver-days = { codegen = 180, vendor = 180, pure-refactor = 30, experiment = 14 }

            [[suite]]
            name = "python"
            runner = "pytest"
            plugins = ["pytest_asyncio"]
            env = ["LANG"]
            timeout = 60

            [[suite]]
            name = "web"
            run = "npx vitest run tests/trusted --coverage"
            export = "coverage/lcov.info"
            sources = ["web/src/**"]
            path-map = { "/build" = "web" }
            """
        )
    )

    assert [suite.name for suite in loaded.settings.suite] == ["python", "web"]
    assert loaded.settings.suite[1].path_map == {"/build": "web"}


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        ("trustd = []", "linewitness.toml:1", "trustd: unknown key; did you mean `trusted`?"),
        ("\nimport_hits = 'owe'", "linewitness.toml:2", "did you mean `import-hits`?"),
        ("[max-waiver-days]\n'pure refactor' = 3", "linewitness.toml:2", "did you mean `pure-refactor`?"),
        ("[[suite]]\nrunner='pytest'\n[[suite]]\nrunnr='pytest'", "linewitness.toml:4", "suite[1].runnr: unknown key"),
        ("[[suite]]\nrunner='pytest'\nbranches='arms'", "linewitness.toml:3", "move it to the top"),
        ("trusted = 'tests'", "linewitness.toml:1", "expected an array, got a string"),
        ("trusted = ['a',\n 3]", "linewitness.toml:2", "trusted[1]: expected a string, got an integer"),
        ("waivers = 2020-01-01", "linewitness.toml:1", "expected a string, got a date"),
        ("branches = 'arm'", "linewitness.toml:1", "must be one of `line`, `arms`; did you mean `arms`?"),
        ("[[suite]]\nrunner = 'pyest'", "linewitness.toml:2", "must be one of `pytest`; did you mean `pytest`?"),
        ("max-waiver-days = {codegen = 181}", "linewitness.toml:1", "expected an integer <= 180"),
        (
            "max-waiver-days.experiment = 0",
            "linewitness.toml:1",
            "max-waiver-days.experiment: expected an integer >= 1",
        ),
        ("[[suite]]\nrunner='pytest'\ntimeout = true", "linewitness.toml:3", "expected an integer, got a boolean"),
        ("trusted = ['']", "linewitness.toml:1", "is empty"),
        ("trusted = ['/src/**']", "linewitness.toml:1", "is absolute"),
        ("trusted = ['!/src/**']", "linewitness.toml:1", "is absolute"),
        ("trusted = ['a/../b']", "linewitness.toml:1", "leads out of the repository"),
        ("trusted = ['./a']", "linewitness.toml:1", "empty or `.` segment"),
        ("trusted = ['a//b']", "linewitness.toml:1", "empty or `.` segment"),
        ("trusted = ['a\\b']", "linewitness.toml:1", "has a backslash"),
        ("trusted = ['a ']", "linewitness.toml:1", "white space around it"),
        ("trusted = ['#a']", "linewitness.toml:1", "is a comment to git"),
        ("trusted = ['[a']", "linewitness.toml:1", "a bracket that is never closed"),
        ("trusted = ['[z-a]']", "linewitness.toml:1", "a set in brackets that is not valid"),
        ("trusted = ['[[:alpha:]]']", "linewitness.toml:1", "a set in brackets that is not valid"),
        ("trusted = ['!a', '!b']", "linewitness.toml:1", "has only negations"),
        ("sources = []", "linewitness.toml:1", "no line would ever owe"),
        ("waivers = '../w.yaml'", "linewitness.toml:1", "leads out"),
        ("approvers = 'folder/'", "linewitness.toml:1", "is a folder"),
        ("target-branch = '--upload-pack=x'", "linewitness.toml:1", "is not the name of a branch"),
        ("target-branch = 'a..b'", "linewitness.toml:1", "is not the name of a branch"),
        ("owners = ['a', ' ']", "linewitness.toml:1", "owners[1]: ' ' is not a name"),
        ("[[suite]]\nname='a'", "linewitness.toml:1", "neither is given"),
        ("[[suite]]\nrunner='pytest'\nrun='x'\nexport='y'", "linewitness.toml:1", "both are given"),
        ("[[suite]]\nrun = 'make'", "linewitness.toml:1", "`run` needs `export`"),
        ("[[suite]]\nrun='x'\nexport='y'\nplugins=[]", "linewitness.toml:4", "no meaning in a suite that has `run`"),
        ("[[suite]]\nrunner='pytest'\nexport='y'", "linewitness.toml:3", "no meaning in a suite that has `runner`"),
        ("[[suite]]\nrun='x'\nexport='/y'", "linewitness.toml:3", "is absolute"),
        ("suite = [{runner='pytest'},\n{runner='pytest'}]", "linewitness.toml:2", "is the name of suite[0] already"),
        (
            "[[suite]]\nrunner='pytest'\nenv=['A', 'B=1']",
            "linewitness.toml:3",
            "not the name of an environment variable",
        ),
        ("[[suite]]\nrunner='pytest'\nplugins=['a b']", "linewitness.toml:3", "is not the name of a module"),
        ("[[suite]]\nrunner='pytest'\nargs=[\"a\\u0000\"]", "linewitness.toml:3", "NUL"),
        ("[[suite]]\nrunner='pytest'\npaths=['../x']", "linewitness.toml:3", "leads out"),
        ("a = ", "linewitness.toml:1", "is not valid TOML"),
        ("\n\na = [", "linewitness.toml:3", "is not valid TOML"),
        ("a = 1\na = 2", "linewitness.toml:2", "is not valid TOML"),
        ("\ufeffbranches = 'arms'", "linewitness.toml:1", "byte order mark"),
        (b"# fine\nowners = ['\xff']", "linewitness.toml:2", "is not UTF-8"),
        ("x = " + "[" * 100_000, "linewitness.toml: ", "nested too deeply"),
        ("x = " + "1" * 10_000, "linewitness.toml: ", "is not valid TOML"),
        ("#" * (1 << 20) + "\n", "linewitness.toml: ", "larger than 1 MiB"),
    ],
)
def test_each_mistake_is_refused_with_file_line_and_key(text: str | bytes, place: str, words: str) -> None:
    told = refusal(text)

    assert told.startswith(place)
    assert words in told


def test_a_mistake_in_the_project_file_is_told_with_its_line_there() -> None:
    project = '[project]\nname = "x"\n\n[tool.linewitness]\nowners = []\n[[tool.linewitness.suite]]\nrunner = 3\n'
    with pytest.raises(UsageError, match=r"^pyproject\.toml:7: suite\[0\]\.runner: "):
        load(tree(project=project))


def test_a_project_file_that_cannot_be_read_is_refused_since_it_may_hold_settings() -> None:
    with pytest.raises(UsageError, match=r"^pyproject\.toml:1: is not valid TOML"):
        load(tree(project="[tool.linewitness\n"))


def test_our_table_must_be_a_table() -> None:
    with pytest.raises(UsageError, match=r"^pyproject\.toml:2: tool\.linewitness must be a table"):
        load(tree(project="[tool]\nlinewitness = true\n"))


@pytest.mark.parametrize("glob", ["**", "*.py", "src/", "!x", "a/**/b", "[!a]*.py", "[]a]", "**/x y/*", "名/**"])
def test_ordinary_globs_are_accepted(glob: str) -> None:
    globs = ["**", glob]

    assert load(tree(own=f"trusted = {globs!r}")).settings.trusted == tuple(globs)


def test_no_key_of_a_file_can_bend_the_message_about_another() -> None:
    told = refusal('"x` - at `$.suite[0]" = 1\nbranches = 3\n')

    assert re.match(r"linewitness\.toml:1: x` - at `\$\.suite\[0\]: unknown key", told)
