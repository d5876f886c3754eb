"""Each finding code is triggered by a known-bad repository, and not by one that is nearly the same."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from linewitness.case import Question
from linewitness.findings import CODES
from linewitness.gate import CheckRequest, Exports, check
from linewitness.model import Severity
from linewitness.obligation_map import ObligationMap
from tests.findings.cases import CASES, HONEST, NOT_BUILT, TODAY, Case, Side
from tests.support.repos import Repo
from tests.support.signing import Key, signed

SOURCES = Path(__file__).parents[2] / "src" / "linewitness"


def judge(side: Side, folder: Path) -> ObligationMap:
    """Build one side of a case and let the gate judge it."""
    outside = folder / "outside"
    outside.mkdir()
    for name, text in side.outside.items():
        (outside / name).write_text(text)
    base = {name: content for name, content in {**HONEST, **side.base}.items() if content != b""}
    repo = Repo(folder / "repo")
    keys = {name: Key.make(folder / "keys", name) for name in ("ada", "eve")} if side.signed_by else {}
    repo.commit("base", {name: _placed(content, outside, keys) for name, content in base.items()})
    repo.branch("patch")
    repo.commit("head", dict(side.head))
    if side.signed_by:
        signed(repo, keys[side.signed_by])
    for name, export in side.exports.items():
        if export is not None:
            (folder / name).write_text(export)
    exports = Exports(tuple(folder / name for name in side.exports))
    request = CheckRequest(repo.root, Question(side.asked), exports, TODAY, side.always_run, sandbox=side.sandbox)
    return check(request, lambda _: None)


def _placed(content: str | bytes, outside: Path, keys: Mapping[str, Key]) -> str | bytes:
    if isinstance(content, bytes):
        return content
    for name, key in keys.items():
        content = content.replace(f"{{{name}}}", key.public)
    return content.replace("{outside!r}", repr(str(outside)))


def told(artifact: ObligationMap) -> dict[str, str]:
    """The codes of a map, each with one of its messages."""
    return {finding.code: finding.message for finding in artifact.findings}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.code)
def test_a_known_bad_repository_triggers_exactly_its_code(case: Case, tmp_path: Path) -> None:
    artifact = judge(case.bad, tmp_path)

    assert set(told(artifact)) == {case.code, *case.companions}, told(artifact)
    if CODES[case.code].severity is Severity.ERROR:
        assert artifact.exit == CODES[case.code].exit
    else:
        assert artifact.exit == 0


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.code)
def test_a_near_miss_does_not(case: Case, tmp_path: Path) -> None:
    artifact = judge(case.near, tmp_path)

    assert case.code not in told(artifact), told(artifact)
    assert artifact.exit == 0, told(artifact)


def test_every_code_has_a_case_or_waits_for_something_that_is_named() -> None:
    covered = [case.code for case in CASES]

    assert sorted([*covered, *NOT_BUILT]) == sorted(CODES)


def test_codes_that_wait_are_given_by_no_module() -> None:
    """As soon as one is, it needs a case of its own."""
    modules = [path for path in SOURCES.rglob("*.py") if path.name != "findings.py"]
    given = {code for path in modules for code in NOT_BUILT if f'Finding("{code}"' in path.read_text(encoding="utf-8")}

    assert given == set()


def test_every_code_says_what_why_and_what_to_do() -> None:
    for code in CODES.values():
        for paragraph in (code.what, code.why, code.todo):
            assert paragraph.endswith("."), code.code
            assert "\n" not in paragraph, code.code
