"""Which texts are one Python file of relation shape, and which are refused with which reason."""

from __future__ import annotations

import textwrap

import pytest
from hypothesis import given
from hypothesis import strategies as st

from linewitness.drafting.shape import Allowed, refusals

ALLOWED = Allowed(
    {"shop": frozenset({"total", "encode", "decode", "Basket"}), "src.shop": frozenset({"total"})}, {"orders.jsonl"}
)
HEAD = """\
from linewitness.relations import (
    agrees, base, commutes, compare, idempotent, isolated, multiple, not_applicable, outcome, permute, relation,
    reverse, round_trip, same, scale,
)
from shop import decode, encode, total

@relation(corpus="orders.jsonl", at_least=3)
def test_it(case):
"""


def why(text: str) -> str:
    return "; ".join(map(str, refusals(textwrap.dedent(text), ALLOWED)))


def body(text: str) -> str:
    return why(HEAD + textwrap.indent(textwrap.dedent(text).strip("\n"), "    ") + "\n")


@pytest.mark.parametrize(
    "text",
    [
        'compare(total, case, permute("items"), same())',
        'compare(total, case, permute("items") | scale("items[].price", 2), multiple(2, "total"))',
        'compare(total, case, reverse("items"), same(lambda result: result["total"]))',
        "round_trip(encode, decode, case)",
        "idempotent(lambda text: decode(encode(text)), case)",
        'agrees(isolated("shop:total"), base("shop:total"), case)',
        "commutes(total, case, reverse(), lambda result: result[::-1])",
        "assert total(case) == total(list(reversed(case)))",
        "assert decode(encode(case)) == case",
        "before = total(case)\nafter = total({**case, 'x': 1})\nassert before == after",
        "results = [total(part) for part in case]\nassert results[0] == results[-1]",
        "found = []\nfor part in case:\n    found.append(total(part))\nassert sum(found) == total(case)",
        "if not case:\n    not_applicable('nothing to permute')\nassert total(case) <= total(case + case)",
        "assert outcome(total, case, raises=(ValueError,)) == outcome(total, case[::-1], raises=(ValueError,))",
        "assert sum(map(total, case)) == total(case)",
    ],
)
def test_relations_are_let_through(text: str) -> None:
    assert body(text) == ""


