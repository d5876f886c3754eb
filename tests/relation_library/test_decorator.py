"""``@relation`` under plain pytest, in every interpreter that the recorder supports."""

from __future__ import annotations

from pathlib import Path

import pytest

from linewitness.relations import RelationError, relation
from tests.relation_library.projects import ORDERS, frozen, lines, project, run_pytest, write

HEAD = "from linewitness.relations import *\nfrom app.billing import price_order\nimport pytest\n\n\n"
PERMUTED = HEAD + (
    '@relation(corpus="orders.jsonl", at_least=3)\n'
    "def test_order_of_items(order):\n"
    '    compare(price_order, order, permute("items"), same("total"))\n'
)


def over(body: str, at_least: int = 3) -> str:
    return HEAD + f'@relation(corpus="orders.jsonl", at_least={at_least})\ndef test_it(order):\n    {body}\n'


def test_a_relation_that_holds_for_enough_cases_passes(tmp_path: Path) -> None:
    assert run_pytest(write(tmp_path, project(PERMUTED))).counts == "1 passed"


def test_a_case_that_the_transformation_leaves_alone_is_not_counted_as_checked(tmp_path: Path) -> None:
    ran = run_pytest(write(tmp_path, project(PERMUTED.replace("at_least=3", "at_least=4"))))
    assert ran.status == 1
    assert "checked 3 distinct cases of orders.jsonl, at least 4 are wanted" in ran.output
    assert "the transformation permute items leaves it as it is (1)" in ran.output


def test_a_failure_shows_the_smallest_case_both_inputs_and_both_results(tmp_path: Path) -> None:
    ran = run_pytest(
        write(tmp_path, project(over('compare(price_order, order, shift("items[].price", 1), same("total"))')))
    )
    report = ran.output[ran.output.index("RelationFailed:") :]
    assert "does not hold for 4 of 4 cases; the smallest is orders.jsonl:4" in report
    assert "case: {'items': [{'price': 1, 'quantity': 1}]}" in report
    assert "transformed: {'items': [{'price': 2, 'quantity': 1}]}" in report
    assert "before: {'items': [{'price': 1, 'quantity': 1}], 'total': 1}" in report
    assert "after: {'items': [{'price': 2, 'quantity': 1}], 'total': 2}" in report


def test_a_failing_plain_assertion_shows_its_case_as_it_was_given(tmp_path: Path) -> None:
    ran = run_pytest(write(tmp_path, project(over('order["items"].clear()\n    assert price_order(order)["total"]'))))
    assert "case: {'items': [{'price': 1, 'quantity': 1}]}" in ran.output
    assert "AssertionError: assert 0" in ran.output


def test_repeated_cases_count_once(tmp_path: Path) -> None:
    ran = run_pytest(write(tmp_path, project(PERMUTED, [ORDERS[0]] * 30)))
    assert ran.status == 1
    assert (
        "checked 1 distinct cases of orders.jsonl, at least 3 are wanted (1 tried, 29 were repetitions)" in ran.output
    )


@pytest.mark.parametrize("body", ['not_applicable("never")', 'if order: not_applicable("always")'])
def test_a_relation_that_leaves_everything_out_fails(tmp_path: Path, body: str) -> None:
    ran = run_pytest(write(tmp_path, project(over(body))))
    assert ran.counts == "1 failed"
    assert "VacuousRelation: checked 0 distinct cases" in ran.output


def test_code_under_test_cannot_say_that_a_case_is_not_applicable(tmp_path: Path) -> None:
    files = project(PERMUTED)
    files["app/billing.py"] = (
        "from linewitness.relations import not_applicable\n\n\ndef price_order(order):\n    not_applicable('no')\n"
    )
    ran = run_pytest(write(tmp_path, files))
    assert "app/billing.py:5 said that the case is not applicable: only the relation may say so" in ran.output


def test_an_exception_of_the_code_is_a_failure_unless_it_is_declared(tmp_path: Path) -> None:
    files = project(over('compare(price_order, order, drop("items"), same())'))
    assert "KeyError: 'items'" in run_pytest(write(tmp_path / "a", files)).output
    declared = over(
        'compare(lambda o: outcome(price_order, o, raises=(KeyError,)) == Raised("KeyError", "\'items\'"),'
        ' order, drop("items"), at_least())'
    )
    assert run_pytest(write(tmp_path / "b", project(declared))).counts == "1 passed"


