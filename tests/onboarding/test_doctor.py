"""Every check of ``doctor`` finds its trouble, says whether it closes the gate, and suggests what really mends it."""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import shlex
import sys
import venv
from collections.abc import Callable
from pathlib import Path

import pytest

from linewitness.case import Question
from linewitness.errors import UsageError
from linewitness.languages.grammar import wheels
from linewitness.languages.grammar.table import Table
from linewitness.onboarding.checkup import CONTENT, HISTORY, TESTS, Report, examine
from linewitness.onboarding.trouble import Trouble
from tests.onboarding.conftest import Shell
from tests.support.repos import Executable, Repo
from tests.support.signing import Key, signed

TODAY = dt.date(2026, 9, 16)

KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIMOcZG+nZqT7ZGtbULHte4XDfrNG5i6lSX9pet+RYGGm"
AROUND = {
    "CODEOWNERS": "/tests/trusted/ @org/team\n",
    ".linewitness/approvers": f'ada@example.org namespaces="git" {KEY}\n',
    ".github/workflows/gate.yml": "      - run: linewitness ci github\n",
}
HEALTHY = AROUND | {
    "linewitness.toml": 'target-branch = "main"\n',
    "shop.py": "x = 1\n",
    "tests/trusted/test_shop.py": "def test_shop():\n    assert True\n",
}


def diagnose(repo: Repo | Path, base: str | None = None) -> Report:
    return examine(repo if isinstance(repo, Path) else repo.root, Question(base), TODAY)


def only(report: Report) -> Trouble:
    (trouble,) = report.troubles
    return trouble


def checks(report: Report) -> list[str]:
    return [trouble.check for trouble in report.troubles]


def healthy(repo: Repo, **files: str) -> Repo:
    repo.commit("base", HEALTHY | {name.replace("__", "/"): text for name, text in files.items()})
    return repo


def run(shell: Shell, repo: Repo | Path, command: str) -> str:
    """Run a suggested command; it has to succeed."""
    assert command
    done = shell(repo if isinstance(repo, Path) else repo.root, command)
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout


def test_a_healthy_repository_has_no_trouble(repo: Repo) -> None:
    report = diagnose(healthy(repo))

    assert report.troubles == ()
    assert report.base == report.head == repo.git("rev-parse", "HEAD")


# ---------------------------------------------------------------- history


def test_a_folder_without_a_repository_gets_one(tmp_path: Path, shell: Shell) -> None:
    trouble = only(diagnose(tmp_path))
    assert (trouble.check, trouble.closes) == ("not-a-repository", True)

    run(shell, tmp_path, trouble.command)

    assert checks(diagnose(tmp_path)) == ["no-commit"]


def test_a_repository_without_a_commit_gets_one(repo: Repo, shell: Shell) -> None:
    repo.write(HEALTHY)
    trouble = only(diagnose(repo))
    assert (trouble.check, trouble.closes) == ("no-commit", True)

    run(shell, repo, trouble.command)

    assert diagnose(repo).troubles == ()


def test_replace_refs_are_removed(repo: Repo, shell: Shell) -> None:
    healthy(repo)
    repo.commit("more", {"shop.py": "x = 2\n"})
    repo.git("replace", "HEAD", "HEAD~1")
    trouble = only(diagnose(repo))
    assert (trouble.check, trouble.closes) == ("replaced-objects", True)

    run(shell, repo, trouble.command)

    assert diagnose(repo).troubles == ()


def test_grafts_are_removed(repo: Repo, shell: Shell) -> None:
    healthy(repo)
    grafts = repo.root / ".git" / "info" / "grafts"
    grafts.parent.mkdir(exist_ok=True)
    grafts.write_text(f"{repo.git('rev-parse', 'HEAD')}\n")
    trouble = only(diagnose(repo))
    assert (trouble.check, trouble.closes) == ("grafts", True)

    run(shell, repo, trouble.command)

    assert diagnose(repo).troubles == ()


def test_without_a_target_branch_the_current_one_is_proposed(repo: Repo, shell: Shell) -> None:
    repo.commit("base", HEALTHY | {"linewitness.toml": ""})
    repo.git("branch", "-m", "main", "trunk")
    trouble = only(diagnose(repo))
    assert (trouble.check, trouble.closes) == ("no-target-branch", True)
    assert trouble.command == "linewitness doctor --base trunk"

    assert "nothing is missing here" in run(shell, repo, trouble.command)


