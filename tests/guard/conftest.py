"""A repository with protected content, and ways to ask the guard about it."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from linewitness.guard.hook import run
from tests.support.repos import Repo

FILES = {
    "linewitness.toml": 'target-branch = "main"\n',
    "tests/trusted/test_a.py": "def test_a():\n    assert True\n",
    "tests/generated/test_g.py": "",
    "tests/waivers.yaml": "waivers: []\n",
    "src/a.py": "x = 1\n",
    "docs/index.md": "docs\n",
    "pyproject.toml": '[project]\nname = "shop"\n\n[tool.pytest.ini_options]\naddopts = "-q"\n',
    ".claude/settings.json": "{}\n",
    "README.md": "readme\n",
}


class Answer(NamedTuple):
    """What an agent hears."""

    status: int
    out: str
    err: str

    @property
    def allowed(self) -> bool:
        return self.status == 0 and self.err == "" and self.out in {"", "{}"}


Ask = Callable[..., Answer]


@pytest.fixture(scope="session")
def repo(tmp_path_factory: pytest.TempPathFactory) -> Repo:
    """Shared, for nothing that is asked here is ever done."""
    repo = Repo(tmp_path_factory.mktemp("guard") / "repo")
    repo.commit("base", FILES)
    repo.branch("other")
    repo.commit("elsewhere", {"tests/trusted/test_a.py": "changed\n"})
    repo.git("checkout", "-q", "main")
    return repo


def send(agent: str, payload: object, environ: Mapping[str, str] | None = None) -> Answer:
    """Put a payload before an agent's hook. Bytes go as they are."""
    data = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
    out, err = io.StringIO(), io.StringIO()
    status = run(
        [agent], io.BytesIO(data), {"HOME": "/home/ada", "PATH": "/usr/bin:/bin"} | dict(environ or {}), out, err
    )
    return Answer(status, out.getvalue(), err.getvalue())


def claude(tool: str, given: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    return {
        "session_id": "s",
        "transcript_path": "/home/ada/.claude/t.jsonl",
        "cwd": str(folder),
        "permission_mode": "default",
        "hook_event_name": "PreToolUse",
        "tool_name": tool,
        "tool_input": dict(given),
        "tool_use_id": "t1",
    }


@pytest.fixture
def ask(repo: Repo) -> Ask:
    """Ask about a tool of Claude Code in the repository."""

    def call(tool: str, folder: Path | None = None, **given: Any) -> Answer:
        return send("claude", claude(tool, given, folder or repo.root))

    return call
