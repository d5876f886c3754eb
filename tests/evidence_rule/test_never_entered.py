"""Code that nobody can enter once its module is imported: stubs, and what only type checkers evaluate."""

from __future__ import annotations

import sys

import pytest

from linewitness.model import Answer, Phase
from tests.evidence_rule.test_against_oracle import judged
from tests.evidence_rule.test_rule import nothing, seen

BODY = '''class A:
    @t.overload
    def f(self, a: int) -> int: ...
    @t.overload
    def f(
        self,
        a: str,
    ) -> str:
        """A stub."""
    def f(self, a):
        return [t for t in [a]]
'''


@pytest.mark.parametrize(
    "source",
    [
        "import typing as t\n" + BODY,
        "from typing import overload\n" + BODY.replace("t.overload", "overload"),
        "def overload(f): return f\n" + BODY.replace("t.overload", "overload"),
    ],
    ids=["module", "name", "unproved"],
)
def test_the_stubs_of_an_overloaded_function_are_witnessed_by_import(source: str) -> None:
    answer = seen(source, lambda names: names["A"]().f(1))
    stubs = {(answer[line].answer, answer[line].phase) for line in range(3, 10)}
    assert stubs == {(Answer.RUN, Phase.IMPORT)}
    assert (answer[11].answer, answer[11].phase) == (Answer.RUN, Phase.CALL)


@pytest.mark.parametrize(
    "rest",
    [
        "@print\ndef f(): ...\ndef f(): ...\n",
        "@overload\ndef f(): ...\n",
        "@overload\ndef f():\n    return 1\ndef f(): ...\n",
        "@overload\ndef f(): ...\nclass A:\n    def f(self): ...\n",
        "@overload\ndef f(): ...\nif 0:\n    def f(): ...\n",
    ],
    ids=["another decorator", "never replaced", "a body that does something", "another scope", "perhaps replaced"],
)
def test_what_may_be_entered_is_no_stub(rest: str) -> None:
    assert seen("def overload(f): return f\n" + rest, nothing)[3].answer is Answer.NOT_RUN


def test_a_function_outside_of_the_class_does_not_replace_a_stub_in_it() -> None:
    source = "def overload(f): return f\nclass A:\n    @overload\n    def f(self): ...\ndef f(): ...\n"
    assert seen(source, nothing)[4].answer is Answer.NOT_RUN


PROTOCOL = "from typing import Protocol\nclass A(Protocol):\n    def f(self): ...\n    def g(self): return 1\n"


def test_a_method_of_a_protocol_without_a_body_cannot_be_entered() -> None:
    answer = seen(PROTOCOL, nothing)
    assert (answer[3].answer, answer[3].phase, answer[4].answer) == (Answer.RUN, Phase.IMPORT, Answer.NOT_RUN)
    unproved = seen(PROTOCOL.replace("from typing import Protocol", "class Protocol: ..."), nothing)
    assert unproved[3].answer is Answer.NOT_RUN
    rebound = seen(PROTOCOL + "Protocol = 1\n", nothing)
    assert rebound[3].answer is Answer.NOT_RUN


def test_a_protocol_of_stubs_alone_is_a_class_without_functions() -> None:
    source = "import typing\nT = typing.TypeVar('T')\nclass A(typing.Protocol[T]):\n    def f(self): ...\n"
    assert {(row.answer, row.phase) for row in seen(source, nothing).values()} == {(Answer.RUN, Phase.IMPORT)}


def test_a_method_without_a_body_of_any_other_class_has_to_be_entered() -> None:
    source = "import abc\nclass A(abc.ABC):\n    @abc.abstractmethod\n    def f(self): ...\n"
    assert seen(source, nothing)[4].answer is Answer.NOT_RUN


LAZY = """type X = (
    int
    | str
)
type Y[T: int] = list[T]
class A[
    T: (int, str),
]:
    x = 1
"""


def test_values_and_bounds_that_are_evaluated_only_when_asked_for_ask_for_their_definition() -> None:
    demands = dict(judged(LAZY))
    texts = {line: [token.text for token in demand.tokens] for line, demand in demands.items()}
    assert texts == {1: ["X"], 2: ["X"], 3: ["X"], 5: ["Y"], 6: ["A"], 7: ["A"], 9: ["x", "1"]}
    assert all(demand.at_import for demand in demands.values())


if sys.version_info >= (3, 12):

    def test_such_values_and_bounds_are_witnessed_with_their_statement() -> None:
        answer = seen(LAZY, nothing)
        assert {(row.answer, row.phase, row.note) for row in answer.values()} == {(Answer.RUN, Phase.IMPORT, "")}
        local = "def f():\n    type X = int\n    return X\n"
        assert seen(local, nothing)[2].answer is Answer.NOT_RUN
        witnessed = seen(local, lambda names: names["f"]())[2]
        assert (witnessed.answer, witnessed.phase) == (Answer.RUN, Phase.CALL)