def test_without_the_branches_of_the_remote_they_are_fetched(repo: Repo, tmp_path: Path, shell: Shell) -> None:
    healthy(repo)
    clone = repo.clone(tmp_path / "clone")
    clone.branch("work")
    clone.git("branch", "-D", "main")
    clone.git("remote", "set-head", "origin", "--delete")
    clone.git("update-ref", "-d", "refs/remotes/origin/main")
    trouble = only(diagnose(clone))
    assert (trouble.check, trouble.closes) == ("no-target-branch", True)

    run(shell, clone, trouble.command)

    assert diagnose(clone).troubles == ()


def test_unrelated_histories_are_joined(repo: Repo, shell: Shell) -> None:
    healthy(repo)
    repo.git("checkout", "-q", "--orphan", "work")
    repo.git("rm", "-r", "-q", "-f", ".")
    repo.commit("elsewhere", {"other.py": "y = 1\n"})
    trouble = only(diagnose(repo))
    assert (trouble.check, trouble.closes) == ("no-merge-base", True)

    run(shell, repo, trouble.command)

    assert diagnose(repo).troubles == ()


def test_a_shallow_clone_is_deepened(repo: Repo, tmp_path: Path, shell: Shell) -> None:
    healthy(repo)
    repo.commit("more", {"shop.py": "x = 2\n"})
    clone = repo.clone(tmp_path / "clone", "--depth", "1")
    trouble = only(diagnose(clone))
    assert (trouble.check, trouble.closes) == ("shallow-clone", False)

    run(shell, clone, trouble.command)

    assert diagnose(clone).troubles == ()


def test_a_shallow_clone_without_the_merge_base_closes_the_gate(repo: Repo, tmp_path: Path, shell: Shell) -> None:
    healthy(repo)
    repo.branch("work")
    repo.commit("more", {"shop.py": "x = 2\n"})
    repo.git("checkout", "-q", "main")
    repo.commit("meanwhile", {"shop.py": "x = 3\n"})
    clone = repo.clone(tmp_path / "clone", "--depth", "1", "--no-single-branch")
    clone.git("checkout", "-q", "work")
    report = diagnose(clone)
    assert checks(report) == ["no-merge-base", "shallow-clone"]

    run(shell, clone, report.troubles[0].command)

    assert diagnose(clone).troubles == ()


# ---------------------------------------------------------------- content


def test_settings_that_are_not_valid_close_the_gate_and_name_their_line(repo: Repo, shell: Shell) -> None:
    repo.commit("base", HEALTHY | {"linewitness.toml": 'branches = "line"\ntrusted = "tests/**"\n'})

    trouble = only(diagnose(repo))

    assert (trouble.check, trouble.closes) == ("settings-invalid", True)
    assert (trouble.path, trouble.line) == ("linewitness.toml", 2)
    assert json.loads(run(shell, repo, trouble.command))["title"] == "linewitness settings"


def test_a_repository_without_settings_is_told_so(repo: Repo, shell: Shell) -> None:
    repo.commit("base", {name: text for name, text in HEALTHY.items() if name != "linewitness.toml"})
    trouble = only(diagnose(repo))
    assert (trouble.check, trouble.closes) == ("no-settings", False)

    run(shell, repo, trouble.command)

    assert checks(diagnose(repo)) == ["settings-not-landed"]


def test_settings_that_nobody_committed_are_committed(repo: Repo, shell: Shell) -> None:
    repo.commit("base", {name: text for name, text in HEALTHY.items() if name != "linewitness.toml"})
    repo.write({"linewitness.toml": 'target-branch = "main"\n'})
    trouble = only(diagnose(repo))
    assert (trouble.check, trouble.closes) == ("settings-not-landed", False)

    run(shell, repo, trouble.command)

    assert diagnose(repo).troubles == ()


def test_settings_that_nobody_committed_go_to_the_target_branch(repo: Repo, shell: Shell) -> None:
    repo.commit("base", {name: text for name, text in HEALTHY.items() if name != "linewitness.toml"})
    repo.branch("work")
    repo.write({"linewitness.toml": 'target-branch = "main"\n'})

    run(shell, repo, only(diagnose(repo)).command)

    assert repo.git("rev-parse", "--abbrev-ref", "HEAD") == "work"
    assert repo.git("diff", "--name-only", "main") == ""
    assert diagnose(repo).troubles == ()


