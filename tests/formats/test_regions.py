from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from linewitness.evidence.formats.regions import Part, Piece, Regions, Scope, Unit, flat, united
from linewitness.model import Pos, Span


def span(start: int, end: int) -> Span:
    return Span(Pos(1, start), Pos(1, end))


def regions(*spans: tuple[int, int, int | None]) -> Regions:
    return Regions(flat((span(start, end), hits) for start, end, hits in spans), Scope.BLOCKS)


def counts(found: Regions, size: int) -> list[int | str | None]:
    pieces = [found.at(Pos(1, column)) for column in range(size)]
    return ["-" if piece is None else piece.hits for piece in pieces]


def test_the_innermost_region_counts() -> None:
    found = regions((0, 10, 1), (2, 6, 0), (3, 4, 5))
    assert counts(found, 11) == [1, 1, 0, 5, 0, 0, 1, 1, 1, 1, "-"]


def test_a_piece_knows_the_region_that_counts_it() -> None:
    outer, inner = span(0, 10), span(2, 6)
    assert flat([(outer, 1), (inner, 0)]) == (
        Piece(Pos(1, 0), Pos(1, 2), 1, outer),
        Piece(Pos(1, 2), Pos(1, 6), 0, inner),
        Piece(Pos(1, 6), Pos(1, 10), 1, outer),
    )


def test_of_equal_regions_the_largest_count_stands_unless_the_later_one_is_inside() -> None:
    twice = [(span(0, 3), 4), (span(0, 3), 0)]
    assert [piece.hits for piece in flat(twice)] == [4]
    assert [piece.hits for piece in flat(twice, later_is_inner=True)] == [0]


@pytest.mark.parametrize(("first", "second", "merged"), [(0, None, None), (None, 3, 3), (None, None, None), (0, 2, 2)])
def test_a_hit_beats_an_unknown_which_beats_zero(first: int | None, second: int | None, merged: int | None) -> None:
    for left, right in ((first, second), (second, first)):
        assert [piece.hits for piece in flat([(span(0, 3), left), (span(0, 3), right)])] == [merged]
        (piece,) = united(regions((0, 3, left)), regions((0, 3, right))).pieces  # type: ignore[union-attr]
        assert piece.hits == merged


def test_empty_and_crossing_regions_do_not_disturb_the_others() -> None:
    assert counts(regions((4, 4, 9), (0, 5, 1), (3, 8, 0)), 9) == [1, 1, 1, 0, 0, "-", "-", "-", "-"]


_spans = st.tuples(st.integers(0, 12), st.integers(0, 12), st.integers(0, 3)).map(
    lambda each: (min(each[:2]), max(each[:2]), each[2])
)


def _is_nested(several: list[tuple[int, int, int]]) -> bool:
    pairs = [(left, right) for left in several for right in several]
    return all(
        left[1] <= right[0]
        or right[1] <= left[0]
        or (left[0] <= right[0] and right[1] <= left[1])
        or (right[0] <= left[0] and left[1] <= right[1])
        for left, right in pairs
    )


@given(st.lists(_spans, max_size=7).filter(_is_nested))
def test_nested_regions_laid_flat_give_each_place_the_count_of_the_smallest_around_it(
    several: list[tuple[int, int, int]],
) -> None:
    found = regions(*several)
    for column in range(13):
        around = [each for each in several if each[0] <= column < each[1]]
        smallest = min((end - start for start, end, _hits in around), default=0)
        here = found.at(Pos(1, column))
        if not around:
            assert here is None
        else:
            assert here is not None
            assert here.hits == max(hits for start, end, hits in around if end - start == smallest)


@given(st.lists(_spans, max_size=6).filter(_is_nested), st.lists(_spans, max_size=6).filter(_is_nested))
def test_the_union_of_two_exports_has_in_each_place_the_larger_count(
    first: list[tuple[int, int, int]], second: list[tuple[int, int, int]]
) -> None:
    left, right = regions(*first), regions(*second)
    both = united(left, right)
    assert both is not None
    for column in range(13):
        here = [each.hits or 0 for each in (left.at(Pos(1, column)), right.at(Pos(1, column))) if each is not None]
        piece = both.at(Pos(1, column))
        assert (None if piece is None else piece.hits) == max(here, default=None)


def test_the_pieces_within_a_span_are_those_that_share_text_with_it() -> None:
    found = regions((0, 4, 1), (4, 8, 2), (10, 12, 3))
    assert [piece.hits for piece in found.within(span(3, 11))] == [1, 2, 3]
    assert [piece.hits for piece in found.within(span(4, 8))] == [2]
    assert found.within(span(8, 10)) == ()


def test_the_union_promises_no_more_than_each_part() -> None:
    fine = regions((0, 3, 1))._replace(counted=frozenset({Part.OPERAND, Part.FUNCTION}))
    coarse = regions((0, 3, 0))._replace(counted=frozenset({Part.OPERAND}), scope=Scope.STATEMENTS)
    both = united(fine, coarse)
    assert both is not None
    assert (both.counted, both.scope) == (frozenset({Part.OPERAND}), Scope.STATEMENTS)
    assert united(None, fine) == united(fine, None) == fine


def test_regions_in_different_units_are_not_mixed() -> None:
    with pytest.raises(ValueError, match="units"):
        united(regions((0, 3, 1)), regions((0, 3, 1))._replace(unit=Unit.UTF16))
