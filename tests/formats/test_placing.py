"""Facts meet the text of head: columns become bytes, and exports of another text are refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from linewitness.evidence.formats.facts import FileFacts, Grain
from linewitness.evidence.formats.placing import Disagreement, placed
from linewitness.evidence.formats.regions import END_OF_LINE, Regions, Scope, Unit, flat
from linewitness.model import Pos, Span


def with_regions(unit: Unit, *spans: tuple[tuple[int, int], tuple[int, int], int]) -> FileFacts:
    pieces = flat(((Span(Pos(*start), Pos(*end)), hits) for start, end, hits in spans), later_is_inner=True)
    return FileFacts(Grain.STATEMENTS, {}, regions=Regions(pieces, Scope.BLOCKS, unit=unit))


def spans(facts: FileFacts) -> list[tuple[tuple[int, int], tuple[int, int], int | None]]:
    assert facts.regions is not None
    assert facts.regions.unit is Unit.BYTES
    return [(tuple(piece.start), tuple(piece.end), piece.hits) for piece in facts.regions.pieces]  # type: ignore[misc]


def test_bytes_stay_bytes_and_the_end_of_a_line_is_found() -> None:
    facts = with_regions(Unit.BYTES, ((1, 1), (2, END_OF_LINE), 3))
    assert spans(placed(facts, "éa\nbcd\n".encode())) == [((1, 1), (2, 3), 3)]


def test_the_end_of_a_line_is_the_end_of_its_code() -> None:
    for unit in (Unit.BYTES, Unit.UTF16):
        facts = with_regions(unit, ((1, 2), (1, END_OF_LINE), 3))
        assert spans(placed(facts, b"a, bc, ;\r\n")) == [((1, 2), (1, 5), 3)]


def test_utf16_units_become_bytes() -> None:
    text = 'x = "é😀", y\n'
    units = len(text[: text.index("y")].encode("utf-16-le")) // 2
    start = len(text[: text.index("y")].encode())
    facts = with_regions(Unit.UTF16, ((1, units), (1, units + 1), 0))
    assert spans(placed(facts, text.encode())) == [((1, start), (1, start + 1), 0)]


def test_a_byte_order_mark_is_no_column_of_a_script() -> None:
    facts = with_regions(Unit.UTF16, ((1, 0), (1, 1), 1), ((2, 0), (2, 1), 0))
    assert spans(placed(facts, b"\xef\xbb\xbfa\nb\n")) == [((1, 3), (1, 4), 1), ((2, 0), (2, 1), 0)]


def test_offsets_become_lines_and_columns() -> None:
    text = "é;\nlet 😀 = f();\nz\n"
    at = len(text[: text.index("f()")].encode("utf-16-le")) // 2
    whole = len(text.encode("utf-16-le")) // 2
    column = len("let 😀 = ".encode())
    facts = with_regions(Unit.OFFSET, ((0, 0), (0, whole), 1), ((0, at), (0, at + 3), 0))
    assert spans(placed(facts, text.encode())) == [
        ((1, 0), (2, column), 1),
        ((2, column), (2, column + 3), 0),
        ((2, column + 3), (3, 2), 1),
    ]


def test_offsets_skip_a_byte_order_mark_and_the_wrapper_of_old_versions() -> None:
    facts = with_regions(Unit.OFFSET, ((0, 0), (0, 4), 1), ((0, 2), (0, 3), 0))
    assert spans(placed(facts, b"\xef\xbb\xbfa\nb\n"))[1] == ((2, 0), (2, 1), 0)
    wrapped = with_regions(Unit.OFFSET, ((0, 0), (0, 62 + 4 + 4), 1), ((0, 62 + 2), (0, 62 + 3), 0))
    assert spans(placed(wrapped, b"a\nb\n"))[1] == ((2, 0), (2, 1), 0)


@pytest.mark.parametrize("length", [3, 5, 69, 71])
def test_a_script_of_another_length_is_another_text(length: int) -> None:
    with pytest.raises(Disagreement, match=f"script of {length} characters, and the file has 4"):
        placed(with_regions(Unit.OFFSET, ((0, 0), (0, length), 1)), b"a\nb\n")


@pytest.mark.parametrize("unit", [Unit.BYTES, Unit.UTF16])
def test_places_behind_the_end_of_a_line_or_of_the_file_are_of_another_text(unit: Unit) -> None:
    with pytest.raises(Disagreement, match="column 9") as shorter:
        placed(with_regions(unit, ((2, 0), (2, 8), 1)), b"abc\nde\n")
    assert shorter.value.line == 2
    with pytest.raises(Disagreement, match="line 5 of a file that has 2 lines"):
        placed(with_regions(unit, ((1, 0), (5, 1), 1)), b"abc\nde\n")


@pytest.mark.parametrize("end", [(2, 2), (2, 3), (3, 0)])
def test_an_end_may_stand_behind_the_terminator(end: tuple[int, int]) -> None:
    assert spans(placed(with_regions(Unit.BYTES, ((2, 0), end, 1)), b"abc\nde\n"))[0][2] == 1


@pytest.mark.parametrize("lines", [{"counts": {3: 0}}, {"excluded": frozenset({3})}, {"uncounted": frozenset({3})}])
def test_a_line_past_the_end_is_refused_whatever_is_said_of_it(lines: dict[str, object]) -> None:
    facts = FileFacts(Grain.STATEMENTS, {})._replace(**lines)  # type: ignore[arg-type]
    with pytest.raises(Disagreement, match="line 3 of a file that has 2 lines"):
        placed(facts, b"a\nb\n")


@pytest.mark.parametrize(("line", "what"), [(b" \t", "blank"), (b"  // a", "a comment"), (b"//", "a comment")])
def test_a_line_without_code_that_ran_is_refused_unless_the_tool_counts_the_stretch_around_it(
    line: bytes, what: str
) -> None:
    text = b"a\n" + line + b"\nb\n\nc\n"
    alone, inside = FileFacts(Grain.STATEMENTS, {2: 1}), FileFacts(Grain.STATEMENTS, {1: 1, 2: 1, 3: 1})
    assert placed(inside, text, "a.c").counts == inside.counts
    assert placed(alone._replace(counts={2: 0}, solid=True), text, "a.c").counts == {2: 0}
    for facts in (alone, inside._replace(solid=True), inside._replace(counts={1: 1, 2: 1})):
        with pytest.raises(Disagreement, match=what) as refusal:
            placed(facts, text, "a.c")
        assert refusal.value.line == 2


def test_two_slashes_are_a_comment_only_where_the_language_says_so() -> None:
    facts = FileFacts(Grain.STATEMENTS, {1: 1}, solid=True)
    assert placed(facts, b"//.match(x)\n", "a.rb") == facts


@pytest.mark.parametrize("idle", [b"", b"{", b"} else {", b"else", b"do {", b"{ }"])
def test_an_export_that_lists_lines_without_code_counts_stretches(idle: bytes) -> None:
    text = b"f(a)\n" + idle + b"\nb()\n\nc()\n"
    assert placed(FileFacts(Grain.STATEMENTS, {1: 1, 2: 1, 3: 1}), text, "a.c").grain is Grain.TOUCHED
    assert placed(FileFacts(Grain.STATEMENTS, {1: 1, 3: 1}), text, "a.js").grain is Grain.STATEMENTS


def test_the_end_of_a_function_is_a_line_to_gcc_and_no_sign_of_stretches() -> None:
    assert placed(FileFacts(Grain.STATEMENTS, {1: 1, 2: 1}), b"f(a) {\n}\n\nb()\n", "a.c").grain is Grain.COMPILED


@pytest.mark.parametrize(
    ("suffix", "grain"),
    [
        *((suffix, Grain.TOUCHED) for suffix in ("rs", "swift", "cs")),
        *((suffix, Grain.COMPILED) for suffix in ("c", "cpp", "hpp", "java", "kt", "scala")),
        *((suffix, Grain.STATEMENTS) for suffix in ("js", "php", "rb", "go", "sh")),
    ],
)
def test_the_language_tells_what_its_tools_count_whatever_the_format(suffix: str, grain: Grain) -> None:
    facts = FileFacts(Grain.STATEMENTS, {1: 1})
    assert placed(facts, b"a();\n\n", f"a.{suffix}").grain is grain
    assert placed(facts._replace(grain=Grain.COMPILED), b"a();\n\n", f"a.{suffix}").grain is Grain.COMPILED


def test_an_export_that_lists_every_line_even_brackets_counts_physical_lines() -> None:
    text = b"f(\n  a,\n);\n\nb();\n"
    every = FileFacts(Grain.STATEMENTS, dict.fromkeys(range(1, 6), 1))
    assert placed(every, text).grain is Grain.PHYSICAL
    assert placed(every._replace(counts={1: 1, 5: 1}), text).grain is Grain.STATEMENTS
    assert placed(every, b"a()\nb()\nc()\nd()\ne()\n").grain is Grain.STATEMENTS
    assert placed(every._replace(grain=Grain.COMPILED), text).grain is Grain.COMPILED


_text = st.text(st.sampled_from("aé😀\n\r "), min_size=1, max_size=30)


@given(_text, st.data())
def test_an_offset_names_the_same_character_in_bytes(text: str, data: st.DataObject) -> None:
    index = data.draw(st.integers(0, len(text) - 1))
    before = len(text[:index].encode("utf-16-le")) // 2
    width = len(text[index].encode("utf-16-le")) // 2
    whole = len(text.encode("utf-16-le")) // 2
    found = placed(
        with_regions(Unit.OFFSET, ((0, 0), (0, whole), 1), ((0, before), (0, before + width), 0)), text.encode()
    )
    (piece,) = (each for each in spans(found) if each[2] == 0)
    lines = text.encode().split(b"\n")
    start, end = (len(b"\n".join([*lines[: line - 1], b""])) + column for line, column in piece[:2])
    assert text.encode()[start:end] == text[index].encode()