def test_settings_of_the_patch_are_landed_first(repo: Repo, shell: Shell) -> None:
    repo.commit("base", {name: text for name, text in HEALTHY.items() if name != "linewitness.toml"})
    repo.branch("work")
    repo.commit("settings", {"linewitness.toml": 'target-branch = "main"\n'})
    report = diagnose(repo)
    assert checks(report) == ["settings-not-landed", "protected-content-changed"]
    assert report.troubles[0].closes

    run(shell, repo, report.troubles[0].command)

    assert repo.git("rev-parse", "--abbrev-ref", "HEAD") == "work"
    assert diagnose(repo).troubles == ()


def test_a_branch_older_than_the_settings_is_rebased(repo: Repo, shell: Shell) -> None:
    repo.commit("base", {name: text for name, text in HEALTHY.items() if name != "linewitness.toml"})
    repo.branch("work")
    repo.commit("work", {"shop.py": "x = 2\n"})
    repo.git("checkout", "-q", "main")
    repo.commit("settings", {"linewitness.toml": ""})
    repo.git("checkout", "-q", "work")
    trouble = only(diagnose(repo))
    assert (trouble.check, trouble.closes) == ("settings-not-landed", False)

    run(shell, repo, trouble.command)

    assert diagnose(repo).troubles == ()


def test_a_branch_older_than_settings_and_checks_is_rebased_and_told_nothing_else(repo: Repo, shell: Shell) -> None:
    repo.commit("base", AROUND | {"shop.py": "x = 1\n", "tests/test_shop.py": "def test_a():\n    pass\n"})
    repo.branch("work")
    repo.commit("work", {"shop.py": "x = 2\n"})
    repo.git("checkout", "-q", "main")
    repo.commit("settings", {"linewitness.toml": 'trusted = ["tests/**"]\n'})
    repo.git("checkout", "-q", "work")
    trouble = only(diagnose(repo))
    assert (trouble.check, trouble.closes, trouble.command) == ("settings-not-landed", True, "git rebase main")

    run(shell, repo, trouble.command)

    assert diagnose(repo).troubles == ()


def test_an_existing_suite_becomes_the_trusted_one(repo: Repo, shell: Shell) -> None:
    repo.commit("base", AROUND | {"tests/test_shop.py": "def test_shop():\n    assert True\n"})
    report = diagnose(repo)
    assert checks(report) == ["no-trusted-check", "no-settings"]

    run(shell, repo, report.troubles[0].command)
    run(shell, repo, only_named(diagnose(repo), "settings-not-landed").command)

    assert diagnose(repo).troubles == ()


def only_named(report: Report, check: str) -> Trouble:
    (trouble,) = [trouble for trouble in report.troubles if trouble.check == check]
    return trouble


def test_with_settings_the_first_tests_are_moved(repo: Repo, shell: Shell) -> None:
    files = {name: text for name, text in HEALTHY.items() if not name.startswith("tests")}
    tests = {f"tests/test_{letter}.py": f"def test_{letter}():\n    assert True\n" for letter in "abcd"}
    repo.commit("base", files | tests)
    trouble = only(diagnose(repo))
    assert (trouble.check, trouble.closes) == ("no-trusted-check", True)

    run(shell, repo, trouble.command)

    assert diagnose(repo).troubles == ()
    assert len(list((repo.root / "tests" / "trusted").iterdir())) == 3


def test_without_any_test_nothing_can_be_suggested_but_to_write_one(repo: Repo) -> None:
    repo.commit("base", {name: text for name, text in HEALTHY.items() if not name.startswith("tests")})

    trouble = only(diagnose(repo))

    assert (trouble.check, trouble.closes, trouble.command) == ("no-trusted-check", True, "")
    assert "write the first one there" in trouble.message


def test_trusted_files_that_pytest_does_not_collect_are_renamed(repo: Repo, shell: Shell) -> None:
    files = {name: text for name, text in HEALTHY.items() if not name.startswith("tests")}
    repo.commit("base", files | {"tests/trusted/shop_checks.py": "def test_shop():\n    assert True\n"})
    trouble = only(diagnose(repo))
    assert (trouble.check, trouble.closes) == ("no-trusted-check", True)

    run(shell, repo, trouble.command)

    assert diagnose(repo).troubles == ()


