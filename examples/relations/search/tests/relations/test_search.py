"""What is found does not depend on what else there is, nor on the order in which it is kept."""

from __future__ import annotations

from typing import Any

from ranking import search

from linewitness.relations import change, compare, permute, relation, same, subset


def found(case: dict[str, Any]) -> list[str]:
    return search(case["query"], case["documents"])


def with_stranger(documents: list[dict[str, str]]) -> list[dict[str, str]]:
    return [*documents, {"name": "stranger", "text": "zzz yyy xxx"}]


@relation(corpus="searches.jsonl", at_least=6)
def test_the_order_of_documents_means_nothing(case: dict[str, Any]) -> None:
    compare(found, case, permute("documents"), same())


@relation(corpus="searches.jsonl", at_least=6)
def test_a_document_that_does_not_match_changes_nothing(case: dict[str, Any]) -> None:
    compare(found, case, change("documents", with_stranger), same())


@relation(corpus="searches.jsonl", at_least=6)
def test_another_word_finds_nothing_more(case: dict[str, Any]) -> None:
    compare(found, case, change("query", "{} tea".format, "one word more"), subset())


@relation(corpus="searches.jsonl", at_least=6)
def test_the_case_of_letters_means_nothing(case: dict[str, Any]) -> None:
    compare(found, case, change("query", str.swapcase), same())
