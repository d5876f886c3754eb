"""Real pushes to a bare repository with the pre-receive hook."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest

from linewitness.errors import PatchError
from linewitness.guard import install
from linewitness.guard.receive import Update
from tests.guard.conftest import FILES
from tests.guard.test_install import attempt, programs
from tests.support.repos import Repo

__all__ = ["programs"]


class Forge(NamedTuple):
    """A bare repository, a clone of it, and the key of its owner."""

    server: Repo
    clone: Repo
    key: Path
    programs: dict[str, str]

    def push(self, *words: str) -> tuple[int, str]:
        return attempt(self.clone, self.programs, "push", "origin", *words)

    def sign(self, message: str) -> None:
        keys = ("-c", "gpg.format=ssh", "-c", f"user.signingKey={self.key}")
        self.clone.git("add", "-A")
        self.clone.git(*keys, "commit", "-q", "--allow-empty", "-S", "-m", message)


@pytest.fixture
def forge(tmp_path: Path, programs: dict[str, str]) -> Forge:
    key = tmp_path / "owner"
    if shutil.which("ssh-keygen") is None:
        pytest.skip("ssh-keygen is not installed (Debian: apt-get install openssh-client)")
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", os.fspath(key)], check=True)
    public = key.with_suffix(".pub").read_text().strip()
    origin = Repo(tmp_path / "origin")
    origin.commit("base", {**FILES, ".linewitness/approvers": f'ada@example.org namespaces="git" {public}\n'})
    server = origin.clone(tmp_path / "server.git", "--bare")
    install.write(install.plan("pre-receive", server.root))
    return Forge(server, server.clone(tmp_path / "clone"), key, programs)


def test_an_ordinary_branch_is_taken(forge: Forge) -> None:
    forge.clone.branch("agent")
    forge.clone.commit("work", {"src/a.py": "x = 2\n", "tests/generated/test_b.py": "y\n"})

    status, said = forge.push("agent")

    assert status == 0, said
    assert "agent" in forge.server.git("branch")


def test_a_branch_that_changes_a_trusted_test_is_refused(forge: Forge) -> None:
    forge.clone.branch("agent")
    forge.clone.commit("weaker", {"tests/trusted/test_a.py": "weaker\n"})

    status, said = forge.push("agent")

    assert status == 1
    assert "refs/heads/agent: tests/trusted/test_a.py: a trusted test was changed" in said
    assert "agent" not in forge.server.git("branch")


def test_the_target_branch_itself_takes_no_unapproved_change(forge: Forge) -> None:
    forge.clone.commit("weaker", {"tests/trusted/test_a.py": "weaker\n"})

    assert forge.push("main")[0] == 1
    assert forge.push("--force", "main")[0] == 1


def test_an_approved_change_is_taken_and_a_later_edit_is_not(forge: Forge) -> None:
    forge.clone.branch("owners")
    forge.clone.write({"tests/trusted/test_b.py": "def test_b():\n    assert 1\n"})
    forge.sign("a new trusted test")

    status, said = forge.push("owners")
    assert status == 0, said
    status, said = forge.push("owners:main")
    assert status == 0, said

    forge.clone.commit("and an edit on top", {"tests/trusted/test_b.py": "def test_b():\n    assert True\n"})
    assert forge.push("owners")[0] == 1


def test_a_forced_push_that_takes_protected_content_back_is_refused(forge: Forge) -> None:
    forge.clone.write({"tests/trusted/test_b.py": "def test_b():\n    assert 1\n"})
    forge.sign("a new trusted test")
    assert forge.push("main")[0] == 0
    forge.clone.git("reset", "-q", "--hard", "HEAD~1")
    forge.clone.commit("without it", {"src/a.py": "x = 3\n"})

    status, said = forge.push("--force", "main")

    assert status == 1
    assert "tests/trusted/test_b.py" in said


def test_branches_come_and_go_but_the_target_branch_stays(forge: Forge) -> None:
    forge.clone.branch("agent")
    forge.clone.commit("work", {"src/a.py": "x = 2\n"})
    assert forge.push("agent")[0] == 0
    assert forge.push("--delete", "agent")[0] == 0

    status, said = forge.push("--delete", "main")
    assert status == 1
    assert "cannot be deleted" in said


def test_tags_are_taken_and_replaced_objects_are_not(forge: Forge) -> None:
    forge.clone.commit("weaker", {"tests/trusted/test_a.py": "weaker\n"})
    forge.clone.tag("v1")
    assert forge.push("v1")[0] == 0

    forge.clone.git("replace", "HEAD", "HEAD~1")
    status, said = forge.push("refs/replace/*:refs/replace/*")
    assert status == 1
    assert "another history" in said


def test_a_history_of_its_own_is_compared_with_the_target(forge: Forge) -> None:
    forge.clone.git("checkout", "-q", "--orphan", "fresh")
    forge.clone.commit("the same files", {"src/a.py": "x = 9\n"})
    assert forge.push("fresh")[0] == 0

    forge.clone.git("rm", "-q", "-r", "tests")
    forge.clone.commit("without the tests")
    assert forge.push("fresh")[0] == 1


def test_one_refused_branch_refuses_the_whole_push(forge: Forge) -> None:
    forge.clone.branch("good")
    forge.clone.commit("work", {"src/a.py": "x = 2\n"})
    forge.clone.branch("bad", "main")
    forge.clone.commit("weaker", {"tests/trusted/test_a.py": "weaker\n"})

    assert forge.push("good", "bad")[0] == 1
    assert forge.server.git("branch", "--list", "good", "bad") == ""


def test_the_first_push_founds_the_repository(tmp_path: Path, programs: dict[str, str]) -> None:
    server = Repo(tmp_path / "new.git", init=False)
    server.root.mkdir()
    server.git("init", "-q", "--bare", "-b", "main")
    install.write(install.plan("pre-receive", server.root))
    clone = Repo(tmp_path / "clone")
    clone.commit("base", FILES)

    assert attempt(clone, programs, "push", str(server.root), "main")[0] == 0
    clone.commit("weaker", {"tests/trusted/test_a.py": "weaker\n"})
    assert attempt(clone, programs, "push", str(server.root), "main")[0] == 1


@pytest.mark.parametrize("line", [b"", b"a b c", b"0" * 40, b"0" * 40 + b" " + b"g" * 40 + b" refs/heads/x"])
def test_what_git_would_not_say_is_refused(line: bytes) -> None:
    with pytest.raises(PatchError):
        Update.parse(line)