def test_protected_content_is_taken_back(repo: Repo, shell: Shell) -> None:
    healthy(repo, **{"tests__trusted__test_more.py": "def test_more():\n    assert True\n"})
    repo.branch("work")
    repo.remove("tests/trusted/test_more.py")
    changed = {"tests/trusted/test_shop.py": "def test_shop():\n    pass\n", "tests/trusted/test_new.py": "x = 1\n"}
    repo.commit("work", changed | {"shop.py": "x = 2\n"})
    trouble = only(diagnose(repo))
    assert (trouble.check, trouble.closes) == ("protected-content-changed", True)

    run(shell, repo, trouble.command)

    assert diagnose(repo).troubles == ()
    assert repo.git("diff", "--name-only", "main") == "shop.py"


def test_generated_tests_among_the_trusted_ones_are_pointed_out(repo: Repo) -> None:
    settings = 'trusted = ["tests/**"]\n'
    repo.commit("base", HEALTHY | {"linewitness.toml": settings, "tests/generated/test_g.py": "x = 1\n"})
    trouble = only(diagnose(repo))
    assert (trouble.check, trouble.closes) == ("generated-among-trusted", False)
    assert '"!tests/generated/**"' in trouble.message

    repo.commit("mended", {"linewitness.toml": 'trusted = ["tests/**", "!tests/generated/**"]\n'})

    assert diagnose(repo).troubles == ()


def test_a_corpus_without_a_manifest_is_frozen(repo: Repo, shell: Shell) -> None:
    healthy(repo, tests__relations__corpus__orders="1\n")
    trouble = only(diagnose(repo))
    assert (trouble.check, trouble.closes) == ("corpus-not-frozen", True)

    run(shell, repo, trouble.command)

    assert diagnose(repo).troubles == ()


def waiver(expires: str, reason: str = "vendor") -> str:
    digest = hashlib.sha256(b"x = 1").hexdigest()[:16]
    head = f'waivers:\n  - path: shop.py\n    line_hash: "{digest}"\n'
    return f'{head}    reason: {reason}\n    owner: platform\n    expires: "{expires}"\n'


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (waiver("2020-01-01"), "LW202"),
        (waiver("2999-01-01"), "LW205"),
        (waiver("2026-10-15", "later"), "LW201"),
    ],
)
def test_a_waiver_that_does_not_hold_closes_the_gate(repo: Repo, shell: Shell, text: str, code: str) -> None:
    healthy(repo, **{"tests__waivers.yaml": text})

    trouble = only(diagnose(repo))

    assert (trouble.check, trouble.closes) == ("waiver-does-not-hold", True)
    assert (trouble.path, trouble.line > 0, trouble.message[:5]) == ("tests/waivers.yaml", True, code)
    done = shell(repo.root, trouble.command)
    assert done.returncode == 1
    assert "tests/waivers.yaml" in done.stdout + done.stderr


def test_a_waiver_of_nobody_in_the_list_closes_the_gate(repo: Repo, shell: Shell) -> None:
    settings = 'owners = ["somebody-else"]\n'
    repo.commit("base", HEALTHY | {"linewitness.toml": settings, "tests/waivers.yaml": waiver("2026-12-16")})

    trouble = only(diagnose(repo))

    assert (trouble.check, trouble.message[:5]) == ("waiver-does-not-hold", "LW207")
    assert shell(repo.root, trouble.command).returncode == 1


@pytest.mark.parametrize(("expires", "found"), [("2026-09-30", ["waiver-ends-soon"]), ("2026-10-01", [])])
def test_a_waiver_is_announced_a_fortnight_before_it_ends(repo: Repo, expires: str, found: list[str]) -> None:
    healthy(repo, **{"tests__waivers.yaml": waiver(expires)})

    report = diagnose(repo)

    assert checks(report) == found
    assert not report.closes


def test_owners_are_named(repo: Repo, shell: Shell) -> None:
    repo.commit("base", {name: text for name, text in HEALTHY.items() if name != "CODEOWNERS"})
    trouble = only(diagnose(repo))
    assert (trouble.check, trouble.closes) == ("no-code-owners", False)

    run(shell, repo, trouble.command)

    assert diagnose(repo).troubles == ()


