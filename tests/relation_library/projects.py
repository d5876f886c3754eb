"""Tiny projects with relations, run by plain pytest or by the whole gate."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from linewitness.case import Question
from linewitness.gate import CheckRequest, check
from linewitness.obligation_map import ObligationMap
from tests.support.repos import Content, Repo

SOURCES = Path(__file__).parents[2] / "src"
BILLING = """\
def price_order(order):
    total = sum(item["price"] * item["quantity"] for item in order["items"])
    return dict(order, total=total)
"""
ORDERS = (
    {"items": [{"price": 120, "quantity": 3}, {"price": 999, "quantity": 1}]},
    {"items": [{"price": 5, "quantity": 1}, {"price": 7, "quantity": 2}, {"price": 11, "quantity": 4}]},
    {"items": [{"price": 40, "quantity": 2}, {"price": 60, "quantity": 1}], "coupon": "A"},
    {"items": [{"price": 1, "quantity": 1}]},
)


def lines(cases: object) -> str:
    """Cases as a ``.jsonl`` file."""
    assert isinstance(cases, (list, tuple))
    return "".join(json.dumps(case) + "\n" for case in cases)


def frozen(files: Mapping[str, str | bytes], folder: str = "tests/relations/corpus") -> dict[str, Content]:
    """A corpus with its manifest."""
    data = {name: text if isinstance(text, bytes) else text.encode() for name, text in files.items()}
    manifest = "".join(f"{hashlib.sha256(data[name]).hexdigest()}  {name}\n" for name in sorted(data))
    return {f"{folder}/{name}": content for name, content in {**data, "MANIFEST.sha256": manifest.encode()}.items()}


def project(relation: str, cases: object = ORDERS, **more: Content) -> dict[str, Content]:
    """A project with one file of relations over ``orders.jsonl``."""
    files: dict[str, Content] = {
        "pytest.ini": "[pytest]\npythonpath = .\n",
        "app/__init__.py": "",
        "app/billing.py": BILLING,
        "tests/relations/test_orders.py": relation,
        **frozen({"orders.jsonl": lines(cases)}),
    }
    return {**files, **{name.replace("__", "/"): content for name, content in more.items()}}


def write(root: Path, files: Mapping[str, Content]) -> Path:
    """Write files; the folder."""
    for name, content in files.items():
        place = root / name
        place.parent.mkdir(parents=True, exist_ok=True)
        assert isinstance(content, (str, bytes))
        place.write_bytes(content.encode() if isinstance(content, str) else content)
    return root


class Ran(NamedTuple):
    """What plain pytest said."""

    status: int
    output: str

    @property
    def counts(self) -> str:
        """The last line without its time: ``1 failed, 2 passed``."""
        return self.output.strip().splitlines()[-1].strip("= ").partition(" in ")[0]


def run_pytest(root: Path, *options: str, python: Path | None = None, **environment: str) -> Ran:
    """Plain pytest with the plugin of an installed linewitness, outside of any gate."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "LINEWITNESS_"))}
    inherited |= {"PYTHONPATH": str(SOURCES), "PYTHONDONTWRITEBYTECODE": "1", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    command = [str(python or sys.executable), "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    command += ["-p", "linewitness.relations.plugin", *options]
    done = subprocess.run(
        command, cwd=root, env=inherited | environment, capture_output=True, text=True, check=False, timeout=300
    )
    return Ran(done.returncode, done.stdout + done.stderr)


def judge(root: Path, base: Mapping[str, Content], patch: Mapping[str, Content]) -> ObligationMap:
    """The map of a patch, by the whole gate with a trusted run."""
    repo = Repo(root)
    first = repo.commit("base", base)
    repo.commit("patch", patch)
    return check(CheckRequest(root, Question(first)), lambda _: None)


def told(artifact: ObligationMap) -> dict[str, str]:
    """The codes of a map's errors, each with one of its messages."""
    return {finding.code: finding.message for finding in artifact.findings if finding.severity == "error"}
