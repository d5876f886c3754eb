"""What people rely on, from the outside: the gate on tiny repositories. These judge this project's own patches."""

from __future__ import annotations

import io
import json
import subprocess
from pathlib import Path

import pytest

from linewitness.case import Question
from linewitness.cli.main import Process, main
from linewitness.gate import CheckRequest, check
from linewitness.obligation_map import ObligationMap, decode, encode

BASE = {
    "shop.py": "def total(prices):\n    return sum(prices)\n",
    "tests/trusted/test_shop.py": "from shop import total\n\n\ndef test_total():\n    assert total([1, 2]) == 3\n",
}
SEEN = "def total(prices):\n    found = sum(prices)\n    return found\n"
UNSEEN = BASE["shop.py"] + "\n\ndef refund(prices):\n    return -total(prices)\n"


def git(root: Path, *arguments: str) -> str:
    person = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "init.defaultBranch=main"]
    done = subprocess.run(["git", *person, *arguments], cwd=root, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def commit(root: Path, files: dict[str, str]) -> str:
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "change")
    return git(root, "rev-parse", "HEAD")


@pytest.fixture
def shop(tmp_path: Path) -> tuple[Path, str]:
    """A repository with an honest base, and the id of that base."""
    git(tmp_path, "init", "-q")
    return tmp_path, commit(tmp_path, BASE)


def judge(root: Path, base: str) -> ObligationMap:
    return check(CheckRequest(root, Question(base)), progress=lambda _: None)


def test_a_patch_that_a_trusted_test_ran_opens_the_gate(shop: tuple[Path, str]) -> None:
    root, base = shop
    commit(root, {"shop.py": SEEN})
    artifact = judge(root, base)
    assert (artifact.verdict, artifact.exit, artifact.owed, artifact.trusted_hit) == ("open", 0, 2, 2)
    assert artifact.rows[0].witnesses == ("tests/trusted/test_shop.py::test_total",)


def test_a_patch_that_nobody_ran_keeps_it_closed(shop: tuple[Path, str]) -> None:
    root, base = shop
    commit(root, {"shop.py": UNSEEN})
    artifact = judge(root, base)
    assert (artifact.verdict, artifact.exit, artifact.unwitnessed) == ("closed", 1, 2)
    assert [(row.line, row.status.value) for row in artifact.rows] == [(5, "unwitnessed"), (6, "unwitnessed")]


def test_generated_tests_never_witness(shop: tuple[Path, str]) -> None:
    root, base = shop
    test = "from shop import refund\n\n\ndef test_refund():\n    assert refund([1]) == -1\n"
    commit(root, {"shop.py": UNSEEN, "tests/generated/test_refund.py": test})
    assert judge(root, base).unwitnessed == 2


def test_a_changed_trusted_test_closes_the_gate_before_anything_runs(shop: tuple[Path, str]) -> None:
    root, base = shop
    commit(root, {"tests/trusted/test_shop.py": "raise SystemExit('this must not run')\n"})
    artifact = judge(root, base)
    assert (artifact.exit, artifact.scored) == (5, False)
    assert [finding.code for finding in artifact.findings] == ["LW301"]


def test_a_failing_trusted_test_is_no_evidence(shop: tuple[Path, str]) -> None:
    root, base = shop
    commit(root, {"shop.py": "def total(prices):\n    return 0\n"})
    artifact = judge(root, base)
    assert artifact.exit == 3
    assert "LW501" in [finding.code for finding in artifact.findings]


def test_the_map_is_canonical_and_can_be_read_back(shop: tuple[Path, str]) -> None:
    root, base = shop
    commit(root, {"shop.py": UNSEEN})
    data = b"".join(encode(judge(root, base)))
    assert data == b"".join(encode(judge(root, base)))
    assert decode(data).unwitnessed == 2
    assert json.dumps(json.loads(data), sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode() == data[:-1]


def test_the_command_ends_with_the_status_of_the_map(shop: tuple[Path, str], monkeypatch: pytest.MonkeyPatch) -> None:
    root, base = shop
    commit(root, {"shop.py": UNSEEN})
    monkeypatch.chdir(root)
    out, err = io.StringIO(), io.StringIO()
    assert main(["check", "--base", base], Process({}, out, err)) == 1
    assert "shop.py:5" in out.getvalue()
    assert "%" not in out.getvalue()
