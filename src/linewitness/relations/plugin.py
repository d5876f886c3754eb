"""The pytest plugin of an installed linewitness: it does nothing but end what an isolated subject started.

PYTEST_DONT_REWRITE: it says nothing with ``assert``. Inside the gate the kit has a plugin of its own.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import pytest


@pytest.hookimpl(hookwrapper=True)
def pytest_pyfunc_call(pyfuncitem: Any) -> Iterator[None]:  # noqa: ARG001 - the hook's name for it
    """Give each test of a run that uses relations a tally of its own."""
    tally = sys.modules.get(f"{__package__}.tally")
    if tally is None or tally.Tally.current is not None:
        yield
        return
    with tally.counting(tally.Tally()):
        yield
