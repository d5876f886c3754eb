"""A call beside the caller gives its result, or its failure, to whoever asks for it."""

from __future__ import annotations

import threading

import pytest

from linewitness.errors import UsageError
from linewitness.later import Later


def test_the_caller_goes_on_until_it_asks_for_the_result() -> None:
    gate = threading.Event()
    later = Later(gate.wait, timeout=30)
    gate.set()
    assert later.result() is True


def test_what_the_call_raised_is_raised_where_the_result_is_asked_for() -> None:
    def fail(words: str) -> None:
        raise UsageError(words)

    later = Later(fail, "no such thing")
    with pytest.raises(UsageError, match="no such thing"):
        later.result()
