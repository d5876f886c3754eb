"""Laws, transformations and values, one by one."""

from __future__ import annotations

import copy
import json
import math
import random
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from linewitness import relations as lib
from linewitness.relations.tally import NotApplicable, Surroundings, Tally, counting
from linewitness.relations.trouble import LawBroken, RelationError
from linewitness.relations.values import canonical, decode, encode, equal, show

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text().filter(lambda key: key != "$bytes"), inner),
    max_leaves=20,
)
CASE = {"items": [{"price": 2}, {"price": 3}, {"price": 5}], "note": "x"}


class Always:
    """Equal to everything."""

    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = None  # type: ignore[assignment]


class Sly(int):
    """A number that is equal to everything."""

    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = None  # type: ignore[assignment]


# ---------------------------------------------------------------- values


@given(JSON)
def test_data_crosses_unchanged(value: object) -> None:
    assert equal(decode(encode(value)), value)


@given(JSON, JSON)
def test_equality_agrees_with_canonical_bytes_up_to_the_types_of_numbers(one: object, other: object) -> None:
    if canonical(one) == canonical(other):
        assert equal(one, other)


@pytest.mark.parametrize(
    ("value", "where"),
    [
        ({"a": [1, object()]}, "the value['a'][1] is of type builtins.object"),
        ({1: 2}, "has the key 1, and keys of JSON are text"),
        ({"$bytes": ""}, "has the key '$bytes'"),
        (Sly(3), "is of type tests.relation_library.test_laws.Sly"),
        ({1, 2}, "is of type builtins.set"),
        (Decimal(1), "is of type decimal.Decimal"),
        ("\ud800" * 1, None),
    ],
)
def test_what_is_no_data_does_not_cross(value: object, where: str | None) -> None:
    if where is None:
        assert decode(encode(value)) == value
        return
    with pytest.raises(TypeError) as caught:
        encode(value)
    assert where in str(caught.value)


def test_what_contains_itself_does_not_cross() -> None:
    endless: list[object] = []
    endless.append(endless)
    with pytest.raises(TypeError, match="nested too deeply"):
        encode(endless)


@pytest.mark.parametrize(
    "data", [b'{"$bytes": 1}', b'{"$bytes": "QQ==", "a": 1}', b'{"$bytes": "?"}', b"[", b"[" * 100_000]
)
def test_damaged_data_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - json and base64 have their own subclasses
        decode(data)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (1, 1.0, True),
        (True, 1, False),
        (math.nan, math.nan, True),
        ([math.nan], [math.nan], True),
        ([1], (1,), False),
        ({"a": [True]}, {"a": [1]}, False),
        ({"a": 1}, {"a": 1, "b": 2}, False),
        (b"a", "a", False),
        (Decimal("1.0"), Decimal(1), True),
        (lib.Raised("KeyError", "a"), lib.Raised("KeyError", "a"), True),
        (lib.Raised("KeyError", "a"), lib.Raised("KeyError", "b"), False),
    ],
)
def test_equality(one: object, other: object, same: bool) -> None:
    assert equal(one, other) is same
    assert equal(other, one) is same


@pytest.mark.parametrize("place", [lambda value: value, lambda value: [value], lambda value: {"a": value}])
def test_an_object_that_is_equal_to_everything_is_refused(place: Callable[[object], object]) -> None:
    for pair in ((place(Always()), place(1)), (place(1), place(Always())), (place(Sly(1)), place(2))):
        with pytest.raises(TypeError, match="equal to anything"):
            equal(*pair)


def test_values_are_shown_whatever_they_do() -> None:
    class Rude:
        def __repr__(self) -> str:
            raise RuntimeError

    assert show(Rude()) == "<a test_values_are_shown_whatever_they_do.<locals>.Rude whose repr raised RuntimeError>"
    assert show("x" * 5000).endswith("… (5002 characters)")


# ---------------------------------------------------------------- transformations


@pytest.mark.parametrize(
    ("transformation", "prices"),
    [
        (lib.reverse("items"), [5, 3, 2]),
        (lib.rotate("items"), [3, 5, 2]),
        (lib.rotate("items", 5), [5, 2, 3]),
        (lib.duplicate("items"), [2, 3, 5, 2, 3, 5]),
        (lib.prefix("items"), [2, 3]),
        (lib.sort("items", key=lambda item: -item["price"]), [5, 3, 2]),
        (lib.scale("items[].price", 10), [20, 30, 50]),
        (lib.shift("items[].price", 1), [3, 4, 6]),
        (lib.scale("items[].price", 2) | lib.reverse("items"), [10, 6, 4]),
        (lib.change("items[].price", lambda price: price**2), [4, 9, 25]),
        (lib.drop("note"), [2, 3, 5]),
    ],
)
def test_transformations_do_what_their_names_say_and_leave_the_case_alone(
    transformation: lib.Transformation, prices: list[int]
) -> None:
    case = copy.deepcopy(CASE)
    assert [item["price"] for item in transformation(case)["items"]] == prices
    assert case == CASE


def test_a_composition_is_called_by_its_parts() -> None:
    assert (lib.scale("a", 2) | lib.reverse()).name == "scale by 2: a, then reverse"


@pytest.mark.parametrize("path", ["a..b", ".", "[]x", "a.[].b.", "a[]b"])
def test_a_path_that_is_none_is_refused(path: str) -> None:
    with pytest.raises(RelationError):
        lib.change(path, str)


