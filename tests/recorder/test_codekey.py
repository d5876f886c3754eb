"""When two code objects count as the same compilation."""

from __future__ import annotations

import sys
from itertools import combinations
from types import CodeType

import pytest

from linewitness.evidence.codekey import digest

# Constants that are equal, or look alike, or that stand for another in a digest.
CONSTANTS = (
    "1", "1.0", "True", "1j", "'1'",
    "b'1'", "0.0", "-0.0", "None", "'None'", "...", "'...'", "(1,)", "(1.0,)", "(True,)",
    "((1,),)", "(0.0, -0.0)", "(-0.0, 0.0)", "('ellipsis', 'Ellipsis')", "(...,)", "('code', 'inner')",
)  # fmt: skip


def body(constant: object) -> CodeType:
    """The code of a function that has the constant, put in by hand so that nothing folds it."""

    def made() -> object:
        return 123456789

    code = made.__code__
    return code.replace(co_consts=tuple(constant if each == 123456789 else each for each in code.co_consts))


@pytest.mark.parametrize("pair", list(combinations(CONSTANTS, 2)), ids=" and ".join)
def test_constants_that_differ_in_value_or_type_make_another_code(pair: tuple[str, str]) -> None:
    one, other = (body(eval(each)) for each in pair)
    assert digest(one) != digest(other)


class Pretending(str):
    """Says that it is a plain text."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str.__repr__(self)


def test_a_constant_of_a_kind_of_its_own_is_not_what_it_says() -> None:
    assert digest(body("yes")) != digest(body(Pretending("yes")))
    assert digest(body(("yes",))) != digest(body((Pretending("yes"),)))


def test_code_in_a_constant_is_not_the_pair_of_texts_that_stands_for_it() -> None:
    inner = compile("1", "inner", "eval").replace(co_name="inner")
    assert digest(body(inner)) != digest(body(("code", "inner")))


def test_the_same_text_compiled_twice_is_the_same() -> None:
    text = "def f(x):\n    return x in {'a', 'b', 1.5}, (1, ('two', 3.0, ...)), lambda: x\n"
    one, other = (compile(text, name, "exec").co_consts[0] for name in ("here", "there"))
    assert digest(one) == digest(other)


def test_a_number_with_more_digits_than_python_prints_is_a_constant_like_others() -> None:
    limit = sys.get_int_max_str_digits()
    one, other, same = (digest(body(number)) for number in (1 << 20_000, 1 << 20_001, 1 << 20_000))
    assert one != other
    assert one == same
    assert sys.get_int_max_str_digits() == limit
