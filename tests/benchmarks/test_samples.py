"""Every export of the samples, read as ``linewitness map`` reads it, against what is true of each changed line."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
import samples

EXPORTS = [(sample, name, files) for sample in samples.samples() for name, files in samples.exports(sample)]
#: Exports of a run of nothing, in which lines that ran look as if they had not; a Kotlin variable for which the
#: compiler makes no code; members of an enumeration that Babel's instrumenter does not count.
MISSED = {
    ("c", "initial"): 4,
    ("cpp", "initial"): 5,
    ("kotlin", "jacoco"): 1,
    ("typescript", "jest-babel"): 1,
}
#: The finest exports of each language, and how many lines even they cannot tell.
FINEST = {
    "v8-raw/coverage-v8.json": 0,
    "nyc-all/coverage-final.json": 0,
    "vitest-v8/coverage-final.json": 0,
    "llvm/llvm-cov.json": 0,
    "cover-count-coverpkg.out": 1,
    "jacoco.xml": 1,
    "jacoco-0.8.6.xml": 23,
    "scalac-211/jacoco.xml": 7,
    "scalac-213/jacoco.xml": 15,
    "resultset.json": 1,
}


@pytest.mark.parametrize(
    ("sample", "name", "files"), EXPORTS, ids=[f"{sample.name}/{name}" for sample, name, _ in EXPORTS]
)
def test_no_line_of_a_sample_is_witnessed_that_did_not_run(sample: Path, name: str, files: tuple[Path, ...]) -> None:
    found = list(samples.outcomes(sample, files))
    wrong = [(each.line.path, each.line.line) for each in found if each.word in ("false witness", "other class")]
    count = Counter(each.word for each in found)
    assert wrong == []
    assert count["missed"] == next(
        (n for (owner, part), n in MISSED.items() if owner == sample.name and part in name), 0
    )
    assert count["not provable"] == FINEST.get(name, count["not provable"])
    assert count["right"] > len(found) // 2


def test_every_sample_is_looked_at() -> None:
    languages = {sample.name for sample, _name, _files in EXPORTS}
    assert languages == {
        *("c", "cpp", "go", "java", "javascript", "kotlin", "kotlin-arms", "php", "python_sample", "ruby", "rust"),
        *("scala", "typescript"),
    }
    assert {name for _sample, name, _files in EXPORTS} >= FINEST.keys()
