"""Random programs that log what they run agree with the recorder line by line, and run as they do without it."""

from __future__ import annotations

import pytest

from linewitness.evidence.interpreter import Interpreter
from tests.recorder.compared import Compared, logged, seen


@pytest.fixture(scope="session", params=[1, 2, 3])
def compared(python: Interpreter, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Compared:
    return Compared(python, tmp_path_factory.mktemp("programs"), request.param)


def test_programs_run_as_they_do_without_the_recorder(compared: Compared) -> None:
    assert compared.ran.messages == ""
    assert compared.recorded == compared.plain


def test_a_line_is_seen_exactly_when_it_logged_itself(compared: Compared) -> None:
    ran, found = logged(compared), seen(compared)
    assert found - ran == set()
    assert ran - found == set()
    assert len(ran) > 500
    assert len(compared.marks.keys() - ran) > 500
