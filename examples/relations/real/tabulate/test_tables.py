"""A table has one shape however its columns are aligned, and colours are not part of its text."""

from __future__ import annotations

import re
from typing import Any

from tabulate import tabulate

from linewitness.relations import change, compare, relation, same

Rows = list[list[Any]]
FORMATS = ("grid", "pipe", "github", "orgtbl", "rst", "psql", "simple", "presto", "outline", "colon_grid", "asciidoc")
ALIGNMENTS = ("left", "center", "right", "decimal")
_COLOUR = re.compile(r"\x1b\[\d*m")


def shape(text: str) -> list[int]:
    return [len(line) for line in text.splitlines()]


def coloured(rows: Rows) -> Rows:
    return [[f"\x1b[3{1 + at % 6}m{cell}\x1b[0m" for at, cell in enumerate(row)] for row in rows]


def aligned(rows: Rows, style: str, how: str) -> str:
    text: str = tabulate(
        rows, tablefmt=style, colalign=[how] * len(rows[0]), headers=["h"] * len(rows[0]), disable_numparse=True
    )
    return text


@relation(corpus="tables.jsonl", at_least=6)
def test_the_alignment_of_columns_does_not_change_the_shape(rows: Rows) -> None:
    for style in FORMATS[:-1]:
        shapes = [shape(aligned(rows, style, how)) for how in ALIGNMENTS]
        assert all(len(set(one)) == 1 for one in shapes if style in {"grid", "pipe", "psql", "colon_grid"})
        if style not in {"simple", "rst", "presto"}:
            assert shapes[0] == shapes[1] == shapes[2]


@relation(corpus="tables.jsonl", at_least=6)
def test_the_alignment_of_columns_does_not_change_the_words(rows: Rows) -> None:
    for style in FORMATS:
        words = [re.sub(r"[-=:.<>^|+\\\s\d]|cols.*", "", aligned(rows, style, how)) for how in ALIGNMENTS]
        assert words[0] == words[1] == words[2] == words[3]


@relation(corpus="tables.jsonl", at_least=6)
def test_colours_are_not_part_of_the_text(rows: Rows) -> None:
    def plain(case: Rows) -> str:
        return _COLOUR.sub("", tabulate(case, tablefmt="grid", stralign="left", numalign="left"))

    compare(plain, rows, change("", coloured), same(lambda text: re.sub(r"[-\s]", "", text)))


@relation(corpus="tables.jsonl", at_least=6)
def test_an_index_that_is_counted_and_one_that_is_given_are_the_same(rows: Rows) -> None:
    counted = tabulate(rows, showindex="always", tablefmt="psql")
    assert counted == tabulate(rows, showindex=list(range(len(rows))), tablefmt="psql")
    assert counted == tabulate(rows, showindex=iter(range(len(rows))), tablefmt="psql")
    assert tabulate(rows, showindex="never") == tabulate(rows) == tabulate(iter(rows))
