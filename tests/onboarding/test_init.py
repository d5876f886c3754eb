"""``init`` prepares a repository, overwrites nothing, and says what is left to people."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from linewitness import settings
from linewitness.errors import UsageError
from linewitness.onboarding.present import State
from linewitness.onboarding.scaffold import Plan, plan, write
from linewitness.patch.repository import Repository
from linewitness.trust.codeowners import CodeOwners
from tests.onboarding.conftest import Shell
from tests.support.repos import Link, Repo


def planned(repo: Repo, owner: str = "") -> Plan:
    with Repository(repo.root) as repository:
        return plan(repository, owner)


def content(made: Plan, path: str) -> str:
    (item,) = [item for item in made.items if item.path == path]
    return item.content.decode()


def test_an_empty_repository_gets_settings_folders_and_a_waiver_file(repo: Repo) -> None:
    made = planned(repo)

    assert made.new_files == (
        "linewitness.toml",
        "tests/trusted/README.md",
        "tests/relations/README.md",
        "tests/generated/README.md",
        "tests/waivers.yaml",
    )


def test_the_settings_are_valid_and_name_the_target_branch(repo: Repo) -> None:
    repo.git("checkout", "-q", "-b", "trunk")

    text = content(planned(repo), "linewitness.toml")

    loaded = settings.load({"linewitness.toml": text.encode()}.get)
    assert loaded.settings == settings.Settings(target_branch="trunk")


def test_the_target_branch_is_the_default_branch_of_the_remote(repo: Repo, tmp_path: Path) -> None:
    repo.git("checkout", "-q", "-b", "develop")
    repo.commit("base", {"a.py": "x = 1\n"})
    clone = repo.clone(tmp_path / "clone")
    clone.branch("work")

    assert tomllib.loads(content(planned(clone), "linewitness.toml"))["target-branch"] == "develop"


def test_an_existing_suite_is_proposed_as_the_trusted_one(repo: Repo) -> None:
    repo.commit("base", {"tests/unit/test_a.py": "", "tests/conftest.py": "", "lib/tests/test_b.py": ""})

    made = planned(repo)

    trusted = tomllib.loads(content(made, "linewitness.toml"))["trusted"]
    assert trusted == ["lib/tests/**", "tests/**", "!tests/generated/**"]
    assert "tests/trusted/README.md" not in made.new_files


def test_the_plugins_of_an_existing_suite_are_listed(repo: Repo) -> None:
    other = '[tool.other]\naddopts = "--reruns 3"\n'
    ini = f'{other}[tool.pytest.ini_options]\nasyncio_mode = "auto"\naddopts = ["-n", "2"]\n'
    repo.commit("base", {"pyproject.toml": ini, "tests/test_a.py": "def test_a(mocker): ...\n"})

    (suite,) = tomllib.loads(content(planned(repo), "linewitness.toml"))["suite"]

    assert suite == {"runner": "pytest", "plugins": ["pytest_asyncio", "xdist", "pytest_mock"]}


def test_names_that_speak_of_security_are_proposed_as_sensitive(repo: Repo) -> None:
    files = ("src/Auth/token.py", "web/login.ts", "src/author.py", "docs/security.md", "tests/auth/test_a.py")
    repo.commit("base", dict.fromkeys(files, "x\n"))

    found = settings.load({"linewitness.toml": content(planned(repo), "linewitness.toml").encode()}.get).settings

    assert found.sensitive == ("**/Auth/**", "**/login.*")


def test_files_that_exist_are_left_alone(repo: Repo) -> None:
    mine = {"linewitness.toml": "# mine\n", "tests/waivers.yaml": "# mine\n", "tests/trusted/test_a.py": "# mine\n"}
    repo.write(mine)
    repo.write({"CODEOWNERS": Link("nowhere")})

    made = planned(repo, "@org/team")
    write(made)

    kept = {item.path for item in made.items if item.state is State.KEEP}
    assert kept == {"linewitness.toml", "tests/waivers.yaml", "tests/trusted", "CODEOWNERS"}
    assert {name: repo.path(name).read_text() for name in mine} == mine
    assert repo.path("CODEOWNERS").is_symlink()
    assert not repo.path("tests/trusted/README.md").exists()


def test_a_second_time_there_is_nothing_to_do(repo: Repo) -> None:
    repo.commit("base", {"tests/test_a.py": ""})
    write(planned(repo, "@org/team"))

    assert planned(repo, "@org/team").new_files == ()


def test_settings_in_pyproject_are_the_settings(repo: Repo) -> None:
    repo.write({"pyproject.toml": '[tool.linewitness]\nwaivers = "ci/waivers.yaml"\ntrusted = ["checks/**"]\n'})

    made = planned(repo)

    assert made.new_files == ("tests/relations/README.md", "tests/generated/README.md", "ci/waivers.yaml")


def test_code_owners_get_what_decides_and_not_what_agents_write(repo: Repo) -> None:
    owners = CodeOwners(content(planned(repo, "@org/team"), "CODEOWNERS").encode())

    for path in (
        "tests/trusted/test_a.py",
        "tests/relations/corpus/a",
        "tests/waivers.yaml",
        "linewitness.toml",
        "CODEOWNERS",
    ):
        assert owners.owners(path) == {"@org/team"}
    assert owners.owners("tests/generated/test_a.py") == frozenset()
    assert owners.owners("src/a.py") == frozenset()


def test_code_owners_get_what_steers_ci_and_agents(repo: Repo) -> None:
    repo.commit("base", {"a.py": "", ".claude/settings.json": "{}\n"})
    with Repository(repo.root) as repository:
        made = plan(repository, "@org/team", "github", ["claude"])

    owners = CodeOwners(content(made, "CODEOWNERS").encode())

    for path in (".github/workflows/linewitness.yml", ".claude/settings.json", ".linewitness/approvers"):
        assert owners.owners(path) == {"@org/team"}


def test_code_owners_of_an_adopted_suite_leave_generated_tests_free(repo: Repo) -> None:
    repo.commit("base", {"tests/test_a.py": ""})

    owners = CodeOwners(content(planned(repo, "@org/team"), "CODEOWNERS").encode())

    assert owners.owners("tests/test_a.py") == {"@org/team"}
    assert owners.owners("tests/generated/test_a.py") == frozenset()


@pytest.mark.parametrize("owner", ["team", "@", "@a b", "@a\n/ @b", ""])
def test_what_names_nobody_is_no_owner(repo: Repo, owner: str) -> None:
    if not owner:
        assert "CODEOWNERS" not in planned(repo, owner).new_files
        return
    with pytest.raises(UsageError, match="is no owner"):
        planned(repo, owner)


def test_a_bare_repository_is_refused(repo: Repo, tmp_path: Path) -> None:
    repo.commit("base", {"a.py": ""})
    repo.git("clone", "-q", "--bare", str(repo.root), str(tmp_path / "bare"))

    with Repository(tmp_path / "bare") as repository, pytest.raises(UsageError, match="bare repository"):
        plan(repository)


def test_broken_settings_are_refused_and_nothing_is_written(repo: Repo, shell: Shell) -> None:
    repo.write({"linewitness.toml": "x = \n"})

    done = shell(repo.root, "linewitness init")

    assert done.returncode == 2
    assert "linewitness.toml:1" in done.stderr
    assert not repo.path("tests").exists()


def test_a_dry_run_writes_nothing(repo: Repo, shell: Shell) -> None:
    done = shell(repo.root, "linewitness init --dry-run --owner @org/team")

    assert done.returncode == 0
    assert "would create  linewitness.toml " in done.stdout
    assert '              | target-branch = "main"' in done.stdout
    assert [path.name for path in repo.root.iterdir()] == [".git"]


def test_the_suggested_command_commits_what_was_written(repo: Repo, shell: Shell) -> None:
    repo.commit("base", {"a.py": "x = 1\n"})

    done = shell(repo.root, "linewitness init --owner @org/team")
    (command,) = [line.strip() for line in done.stdout.splitlines() if line.strip().startswith("git add ")]

    assert shell(repo.root, command).returncode == 0
    assert repo.git("status", "--porcelain") == ""
    assert repo.git("show", "--name-only", "--format=", "HEAD").split() == [
        "CODEOWNERS",
        "linewitness.toml",
        "tests/generated/README.md",
        "tests/relations/README.md",
        "tests/trusted/README.md",
        "tests/waivers.yaml",
    ]


def test_on_another_branch_the_suggested_command_goes_to_the_target_first(repo: Repo, shell: Shell) -> None:
    repo.commit("base", {"linewitness.toml": 'target-branch = "main"\n', "a.py": "x = 1\n"})
    repo.branch("work")
    done = shell(repo.root, "linewitness init")
    (command,) = [line.strip() for line in done.stdout.splitlines() if "git add " in line]

    assert shell(repo.root, command).returncode == 0

    assert repo.git("rev-parse", "--abbrev-ref", "HEAD") == "main"
    assert repo.git("ls-tree", "-r", "--name-only", "work").split() == ["a.py", "linewitness.toml"]
    assert "tests/waivers.yaml" in repo.git("ls-tree", "-r", "--name-only", "main").split()


def test_a_folder_without_a_repository_is_refused(tmp_path: Path, shell: Shell) -> None:
    done = shell(tmp_path, "linewitness init")

    assert done.returncode == 4
    assert "is not inside of a git repository" in done.stderr
    assert done.stdout == ""
