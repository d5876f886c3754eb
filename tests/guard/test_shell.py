"""Which command lines are refused: all that can be seen to change protected content, and no other."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.guard.cases import ALLOWED, DENIED
from tests.guard.conftest import Ask, claude, send
from tests.support.repos import Link, Repo


@pytest.mark.parametrize("command", DENIED)
def test_what_can_be_seen_to_change_protected_content_is_refused(command: str, ask: Ask, repo: Repo) -> None:
    answer = ask("Bash", command=command.replace("{root}", str(repo.root)))

    assert answer.status == 2
    assert answer.err.startswith("linewitness: ")
    assert "itself failed" not in answer.err


@pytest.mark.parametrize("command", ALLOWED)
def test_ordinary_work_is_allowed_in_silence(command: str, ask: Ask, repo: Repo) -> None:
    answer = ask("Bash", command=command.replace("{root}", str(repo.root)))

    assert answer.allowed, answer.err


def test_a_link_on_disk_is_followed(tmp_path: Path) -> None:
    repo = Repo(tmp_path / "repo")
    repo.commit("base", {"tests/trusted/test_a.py": "", "src/helpers": Link("../tests/trusted"), "src/a.py": ""})

    def reply(command: str) -> bool:
        return send("claude", claude("Bash", {"command": command}, repo.root)).allowed

    assert not reply("echo x > src/helpers/test_a.py")
    assert not reply("cd src/helpers && touch new.py")
    assert not reply("echo x > src/helpers/../trusted/test_a.py")
    assert reply("rm src/helpers")
    assert reply("echo x > src/a.py")


def test_a_folder_that_cannot_be_entered_does_not_hide_where_the_command_runs(ask: Ask) -> None:
    assert not ask("Bash", command="cd /nowhere; rm -rf tests").allowed
    assert not ask("Bash", command='cd "$SOMEWHERE" && rm -rf tests').allowed
    assert ask("Bash", command="cd /nowhere; rm -rf build").allowed


def test_the_changed_part_of_a_folder_may_not_be_thrown_away_with_it(tmp_path: Path) -> None:
    repo = Repo(tmp_path / "repo")
    repo.commit("base", {"tests/trusted/test_a.py": "", "src/a.py": ""})

    def reply(command: str) -> bool:
        return send("claude", claude("Bash", {"command": command}, repo.root)).allowed

    assert reply("git checkout -- .")
    repo.write({"tests/trusted/test_a.py": "a person is writing this\n"})
    assert not reply("git checkout -- .")
    assert not reply("git restore tests")
    assert reply("git restore src")


def test_names_in_an_archive_count(tmp_path: Path, ask: Ask) -> None:
    import zipfile

    for name, inside in (("bad", "tests/trusted/x.py"), ("good", "src/x.py")):
        with zipfile.ZipFile(tmp_path / f"{name}.zip", "w") as archive:
            archive.writestr(inside, "x")

    assert not ask("Bash", command=f"unzip {tmp_path}/bad.zip").allowed
    assert ask("Bash", command=f"unzip {tmp_path}/good.zip").allowed


def test_a_patch_in_a_file_counts_by_what_it_names(tmp_path: Path, ask: Ask) -> None:
    (tmp_path / "bad.patch").write_text(
        "--- a/tests/trusted/test_a.py\n+++ b/tests/trusted/test_a.py\n@@ -1 +1 @@\n-a\n+b\n"
    )
    (tmp_path / "good.patch").write_text("--- a/docs/conftest.py\n+++ b/docs/conftest.py\n@@ -1 +1 @@\n-a\n+b\n")

    for program in ("git apply {}", "patch -p1 < {}", "cat {} | git apply", "git am {}", "patch -p1 -i {}"):
        assert not ask("Bash", command=program.format(tmp_path / "bad.patch")).allowed, program
        assert ask("Bash", command=program.format(tmp_path / "good.patch")).allowed, program


def test_a_tree_that_is_copied_over_the_root_counts_by_what_is_in_it(tmp_path: Path, ask: Ask) -> None:
    (tmp_path / "evil/tests/trusted").mkdir(parents=True)
    (tmp_path / "evil/tests/trusted/test_a.py").write_text("")
    (tmp_path / "kind/src").mkdir(parents=True)
    (tmp_path / "kind/src/b.py").write_text("")

    assert not ask("Bash", command=f"cp -r {tmp_path}/evil/tests .").allowed
    assert not ask("Bash", command=f"cp -r {tmp_path}/evil/. .").allowed
    assert not ask("Bash", command=f"rsync -a {tmp_path}/evil/ ./").allowed
    assert ask("Bash", command=f"cp -r {tmp_path}/kind/src .").allowed
    assert ask("Bash", command=f"cp -r {tmp_path}/kind/. .").allowed


def test_another_work_tree_of_the_same_repository_is_protected_too(tmp_path: Path) -> None:
    repo = Repo(tmp_path / "repo")
    repo.commit("base", {"tests/trusted/test_a.py": "", "src/a.py": ""})
    repo.git("worktree", "add", "-q", str(tmp_path / "linked"), "-b", "linked")

    def reply(command: str) -> bool:
        return send("claude", claude("Bash", {"command": command}, repo.root)).allowed

    assert not reply(f"echo x > {tmp_path}/linked/tests/trusted/test_a.py")
    assert not reply(f"cd {tmp_path}/linked && rm -rf tests")
    assert reply(f"echo x > {tmp_path}/linked/src/a.py")


@given(st.text(alphabet=st.sampled_from("ab/.$(){}[]|&;<>'\"`\\\n *?~#=-")))
def test_no_text_brings_the_guard_down(repo: Repo, text: str) -> None:
    answer = send("claude", claude("Bash", {"command": text}, repo.root))

    assert answer.status in {0, 2}
    assert "itself failed" not in answer.err
