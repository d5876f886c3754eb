"""What somebody who writes relations gets wrong is told once, in words, at the line of the relation."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import linewitness.relations as lib
from linewitness.relations.tally import NotApplicable, Surroundings, Tally, counting
from linewitness.relations.trouble import LawBroken
from tests.relation_library.projects import project, run_pytest, write

HEAD = "from linewitness.relations import *\nfrom app.billing import price_order\n\n\n"
DECLARED = '@relation(corpus="orders.jsonl", at_least=3)\ndef test_it(order):\n    {body}\n'
LINE = len(HEAD.splitlines()) + 3


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("compare(price_order, order, reverse('items'), same)", "the law has to be one like same()"),
        ("compare(price_order, order, reverse, same())", "reverse makes a transformation when it is called"),
        ("compare(price_order(order), order, reverse('items'), same())", "subject has to be a function"),
        ("round_trip(price_order, None, order)", "back has to be a function, and is None"),
        ("compare(price_order, order, permute('parts'), same())", "the case has no key 'parts' of 'parts'"),
        ("agrees(price_order, price_order, order)", "price_order always agrees with itself"),
        ("agrees(isolated('a:f'), isolated('a:f'), order)", "a:f always agrees with itself"),
        ("compare(iter, order, reverse('items'), same())", "iter gives nothing that can be compared: a dict_keyiter"),
        ("compare(len, order, iter, same())", "the transformation iter gives no case: a dict_keyiterator"),
        ("outcome(price_order, order, raises=[KeyError])", "raises takes classes of exceptions"),
        ("compare(price_order, order, reverse('items'), close(rel=-1))", "a tolerance is a number from 0 on"),
        ("compare(price_order, order, reverse('items'), same(3))", "a law is about a key, an attribute or a function"),
    ],
)
def test_a_mistake_is_told_at_its_line_without_the_library_s_own(tmp_path: Path, body: str, message: str) -> None:
    ran = run_pytest(write(tmp_path, project(HEAD + DECLARED.format(body=body))))
    (said,) = (line for line in ran.output.splitlines() if line.startswith("E  "))
    assert message in said
    assert said.endswith(" (case orders.jsonl:1)")
    assert f"tests/relations/test_orders.py:{LINE}: RelationError" in ran.output
    assert "linewitness/relations/" not in ran.output


@pytest.mark.parametrize(
    ("declared", "message"),
    [
        ('@relation(corpus="ordres.jsonl", at_least=3)', "CorpusError: "),
        ('@relation(corpus="orders.jsonl", at_least=30)', "VacuousRelation: checked 3 distinct cases"),
    ],
)
def test_what_is_wrong_with_the_declaration_is_told_at_the_declaration(
    tmp_path: Path, declared: str, message: str
) -> None:
    text = f"{HEAD}{declared}\ndef test_it(order):\n    compare(price_order, order, reverse('items'), same('total'))\n"
    ran = run_pytest(write(tmp_path, project(text)))
    assert message in ran.output
    assert f"tests/relations/test_orders.py:{LINE - 2}: " in ran.output
    assert "linewitness/relations/" not in ran.output
    assert "hidden" not in ran.output


def test_a_failure_shows_the_line_the_values_and_nothing_of_the_library(tmp_path: Path) -> None:
    body = "total = price_order(order)['total']\n    assert total == 1"
    ran = run_pytest(write(tmp_path, project(HEAD + DECLARED.format(body=body))))
    assert ">       assert total == 1" in ran.output
    assert "E         AssertionError: assert 1359 == 1" in ran.output
    assert f"E         at: tests/relations/test_orders.py:{LINE + 1}" in ran.output
    assert "linewitness/relations/" not in ran.output


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [("LINEWITNESS_SEED", "one", "has to be a number"), ("LINEWITNESS_BASE", "nowhere", "there is no such folder")],
)
def test_a_variable_with_nonsense_is_told(tmp_path: Path, name: str, value: str, message: str) -> None:
    body = "compare(price_order, order, permute('items'), same('total'))"
    ran = run_pytest(write(tmp_path, project(HEAD + DECLARED.format(body=body))), python=None, **{name: value})
    assert f"RelationError: {name} is '{value}'" in ran.output
    assert message in ran.output


# ---------------------------------------------------------------- subjects that answer otherwise


def counted(cases: int, work: Callable[[int], None]) -> Tally:
    """What a relation over so many cases counts, as the decorator does."""
    with counting(Tally(Surroundings())) as tally:
        for case in range(cases):
            tally.tried += 1
            work(case)
            tally.checked += 1
        tally.skip_untelling()
    return tally


def test_results_that_nothing_can_be_asked_of_break_the_law() -> None:
    for law in (lib.same("total"), lib.at_least(), lib.permutation(), lib.multiple(2)):
        with pytest.raises(LawBroken, match="that cannot be asked of these results"):
            lib.compare(lambda _: None, [1, 2], lib.reverse(), law)


def test_a_subject_that_draws_its_answers_is_told_as_such() -> None:
    answers: Iterator[int] = iter(range(1000))
    with pytest.raises(LawBroken, match="gives the same for the same case, however often it is asked"):
        counted(1, lambda case: lib.compare(lambda _: next(answers), [case, 9], lib.reverse(), lib.same()))


@pytest.mark.parametrize("period", range(2, 7))
def test_a_subject_that_answers_by_turns_is_caught(period: int) -> None:
    """It gives its first answer again until it has been asked so many times."""
    kept: list[int] = []

    def by_turns(case: list[int]) -> int:
        if len(kept) % period == 0:
            kept[:] = [case[0]]
        else:
            kept.append(kept[0])
        return kept[0]

    with pytest.raises(LawBroken):
        counted(40, lambda case: lib.compare(by_turns, [case, case + 1], lib.reverse(), lib.same()))


def test_a_subject_may_differ_within_the_law_from_call_to_call() -> None:
    turns: Iterator[int] = iter(range(1000))
    near = lib.close(abs_=1e-3)
    tally = counted(9, lambda case: lib.compare(lambda c: sum(c) + next(turns) * 1e-9, [case, 9], lib.reverse(), near))
    assert tally.checked == 9


@pytest.mark.parametrize(
    "work",
    [
        lambda case: lib.compare(lambda _: 0, [case, 9], lib.reverse(), lib.same()),
        lambda case: lib.compare(lambda _: [1, 2], [case, 9], lib.reverse(), lib.permutation() & lib.at_least()),
        lambda case: lib.commutes(lambda _: 0, [case, 9], lib.duplicate(), lambda found: found),
        lambda case: lib.idempotent(lambda _: "x", str(case)),
        lambda case: lib.additive(lambda _: 0, [[case], [9]], [case, 9], sum),
        lambda case: lib.round_trip(lambda given: given, lambda given: given, case),
    ],
)
def test_a_law_that_holds_for_a_constant_checks_nothing(work: Callable[[int], None]) -> None:
    tally = counted(3, work)
    assert (tally.checked, tally.skipped) == (0, 3)
    assert "all cases came to the same" in tally.why_skipped()


@pytest.mark.parametrize(
    "work",
    [
        lambda case: lib.compare(lambda _: case == 2, [case, 9], lib.reverse(), lib.same()),
        lambda case: lib.compare(len, [case, 9], lib.duplicate(), lib.multiple(2)),
        lambda case: lib.commutes(sum, [case, 9], lib.duplicate(), lambda found: 2 * found),
        lambda case: lib.idempotent(str.strip, f" {case}"),
        lambda case: lib.round_trip(str, int, case),
        lambda case: lib.agrees(lambda _: 0, lambda _: 0, case),
    ],
)
def test_one_case_that_differs_is_enough(work: Callable[[int], None]) -> None:
    assert counted(3, work).checked == 3


def test_what_is_not_transformed_is_not_applicable() -> None:
    with pytest.raises(NotApplicable, match="the transformation reverse leaves it as it is"):
        lib.commutes(len, "aba", lib.reverse(), lambda length: length)
    with pytest.raises(NotApplicable, match="strip leaves it as it is"):
        lib.idempotent(str.strip, "a")


# ---------------------------------------------------------------- laws and functions of every kind


async def later(case: list[int]) -> int:
    return sum(case)


def test_async_functions_are_subjects_like_others() -> None:
    lib.compare(later, [1, 2], lib.reverse(), lib.same())
    lib.agrees(later, sum, [1, 2])
    assert lib.outcome(later, ["a"], raises=TypeError).kind == "TypeError"


def test_laws_are_put_together() -> None:
    law = lib.same("count") & lib.at_least("total")
    one, more, other = {"count": 1, "total": 2}, {"count": 1, "total": 3}, {"count": 2, "total": 3}
    assert [law.holds(one, each) for each in (one, more, other)] == [True, True, False]
    assert repr(law) == "<count: the result stays the same, and total: the result does not become smaller>"


def test_every_comparison_takes_a_law() -> None:
    third: Callable[[Any], Any] = lambda case: case / 3  # noqa: E731
    near = lib.close()
    lib.round_trip(third, lambda found: found * 3.0000000001, 1.0, near)
    lib.agrees(third, lambda case: case * 0.33333333333, 1.0, near)
    lib.commutes(third, 1.0, lambda case: case * 3, lambda found: found * 3.0000000001, near)
    lib.additive(third, [0.1, 0.2], 0.3, sum, near)
    lib.idempotent(lambda case: round(case, 3) + 1e-13, 0.12345, near)


@pytest.mark.parametrize(
    ("one", "other", "is_near"),
    [
        (0.1 + 0.2, 0.3, True),
        ([0.1 + 0.2, "a"], [0.3, "a"], True),
        ({"a": [0.1 + 0.2]}, {"a": [0.3]}, True),
        ((1, 2.0), (1.0, 2), True),
        (float("nan"), float("nan"), True),
        ([float("inf")], [float("inf")], True),
        (float("inf"), 1e308, False),
        ({"a": 0.1}, {"b": 0.1}, False),
        ([0.1], [0.1, 0.1], False),
        (True, 1.0, False),
        ("1", 1.0, False),
        (None, 0.0, False),
        (10**400, 1.0, False),
    ],
)
def test_close_is_about_numbers_at_any_depth(one: object, other: object, is_near: bool) -> None:
    assert lib.close().holds(one, other) is is_near


def test_a_relation_that_runs_twice_in_one_test_counts_each_time_anew(tmp_path: Path) -> None:
    text = HEAD + (
        '@relation(corpus="orders.jsonl", at_least=5)\n'
        "def over(order):\n    compare(price_order, order, reverse('items'), same('total'))\n\n\n"
        "def test_it():\n"
        "    for _ in range(3):\n        try:\n            over()\n        except VacuousRelation as error:\n"
        "            last = str(error)\n"
        "    assert last.startswith('checked 3 distinct cases'), last\n"
    )
    assert run_pytest(write(tmp_path, project(text))).counts == "1 passed"


def test_what_cannot_be_copied_is_handed_on_as_it_is() -> None:
    with (Path(__file__)).open(encoding="utf-8") as stream:
        lib.round_trip(lambda case: [case, stream], lambda found: found[0], "x")
