from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from linewitness.model import Hunk
from linewitness.patch.hunks import line_diff, prove, whole

lines = st.lists(st.sampled_from([b"", b"a", b"b", b"c", b"}"]), max_size=30)


def applied(base: list[bytes], head: list[bytes], hunks: tuple[Hunk, ...]) -> list[bytes]:
    """Base with the hunks applied, the added lines taken from head."""
    result, reached = [], 0
    for b, n, h, m in hunks:
        result += base[reached : b - 1] + head[h - 1 : h - 1 + m]
        reached = b - 1 + n
    return result + base[reached:]


@given(lines, lines)
def test_our_own_diff_leads_from_base_to_head(base: list[bytes], head: list[bytes]) -> None:
    hunks = tuple(line_diff(base, head))
    assert applied(base, head, hunks) == head
    assert prove(base, head, hunks) is not None


@given(lines, lines)
def test_equal_texts_and_only_they_have_no_hunks(base: list[bytes], head: list[bytes]) -> None:
    assert (not tuple(line_diff(base, head))) == (base == head)


@given(lines, lines, st.lists(st.tuples(*[st.integers(0, 31)] * 4), max_size=4))
def test_only_hunks_that_lead_to_head_are_proved(
    base: list[bytes], head: list[bytes], hunks: list[tuple[int, int, int, int]]
) -> None:
    proved = prove(base, head, hunks)
    if proved is not None:
        assert applied(base, head, proved) == head


def test_a_hunk_too_few_is_not_proved() -> None:
    base, head = [b"a", b"b", b"c"], [b"A", b"b", b"C"]
    assert prove(base, head, [(1, 1, 1, 1)]) is None
    assert prove(base, head, [(3, 1, 3, 1), (1, 1, 1, 1)]) is None
    assert prove(base, head, [(1, 1, 1, 1), (3, 1, 3, 1)]) == (Hunk(1, 1, 1, 1), Hunk(3, 1, 3, 1))


def test_a_hunk_that_reaches_past_the_end_is_not_proved() -> None:
    assert prove([b"a"], [b"a"], [(1, 5, 1, 1)]) is None
    assert prove([b"a"], [b"a"], [(1, 1, 1, 5)]) is None
    assert prove([b"a"], [b"a"], [(7, 0, 7, 0)]) is None


def test_lines_removed_and_added_again_are_cut_off() -> None:
    assert prove([b"a", b"b", b"c"], [b"a", b"B", b"c"], [(1, 3, 1, 3)]) == (Hunk(2, 1, 2, 1),)
    assert prove([b"a"], [b"a"], [(1, 1, 1, 1)]) == ()


def test_moved_functions_are_found_between_unique_lines() -> None:
    base = [b"def f():", b"    return 1", b"", b"def g():", b"    return 2", b""]
    assert list(line_diff(base, [*base[:3], b"def new():", b"    pass", b"", *base[3:]])) == [Hunk(4, 0, 4, 3)]


def test_a_hopeless_region_counts_as_replaced_instead_of_taking_forever() -> None:
    base, head = [b"x", b"y"] * 3000, [b"y", b"x", b"x"] * 2000
    assert prove(base, head, line_diff(base, head)) is not None


def test_the_whole_of_nothing_is_no_hunk() -> None:
    assert whole(0, 0) == ()
    assert whole(0, 3) == (Hunk(1, 0, 1, 3),)
    assert whole(2, 0) == (Hunk(1, 2, 1, 0),)
