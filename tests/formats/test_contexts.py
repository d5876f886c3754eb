from __future__ import annotations

import pytest

from linewitness.evidence.contexts import understand


@pytest.mark.parametrize("names", [[], [""], ["nightly"]])
def test_contexts_that_tell_no_tests_apart_tell_nothing(names: list[str]) -> None:
    assert understand(names) is None


@pytest.mark.parametrize(
    ("names", "of_a_line", "tests"),
    [
        (["", "t.test_a", "t.test_b"], ["", "t.test_b", "t.test_a"], ("t.test_a", "t.test_b")),
        (["", "t.py::a|run", "t.py::a|setup"], ["t.py::a|run", "t.py::a|setup"], ("t.py::a",)),
        (["", "t.py::a[x|y]|run"], ["t.py::a[x|y]|run"], ("t.py::a[x|y]",)),
        (["", "t.py::a|call", "t.py::a|teardown"], ["t.py::a|teardown"], ("t.py::a",)),
        (["", "t.test_a"], [""], ()),
        (["nightly", "nightly|t.test_a"], ["nightly"], ()),
        (["nightly", "nightly|t.test_a"], ["nightly", "nightly|t.test_a"], ("t.test_a",)),
        (["nightly|a", "nightly|b"], ["nightly"], ()),
        (["nightly", "nightly|t.py::a|run"], ["nightly|t.py::a|run"], ("t.py::a",)),
        (["t.test_a", "t.test_b"], ["t.test_a"], ("t.test_a",)),
        (["t.py::a|run"], ["t.py::a|run"], ("t.py::a",)),
    ],
)
def test_tests_are_told_from_import(names: list[str], of_a_line: list[str], tests: tuple[str, ...]) -> None:
    contexts = understand(names)
    assert contexts is not None
    assert contexts.tests(of_a_line) == tests
