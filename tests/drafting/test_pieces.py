"""Schemas, dropped statements, templates and listings: the pieces, each on its own."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from linewitness.drafting.dropping import dropped
from linewitness.drafting.inputs import VALUES
from linewitness.drafting.schema import infer
from linewitness.drafting.signatures import kind
from linewitness.model import Kind, Obligation, RepoPath
from tests.cli.conftest import Run
from tests.drafting.conftest import codec

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


# ---------------------------------------------------------------- schemas


@pytest.mark.parametrize(
    ("values", "schema"),
    [
        ([], {}),
        ([1, 2], {"type": "integer"}),
        ([1, 2.5], {"type": "number"}),
        ([True, 1], {"anyOf": [{"type": "boolean"}, {"type": "integer"}]}),
        ([None, "a"], {"anyOf": [{"type": "null"}, {"type": "string"}]}),
        ([[1], ["a"]], {"type": "array", "items": {"anyOf": [{"type": "integer"}, {"type": "string"}]}}),
        ([{"a": 1}, {"a": 2, "b": "x"}], {
            "type": "object",
            "properties": {"a": {"type": "integer"}, "b": {"type": "string"}},
            "required": ["a"],
        }),
        ([{str(number): number for number in range(41)}], {"type": "object"}),
        ([b"x"], {"type": "bytes"}),
    ],
)  # fmt: skip
def test_a_schema_has_names_and_types(values: list[Any], schema: dict[str, Any]) -> None:
    assert infer(values) == schema


@given(st.lists(JSON))
def test_a_schema_holds_no_value(values: list[Any]) -> None:
    names = {"string", "integer", "number", "boolean", "null", "array", "object"}

    def strings(found: Any) -> set[str]:
        if isinstance(found, dict):
            inner = {key: value for key, value in found.items() if key != "properties"}
            below = (
                [*inner.values(), *found.get("properties", {}).values()]
                if isinstance(found.get("properties", {}), dict)
                else []
            )
            return set().union(*map(strings, below)) - set(found.get("required", ()))
        return (
            set().union(*map(strings, found))
            if isinstance(found, list)
            else {found}
            if isinstance(found, str)
            else set()
        )

    assert strings(infer(values)) <= names | {key for value in values for key in keys(value)}


def keys(value: Any) -> set[str]:
    if isinstance(value, dict):
        return {*value}.union(*map(keys, value.values()))
    return set().union(*map(keys, value)) if isinstance(value, list) else set()


# ---------------------------------------------------------------- dropped statements


def row(line: int, kind_: Kind = Kind.STATEMENT) -> Obligation:
    return Obligation(RepoPath("a.py"), line, "", "", kind_, "", 1, (line, line))


@pytest.mark.parametrize(
    ("source", "line", "wanted"),
    [
        ("def f(x):\n    x += 1\n    return x\n", 2, "def f(x):\n    pass\n    return x\n"),
        ("def f(x):\n    return x\n", 2, "def f(x):\n    pass\n"),
        (
            "if a:\n    b()\nelif c:\n    d()\nelse:\n    e()\n",
            4,
            "if a:\n    b()\nelif c:\n    pass\nelse:\n    e()\n",
        ),
        ("for a in b:\n    c()\n", 1, "pass\n"),
        ("x = 1; y = 2\n", 1, "pass; y = 2\n"),
        ("call(\n    'é',\n    b,\n)\nrest()\n", 2, "pass\nrest()\n"),
        ("x = 'é'; y(1)\n", 1, "pass; y(1)\n"),
    ],
)
def test_one_statement_is_dropped(source: str, line: int, wanted: str) -> None:
    (found,) = dropped(source.encode(), [row(line)])

    assert found.source.decode() == wanted


@pytest.mark.parametrize(
    "source",
    [
        "import os\n",
        "from a import b\n",
        "def f():\n    pass\n",
        "class A:\n    pass\n",
        "'text'\n",
        "pass\n",
        "def\n",
        "x = 1\r\n",
    ],
)
def test_what_cannot_be_dropped_is_left_alone(source: str) -> None:
    assert [*dropped(source.encode(), [row(1), row(1, Kind.DEFINITION)])] == []


def test_a_statement_over_several_lines_is_dropped_once() -> None:
    found = [*dropped(b"call(\n    a,\n    b,\n)\n", [row(1), row(2), row(3)])]

    assert [each.line for each in found] == [1]


@given(st.text(alphabet="abx=+(): \nif'é"), st.integers(1, 5))
def test_whatever_is_dropped_leaves_python(source: str, line: int) -> None:
    for mutant in dropped(source.encode(), [row(line)]):
        assert ast.dump(ast.parse(mutant.source)) != ast.dump(ast.parse(source))


# ---------------------------------------------------------------- signatures


@pytest.mark.parametrize(
    ("annotation", "wanted"),
    [
        ("str", "str"), ("'str'", "str"), ("list[int]", "list[int]"), ("List[int]", "list[int]"),
        ("typing.Sequence[ str ]", "list[str]"), ("Iterable[float]", "list[float]"), ("tuple[int, ...]", "list[int]"),
        ("list", "list[int]"), ("Mapping[str, int]", "dict"), ("dict", "dict"), ("Order", "Order"), ("", ""),
        ("int | None", "int"), ("None|str", "str"), ("Optional[list[str]]", "list[str]"), ("None", "None"),
        ("list[int | str]", "list[int|str]"), ("list[Any] | None", "list[int]"),
    ],
)  # fmt: skip
def test_annotations_are_read_as_kinds(annotation: str, wanted: str) -> None:
    assert kind(annotation) == wanted


def test_values_of_our_own_are_distinct_json() -> None:
    for values in VALUES.values():
        texts = [json.dumps(value) for value in values]
        assert len(set(texts)) == len(texts) > 1


# ---------------------------------------------------------------- lists

PLAIN = "def test_plain():\n    assert True\n"


def test_relations_are_listed_with_what_they_declare(tmp_path: Path, run: Run) -> None:
    declared = (
        "from linewitness.relations import relation\n\n"
        "@relation('some', at_least=2)\ndef test_folder(case):\n    assert case\n\n"
        "LEAST = 3\n\n@relation(corpus='gone.jsonl', at_least=LEAST)\ndef test_gone(case):\n    assert case\n"
    )
    digests = {"some/a.txt": "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb"}
    base = {
        "tests/relations/test_a.py": declared,
        "tests/relations/test_old.py": PLAIN,
        "tests/relations/corpus/some/a.txt": "a",
        "tests/relations/corpus/MANIFEST.sha256": "".join(f"{digest}  {name}\n" for name, digest in digests.items()),
    }
    repo = codec(tmp_path, base, {"tests/relations/test_new.py": PLAIN})
    repo.remove("tests/relations/test_old.py")
    repo.commit("remove")

    outcome = run("relations", "list", "--root", str(repo.root), "--base", "main")

    assert outcome.status == 0
    assert [line.split() for line in outcome.out.splitlines()[:4]] == [
        ["accepted", "some", "1", "cases", "at", "least", "2", "tests/relations/test_a.py::test_folder"],
        ["accepted", "gone.jsonl", "?", "cases", "tests/relations/test_a.py::test_gone"],
        ["not", "accepted", "a", "plain", "test", "tests/relations/test_new.py::test_plain"],
        ["removed", "a", "plain", "test", "tests/relations/test_old.py::test_plain"],
    ]
    assert outcome.out.splitlines()[-1].startswith("no draft in ")