def test_what_base_lacks_is_landed_there_and_not_on_the_patch(repo: Repo, shell: Shell) -> None:
    """Committed on the branch that is judged, a mended corpus would be a change of protected content."""
    healthy(repo, tests__relations__corpus__orders="1\n")
    repo.branch("work")
    repo.commit("work", {"shop.py": "x = 2\n"})

    run(shell, repo, only(diagnose(repo)).command)

    assert diagnose(repo).troubles == ()
    assert repo.git("rev-parse", "--abbrev-ref", "HEAD") == "work"
    assert repo.git("diff", "--name-only", "main") == "shop.py"


def test_in_a_clone_it_is_pushed_as_well(repo: Repo, tmp_path: Path, shell: Shell) -> None:
    repo.commit("base", {name: text for name, text in HEALTHY.items() if name != "CODEOWNERS"})
    repo.git("clone", "-q", "--bare", str(repo.root), str(tmp_path / "origin.git"))
    Repo(tmp_path / "origin.git", init=False).clone(tmp_path / "clone")
    clone = Repo(tmp_path / "clone", init=False)
    clone.branch("work")
    clone.commit("work", {"shop.py": "x = 2\n"})
    trouble = only(diagnose(clone))
    assert trouble.check == "no-code-owners"

    run(shell, clone, trouble.command)

    assert diagnose(clone).troubles == ()
    assert clone.git("rev-parse", "main") == clone.git("ls-remote", "origin", "refs/heads/main").split()[0]
    assert clone.git("diff", "--name-only", "origin/main") == "shop.py"


def test_against_a_commit_there_is_no_branch_to_land_on(repo: Repo) -> None:
    repo.commit("base", {name: text for name, text in HEALTHY.items() if name != "CODEOWNERS"})

    trouble = only(diagnose(repo, repo.git("rev-parse", "HEAD")))

    assert (trouble.check, trouble.command) == ("no-code-owners", "")


def test_a_bare_repository_can_be_examined(repo: Repo, tmp_path: Path) -> None:
    healthy(repo)
    repo.git("clone", "-q", "--bare", str(repo.root), str(tmp_path / "bare.git"))

    assert diagnose(tmp_path / "bare.git").troubles == ()


def without(*names: str) -> dict[str, str]:
    return {name: text for name, text in HEALTHY.items() if name not in names}


@pytest.mark.parametrize("has_key", [False, True])
def test_a_key_is_made_for_the_first_approver(repo: Repo, shell: Shell, tmp_path: Path, has_key: bool) -> None:
    if has_key:  # from another repository
        (tmp_path / ".ssh").mkdir()
        (tmp_path / ".ssh" / "approvals.pub").write_text(f"{KEY} approvals\n")
    repo.commit("base", without(".linewitness/approvers"))
    repo.branch("work")
    repo.commit("work", {"shop.py": "x = 2\n"})
    trouble = only(diagnose(repo))
    assert (trouble.check, trouble.closes) == ("no-approvers", False)

    run(shell, repo, trouble.command)

    assert diagnose(repo).troubles == ()
    line = repo.git("show", "main:.linewitness/approvers").split()
    assert line[1:3] == ['namespaces="git"', "ssh-ed25519"]
    assert (line[3] == KEY.split()[1]) is has_key


def test_a_branch_that_is_older_than_the_settings_is_not_asked_for_what_main_has_since(repo: Repo) -> None:
    repo.commit(
        "base", {"shop.py": "x = 1\n", "CODEOWNERS": "* @a\n", "tests/trusted/test_a.py": "def test_a(): ...\n"}
    )
    repo.branch("work")
    repo.git("checkout", "-q", "main")
    repo.commit("settings", HEALTHY)
    repo.git("checkout", "-q", "work")

    assert checks(diagnose(repo)) == ["settings-not-landed"]


@pytest.mark.parametrize("name", [".github/workflows/gate.yml", ".gitlab-ci.yml", ".ci/run"])
def test_any_ci_definition_may_run_the_gate(repo: Repo, name: str) -> None:
    repo.commit("base", without(".github/workflows/gate.yml") | {name: "linewitness check\n"})

    assert diagnose(repo).troubles == ()


