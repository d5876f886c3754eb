"""``explain PATH:LINE``: what a map says of one line."""

from __future__ import annotations

import json

import pytest

from linewitness.errors import UsageError
from linewitness.reports.obligation import as_json, explain_line
from tests.reports import golden, samples


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("src/billing.py", 31),
        ("src/billing.py", 14),
        ("src/billing.py", 13),
        ("src/billing.py", 2),
        ("src/billing.py", 21),
        ("src/emit.py", 3),
        ("tools/run", 0),
        ("README.md", 5),
        ("web/cart.ts", 5),
    ],
)
def test_each_sort_of_line_is_explained_as_accepted(path: str, line: int) -> None:
    name = f"explain-{path.replace('/', '_')}-{line}.text"

    golden.compare(golden.FOLDER / name, explain_line(samples.closed(), path, line).encode())


def test_a_line_that_the_patch_does_not_change_is_refused_with_those_that_it_does() -> None:
    with pytest.raises(UsageError, match=r"src/billing\.py: .* does not change line 99; .* 1-2, 12-14, 20-23, 31"):
        explain_line(samples.closed(), "src/billing.py", 99)


def test_of_a_gate_that_closed_before_it_judged_lines_nothing_is_said_about_any() -> None:
    with pytest.raises(
        UsageError, match="no line was judged, as the gate closed before that: `linewitness explain LW301`"
    ):
        explain_line(samples.protected(), "src/a.py", 1)


def test_a_mistyped_path_is_refused_with_the_nearest_one() -> None:
    with pytest.raises(UsageError, match=r"did you mean `src/billing\.py`\?"):
        explain_line(samples.closed(), "src/biling.py", 14)


def test_hostile_names_and_sources_are_harmless_here_too() -> None:
    text = explain_line(samples.hostile(), samples.HOSTILE, 1)

    assert "\x1b" not in text
    assert "\u202e" not in text


def test_the_same_is_to_be_had_as_json() -> None:
    value = json.loads(as_json(samples.closed(), "src/billing.py", 13))

    assert [row["witness_count"] for row in value["rows"]] == [3]
    assert [finding["code"] for finding in value["findings"]] == ["LW102"]
    assert value["exempt"] == []
