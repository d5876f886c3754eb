"""Every interpreter that the recorder is tested with, for the tests that put the rule and the recorder together."""

from __future__ import annotations

from tests.recorder.conftest import pytest_generate_tests, python

__all__ = ["pytest_generate_tests", "python"]