@pytest.mark.parametrize("path", ["nothing", "items.price", "note[]", "items[].price.deep"])
def test_a_path_that_the_case_lacks_is_told(path: str) -> None:
    with pytest.raises(RelationError, match="the case has no"):
        lib.change(path, str)(CASE)


@given(st.lists(st.integers(), min_size=2, unique=True), st.integers(0, 2**53))
def test_permuting_keeps_the_elements_and_changes_their_order(values: list[int], seed: int) -> None:
    with counting(Tally(Surroundings(seed=seed))) as tally:
        drawn = lib.permute()(values)
        assert lib.permute()(values) == drawn
    assert sorted(drawn) == sorted(values)
    assert drawn != values
    assert tally.seeded


def test_a_draw_depends_on_seed_relation_and_case() -> None:
    def draw(case: Any, source: random.Random) -> Any:  # noqa: ARG001 - the case only seeds
        return source.getrandbits(64)

    drawn = set()
    for seed, scope, case in ((1, "a", 1), (2, "a", 1), (1, "b", 1), (1, "a", 2), (1, "a", 1)):
        with counting(Tally(Surroundings(seed=seed))) as tally:
            tally.scope = scope
            drawn.add(lib.seeded(draw)(case))
    assert len(drawn) == 4


# ---------------------------------------------------------------- laws


def pairs(law: Any, *results: tuple[object, object]) -> list[bool]:
    return [law.holds(before, after) for before, after in results]


def test_laws_on_results() -> None:
    assert pairs(lib.same(), (1, 1), (1, 2)) == [True, False]
    assert pairs(lib.same("a"), ({"a": 1, "b": 1}, {"a": 1, "b": 2}), ({"a": 1}, {"a": 2})) == [True, False]
    assert pairs(lib.same(len), ([1], [2]), ([1], [])) == [True, False]
    assert pairs(lib.same("real"), (1, 1.0), (1, 2)) == [True, False]
    assert pairs(lib.close(), (0.1 + 0.2, 0.3), (0.1, 0.3)) == [True, False]
    assert pairs(lib.close(rel=0.1), (1.0, 1.05), (1.0, 1.2)) == [True, False]
    assert pairs(lib.multiple(3), (2, 6), (2, 5)) == [True, False]
    assert pairs(lib.at_least(), (2, 2), (2, 3), (2, 1)) == [True, True, False]
    assert pairs(lib.at_most(), (2, 2), (2, 3), (2, 1)) == [True, False, True]
    assert pairs(lib.permutation(), ([1, 2, 2], [2, 1, 2]), ([1, 2], [1, 2, 2])) == [True, False]
    assert pairs(lib.subset(), ([1, 2, 2], [2]), ([1, 2], [2, 2])) == [True, False]
    assert pairs(lib.superset(), ([2], [1, 2]), ([2, 2], [1, 2])) == [True, False]


def reached_by(work: Callable[[], None]) -> int:
    with counting(Tally(Surroundings())) as tally:
        work()
    return tally.reached


def double(text: str) -> str:
    return text * 2


@pytest.mark.parametrize(
    ("good", "bad"),
    [
        (
            lambda: lib.compare(len, "abc", lib.reverse(), lib.same()),
            lambda: lib.compare(len, "abc", double, lib.same()),
        ),
        (
            lambda: lib.commutes(len, "abc", lib.duplicate(), lambda length: 2 * length),
            lambda: lib.commutes(len, "abc", lib.duplicate(), lambda length: 3 * length),
        ),
        (
            lambda: lib.round_trip(json.dumps, json.loads, {"a": 1}),
            lambda: lib.round_trip(str.upper, str.lower, "aB"),
        ),
        (lambda: lib.idempotent(str.strip, " a "), lambda: lib.idempotent(double, "a")),
        (lambda: lib.agrees(str.upper, str.swapcase, "abc"), lambda: lib.agrees(str.upper, str.lower, "abc")),
        (lambda: lib.additive(len, ["a", "bc"], "abc", sum), lambda: lib.additive(len, ["a", "bc"], "ab", sum)),
    ],
)
def test_a_law_at_work_counts_when_it_holds_and_raises_when_not(
    good: Callable[[], None], bad: Callable[[], None]
) -> None:
    assert reached_by(good) == 1
    with pytest.raises(LawBroken):
        bad()


def test_comparing_a_case_with_itself_is_not_applicable() -> None:
    with pytest.raises(NotApplicable, match="the transformation reverse leaves it as it is"):
        lib.compare(len, "aba", lib.reverse(), lib.same())


def test_a_subject_that_changes_its_argument_changes_nobody_else_s() -> None:
    def clear(case: dict[str, Any]) -> int:
        return len(case.pop("items"))

    lib.compare(clear, CASE, lib.reverse("items"), lib.same())
    assert len(CASE["items"]) == 3


def test_an_outcome_is_the_result_or_a_declared_exception() -> None:
    assert lib.outcome(int, "3", raises=(ValueError,)) == 3
    assert lib.outcome(int, "x", raises=(ValueError,)).kind == "ValueError"
    with pytest.raises(TypeError):
        lib.outcome(int, None, raises=(ValueError,))


def test_every_public_name_can_be_had() -> None:
    for name in lib.__all__:
        assert getattr(lib, name).__module__.startswith("linewitness.relations."), name
    with pytest.raises(AttributeError):
        _ = lib.nonsense