def test_subjects_and_helpers_may_stand_at_the_top() -> None:
    assert (
        why("""\
        '''What a model says about it.'''
        from __future__ import annotations
        import math
        import shop as product
        from linewitness.relations import compare, isolated, permute, relation, same

        price = isolated("shop:total")
        RATE = 3

        def doubled(order):
            return {**order, "items": order["items"] * 2}

        def both(case):
            assert math.isclose(product.total(case), product.total(doubled(case)))

        @relation(corpus="orders.jsonl", at_least=1)
        def test_one(case):
            compare(price, case, permute("items"), same())

        @relation("orders.jsonl", at_least=1)
        def test_two(case):
            both(case)
        """)
        == ""
    )


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("assert total(case) == 3", "a value that was written down"),
        ("assert 3 == total(case)", "a value that was written down"),
        ("assert total(case) is not None", "a value that was written down"),
        ("assert total(case) - total(case[::-1]) == 0", "a value that was written down"),
        ("assert len(total(case)) == 3", "a value that was written down"),
        ("assert total(case) in (1, 2)", "a value that was written down"),
        ("found = total(case)\nassert found == {'a': 1}", "a value that was written down"),
        ("wanted = [1, 2]\nassert total(case) == wanted", "a value that was written down"),
        ("assert total(case) == total(case[::-1]) == 7", "a value that was written down"),
        ("assert all(total(part) == 1 for part in case)", "a value that was written down"),
        ("assert total(case) == case['expected']", "does not compare two runs"),
        ("assert total(case) == sum(case)", "does not compare two runs"),
        ("assert total(case)", "does not compare two runs"),
        ("assert isinstance(total(case), int)", "does not compare two runs"),
        ("assert case == case", "does not compare two runs"),
        ("assert True", "does not compare two runs"),
        ("agrees(total, lambda case: 3, case)", "does not use case"),
        ("agrees(total, lambda case: case, case)", "not given the product's own function"),
        ("compare(lambda case: case, case, permute(), same())", "not given the product's own function"),
        ("compare(len, case, permute(), same())", "not given the product's own function"),
        ("compare(total, case, permute(), same(lambda result: 0))", "does not use result"),
        ("commutes(total, case, reverse(), lambda result: 7)", "does not use result"),
        ("round_trip(encode, lambda text: text, case)", "not given the product's own function"),
        ("total(case)", "the test asserts nothing"),
        ("print(total(case))", "'print' is no name"),
        ("pass", "does not use case"),
    ],
)
def test_golden_outputs_and_empty_assertions_are_refused(text: str, reason: str) -> None:
    assert reason in body(text)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("open('/etc/passwd')", "'open' is no name"),
        ("eval('1')", "'eval' is no name"),
        ("exec('1')", "'exec' is no name"),
        ("compile('1', '', 'eval')", "'compile' is no name"),
        ("__import__('os')", "'__import__' is no name"),
        ("getattr(case, 'x')", "'getattr' is no name"),
        ("setattr(total, '__code__', 1)", "'setattr' is no name"),
        ("globals()", "'globals' is no name"),
        ("vars(case)", "'vars' is no name"),
        ("type(case)", "'type' is no name"),
        ("__builtins__['eval']", "'__builtins__' is no name"),
        ("case.__class__", "the attribute '__class__'"),
        ("total.__globals__", "the attribute '__globals__'"),
        ("f'{case.__class__}'", "the attribute '__class__'"),
        ("'{0.__class__}'.format(case)", "the attribute 'format'"),
        ("'{0.__class__}'.format_map(case)", "the attribute 'format_map'"),
        ("(x for x in case).gi_frame", "the attribute 'gi_frame'"),
        ("total.x = 1", "the attribute 'x'"),
        ("import os", "imports stand at the top"),
        ("global RATE", "a relation has no `global`"),
        ("del case", "a relation has no `delete`"),
        ("try:\n    total(case)\nexcept ValueError:\n    pass", "a relation has no `try`"),
        ("with case:\n    pass", "a relation has no `with`"),
        ("while True:\n    pass", "a relation has no `while`"),
        ("raise ValueError", "a relation has no `raise`"),
        ("yield case", "a relation has no `yield`"),
        ("class A:\n    pass", "a relation has no `classdef`"),
        ("def inner():\n    pass", "functions stand at the top"),
        ("match case:\n    case 1:\n        pass", "a relation has no `match`"),
        ("isolated('os:system')(case)", "names no function of a product module"),
        ("isolated('shop:os.system')(case)", "names no function of a product module"),
        ("isolated('shop:total.__globals__')(case)", "names no function of a product module"),
        ("isolated(case)(1)", "names no function of a product module"),
        ("base('shop:' + 'total')(case)", "names no function of a product module"),
        ("total = 3", "is imported and bound again"),
        ("len = 3", "may not be given a meaning"),
    ],
)
def test_what_a_relation_may_not_do_is_refused(text: str, reason: str) -> None:
    assert reason in body(f"compare(total, case, permute(), same())\n{text}")


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("import os", "it imports 'os'"),
        ("import subprocess", "it imports 'subprocess'"),
        ("import socket", "it imports 'socket'"),
        ("import pytest", "it imports 'pytest'"),
        ("import sys as math", "it imports 'sys'"),
        ("import os.path", "`import os.path` needs an `as`"),
        ("from pathlib import Path", "it imports 'pathlib'"),
        ("from tests.trusted.test_shop import total", "it imports 'tests.trusted.test_shop'"),
        ("from tests.relations import test_it", "it imports 'tests.relations'"),
        ("from . import conftest", "a relative import"),
        ("from .shop import total", "a relative import"),
        ("from shop import os", "'shop' has no name 'os'"),
        ("from shop import *", "'shop' has no name '*'"),
        ("from linewitness.relations import tally", "has no name 'tally'"),
        ("from linewitness import gate", "it imports 'linewitness'"),
        ("import linewitness.evidence.recorder as r", "it imports 'linewitness.evidence.recorder'"),
        ("from operator import attrgetter", "it imports 'operator'"),
        ("from functools import wraps", "'functools' has no name 'wraps'"),
        ("from other import thing", "it imports 'other'"),
        ("import statistics\nX = statistics.sys", "'statistics' has no name 'sys'"),
        ("import re\nX = re.enum", "'re' has no name 'enum'"),
        ("import shop\nX = shop.os", "'shop' has no name 'os'"),
        ("print('imported')", "does something when it is imported"),
        ("total([1])", "does something when it is imported"),
        ("X = total([1])", "calls something when it is imported"),
        ("X = [total(x) for x in (1, 2)]", "when it is imported"),
        ("pytest_plugins = ['evil']", "may not be given a meaning"),
        ("def pytest_runtest_makereport(item):\n    return item", "may not be given a meaning"),
        ("collect_ignore_glob = ['*']", "may not be given a meaning"),
        ("__all__ = []", "may not be given a meaning"),
        ("for x in (1, 2):\n    pass", "a `for` at the top"),
        ("if True:\n    pass", "a `if` at the top"),
        ("@relation\ndef helper(x):\n    return x", "only tests are decorated"),
        ("def helper(x, y=total([1])):\n    return x + y", "computes something"),
        ("def helper(x: total([1])):\n    return x", "computes something"),
        ("def helper(x) -> total([1]):\n    return x", "computes something"),
        ("X: total([1]) = 3", "computes something"),
        ("X = lambda x=total([1]): x", "computes something"),
    ],
)
def test_what_a_file_may_not_bring_is_refused(line: str, reason: str) -> None:
    found = why(HEAD + "    compare(total, case, permute(), same())\n\n" + line + "\n")

    assert found
    assert reason in found


