"""What names an obligation: scope, occurrence, statement and hash."""

from __future__ import annotations

import hashlib
from textwrap import dedent

from hypothesis import given, settings
from hypothesis import strategies as st

from linewitness.languages import classify
from linewitness.languages.python import PythonRule
from linewitness.model import LineOptions, Obligation
from tests.support.texts import change, classes


def owed(base: str | None, head: str | bytes) -> list[Obligation]:
    return list(classify(change(base, head), LineOptions(), lambda _: False).obligations)


HEAD = dedent(
    """\
    x = 1
    class A:
        x = 1
        @property
        def f(self):
            x = 1
            def g():
                x = 1
            y = (
                lambda:
                    2
            )
            x = 1
    x = 1
    """
)


def test_the_scope_is_the_dotted_name_of_the_innermost_definition_its_header_included() -> None:
    scopes = {row.line: row.scope for row in owed(None, HEAD)}
    assert [scopes.get(line) for line in range(1, 15)] == [
        "", "A", "A", "A.f", "A.f", "A.f", "A.f.g", "A.f.g", "A.f", "A.f", "A.f", None, "A.f", "",
    ]  # fmt: skip


def test_equal_lines_are_numbered_within_their_scope_over_the_whole_file() -> None:
    numbers = {row.line: row.occurrence for row in owed(None, HEAD) if row.content.strip() == "x = 1"}
    assert numbers == {1: 1, 3: 1, 6: 1, 8: 1, 13: 2, 14: 2}
    only_the_last = HEAD.replace("x = 1\n", "", 0)
    rows = owed(only_the_last[: only_the_last.rindex("x = 1")], only_the_last)
    assert [(row.line, row.occurrence) for row in rows] == [(14, 2)]


def test_the_statement_is_that_of_the_line_and_a_compound_one_ends_with_its_header() -> None:
    rows = {row.line: row.statement for row in owed(None, HEAD)}
    assert (rows[2], rows[4], rows[5], rows[9], rows[11]) == ((2, 2), (4, 5), (4, 5), (9, 12), (9, 12))


def test_the_hash_is_over_the_bytes_without_terminator_and_the_content_is_their_text() -> None:
    (row,) = owed(None, "\ufeffx = 'ü'\r\n".encode())
    text = "\ufeffx = 'ü'"
    assert row.content == text
    assert row.hash == hashlib.sha256(text.encode()).hexdigest()[:16]


def test_a_comment_line_before_the_suite_is_not_part_of_the_header() -> None:
    rows = {row.line: row.statement for row in owed(None, "if a:  # one\n    # two\n\n    b\n")}
    assert rows == {1: (1, 1), 4: (4, 4)}


def test_one_demand_per_obligation_in_their_order() -> None:
    rows = owed(None, HEAD)
    wanted = PythonRule().demands(HEAD.encode(), tuple(rows))
    assert len(wanted) == len(rows)
    for row, demand in zip(rows, wanted, strict=True):
        assert all(token.span.start.line <= row.line <= token.span.end.line for token in demand.tokens)


FRAGMENTS = [
    "x = 1", "if a:", "else:", "    y", "def f(", "):", "'''", '"""', "# c", "", "@d", "class A:", "try:",
    "except:", "(", ")", "\\", "\tz", "lambda: (", "import a", "from a import (", "b,", "...", "f'{x", "}'",
    "match x:", "  case 1:", "\x0c", "async def g(): pass", "x: int", "global q", "a if b else c",
    "type X[T = int] = T", "é = 1", "while 1: pass", "finally:",
]  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(FRAGMENTS)), st.lists(st.sampled_from(FRAGMENTS)))
def test_any_text_gets_every_changed_line_into_exactly_one_class_and_a_demand(old: list[str], new: list[str]) -> None:
    text = change("\n".join(old) + "\n", "\n".join(new) + "\n")
    found = classify(text, LineOptions(), lambda _: False)
    changed = {line for hunk in text.hunks for line in range(hunk.head_start, hunk.head_start + hunk.head_count)}
    assert changed <= set(classes(text))
    assert all(row.kind == "deletion" for row in found.obligations if row.line not in changed)
    assert len(PythonRule().demands(text.head or b"", found.obligations)) == len(found.obligations)


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=200), st.binary(max_size=200))
def test_any_bytes_are_classified_or_opaque(old: bytes, new: bytes) -> None:
    text = change(old, new)
    found = classify(text, LineOptions(), lambda _: False)
    if not (found.obligations and found.obligations[0].line == 0):
        changed = {line for hunk in text.hunks for line in range(hunk.head_start, hunk.head_start + hunk.head_count)}
        assert changed <= {row.line for row in found.obligations} | {row.line for row in found.exempt} | {0}
