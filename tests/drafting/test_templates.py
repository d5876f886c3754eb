"""Offline drafts for functions of every signature, and plain words where nothing can be drafted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.drafting.conftest import CODEC, codec
from tests.drafting.test_drafting import checked
from tests.support.repos import Repo

BASE = """\
def clip(value: int, low: int, high: int) -> int:
    return max(low, min(value, high))


def joined(words: list[str], *, between: str) -> str:
    return between.join(words)
"""
HEAD = """\
import dataclasses
import functools


def clip(value: int, low: int, high: int) -> int:
    if value < low:
        return low
    return max(low, min(value, high))


def joined(words: list[str], *, between: str) -> str:
    found = between.join(words)
    return found


def pack_with(data: bytes, key: int) -> str:
    return bytes(each ^ key & 255 for each in data).hex()


def unpack_with(text: str, key: int) -> bytes:
    return bytes(each ^ key & 255 for each in bytes.fromhex(text))


async def total(prices: list[int]) -> int:
    return sum(prices)


def large(numbers: list[int] = (1, 2), limit: int = 3):
    for number in sorted(numbers):
        if number > limit:
            yield number


def largest(*, numbers: list[int]) -> int:
    return max(numbers, default=0)


class Cart:
    def __init__(self, currency: str = "EUR") -> None:
        self.currency = currency

    def sum_of(self, prices: list[int]) -> str:
        return f"{sum(prices)} {self.currency}"

    @staticmethod
    def clean(text: str) -> str:
        return text.strip()

    @classmethod
    def count(cls, names: list[str]) -> int:
        return len(names)

    @property
    def name(self) -> str:
        return "cart"

    def _hidden(self, text: str) -> str:
        return text


@dataclasses.dataclass
class Till:
    money: int

    def take(self, coins: list[int]) -> int:
        return self.money + sum(coins)


class Shop(Cart):
    def order(self, names: list[str]) -> list[str]:
        return sorted(names)


async def streamed(rows: list[int]):
    for row in rows:
        yield row


def nothing() -> int:
    return 3


def mystery(thing: object) -> object:
    return thing


def plainly(text: str) -> int:
    return len(text)
"""
SAYS = {
    "clip changes nothing the second time": ("passes", "passes"),
    "clip gives the results that base gives": ("passes", "passes"),
    "the order of words means nothing to joined": ("fails", "fails"),
    "joined gives the results that base gives": ("passes", "passes"),
    "unpack_with undoes pack_with": ("passes", "no run"),
    "the order means nothing to total": ("passes", "no run"),
    "the order means nothing to large": ("passes", "no run"),
    "the order means nothing to large but order": ("passes", "no run"),
    "the order means nothing to largest": ("passes", "no run"),
    "the order means nothing to Cart.sum_of": ("passes", "no run"),
    "Cart.clean changes nothing the second time": ("passes", "no run"),
    "the order means nothing to Cart.count": ("passes", "no run"),
}
WITHOUT = {
    "Cart.name": "@property makes something else of it than a function",
    "Cart.__init__": "a draft may not name what begins with an underscore; draft for its callers",
    "Cart._hidden": "a draft may not name what begins with an underscore; draft for its callers",
    "Till.take": "it needs an instance of Till, and making one takes arguments",
    "Shop.order": "it needs an instance of Shop, and the class has bases, so its source does not say how to make one",
    "streamed": "it is an async generator",
    "nothing": "it takes no argument that a case could give",
    "mystery": "no frozen corpus fits its arguments, and nothing is known that could be given for thing",
    "plainly": "neither its name nor its signature says what has to hold",
}


def project(folder: Path, base: str, head: str) -> Repo:
    return codec(folder, {"shop.py": base}, {"shop.py": head, "codec.py": CODEC})


@pytest.fixture
def drafted(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> tuple[Repo, dict[str, Path], list[str]]:
    """The project, its drafts by what they say, and what the command told."""
    from linewitness.drafting import ghost

    # Without the ghostwriter the drafts are the same wherever this runs.
    monkeypatch.setattr(ghost, "guess", lambda _: ghost.Guesses({}, ()))
    repo = project(tmp_path, BASE, HEAD)
    folder = checked(repo, run)
    outcome = run("relations", "draft", "--root", str(repo.root), "--offline")
    assert outcome.status == 0, outcome.err
    says = {json.loads((each / "draft.json").read_text())["about"]: each for each in folder.iterdir()}
    return repo, says, outcome.err.splitlines()


def test_each_signature_has_the_drafts_that_it_can_have(drafted: tuple[Repo, dict[str, Path], list[str]]) -> None:
    _, says, told = drafted
    assert says.keys() == SAYS.keys()
    reasons = [line.partition("no draft for shop.py: ")[2] for line in told if "no draft for" in line]
    assert sorted(reasons) == sorted(f"{name}: {why}" for name, why in WITHOUT.items())


def test_what_was_drafted_runs_and_is_told_apart(drafted: tuple[Repo, dict[str, Path], list[str]], run: Run) -> None:
    repo, _, _ = drafted
    outcome = run("relations", "try", "--root", str(repo.root), "--format=json", "--mutants", "1")
    assert outcome.status == 0, outcome.err
    found = {each["about"]: each for each in json.loads(outcome.out)}
    assert {name: (each["head"], each["base"]) for name, each in found.items()} == SAYS, {
        name: each["why"] for name, each in found.items()
    }
    assert all(each["witnesses"] for each in found.values() if each["head"] == "passes")


def test_a_corpus_with_a_key_for_each_parameter_fits(tmp_path: Path, run: Run) -> None:
    import hashlib

    cases = "".join(json.dumps({"words": ["a", "b", str(n)], "between": ",", "note": n}) + "\n" for n in range(8))
    corpus = {
        "shop.py": BASE,
        "tests/relations/corpus/texts.jsonl": cases,
        "tests/relations/corpus/MANIFEST.sha256": f"{hashlib.sha256(cases.encode()).hexdigest()}  texts.jsonl\n",
    }
    repo = codec(tmp_path, corpus, {"shop.py": BASE.replace("    return between", "    return '' + between")})
    folder = checked(repo, run)
    run("relations", "draft", "--root", str(repo.root), "--offline")
    texts = [text for each in folder.iterdir() if "shop" in (text := (each / "draft.py").read_text())]
    assert texts
    assert all('@relation(corpus="texts.jsonl", at_least=4)' in text for text in texts)
    assert any('joined(case["words"], between=case["between"])' in text for text in texts)


def test_where_nothing_can_be_drafted_the_person_is_told_what_to_do(tmp_path: Path, run: Run) -> None:
    repo = project(tmp_path, "", "def nothing() -> int:\n    return 3\n")
    checked(repo, run)
    outcome = run("relations", "draft", "--root", str(repo.root), "--offline")
    assert outcome.status == 2
    assert "no draft for shop.py: nothing: it takes no argument that a case could give" in outcome.err
    assert "Freeze a corpus of its inputs and draft again, ask a model, or write a check or a relation" in outcome.err