@pytest.mark.parametrize(
    ("head", "reason"),
    [
        ("def test_it(case):", "decorated with @relation"),
        ('@relation(corpus="orders.jsonl")\ndef test_it(case):', "from how many cases on"),
        ('@relation(corpus="orders.jsonl", at_least=0)\ndef test_it(case):', "from how many cases on"),
        ('@relation(corpus="orders.jsonl", at_least=True)\ndef test_it(case):', "from how many cases on"),
        ('@relation(corpus="orders.jsonl", at_least=len("a"))\ndef test_it(case):', "from how many cases on"),
        ('@relation(corpus="orders.jsonl", at_least=1, x=1)\ndef test_it(case):', "from how many cases on"),
        ('@relation(corpus="other.jsonl", at_least=1)\ndef test_it(case):', "names no corpus that there is"),
        ('@relation(corpus="../orders.jsonl", at_least=1)\ndef test_it(case):', "names no corpus that there is"),
        ("@relation(corpus=total, at_least=1)\ndef test_it(case):", "names no corpus that there is"),
        ('@relation(corpus="orders.jsonl", at_least=1)\ndef test_it(case, request):', "takes one parameter"),
        ('@relation(corpus="orders.jsonl", at_least=1)\ndef test_it(*case):', "takes one parameter"),
        ('@relation(corpus="orders.jsonl", at_least=1)\ndef test_it(case=1):', "takes one parameter"),
        ('@same\n@relation(corpus="orders.jsonl", at_least=1)\ndef test_it(case):', "and nothing else"),
        ('@relation(corpus="orders.jsonl", at_least=1)\nasync def test_it(case):', "has no `asyncfunctiondef`"),
        ("def helper(case):", "it holds no test"),
    ],
)  # fmt: skip
def test_a_test_is_a_relation_over_a_corpus(head: str, reason: str) -> None:
    imports = HEAD.partition("@relation")[0]

    assert reason in why(f"{imports}{head}\n    compare(total, case, permute(), same())\n")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "it is empty"),
        ("def", "it is not Python"),
        ("Here is the relation that you wanted.", "it is not Python"),
        ("(" * 5000, "it is not Python"),
        ("x = " + "-" * 50_000 + "1", "it is not Python"),
        ("x = 1\0", "it is a binary file"),
        ("# \u202e", "bidirectional control"),
        ("#\r x", "carriage return"),
        ("\ud800", "UTF-8"),
        ("# " + "x" * 70_000, "more than 64 KiB"),
        ("x = [" + "1," * 11_000 + "]", "more than 10000 nodes"),
    ],
)
def test_what_is_no_readable_file_is_refused(text: str, reason: str) -> None:
    assert reason in why(text)


def test_a_refusal_names_its_line() -> None:
    assert (
        body("compare(total, case, permute(), same())\nopen('x')")
        == "line 10: 'open' is no name that a relation may use"
    )


@given(st.text())
def test_any_text_is_judged_without_a_crash(text: str) -> None:
    assert refusals(text, ALLOWED)


@given(st.binary())
def test_any_bytes_after_a_good_head_are_judged_without_a_crash(data: bytes) -> None:
    text = HEAD + "    compare(total, case, permute(), same())\n" + data.decode("utf-8", "surrogateescape")

    assert isinstance(refusals(text, ALLOWED), tuple)
