"""The second proof of exemptions: each reason holds where it should and nowhere else."""

from __future__ import annotations

import textwrap

import pytest
from examples.real_projects.exemptions import Side, is_proved

BASE = """
import os
from typing import (
    Any,
    List,
)

def same(a):
    return [a, 1]

def other(a):
    return a
"""

HEAD = '''
"""A docstring
of two lines."""
import os
from typing import (
    Any,
    Dict,
)

def same(a):
    return [
        a,
        1,  # comment
    ]

def other(a):
    # comment
    x: int
    "not a docstring"
    if a:
        return os
    else:
        return a

if TYPE_CHECKING:
    import re
else:
    re = None

@overload
def typed(a: int) -> int: ...

class C:
    pass
'''


def proved(reason: str) -> list[int]:
    """All lines of head for which the reason is proved."""
    base, head = Side(textwrap.dedent(BASE).encode()), Side(textwrap.dedent(HEAD).encode())
    statements = [
        line for line in range(1, HEAD.count("\n") + 1) if reason in {"blank", "comment"} or line in head.tokens
    ]
    return [line for line in statements if is_proved(reason, base, head, line)]


@pytest.mark.parametrize(
    ("reason", "lines"),
    [
        ("docstring", [2, 3]),
        ("punctuation", [8, 14]),
        ("keyword", [22, 27]),
        ("declaration", [18]),
        ("reformatted", [10, 11, 12, 13, 14]),
        ("import-reshuffle", [4, 5, 6, 8]),
        ("typing-only", [26, 31]),
        ("inert", []),
    ],
)
def test_a_reason_is_proved_exactly_where_it_holds(reason: str, lines: list[int]) -> None:
    assert proved(reason) == lines


def test_blank_lines_and_comments_are_those_without_a_token() -> None:
    assert proved("blank") == [1, 9, 15, 17, 24, 29, 32]
    assert proved("comment") == proved("blank")


def test_the_u_before_a_string_is_layout_and_that_of_bytes_is_not() -> None:
    assert is_proved("reformatted", Side(b"x = [u'a', 1]\n"), Side(b"x = ['a', 1]\n"), 1)
    assert not is_proved("reformatted", Side(b"x = [u'a', 1]\n"), Side(b"x = [b'a', 1]\n"), 1)
    assert not is_proved("reformatted", Side(b"x = \", kind='u')\"\n"), Side(b"x = ')'\n"), 1)


def test_nothing_is_reformatted_or_reshuffled_in_a_new_file() -> None:
    head = Side(b"import os\n")
    assert not is_proved("reformatted", None, head, 1)
    assert not is_proved("import-reshuffle", None, head, 1)


def test_an_import_that_occurs_more_often_than_before_is_no_reshuffle() -> None:
    assert not is_proved("import-reshuffle", Side(b"import os\n"), Side(b"import os\nimport os\n"), 2)
    assert is_proved("import-reshuffle", Side(b"x = 1\nimport os\n"), Side(b"import os\n"), 1)
    assert not is_proved("import-reshuffle", Side(b"def f():\n    import os\n"), Side(b"import os\n"), 1)
