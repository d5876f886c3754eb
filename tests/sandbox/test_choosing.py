"""Which sandbox is chosen, what is said when there is none, and what is refused then."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from linewitness.case import Question
from linewitness.errors import EvidenceError
from linewitness.evidence.sandbox import find_sandbox, what_to_do
from linewitness.evidence.sandbox_mounts import Sealed, seal
from linewitness.gate import CheckRequest, check
from linewitness.model import RepoPath
from linewitness.obligation_map import ObligationMap, SandboxRow, decode, encode
from linewitness.reports.words import evidence_line
from tests.sandbox.conftest import needs_bubblewrap
from tests.support.repos import Repo

TREE = {
    "shop.py": "def total(prices):\n    return sum(prices)\n",
    "tests/trusted/test_shop.py": "from shop import total\n\n\ndef test_total():\n    assert total([1, 2]) == 3\n",
}


def fake(folder: Path, script: str) -> dict[str, str]:
    """A PATH on which bubblewrap is this script."""
    program = folder / "bin" / "bwrap"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return {"PATH": str(program.parent)}


def judge(home: Path, sandbox: str) -> ObligationMap:
    repo = Repo(home)
    base = repo.commit("base", TREE)
    repo.commit("head", {"shop.py": "def total(prices):\n    found = sum(prices)\n    return found\n"})
    return check(CheckRequest(home, Question(base), sandbox=sandbox), lambda _: None)  # type: ignore[arg-type]


def test_an_absent_bubblewrap_leaves_landlock_or_nothing(tmp_path: Path) -> None:
    found = find_sandbox("auto", {"PATH": str(tmp_path)})

    assert not found.isolates
    assert found.reason == "bubblewrap is not installed"
    assert "apt-get install bubblewrap" in what_to_do(found)


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("echo 'bwrap: No permissions to create new namespace' >&2; exit 1", "not allowed"),
        ("echo 'bwrap: setting up uid map: Permission denied' >&2; exit 1", "not allowed"),
        ("exit 1", "does not work"),
        ("kill -9 $$", "does not work"),
    ],
)
def test_a_bubblewrap_that_fails_is_not_used(tmp_path: Path, script: str, reason: str) -> None:
    found = find_sandbox("auto", fake(tmp_path, script))

    assert not found.isolates
    assert reason in found.reason


def test_on_refuses_to_run_without(tmp_path: Path) -> None:
    with pytest.raises(EvidenceError, match=r"bubblewrap is not installed.*apt-get install"):
        find_sandbox("on", {"PATH": str(tmp_path)})


def test_a_relative_folder_of_path_is_not_searched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake(tmp_path, "exit 0")
    monkeypatch.chdir(tmp_path)

    assert find_sandbox("auto", {"PATH": "bin"}).reason == "bubblewrap is not installed"


@needs_bubblewrap
def test_the_map_says_what_was_in_force(tmp_path: Path) -> None:
    artifact = judge(tmp_path, "on")
    row = artifact.evidence[0].sandbox

    assert artifact.exit == 0
    assert isinstance(row, SandboxRow)
    assert (row.kind, row.network, row.reason) == ("bubblewrap", "loopback", "")
    assert row.limits["memory"] == 8192
    assert evidence_line(artifact.evidence[0]).endswith("0 skipped, sandboxed")
    assert decode(b"".join(encode(artifact))) == artifact
    assert str(tmp_path).encode() not in b"".join(encode(artifact))


def test_the_map_says_that_nothing_was_in_force(tmp_path: Path) -> None:
    artifact = judge(tmp_path, "off")
    row = artifact.evidence[0].sandbox

    assert artifact.exit == 0
    assert isinstance(row, SandboxRow)
    assert (row.kind, row.network, row.reason) == ("none", "all", "it was turned off")
    assert evidence_line(artifact.evidence[0]).endswith("0 skipped, unsandboxed because it was turned off")
    assert ("processes" in row.limits) is (os.geteuid() != 0)


def test_on_closes_the_gate_when_there_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    git = os.path.dirname(next(p for p in os.get_exec_path() if os.path.exists(os.path.join(p, "git"))) + "/")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "git").symlink_to(os.path.join(git, "git"))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    artifact = judge(tmp_path / "repo", "on")

    assert artifact.exit == 3
    assert "--sandbox on" in artifact.findings[0].message


def test_folders_that_hold_nothing_else_are_sealed_whole_and_others_file_by_file() -> None:
    protected = ["tests/trusted/a.py", "tests/trusted/deep/b.py", "tests/conftest.py", "setup.cfg", "ci/x.yml"]
    tree = [*protected, "tests/generated/c.py", "tests/helper.py", "src/m.py"]

    assert seal(map(RepoPath, protected), map(RepoPath, tree)) == Sealed(
        folders=(RepoPath("ci"), RepoPath("tests/trusted")),
        files=(RepoPath("setup.cfg"), RepoPath("tests/conftest.py")),
        pinned=(RepoPath("tests"),),
    )
