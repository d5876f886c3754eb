"""``linewitness approve``: what is shown, what is refused, and that the gate believes what was signed."""

from __future__ import annotations

import io
import os
import subprocess
from pathlib import Path

import pytest

from linewitness.case import Question
from linewitness.gate import CheckRequest, check
from linewitness.obligation_map import ApprovalRow, ObligationMap
from tests.cli.conftest import Outcome, Run
from tests.support.repos import Executable, Link, Repo, environment
from tests.support.signing import ADDRESS, Key

TEST = "tests/trusted/test_shop.py"
LIST = ".linewitness/approvers"
SHOP = "from shop import price\n\n\ndef test_price():\n    assert price(1) == 1\n"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A person with git settings of their own."""
    place = tmp_path / "home"
    place.mkdir()
    (place / ".gitconfig").write_text(f"[user]\n\tname = Ada\n\temail = {ADDRESS}\n")
    monkeypatch.setenv("HOME", str(place))
    for name in ("GIT_CONFIG_GLOBAL", "XDG_CONFIG_HOME", "SSH_AUTH_SOCK", "LINEWITNESS_BASE"):
        monkeypatch.delenv(name, raising=False)
    return place


@pytest.fixture(scope="session")
def key(tmp_path_factory: pytest.TempPathFactory) -> Key:
    return Key.make(tmp_path_factory.mktemp("keys"))


@pytest.fixture
def repo(tmp_path: Path, key: Key) -> Repo:
    """An agent's branch that changes a trusted test and adds one."""
    made = Repo(tmp_path / "repo")
    made.commit("base", {"shop.py": "def price(n):\n    return n\n", TEST: SHOP, LIST: key.line()})
    made.branch("patch")
    made.commit("head", {TEST: SHOP.replace("== 1", "> 0"), "tests/trusted/test_new.py": "def test_new(): ...\n"})
    return made


def gate(repo: Repo) -> ObligationMap:
    return check(CheckRequest(repo.root, Question("main")), lambda _: None)


def approve(run: Run, repo: Repo, *argv: str) -> Outcome:
    return run("approve", "--base", "main", "--root", str(repo.root), *argv)


def test_what_is_signed_is_shown_first_and_then_opens_the_gate(run: Run, repo: Repo, key: Key) -> None:
    before = repo.git("rev-parse", "HEAD")
    assert gate(repo).exit == 5

    done = approve(run, repo, "--key", str(key.file), "--yes")

    assert done.status == 0, done.err
    commit = repo.git("rev-parse", "HEAD")
    assert f"{TEST}: LW301 a trusted test was changed\n" in done.out
    assert "  -    assert price(1) == 1\n  +    assert price(1) > 0\n" in done.out
    assert "  +def test_new(): ...\n" in done.out
    assert done.out.endswith(f"{commit} vouches for 2 changes of protected content, signed with {key.fingerprint}\n")
    assert repo.git("log", "-1", "--format=%P %T %an %ae %cn") == f"{before} {repo.tree(before)} Ada {ADDRESS} Ada"
    assert repo.git("log", "-1", "--format=%B").splitlines()[:3] == [
        "Approve protected content",
        "",
        "- tests/trusted/test_new.py",
    ]
    assert repo.git("status", "--porcelain") == ""
    judged = gate(repo)
    assert judged.exit == 0
    assert judged.approval == ApprovalRow(commit, key.fingerprint, ADDRESS)


def test_git_itself_believes_the_signature(run: Run, repo: Repo, key: Key, tmp_path: Path) -> None:
    approve(run, repo, "--key", str(key.file), "--yes", "-m", "Seen\n\nby Ada")
    signers = tmp_path / "signers"
    signers.write_text(key.line())

    repo.git("-c", f"gpg.ssh.allowedSignersFile={signers}", "verify-commit", "HEAD")
    assert repo.git("log", "-1", "--format=%B") == "Seen\n\nby Ada\n"
    assert repo.git("fsck", "--strict") == ""


def test_a_second_time_there_is_nothing_to_do(run: Run, repo: Repo, key: Key) -> None:
    approve(run, repo, "--key", str(key.file), "--yes")
    commit = repo.git("rev-parse", "HEAD")

    done = approve(run, repo, "--yes")

    assert (done.status, done.out) == (0, "")
    assert f"{ADDRESS} vouches for the protected content of HEAD in {commit}" in done.err
    assert repo.git("rev-parse", "HEAD") == commit


