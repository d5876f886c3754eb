"""What a document says does not depend on remarks, on line breaks, or on how attributes are handed over."""

from __future__ import annotations

from typing import Any

import xmltodict

from linewitness.relations import compare, relation, round_trip, same


def written(document: dict[str, Any], **options: Any) -> str:
    text: str = xmltodict.unparse(document, **options)
    return text


def read(text: str, **options: Any) -> Any:
    return xmltodict.parse(text, **options)


def with_remarks(*remarks: object) -> Any:
    def remarked(document: dict[str, Any]) -> dict[str, Any]:
        ((name, content),) = document.items()
        inside = content if isinstance(content, dict) else {"#text": content} if content is not None else {}
        return {name: {"#comment": list(remarks), **inside}}

    return remarked


@relation(corpus="documents.jsonl", at_least=8)
def test_what_was_written_can_be_read(document: dict[str, Any]) -> None:
    round_trip(written, read, document)


@relation(corpus="documents.jsonl", at_least=8)
def test_remarks_mean_nothing(document: dict[str, Any]) -> None:
    compare(lambda case: read(written(case)), document, with_remarks("one", "two"), same())
    compare(lambda case: read(written(case, pretty=True, indent=2)), document, with_remarks("one", b"two"), same())


@relation(corpus="documents.jsonl", at_least=8)
def test_a_remark_that_is_none_or_empty_leaves_the_others_alone(document: dict[str, Any]) -> None:
    plain, gaps = with_remarks("one", "two")(document), with_remarks("one", None, "", "two")(document)
    assert written(gaps) == written(plain)
    assert written(gaps, pretty=True) == written(plain, pretty=True)


@relation(corpus="documents.jsonl", at_least=8)
def test_remarks_can_be_read_back(document: dict[str, Any]) -> None:
    text = written(with_remarks("one", "two")(document))
    ((_, content),) = read(text, process_comments=True).items()
    assert content["#comment"] == ["one", "two"]


@relation(corpus="documents.jsonl", at_least=8)
def test_line_breaks_between_elements_mean_nothing(document: dict[str, Any]) -> None:
    assert read(written(document, pretty=True)) == read(written(document))


@relation(corpus="documents.jsonl", at_least=8)
def test_a_list_that_is_forced_holds_what_was_there(document: dict[str, Any]) -> None:
    ((name, content),) = read(written(document)).items()
    ((_, forced),) = read(written(document), force_list=(name,)).items()
    assert forced == [content]
