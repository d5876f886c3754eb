"""Whether a Ruby method was entered, by the counts of its lines: its body has no brackets that take up lines."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from linewitness.case import Question
from linewitness.gate import CheckRequest, check
from tests.support.repos import Repo

BASE = "module Freight\n  def self.price(grams)\n    300 + grams\n  end\nend\n"
HEAD = "module Freight\n  def self.price(grams, rate)\n    300 + rate * grams\n  end\nend\n"
SETTINGS = '[[suite]]\nname = "own"\nrun = "cp tests/trusted/made.json out.json"\nexport = "out.json"\n'


@pytest.mark.parametrize(
    ("head", "counts", "open_lines"),
    [
        (HEAD, [1, 1, 1, None, None], []),
        (HEAD, [1, 1, 0, None, None], [3]),
        (HEAD.replace("    300 +", "    rate += 1\n    300 +"), [1, 1, 2, 2, None, None], []),
        (HEAD.replace("    300 +", "    rate += 1\n    300 +"), [1, 1, 0, 0, None, None], [3, 4]),
        ("module Freight\n  def self.price(grams, rate); 300 + rate * grams; end\nend\n", [1, 1, None], [2]),
    ],
)
def test_a_body_of_a_line_or_two_tells_whether_it_was_entered(
    tmp_path: Path, head: str, counts: list[int | None], open_lines: list[int]
) -> None:
    repo = Repo(tmp_path)
    made = {"RSpec": {"coverage": {str(tmp_path / "freight.rb"): {"lines": counts}}, "timestamp": 1}}
    settings = f'{SETTINGS}path-map = {{ "{tmp_path}" = "." }}\n'
    base = {"freight.rb": BASE, "linewitness.toml": settings, "tests/trusted/made.json": json.dumps(made)}
    first = repo.commit("base", base)
    repo.commit("head", {"freight.rb": head})

    artifact = check(CheckRequest(tmp_path, Question(first)), lambda _: None)

    assert [row.line for row in artifact.rows if row.status.value == "unwitnessed"] == open_lines
    assert artifact.exit == (1 if open_lines else 0)
