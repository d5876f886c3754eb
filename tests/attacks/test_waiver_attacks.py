"""Attacks that want a waiver for more than people gave it for, and the process around the gate."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from tests.attacks.shop import BASE, HONEST, REFUND, SEEN, UNSEEN, Patch, apply, ask, errors, judge, open_lines
from tests.support.repos import Content, Repo

TODAY = "2026-09-16"
FILE = "tests/waivers.yaml"
HEADER, BODY = "def refund(prices, rate):", "    return total(prices) * rate"


def record(line: str, **changes: str) -> str:
    """A good record for one line of the shop, with other values for some keys; an empty value leaves a key out."""
    digest = hashlib.sha256(line.encode()).hexdigest()[:16]
    fields = {"path": "app/shop.py", "line_hash": f'"{digest}"', "reason": "vendor", "owner": "ada"}
    fields |= {"expires": '"2026-12-16"'} | changes
    return "  - " + "\n    ".join(f"{key}: {value}" for key, value in fields.items() if value) + "\n"


def waivers(*records: str) -> dict[str, Content]:
    return {FILE: "waivers:\n" + "".join(records)}


GOOD = waivers(record(HEADER), record(BODY))
NOTES: Patch = {"notes.md": "nothing that owes\n"}


def outcome(home: Path, patch: Patch, base: dict[str, Content]) -> tuple[int, set[str]]:
    repo = Repo(home)
    first = repo.commit("base", {**BASE, **base})
    apply(repo, patch)
    artifact = ask(home, first, today=TODAY)
    return artifact.exit, set(errors(artifact))


def test_the_honest_twin_a_waiver_for_each_line_opens_the_gate(tmp_path: Path) -> None:
    assert outcome(tmp_path, {"app/shop.py": UNSEEN}, GOOD) == (0, set())


def test_v2_a_waiver_follows_its_line_and_not_its_number(tmp_path: Path) -> None:
    moved = f'"""The shop."""\n\nLIMIT = 3\n\n\n{HONEST}{REFUND}'
    assert outcome(tmp_path / "moved", {"app/shop.py": moved}, GOOD) == (0, set())
    other = UNSEEN.replace("* rate", "* rate ** 2")
    assert outcome(tmp_path / "other", {"app/shop.py": other}, GOOD) == (1, {"LW101"})


def test_v1_an_equal_line_elsewhere_is_not_waived(tmp_path: Path) -> None:
    again = UNSEEN + f"\n\ndef rebate(prices, rate):\n{BODY}\n"
    status, codes = outcome(tmp_path, {"app/shop.py": again}, GOOD)
    assert status == 1
    assert {"LW101", "LW204"} <= codes


def test_v1_an_equal_line_in_another_file_is_not_waived(tmp_path: Path) -> None:
    status, codes = outcome(tmp_path, {"app/more.py": f"from app.shop import total\n{REFUND}"}, GOOD)
    assert (status, codes) == (1, {"LW101"})


ON_BASE: dict[str, tuple[str, str]] = {
    "V3 a repeated key": ("LW201", record(HEADER) + '    expires: "2027-01-01"\n'),
    "V3 a repeated list": ("LW201", record(HEADER) + "waivers: []\n"),
    "V4 an anchor": ("LW201", record(HEADER, owner="&a ada")),
    "V4 an alias": ("LW201", record(HEADER, owner="&a ada", note="*a")),
    "V4 a merge key": ("LW201", record(HEADER) + "    <<: {note: x}\n"),
    "V4 a tag": ("LW201", record(HEADER, owner="!!str ada")),
    "V4 a second document": ("LW201", record(HEADER) + "---\nwaivers: []\n"),
    "V4 a bomb": ("LW201", "".join(f"  - &a{n} [*a{n - 1}, *a{n - 1}]\n" for n in range(1, 40))),
    "V5 a date that is no text in ISO form": ("LW201", record(HEADER, expires='"2026-9-30"')),
    "V5 a date that no calendar has": ("LW201", record(HEADER, expires="2026-09-31")),
    "V5 a moment": ("LW201", record(HEADER, expires="2026-09-30T00:00:00")),
    "V5 never": ("LW201", record(HEADER, expires="never")),
    "V6 a number with a line under it": ("LW201", record(HEADER, line_hash="1_000")),
    "V7 a shorter hash": (
        "LW201",
        record(HEADER, line_hash='"' + hashlib.sha256(HEADER.encode()).hexdigest()[:8] + '"'),
    ),
    "V7 a shorter blob id": ("LW201", record(HEADER, line_hash="", blob='"abcdef1"')),
    "V8 a path that leaves the repository": ("LW201", record(HEADER, path="../app/shop.py")),
    "V8 a path that is not normal": ("LW201", record(HEADER, path="./app/shop.py")),
    "V10 a waiver that ended yesterday": ("LW202", record(HEADER, expires='"2026-09-15"')),
    "V10 a waiver that lives too long": ("LW205", record(HEADER, expires='"2027-09-15"')),
    "V11 an owner whom nobody lists": ("LW207", record(HEADER, owner="mallory")),
    "V11 no owner": ("LW201", record(HEADER, owner="")),
    "a reason of one's own": ("LW201", record(HEADER, reason="tests-come-later")),
    "a key of one's own": ("LW201", record(HEADER, lines="1-900")),
}


@pytest.mark.parametrize("trick", ON_BASE)
def test_the_waiver_file_itself_closes_the_gate(tmp_path: Path, trick: str) -> None:
    code, text = ON_BASE[trick]
    status, codes = outcome(tmp_path, NOTES, {**waivers(text), "linewitness.toml": 'owners = ["ada"]\n'})
    assert status == 1
    assert code in codes


def test_v8_a_pattern_is_a_path_that_nothing_has(tmp_path: Path) -> None:
    base = waivers(*(record(line, path=path) for line in (HEADER, BODY) for path in ('"app/*.py"', '"**"')))
    assert outcome(tmp_path, {"app/shop.py": UNSEEN}, base) == (1, {"LW101"})


def test_a_branch_is_not_waived_as_an_experiment(tmp_path: Path) -> None:
    guarded = UNSEEN.replace(BODY, f"    if rate > 1:\n        return 0\n{BODY}")
    lines = [HEADER, "        return 0", BODY]
    base = waivers(*map(record, lines), record("    if rate > 1:", reason="experiment", expires='"2026-09-20"'))
    assert outcome(tmp_path, {"app/shop.py": guarded}, base) == (1, {"LW203"})


@pytest.mark.parametrize(
    "patch",
    [
        {"app/shop.py": UNSEEN, **GOOD},
        {"app/shop.py": UNSEEN, "Tests/Waivers.yaml": GOOD[FILE]},
        {"app/shop.py": UNSEEN, "linewitness.toml": 'waivers = "mine.yaml"\n', "mine.yaml": GOOD[FILE]},
    ],
    ids=["added", "in another case", "elsewhere"],
)
def test_v9_a_waiver_that_the_patch_brings_counts_for_nothing(tmp_path: Path, patch: Patch) -> None:
    assert outcome(tmp_path, patch, {}) == (5, {"LW301"})


def test_v9_a_waiver_that_the_patch_extends_counts_for_nothing(tmp_path: Path) -> None:
    longer = waivers(record(HEADER, expires='"2026-12-30"'), record(BODY))
    assert outcome(tmp_path, {"app/shop.py": UNSEEN, **longer}, GOOD) == (5, {"LW301"})


def test_v10_the_dates_of_commits_are_not_asked(tmp_path: Path) -> None:
    repo = Repo(tmp_path)
    ended = waivers(*(record(line, expires='"2023-11-20"') for line in (HEADER, BODY)))
    base = repo.commit("base of November 2023", {**BASE, **ended})
    apply(repo, {"app/shop.py": UNSEEN})
    artifact = ask(tmp_path, base)
    assert artifact.exit == 1
    assert "LW202" in errors(artifact)


def test_a_blob_waiver_ends_with_the_blob(tmp_path: Path) -> None:
    repo = Repo(tmp_path)
    data = b"\0\1\2"
    oid = repo.git("hash-object", "--stdin", stdin=data)
    base = waivers(record("", line_hash="", path="app/model.bin", blob=f'"{oid}"'))
    first = repo.commit("base", {**BASE, **base})
    repo.commit("patch", {"app/model.bin": data})
    assert ask(tmp_path, first, today=TODAY).exit == 0
    repo.commit("another", {"app/model.bin": data + b"\3"})
    assert open_lines(ask(tmp_path, first, today=TODAY)) == {"app/model.bin": [0]}


def test_p9_an_older_base_owes_more_and_never_less(tmp_path: Path) -> None:
    repo = Repo(tmp_path)
    oldest = repo.commit("oldest", {"app/__init__.py": ""})
    newer = repo.commit("base", BASE)
    apply(repo, {"app/shop.py": UNSEEN})
    now, before = ask(tmp_path, newer), ask(tmp_path, oldest)
    assert (now.exit, open_lines(now)) == (1, {"app/shop.py": [5, 6]})
    assert before.exit == 5


def test_p12_plumbing_that_a_later_patch_will_use_is_owed_by_the_patch_that_brings_it(tmp_path: Path) -> None:
    artifact = judge(tmp_path, {"app/shop.py": UNSEEN})
    assert open_lines(artifact) == {"app/shop.py": [5, 6]}


def test_p12_the_later_patch_owes_what_it_changes_alone(tmp_path: Path) -> None:
    use = SEEN.replace("return found", "return refund(prices, 1) if found < 0 else found") + REFUND
    artifact = judge(tmp_path, {"app/shop.py": use}, {"app/shop.py": UNSEEN})
    assert artifact.exit == 0
    assert {row.line for row in artifact.rows} == {2, 3}
    assert [arm.taken for row in artifact.rows if row.line == 3 for arm in row.arms] != []
