"""Hook settings are completed without losing anything, and hooks of git refuse real commits and pushes."""

from __future__ import annotations

import json
import os
import stat
import sys
from pathlib import Path

import pytest

from linewitness.errors import UsageError
from linewitness.guard import agents, install
from tests.cli.conftest import Run, run
from tests.guard.conftest import FILES
from tests.support.repos import Repo, environment

__all__ = ["run"]
NAMES = [agent.name for agent in agents.AGENTS]


@pytest.fixture
def clone(tmp_path: Path) -> Repo:
    repo = Repo(tmp_path / "clone")
    repo.commit("base", {name: content for name, content in FILES.items() if not name.startswith(".claude")})
    return repo


@pytest.mark.parametrize("name", NAMES)
def test_installing_twice_is_installing_once(name: str, clone: Repo, run: Run) -> None:
    path = clone.root / agents.find(name).settings

    assert run("guard", "install", name, "--root", str(clone.root)).status == 0
    first = path.read_bytes()
    again = run("guard", "install", name, "--root", str(clone.root))

    assert path.read_bytes() == first
    assert again.out.startswith("left alone")
    assert f"linewitness guard hook {name} || exit 2" in first.decode()


@pytest.mark.parametrize("name", NAMES)
def test_a_dry_run_writes_nothing(name: str, clone: Repo, run: Run) -> None:
    told = run("guard", "install", name, "--dry-run", "--root", str(clone.root))

    assert "guard hook" in told.out
    assert clone.git("status", "--porcelain") == ""


def test_what_is_there_stays_in_its_order_and_with_its_indent(clone: Repo) -> None:
    theirs = {
        "model": "m",
        "hooks": {"Stop": [{"hooks": []}], "PreToolUse": [{"matcher": "Bash", "hooks": [{"command": "mine"}]}]},
    }
    clone.write({".claude/settings.json": json.dumps({**theirs, "ü": "ä"}, indent=4, ensure_ascii=False)})

    install.write(install.plan("claude", clone.root))

    text = (clone.root / ".claude/settings.json").read_text()
    data = json.loads(text)
    added = data["hooks"]["PreToolUse"].pop()
    assert data == {**theirs, "ü": "ä"}
    assert list(data) == ["model", "hooks", "ü"]
    assert '\n    "model"' in text
    assert '"ä"' in text
    assert added["hooks"][0]["onFailure"] == "block"


@pytest.mark.parametrize(
    "text",
    ['{"a": 1, "a": 2}', "{ // why\n}", "[]", '{"hooks": []}', '{"hooks": {"PreToolUse": {}}}', "\x00"],
)
def test_a_file_that_cannot_be_completed_without_loss_is_left_alone(text: str, clone: Repo) -> None:
    clone.write({".claude/settings.json": text})

    with pytest.raises(UsageError, match=r"left alone|by hand"):
        install.write(install.plan("claude", clone.root))
    assert (clone.root / ".claude/settings.json").read_text() == text


def test_a_link_in_the_place_of_the_settings_is_not_followed(clone: Repo, tmp_path: Path) -> None:
    (clone.root / ".claude").mkdir()
    (clone.root / ".claude/settings.json").symlink_to(tmp_path / "elsewhere")

    with pytest.raises(UsageError, match="not a regular file"):
        install.plan("claude", clone.root)


def test_each_agent_finds_its_hook_where_its_documentation_says(clone: Repo) -> None:
    found = {}
    for name in NAMES:
        planned = install.plan(name, clone.root)
        assert planned.content
        found[planned.path.relative_to(clone.root).as_posix()] = json.loads(planned.content)

    assert found[".claude/settings.json"]["hooks"]["PreToolUse"][0]["matcher"] == "*"
    assert found[".codex/hooks.json"]["hooks"]["PreToolUse"][0]["hooks"][0]["type"] == "command"
    assert found[".gemini/settings.json"]["hooks"]["BeforeTool"][0]["hooks"][0]["timeout"] == 30_000
    assert all(entries[0]["failClosed"] for entries in found[".cursor/hooks.json"]["hooks"].values())
    assert found[".cursor/hooks.json"]["version"] == found[".github/hooks/linewitness.json"]["version"] == 1
    assert found[".github/hooks/linewitness.json"]["hooks"]["preToolUse"][0]["bash"]
    assert found[".openhands/hooks.json"]["pre_tool_use"][0]["hooks"][0]["command"]


