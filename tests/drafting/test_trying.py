"""``relations try``: what a draft would witness, whether it holds on both trees, and whether it notices anything."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from linewitness.drafting.store import Trial
from linewitness.drafting.trial import rank
from tests.cli.conftest import Run
from tests.drafting.conftest import answer, codec
from tests.drafting.test_drafting import GOOD, LINES, checked, drafted, said
from tests.support.repos import Repo

# It runs every line of the codec, compares two runs of it, and would not notice if the codec did nothing at all.
BLIND = """\
from linewitness.relations import relation
from codec import decode, encode

def both(case):
    return decode(encode(bytes.fromhex(case)))

@relation(corpus="pieces.jsonl", at_least=2)
def test_it_gives_bytes(case):
    assert isinstance(both(case), bytes) == isinstance(both(case + case), bytes)
"""
VACUOUS = GOOD.replace("round_trip(encode", 'if case:\n        not_applicable("no")\n    round_trip(encode').replace(
    "relation, round", "not_applicable, relation, round"
)
FALSE = """\
from linewitness.relations import compare, relation, reverse, same
from codec import encode

@relation(corpus="pieces.jsonl", at_least=1)
def test_the_order_of_bytes_means_nothing(case):
    compare(encode, bytes.fromhex(case), reverse(), same())
"""
NEW = """\
from linewitness.relations import idempotent, relation
from codec import shorten

@relation(corpus="pieces.jsonl", at_least=1)
def test_short_stays_short(case):
    idempotent(shorten, case)
