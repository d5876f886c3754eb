"""The table of docs/threat-model.md names every entry of the catalogue once, and tests that exist."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "threat-model.md"
FAMILIES = {"G": 24, "C": 17, "R": 28, "S": 19, "V": 11, "M": 9, "P": 13}
ENTRIES = [f"{letter}{number}" for letter, count in FAMILIES.items() for number in range(1, count + 1)]
ROW = re.compile(r"^\| ([A-Z]\d+) \| ([^|]+) \| ([^|]+) \| ([^|]+) \|$", re.MULTILINE)
TEST = re.compile(r"`([\w/]+\.py)::(test_\w+)`")
ROWS = {entry: (answer.strip(), how) for entry, _, answer, how in ROW.findall(PAGE.read_text(encoding="utf-8"))}


def functions_of(name: str) -> set[str]:
    tree = ast.parse((ROOT / "tests" / name).read_text(encoding="utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def test_every_entry_has_one_row_and_they_are_121() -> None:
    found = [entry for entry, *_ in ROW.findall(PAGE.read_text(encoding="utf-8"))]
    assert found == ENTRIES
    assert len(ENTRIES) == 121


@pytest.mark.parametrize("entry", ENTRIES)
def test_an_answer_is_one_of_three_and_names_tests_that_exist(entry: str) -> None:
    answer, how = ROWS[entry]
    assert answer in {"closed", "visible", "not closable"}
    named = TEST.findall(how)
    assert named or answer == "not closable", "an answer without a test is a hope"
    for file, test in named:
        assert test in functions_of(file), f"{entry}: tests/{file} has no {test}"
    assert how.count("::") == len(named), "each test is named in the form that is looked for"


@pytest.mark.parametrize("entry", ENTRIES)
def test_where_a_table_of_attacks_is_named_it_has_the_entry(entry: str) -> None:
    for file, test in TEST.findall(ROWS[entry][1]):
        if test in {"test_the_attack_closes_the_gate", "test_the_history_closes_the_gate"} and "demo" not in file:
            text = (ROOT / "tests" / file).read_text(encoding="utf-8")
            assert re.search(rf'"(?:[GCRSVMP]\d+ )*{entry} ', text), f"tests/{file} has no case of {entry}"