def test_init_installs_the_hook_of_an_agent(clone: Repo, run: Run) -> None:
    done = run("init", "--agent", "claude", "--agent", "codex", "--root", str(clone.root))

    assert done.status == 0
    assert "created       .claude/settings.json" in done.out
    assert (clone.root / ".codex/hooks.json").is_file()
    assert done.out.count("git add") == 1
    assert run("init", "--agent", "nobody", "--root", str(clone.root)).status == 2


def test_an_unknown_target_is_refused_with_the_nearest_name(clone: Repo, run: Run) -> None:
    done = run("guard", "install", "pre-comit", "--root", str(clone.root))

    assert done.status == 2
    assert "pre-commit" in done.err


# ---------------------------------------------------------------- git


@pytest.fixture
def programs(tmp_path: Path) -> dict[str, str]:
    """An environment in which git's hooks find the program that is under test."""
    program = tmp_path / "bin/linewitness"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m linewitness "$@"\n')
    program.chmod(0o755)
    paths = os.pathsep.join(path for path in sys.path if path)
    return {"PATH": f"{program.parent}:{os.environ['PATH']}", "PYTHONPATH": paths}


def attempt(repo: Repo, programs: dict[str, str], *words: str) -> tuple[int, str]:
    import subprocess

    done = subprocess.run(
        ["git", *words], cwd=repo.root, env=environment() | programs, capture_output=True, text=True, check=False
    )
    return done.returncode, done.stderr


def test_the_pre_commit_hook_refuses_protected_changes_and_nothing_else(clone: Repo, programs: dict[str, str]) -> None:
    install.write(install.plan("pre-commit", clone.root))
    hook = clone.root / ".git/hooks/pre-commit"
    assert hook.stat().st_mode & stat.S_IXUSR

    clone.branch("agent")
    clone.write({"tests/trusted/test_a.py": "weaker\n", "src/a.py": "x = 2\n"})
    clone.git("add", "-A")
    status, said = attempt(clone, programs, "commit", "-m", "all")
    assert status == 1
    assert "tests/trusted/test_a.py: a trusted test was changed" in said

    assert attempt(clone, programs, "commit", "-m", "some", "src/a.py") == (0, "")
    status, said = attempt(clone, programs, "commit", "-m", "the rest", "tests/trusted/test_a.py")
    assert status == 1
    assert "a trusted test" in said


def test_what_a_merge_brings_from_the_target_branch_may_be_committed(clone: Repo, programs: dict[str, str]) -> None:
    install.write(install.plan("pre-commit", clone.root))
    clone.branch("agent")
    clone.commit("ours", {"src/b.py": "y = 1\n"})
    clone.git("checkout", "-q", "main")
    clone.commit("theirs", {"tests/trusted/test_b.py": "new\n"})
    clone.git("checkout", "-q", "agent")

    status, said = attempt(clone, programs, "merge", "--no-edit", "main")

    assert status == 0, said


def test_a_hook_that_is_there_is_left_alone_and_its_owner_told(clone: Repo) -> None:
    theirs = clone.root / ".git/hooks/pre-commit"
    theirs.parent.mkdir(exist_ok=True)
    theirs.write_text("#!/bin/sh\nmake lint\n")

    with pytest.raises(UsageError, match=r"linewitness guard pre-commit \|\| exit"):
        install.plan("pre-commit", clone.root)
    theirs.write_text("#!/bin/sh\nlinewitness guard pre-commit || exit $?\nmake lint\n")
    assert install.plan("pre-commit", clone.root).content is None


def test_another_folder_of_hooks_is_respected(clone: Repo) -> None:
    clone.git("config", "core.hooksPath", ".husky")

    assert install.plan("pre-commit", clone.root).path == clone.root / ".husky/pre-commit"


def test_the_hooks_belong_where_they_work(clone: Repo, tmp_path: Path) -> None:
    server = clone.clone(tmp_path / "server.git", "--bare")

    with pytest.raises(UsageError, match="in a clone with files"):
        install.plan("pre-commit", server.root)
    with pytest.raises(UsageError, match="bare repository"):
        install.plan("pre-receive", clone.root)
    with pytest.raises(UsageError, match="bare repository"):
        install.plan("claude", server.root)