def test_other_parameters_are_fixtures_and_methods_work(tmp_path: Path) -> None:
    text = HEAD + (
        "class TestOrders:\n"
        '    @pytest.mark.parametrize("factor", [2, 3])\n'
        '    @relation(corpus="orders.jsonl", at_least=4)\n'
        "    def test_scale(self, order, tmp_path, factor):\n"
        "        assert tmp_path.is_dir()\n"
        '        compare(price_order, order, scale("items[].price", factor), multiple(factor, "total"))\n'
    )
    assert run_pytest(write(tmp_path, project(text))).counts == "2 passed"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"tests/relations/corpus/orders.jsonl": "{}\n"}, "orders.jsonl drifted: its SHA-256 is"),
        ({"tests/relations/corpus/MANIFEST.sha256": ""}, "lists nothing called 'orders.jsonl'"),
        (
            {"tests/relations/corpus/MANIFEST.sha256": "0" * 32 + "  orders.jsonl\n"},
            "32 hex digits where SHA-256 has 64",
        ),
        (frozen({"orders.jsonl": lines(ORDERS[:1]) + "{\n"}), "orders.jsonl:2 is not JSON"),
        (frozen({"orders.jsonl": b"\xff\n"}), "orders.jsonl:1 is not JSON"),
        (frozen({"orders.jsonl": ""}), "checked 0 distinct cases"),
    ],
)
def test_a_corpus_that_is_not_the_frozen_one_fails(
    tmp_path: Path, change: dict[str, str | bytes], message: str
) -> None:
    ran = run_pytest(write(tmp_path, {**project(PERMUTED), **change}))
    assert ran.counts == "1 failed"
    assert message in ran.output


def test_a_corpus_without_a_manifest_or_a_folder_fails(tmp_path: Path) -> None:
    files = project(PERMUTED)
    del files["tests/relations/corpus/MANIFEST.sha256"]
    assert "no manifest pins" in run_pytest(write(tmp_path / "a", files)).output
    del files["tests/relations/corpus/orders.jsonl"]
    assert "there is no folder called 'corpus'" in run_pytest(write(tmp_path / "b", files)).output


def test_a_link_in_a_corpus_fails(tmp_path: Path) -> None:
    root = write(tmp_path, {**project(PERMUTED), "elsewhere.jsonl": lines(ORDERS)})
    place = root / "tests" / "relations" / "corpus" / "orders.jsonl"
    place.unlink()
    place.symlink_to(root / "elsewhere.jsonl")
    assert "cannot be read as part of a corpus: it is a link" in run_pytest(root).output


def test_the_relation_s_own_mistake_is_told_as_such_at_the_first_case(tmp_path: Path) -> None:
    ran = run_pytest(write(tmp_path, project(over('compare(price_order, order, scale("items.price", 2), same())'))))
    assert "RelationError: the case has no key 'price' of 'items.price'" in ran.output
    assert "does not hold" not in ran.output


@pytest.mark.parametrize(("corpus", "least"), [("", 1), ("a", 0), ("a", True), ("a", -1)])
def test_a_declaration_that_proves_nothing_is_refused(corpus: str, least: int) -> None:
    with pytest.raises(RelationError):
        relation(corpus, at_least=least)


def test_the_same_seed_draws_the_same_and_a_failure_says_how_to_repeat_it(tmp_path: Path) -> None:
    text = over('compare(lambda o: o["items"][0]["price"], order, permute("items"), same())')
    root = write(tmp_path, project(text))
    first, again, other = (run_pytest(root, LINEWITNESS_SEED=seed) for seed in ("7", "7", "8"))
    assert "repeat: LINEWITNESS_SEED=7 python -m pytest tests/relations/test_orders.py::test_it" in first.output
    assert first.output.partition("short test")[0] == again.output.partition("short test")[0]
    assert "repeat: LINEWITNESS_SEED=8" in other.output
    assert "LINEWITNESS_SEED is 'x' and has to be a number" in run_pytest(root, LINEWITNESS_SEED="x").output


def test_without_the_plugin_a_relation_works_as_well(tmp_path: Path) -> None:
    root = write(tmp_path, project(PERMUTED))
    assert run_pytest(root, "-p", "no:linewitness.relations.plugin").counts == "1 passed"