def test_a_dry_run_shows_and_signs_nothing(run: Run, repo: Repo) -> None:
    before = repo.git("rev-parse", "HEAD")

    done = approve(run, repo, "--dry-run")

    assert done.status == 0
    assert "a trusted test was added" in done.out
    assert repo.git("rev-parse", "HEAD") == before


def test_the_key_of_the_persons_own_settings_is_used(run: Run, repo: Repo, key: Key, home: Path) -> None:
    with (home / ".gitconfig").open("a") as config:
        config.write(f"\tsigningKey = {key.file}.pub\n[gpg]\n\tformat = ssh\n")

    assert approve(run, repo, "--yes").status == 0
    assert gate(repo).exit == 0


def test_settings_of_the_clone_neither_sign_nor_run_hooks(run: Run, repo: Repo, key: Key, tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    hooks = repo.root / ".git" / "hooks"
    hooks.mkdir(exist_ok=True)
    script = f"#!/bin/sh\necho $0 >> {mark}\n"
    for name in ("pre-commit", "prepare-commit-msg", "commit-msg", "post-commit", "reference-transaction", "evil"):
        (hooks / name).write_text(script)
        (hooks / name).chmod(0o755)
    repo.git("config", "gpg.ssh.program", str(hooks / "evil"))
    repo.git("config", "gpg.program", str(hooks / "evil"))
    repo.git("config", "core.fsmonitor", str(hooks / "evil"))
    repo.git("config", "core.hooksPath", str(hooks))

    assert approve(run, repo, "--key", str(key.file), "--yes").status == 0
    assert not mark.exists()


def test_a_key_that_an_agent_holds_signs_by_its_public_half(
    run: Run, repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = Key.make(tmp_path / "held")
    started = subprocess.run(["ssh-agent", "-s"], check=True, capture_output=True, text=True).stdout
    values = dict(part.strip().split("=", 1) for part in started.split(";") if "=" in part)
    monkeypatch.setenv("SSH_AUTH_SOCK", values["SSH_AUTH_SOCK"])
    try:
        subprocess.run(["ssh-add", "-q", str(held.file)], check=True, capture_output=True)
        held.file.unlink()
        done = approve(run, repo, "--key", f"{held.file}.pub", "--yes")
    finally:
        subprocess.run(["ssh-agent", "-k"], check=True, capture_output=True, env=environment() | values)

    assert done.status == 0, done.err
    assert held.fingerprint in done.out
    assert f"{LIST} of base does not list {held.fingerprint}: the gate will not take this for an approval" in done.err


def test_a_key_that_cannot_sign_changes_nothing(run: Run, repo: Repo, key: Key, tmp_path: Path) -> None:
    before = repo.git("rev-parse", "HEAD")
    lonely = tmp_path / "lonely.pub"
    lonely.write_text(key.public)

    for file, said in (
        (lonely, "ssh-keygen says"),
        (tmp_path / "missing", "cannot be read"),
        (tmp_path, "cannot be read"),
    ):
        done = approve(run, repo, "--key", str(file), "--yes")
        assert (done.status, said in done.err) == (2, True), done.err
    assert repo.git("rev-parse", "HEAD") == before
    assert approve(run, repo, "--yes").err.count("name the key to sign with: --key") == 1


def test_without_a_name_for_the_commit_nothing_is_signed(run: Run, repo: Repo, key: Key, home: Path) -> None:
    (home / ".gitconfig").write_text("[user]\n\tuseConfigOnly = true\n")

    done = approve(run, repo, "--key", str(key.file), "--yes")

    assert (done.status, "git does not know who you are" in done.err) == (2, True)


def test_nothing_to_approve_is_said(run: Run, repo: Repo) -> None:
    repo.git("checkout", "-q", "-B", "patch", "main")
    repo.commit("code", {"shop.py": "def price(n):\n    return n + 0\n"})

    done = approve(run, repo, "--yes")

    assert (done.status, "there is nothing to approve" in done.err) == (2, True)


@pytest.mark.parametrize("staged", [True, False])
def test_protected_changes_that_are_not_committed_are_refused(run: Run, repo: Repo, key: Key, staged: bool) -> None:
    repo.write({TEST: "later\n", "tests/conftest.py": "x\n", "shop.py": "free\n"})
    if staged:
        repo.git("add", "-A")

    done = approve(run, repo, "--key", str(key.file), "--yes")

    assert done.status == 2
    assert f"changes of protected content that HEAD has not: tests/conftest.py, {TEST}. Commit them first" in done.err


def test_other_uncommitted_changes_stay_as_they_are(run: Run, repo: Repo, key: Key) -> None:
    repo.write({"shop.py": "free\n", "new.py": "free\n"})
    repo.git("add", "new.py")

    assert approve(run, repo, "--key", str(key.file), "--yes").status == 0
    assert repo.git("status", "--porcelain").splitlines() == ["A  new.py", " M shop.py"]


def test_a_person_is_asked(run: Run, repo: Repo, key: Key, monkeypatch: pytest.MonkeyPatch) -> None:
    before = repo.git("rev-parse", "HEAD")
    monkeypatch.setattr("sys.stdin", io.StringIO("y\n"))
    refused = approve(run, repo, "--key", str(key.file))
    assert (refused.status, "there is no terminal to ask on" in refused.err) == (2, True)

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr("sys.stdin", Terminal("\n"))
    doubting = approve(run, repo, "--key", str(key.file))
    assert (doubting.status, "nothing was signed" in doubting.err) == (2, True)
    assert repo.git("rev-parse", "HEAD") == before

    monkeypatch.setattr("sys.stdin", Terminal("yes\n"))
    assert approve(run, repo, "--key", str(key.file)).status == 0
    assert repo.git("rev-parse", "HEAD^") == before


def test_a_detached_head_moves_alone(run: Run, repo: Repo, key: Key) -> None:
    repo.git("checkout", "-q", "--detach")
    before = repo.git("rev-parse", "patch")

    assert approve(run, repo, "--key", str(key.file), "--yes").status == 0
    assert repo.git("rev-parse", "patch", "HEAD^").splitlines() == [before, before]


def test_long_changes_are_cut_and_counted(run: Run, repo: Repo) -> None:
    repo.commit("long", {"tests/trusted/a.txt": "".join(f"{n}\n" for n in range(300)), "tests/trusted/b.txt": "b\n"})

    out = approve(run, repo, "--dry-run").out

    assert "tests/trusted/a.txt: LW301 a trusted test was added\n  @@ -0,0 +1,300 @@\n  +0\n" in out
    shown = [line for line in out.splitlines() if line.startswith("  ") and "more lines" not in line]
    hidden = [int(line.split()[2]) for line in out.splitlines() if "more lines" in line]
    assert len(shown) == 200
    assert "… and 101 more lines: git diff" in out
    assert hidden[0] == 101
    assert len(hidden) == 4


def test_what_has_no_lines_is_described(run: Run, repo: Repo) -> None:
    repo.write({"tests/trusted/link": Link("../x"), "tests/trusted/bin": b"a\0b", TEST: Executable(SHOP)})
    repo.git("add", "-A")
    repo.submodule("tests/trusted/sub", "1" * 40)
    repo.commit_index("odd")

    out = approve(run, repo, "--dry-run").out

    for said in (
        "HEAD: a symbolic link to ../x",
        "HEAD: binary, 3 bytes",
        "mode 100644 became 100755",
        "submodule at 111",
    ):
        assert said in out


def test_characters_that_hide_something_are_shown(run: Run, repo: Repo) -> None:
    repo.commit("hide", {TEST: "x = 1  # \u202e\x1b[2K\r\n"})

    out = approve(run, repo, "--dry-run").out

    assert "+x = 1  # \\u202e\\x1b[2K\\r" in out
    assert "\x1b" not in out


def test_a_module_that_shadows_another_is_vouched_for_too(run: Run, repo: Repo, key: Key) -> None:
    repo.git("checkout", "-q", "-B", "patch", "main")
    repo.commit("shadow", {"json.py": "# nothing\n"})
    assert "LW303" in [finding.code for finding in gate(repo).findings]

    done = approve(run, repo, "--key", str(key.file), "--yes")

    assert "json.py: LW303 as `json` in the root of the repository" in done.out
    assert gate(repo).exit == 0
    repo.commit("another", {"json.py": "# something\n"})
    assert "LW303" in [finding.code for finding in gate(repo).findings]


def test_the_command_that_the_gate_names_is_the_one(run: Run, repo: Repo, key: Key) -> None:
    (message, *_) = [finding.message for finding in gate(repo).findings]
    words = message.partition("`linewitness ")[2].partition("`")[0].split()

    assert words[:2] == ["approve", "--base"]
    assert run(*words, "--root", str(repo.root), "--key", os.fspath(key.file), "--yes").status == 0
    assert gate(repo).exit == 0
