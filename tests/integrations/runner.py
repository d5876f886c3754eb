"""A runner of GitHub Actions, as far as one step needs it: environment files, an event payload, a checkout."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from tests.support.repos import Repo, environment

SOURCE = Path(__file__).resolve().parents[2] / "src"
PRODUCT = {
    "linewitness.toml": 'target-branch = "main"\n',
    "shop/__init__.py": "",
    "shop/prices.py": "def total(items):\n    return sum(items)\n",
    "tests/trusted/test_prices.py": """\
        from shop.prices import total

        def test_total():
            assert total([1, 2]) >= 3
        """,
}
WITNESSED = {"shop/prices.py": "def total(items):\n    return sum(items) + 0\n"}
OPEN = {"shop/prices.py": "def total(items):\n    return sum(items)\n\n\ndef tax(amount):\n    return amount // 5\n"}


class Checkout(NamedTuple):
    """What a job has: the clone, the commit that was checked out (GITHUB_SHA), and the commits it came from."""

    folder: Path
    sha: str
    base: str
    head: str


def pull_request(home: Path, files: Mapping[str, str]) -> Checkout:
    """A clone at the merge of a branch with ``files`` into main, as the runner makes one."""
    forge = Repo(home / "forge")
    forge.commit("product", PRODUCT)
    forge.git("branch", "topic")
    base = forge.commit("more on main", {"README.md": "# shop\n"})
    forge.git("checkout", "-q", "topic")
    head = forge.commit("topic", files)
    forge.git("checkout", "-q", "main")
    clone = forge.clone(home / "checkout")
    clone.git("fetch", "-q", "origin", "+refs/heads/*:refs/remotes/origin/*")
    clone.git("checkout", "-q", "--detach", "origin/main")
    clone.git("merge", "-q", "--no-ff", "-m", "merge", "origin/topic")
    return Checkout(home / "checkout", clone.git("rev-parse", "HEAD").strip(), base, head)


class Step(NamedTuple):
    """What a step left behind."""

    status: int
    log: str
    summary: str
    outputs: dict[str, str]


def run_step(
    checkout: Checkout, event: str, payload: Mapping[str, Any], command: tuple[str, ...] = (), **more: str
) -> Step:
    """Run ``linewitness ci github`` (or ``command``) as the runner would."""
    temporary = checkout.folder.parent / "runner-temp"
    temporary.mkdir(exist_ok=True)
    files = {name: temporary / name.lower() for name in ("GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT", "GITHUB_EVENT_PATH")}
    for file in files.values():
        file.write_text("", encoding="utf-8")
    files["GITHUB_EVENT_PATH"].write_text(json.dumps(payload), encoding="utf-8")
    variables = {
        **environment(),
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(SOURCE),
        "GITHUB_ACTIONS": "true",
        "GITHUB_EVENT_NAME": event,
        "GITHUB_SHA": checkout.sha,
        "GITHUB_REPOSITORY": "org/shop",
        "RUNNER_TEMP": str(temporary),
        **{name: str(path) for name, path in files.items()},
        **more,
    }
    words = command or (sys.executable, "-m", "linewitness", "ci", "github")
    done = subprocess.run(
        words, cwd=checkout.folder, env=variables, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    lines = files["GITHUB_OUTPUT"].read_text(encoding="utf-8").splitlines()
    outputs = dict(line.split("=", 1) for line in lines)
    summary = files["GITHUB_STEP_SUMMARY"].read_text(encoding="utf-8")
    return Step(done.returncode, done.stdout.decode("utf-8", "replace"), summary, outputs)