def test_a_ci_job_is_added(repo: Repo, shell: Shell) -> None:
    repo.commit("base", without(".github/workflows/gate.yml") | {".github/workflows/tests.yml": "run: pytest\n"})
    trouble = only(diagnose(repo))
    assert (trouble.check, trouble.closes) == ("no-ci-job", False)

    run(shell, repo, trouble.command)

    assert diagnose(repo).troubles == ()


def test_the_lines_of_a_job_are_shown_to_whoever_has_a_file_for_gitlab(repo: Repo, shell: Shell) -> None:
    repo.commit("base", without(".github/workflows/gate.yml") | {".gitlab-ci.yml": "test:\n  script: pytest\n"})
    trouble = only(diagnose(repo))
    assert (trouble.check, trouble.path) == ("no-ci-job", ".gitlab-ci.yml")

    assert "/opt/linewitness/bin/linewitness ci gitlab" in run(shell, repo, trouble.command)


def test_of_another_service_the_file_is_named(repo: Repo) -> None:
    repo.commit("base", without(".github/workflows/gate.yml") | {"Jenkinsfile": "sh 'pytest'\n"})

    trouble = only(diagnose(repo))

    assert (trouble.check, trouble.path, trouble.command) == ("no-ci-job", "Jenkinsfile", "")
    assert "`linewitness check`" in trouble.message


@pytest.mark.parametrize(
    ("present", "agent"),
    [(".claude/settings.json", "claude"), (".cursor/rules/a.mdc", "cursor"), (".codex/config.toml", "codex")],
)
def test_an_agent_at_work_here_gets_its_hook(repo: Repo, shell: Shell, present: str, agent: str) -> None:
    healthy(repo, **{present.replace("/", "__"): "{}\n"})
    trouble = only(diagnose(repo))
    assert (trouble.check, trouble.closes) == ("agent-without-hook", False)
    assert f"guard install {agent}" in trouble.command

    run(shell, repo, trouble.command)

    assert diagnose(repo).troubles == ()
    assert repo.git("status", "--porcelain") == ""


def test_settings_of_an_agent_that_git_ignores_are_not_committed(repo: Repo, shell: Shell) -> None:
    healthy(repo, **{".gitignore": ".claude\n"})
    repo.write({".claude/settings.json": "{}\n"})
    trouble = only(diagnose(repo))
    assert trouble.command == "linewitness guard install claude"

    run(shell, repo, trouble.command)

    assert diagnose(repo).troubles == ()


def test_settings_of_an_agent_that_cannot_be_completed_are_named(repo: Repo) -> None:
    healthy(repo, **{".claude__settings.json": "{} // mine\n"})

    trouble = only(diagnose(repo))

    assert (trouble.check, trouble.path, trouble.command) == ("agent-without-hook", ".claude/settings.json", "")


# ---------------------------------------------------------------- languages

GO = "package shop\n\nfunc Price() int { return 1 }\n"
GO_SUITE = '[[suite]]\nrunner = "pytest"\n\n[[suite]]\nname = "go"\nrun = "go test"\nexport = "cover.out"\n'


def test_a_language_that_no_suite_speaks_about_is_pointed_out(repo: Repo) -> None:
    healthy(repo, **{"shop.go": GO, "tests__generated__b.go": GO})
    trouble = only(diagnose(repo))
    assert (trouble.check, trouble.closes, trouble.path) == ("language-without-suite", False, "linewitness.toml")
    assert "Go (1 file, shop.go is one)" in trouble.message

    repo.commit("mended", {"linewitness.toml": f'{GO_SUITE}sources = ["*.go"]\n'})

    assert diagnose(repo).troubles == ()


def test_a_suite_speaks_about_its_sources_only(repo: Repo) -> None:
    repo.commit("base", HEALTHY | {"shop.go": GO, "linewitness.toml": f'{GO_SUITE}sources = ["web/**"]\n'})

    assert checks(diagnose(repo)) == ["language-without-suite"]


def test_what_is_no_source_needs_no_suite(repo: Repo) -> None:
    repo.commit("base", HEALTHY | {"build.go": GO, "linewitness.toml": 'sources = ["*.py"]\n'})

    assert diagnose(repo).troubles == ()


