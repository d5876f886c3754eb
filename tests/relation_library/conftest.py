"""Interpreters for the relations, the same that the recorder is tested with."""

from __future__ import annotations

from tests.recorder.conftest import pytest_generate_tests, python

__all__ = ["pytest_generate_tests", "python"]