"""
SHORTEN = "\n\ndef shorten(text):\n    return text[:2]\n"


def tried(repo: Repo, run: Run, *options: str) -> list[Any]:
    outcome = run("relations", "try", "--root", str(repo.root), "--format=json", *options)
    assert outcome.status == 0, outcome.err
    found: list[Any] = json.loads(outcome.out)
    return found


def ready(folder: Path, run: Run, monkeypatch: pytest.MonkeyPatch, *pythons: str, **head: Any) -> Repo:
    """A repository with one draft for each of these relations."""
    repo = codec(folder, head=head.get("head"))
    checked(repo, run)
    drafts = [answer(python, "pieces.jsonl", LINES, about=python) for python in pythons]
    assert drafted(repo, run, monkeypatch, said(*drafts)).status == 0
    return repo


def test_drafts_are_ranked_by_what_they_see(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    repo = ready(tmp_path, run, monkeypatch, FALSE, BLIND, VACUOUS, GOOD)

    found = tried(repo, run)

    best, blind = found[0], found[1]
    assert best["about"] == " ".join(GOOD.split()) or best["about"] == GOOD
    assert (best["head"], best["base"]) == ("passes", "passes")
    assert best["witnesses"] == ["codec.py:4", "codec.py:9", "codec.py:10", "codec.py:11", "codec.py:12"]
    assert best["dropped"] == best["noticed"] == 5
    assert (blind["about"], blind["head"]) == (BLIND, "passes")
    assert blind["noticed"] < blind["dropped"]
    rest = {each["about"]: each for each in found[2:]}
    assert rest[FALSE]["head"] == rest[FALSE]["base"] == "fails"
    assert rest[VACUOUS]["head"] == "vacuous"
    assert [(each["witnesses"], each["dropped"]) for each in found[2:]] == [([], 0), ([], 0)]


def test_a_comparison_that_fails_is_told_from_a_crash(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo = ready(tmp_path, run, monkeypatch, GOOD)

    (found,) = tried(repo, run)

    # Without its loop the codec forgets everything, without its list it has no name to put things into.
    assert 0 < found["compared"] < found["noticed"]


def test_what_base_does_not_have_cannot_run_there(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    from tests.drafting.conftest import REWRITTEN

    repo = ready(tmp_path, run, monkeypatch, NEW, head={"codec.py": REWRITTEN + SHORTEN})

    (found,) = tried(repo, run)

    assert (found["head"], found["base"]) == ("passes", "no run")
    assert found["why"] == "base: it cannot be imported there: base lacks something that it names"
    assert found["witnesses"] == ["codec.py:15", "codec.py:16"]


def test_trying_changes_nothing_in_the_checkout_and_discharges_nothing(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo = ready(tmp_path, run, monkeypatch, GOOD)

    outcome = run("relations", "try", "--root", str(repo.root))

    assert outcome.status == 0
    assert re.search(r"^[0-9a-f]{12}  passes  passes  5 lines +5 of 5", outcome.out, re.MULTILINE)
    assert "would witness codec.py:4, 9-12" in outcome.out
    assert repo.git("status", "--porcelain", "--ignored") == ""
    assert run("check", "--root", str(repo.root), "--base", "main").status == 1


def test_the_number_of_dropped_statements_is_a_limit(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    repo = ready(tmp_path, run, monkeypatch, GOOD)

    (found,) = tried(repo, run, "--mutants", "1")

    assert (found["dropped"], len(found["witnesses"])) == (1, 5)


def test_an_edited_draft_is_looked_at_again(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    repo = ready(tmp_path, run, monkeypatch, GOOD)
    (place,) = (repo.root / ".git/linewitness/drafts").glob("*/draft.py")
    place.write_text("import os\n" + GOOD)

    outcome = run("relations", "try", "--root", str(repo.root))

    assert outcome.status == 2
    assert "it imports 'os'" in outcome.err


def test_drafts_do_not_run_where_there_is_no_sandbox(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    from linewitness.drafting import trial
    from linewitness.evidence.sandbox import Sandbox

    repo = ready(tmp_path, run, monkeypatch, GOOD)
    monkeypatch.setattr(trial, "find_sandbox", lambda _: Sandbox("none", "bubblewrap is not installed"))

    outcome = run("relations", "try", "--root", str(repo.root))

    assert outcome.status == 3
    assert "drafts are run in a sandbox only" in outcome.err
    assert "read the draft and pass --sandbox off" in outcome.err


def test_there_has_to_be_a_draft(tmp_path: Path, run: Run) -> None:
    repo = codec(tmp_path)
    checked(repo, run)

    assert "there is no draft in" in run("relations", "try", "--root", str(repo.root)).err
    assert "no draft is called 'abc'" in run("relations", "try", "--root", str(repo.root), "abc").err


def sample(**facts: Any) -> Trial:
    values: dict[str, Any] = {
        "base": "passes", "base_tree": "", "compared": 1, "digest": "", "dropped": 2, "head": "passes",
        "head_tree": "", "noticed": 1, "why": "", "witnesses": ("a:1",),
    }  # fmt: skip
    return Trial(**(values | facts))


def test_what_notices_nothing_comes_last_of_what_holds() -> None:
    many = sample(noticed=0, compared=0, witnesses=tuple(f"a:{line}" for line in range(50)))
    crashing = sample(compared=0, witnesses=("a:1", "a:2"))
    better = sample(witnesses=("a:1", "a:2", "a:3"))
    elsewhere = sample(base="fails")
    failing = sample(head="fails", noticed=0, compared=0, witnesses=())

    order = sorted([failing, many, elsewhere, crashing, sample(), better], key=rank)

    assert order == [better, sample(), elsewhere, crashing, many, failing]


def test_a_run_that_came_to_no_end_says_nothing_about_the_draft(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the statement that ends its loop the program runs for ever: nobody noticed that by comparing."""
    repo = codec(
        tmp_path,
        {"linewitness.toml": '[[suite]]\nname = "python"\nrunner = "pytest"\ntimeout = 12\n'},
        {"codec.py": ENDLESS},
    )
    checked(repo, run)
    assert drafted(repo, run, monkeypatch, said(answer(GOOD, "pieces.jsonl", LINES))).status == 0

    (found,) = tried(repo, run)

    assert found["head"] == "passes"
    assert "codec.py:5" in found["witnesses"]
    assert found["noticed"] == found["dropped"] == 1


ENDLESS = """\
def encode(data: bytes) -> str:
    text, left = "", len(data)
    while left:
        text += "%02x" % data[-left]
        left -= 1
    return text


def decode(text: str) -> bytes:
    return bytes.fromhex(text)
"""
