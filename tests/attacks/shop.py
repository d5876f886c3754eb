"""The little shop that every attack of this folder is mounted against, and how the gate is asked about it.

The honest project has one function and one trusted test. ``BROKEN`` breaks that function, so the test must fail;
``UNSEEN`` adds a function that no trusted test calls; ``SEEN`` rewrites the function and stays right. Around them each
attack adds its trick.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from linewitness.case import Question
from linewitness.gate import CheckRequest, check
from linewitness.model import Severity
from linewitness.obligation_map import ObligationMap
from tests.support.repos import Content, Repo

HONEST = "def total(prices):\n    return sum(prices)\n"
SEEN = "def total(prices):\n    found = sum(prices)\n    return found\n"
BROKEN = "def total(prices):\n    result = 0\n    for price in prices:\n        result = price\n    return result\n"
REFUND = "\n\ndef refund(prices, rate):\n    return total(prices) * rate\n"
UNSEEN = HONEST + REFUND
TRUSTED = "from app.shop import total\n\n\ndef test_total():\n    assert total([1, 2]) == 3\n"
SMOKE = "from app.shop import total\n\n\ndef test_smoke():\n    assert total([4]) == 4\n"
ALWAYS_PASSED = """\
import pytest


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    outcome.get_result().outcome = "passed"
"""
BASE: dict[str, Content] = {
    "app/__init__.py": "",
    "app/shop.py": HONEST,
    "tests/trusted/test_shop.py": TRUSTED,
    "tests/trusted/test_smoke.py": SMOKE,
}

Patch = Mapping[str, Content | None]
"""What the files of a patch are to hold; ``None`` removes one."""


class Attack(NamedTuple):
    """One patch, the gate's status, and codes that are among its errors.

    ``threat`` is the entry of the catalogue in docs/threat-model.md, ``says`` what is done, and ``base`` what the
    target branch has besides the shop.
    """

    threat: str
    says: str
    status: int
    codes: frozenset[str]
    patch: Patch
    base: Mapping[str, Content]


def attack(threat: str, status: int, codes: str, patch: Patch, base: Mapping[str, Content] | None = None) -> Attack:
    """An attack; ``threat`` is the entry and a sentence, ``codes`` are separated by spaces."""
    entry, says = threat.split(" ", 1)
    return Attack(entry, says, status, frozenset(codes.split()), patch, base or {})


def name_of(case: Attack) -> str:
    """What pytest calls the case."""
    return f"{case.threat} {case.says}"


def apply(repo: Repo, patch: Patch, message: str = "patch") -> str:
    """Commit a patch; the commit's id."""
    repo.remove(*(name for name, content in patch.items() if content is None))
    return repo.commit(message, {name: content for name, content in patch.items() if content is not None})


def judge(home: Path, patch: Patch, base: Mapping[str, Content] | None = None) -> ObligationMap:
    """The gate's map of a patch to the shop."""
    repo = Repo(home)
    first = repo.commit("base", {**BASE, **(base or {})})
    apply(repo, patch)
    return ask(home, first)


def ask(home: Path, base: str, head: str = "HEAD", today: str | None = None) -> ObligationMap:
    """The gate's map of what a repository has between two names."""
    return check(CheckRequest(home, Question(base, head), today=today), lambda _: None)


def errors(artifact: ObligationMap) -> dict[str, str]:
    """The codes of a map's errors, each with the last message."""
    return {found.code: found.message for found in artifact.findings if found.severity is Severity.ERROR}


def open_lines(artifact: ObligationMap) -> dict[str, list[int]]:
    """By path, the lines that keep the gate closed; 0 stands for a whole file."""
    found: dict[str, list[int]] = {}
    for row in artifact.rows:
        if row.status.value == "unwitnessed":
            found.setdefault(row.path, []).append(row.line)
    return found


def assert_closes(home: Path, case: Attack) -> None:
    """The gate answers with the status and the codes that the case names."""
    artifact = judge(home, case.patch, case.base)
    assert artifact.exit == case.status, errors(artifact)
    assert case.codes <= errors(artifact).keys(), errors(artifact)