def test_a_grammar_that_is_missing_is_named_with_its_extra(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(table: Table, suffix: str, data: bytes) -> object:  # noqa: ARG001 - the shape of wheels.parse
        raise UsageError("is not installed")

    monkeypatch.setattr(wheels, "parse", missing)
    repo.commit("base", HEALTHY | {"shop.go": GO, "deploy.sh": "true\n", "linewitness.toml": GO_SUITE})

    trouble = only(diagnose(repo))

    assert (trouble.check, trouble.closes) == ("grammar-missing", False)
    assert "Go" in trouble.message
    assert trouble.command == f"{sys.executable} -m pip install 'linewitness[shell,go]'"


# ---------------------------------------------------------------- the machine

_PRETEND = """\
#!/bin/sh
if [ "$1" = -m ]; then touch "$0.has-pytest"
elif [ -e "$0.has-pytest" ]; then exec {python} "$@"
else exec {python} -S "$@"
fi
"""


def test_an_interpreter_without_pytest_closes_the_gate(repo: Repo, tmp_path: Path, shell: Shell) -> None:
    """The interpreter is this one, without its packages until somebody installs pytest."""
    python = tmp_path / "python"
    repo_tools = Repo(tmp_path / "tools")
    repo_tools.write({"python": Executable(_PRETEND.format(python=shlex.quote(sys.executable)))})
    python = repo_tools.root / "python"
    settings = f'[[suite]]\nrunner = "pytest"\npython = "{python}"\n'
    repo.commit("base", HEALTHY | {"linewitness.toml": settings})
    trouble = only(diagnose(repo))
    assert (trouble.check, trouble.closes) == ("interpreter-not-ready", True)
    assert trouble.command == f"{python} -m pip install pytest"

    run(shell, repo, trouble.command)

    assert diagnose(repo).troubles == ()


@pytest.mark.parametrize(
    ("file", "text", "plugin"),
    [
        ("pytest.ini", "[pytest]\nasyncio_mode = auto\n", "pytest_asyncio"),
        ("pytest.ini", "[pytest]\naddopts = -q --cov=shop\n", "pytest_cov"),
        ("pytest.ini", "[pytest]\naddopts = -n 2\n", "xdist"),
        ("pyproject.toml", '[tool.pytest.ini_options]\naddopts = ["-n", "auto"]\n', "xdist"),
        ("tests/trusted/test_m.py", "def test_m(mocker):\n    assert mocker\n", "pytest_mock"),
        ("tests/trusted/test_a.py", "@pytest.mark.asyncio\nasync def test_a(): ...\n", "pytest_asyncio"),
    ],
)
def test_a_plugin_that_the_suite_needs_has_to_be_listed(repo: Repo, file: str, text: str, plugin: str) -> None:
    repo.commit("base", HEALTHY | {file: text})
    trouble = only(diagnose(repo))
    assert (trouble.check, trouble.closes) == ("plugins-not-listed", True)
    assert f'write [[suite]] with runner = "pytest" and plugins = ["{plugin}"] into linewitness.toml' in trouble.message

    repo.commit("mended", {"linewitness.toml": f'[[suite]]\nrunner = "pytest"\nplugins = ["{plugin}"]\n'})

    assert "plugins-not-listed" not in checks(diagnose(repo))


def test_ordinary_settings_and_tests_need_no_plugin(repo: Repo) -> None:
    ini = "[pytest]\naddopts = -ra --strict-markers --color=no\ntestpaths = tests\nfilterwarnings = error\n"
    test = "def test_next(number=1):\n    assert -number\n"
    healthy(repo, **{"pytest.ini": ini, "tests__trusted__test_next.py": test})

    assert diagnose(repo).troubles == ()


def test_a_copy_that_is_installed_is_pointed_out(repo: Repo, tmp_path: Path, shell: Shell) -> None:
    python = environment_with_a_copy_of("shop", tmp_path / "environment")
    settings = f'[[suite]]\nrunner = "pytest"\npython = "{python}"\n'
    repo.commit("base", HEALTHY | {"linewitness.toml": settings})
    trouble = only(diagnose(repo))
    assert (trouble.check, trouble.closes) == ("installed-elsewhere", False)
    assert trouble.command == f"{python} -m pip uninstall -y shop"

    run(shell, repo, trouble.command)

    assert diagnose(repo).troubles == ()


def environment_with_a_copy_of(name: str, folder: Path) -> Path:
    """A virtual environment that sees this one's packages and holds a distribution of its own."""
    venv.create(folder, with_pip=False)
    (packages,) = folder.glob("lib/python*/site-packages")
    ours = [path for path in sys.path if path.endswith("-packages")]
    (packages / "ours.pth").write_text("\n".join(ours) + "\n")
    (packages / f"{name}.py").write_text("x = 1\n")
    metadata = packages / f"{name}-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (metadata / "INSTALLER").write_text("pip\n")
    listed = [f"{name}.py", *(f"{name}-1.0.dist-info/{file}" for file in ("METADATA", "INSTALLER", "RECORD"))]
    (metadata / "RECORD").write_text("".join(f"{file},,\n" for file in listed))
    return folder / "bin" / "python"


# ---------------------------------------------------------------- the screen


def test_the_screen_counts_and_ends_with_one_when_the_gate_stays_closed(repo: Repo, shell: Shell) -> None:
    files = {name: text for name, text in HEALTHY.items() if name not in {"CODEOWNERS", "tests/trusted/test_shop.py"}}
    repo.commit("base", files)

    done = shell(repo.root, "linewitness doctor")

    assert done.returncode == 1
    assert done.stdout.startswith(
        "1 thing keeps the gate closed here; 1 weakness besides\n\nclosed: no-trusted-check\n"
    )
    assert "\nweak: no-code-owners\n" in done.stdout


def test_the_screen_of_a_healthy_repository_names_the_next_command(repo: Repo, shell: Shell) -> None:
    done = shell(healthy(repo).root, "linewitness doctor")

    assert (done.returncode, done.stdout) == (0, "nothing is missing here\n\n  next:    linewitness check\n")


def test_json_holds_the_same_troubles(repo: Repo, shell: Shell) -> None:
    repo.write(HEALTHY)

    done = shell(repo.root, "linewitness doctor --format json")

    assert done.returncode == 1
    answer = json.loads(done.stdout)
    assert (answer["closes"], answer["base"], answer["head"]) == (True, "", "")
    assert answer["troubles"] == [
        {
            "check": "no-commit",
            "closes": True,
            "command": "git add --all && git commit -m 'First commit'",
            "line": 0,
            "message": "nothing has been committed here, so there is no patch",
            "path": "",
        }
    ]


def test_a_check_that_cannot_be_made_is_a_trouble_and_no_traceback(repo: Repo) -> None:
    healthy(repo, **{"pytest.ini": "[pytest\n"})

    report = diagnose(repo)

    trouble = only(report)
    assert (trouble.check, trouble.closes, trouble.path) == ("cannot-be-checked", True, "pytest.ini")


def test_every_check_of_the_table_says_what_it_looks_for() -> None:
    functions: list[Callable[..., object]] = [*HISTORY, *CONTENT, *TESTS]

    assert len(functions) == len(set(functions))
    assert all(function.__doc__ for function in functions)


def test_a_line_of_the_approvers_that_lists_nobody_is_found_before_somebody_signs(repo: Repo) -> None:
    repo.commit("base", HEALTHY | {".linewitness/approvers": "# people\nada@example.org ssh-ed25519 oops!\n"})

    trouble = only(diagnose(repo))

    assert (trouble.check, trouble.closes) == ("approver-not-listed", False)
    assert (trouble.path, trouble.line) == (".linewitness/approvers", 2)


def test_an_empty_list_of_approvers_is_pointed_out(repo: Repo) -> None:
    repo.commit("base", HEALTHY | {".linewitness/approvers": "# people\n"})

    trouble = only(diagnose(repo))

    assert (trouble.check, trouble.path) == ("nobody-can-approve", ".linewitness/approvers")


def test_approved_changes_of_protected_content_are_no_trouble(repo: Repo, tmp_path: Path) -> None:
    key = Key.make(tmp_path / "keys")
    repo.commit("base", HEALTHY | {".linewitness/approvers": key.line()})
    repo.branch("patch")
    repo.commit("head", {"tests/trusted/test_shop.py": "def test_shop():\n    assert 1\n"})
    assert only(diagnose(repo)).check == "protected-content-changed"

    signed(repo, key)

    assert diagnose(repo).troubles == ()
