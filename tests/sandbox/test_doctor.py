"""``doctor`` tells whether this machine can isolate the trusted run, and why not."""

from __future__ import annotations

import datetime as dt
import os
import shutil
from pathlib import Path

import pytest

from linewitness.case import Question
from linewitness.onboarding.checkup import examine
from tests.sandbox.conftest import needs_bubblewrap
from tests.support.repos import Repo


def troubles(home: Path) -> dict[str, tuple[bool, str]]:
    repo = Repo(home / "repo")
    repo.commit("base", {"tests/trusted/test_it.py": "def test_it():\n    assert 1\n"})
    report = examine(repo.root, Question(), dt.date(2026, 9, 16))
    return {trouble.check: (trouble.closes, trouble.message) for trouble in report.troubles}


@needs_bubblewrap
def test_a_machine_with_a_sandbox_has_no_such_trouble(tmp_path: Path) -> None:
    assert "no-sandbox" not in troubles(tmp_path)


@pytest.mark.parametrize(
    ("script", "said"),
    [("", "is not installed"), ("echo 'bwrap: No permissions to create new namespace' >&2; exit 1", "No permissions")],
)
def test_a_machine_without_one_is_weak_and_told_how_to_mend_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, said: str
) -> None:
    programs = tmp_path / "programs"
    programs.mkdir()
    git = shutil.which("git")
    assert git is not None
    (programs / "git").symlink_to(git)
    if script:
        (programs / "bwrap").write_text(f"#!/bin/sh\n{script}\n")
        (programs / "bwrap").chmod(0o755)
    monkeypatch.setenv("PATH", os.fspath(programs))
    closes, message = troubles(tmp_path)["no-sandbox"]

    assert not closes
    assert said in message
    assert "apt-get install bubblewrap" in message or "user namespaces" in message
