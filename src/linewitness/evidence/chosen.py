"""Runs some of the collected tests only: those that the run's configuration names, and what is below them.

Runs in the *tested* interpreter (3.9 and later), loaded as a plugin of pytest where not all are asked.

PYTEST_DONT_REWRITE
"""

from __future__ import annotations

from typing import Any

import pytest

from .recorder import Recorder


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: Any, items: list[Any]) -> None:
    """Leave out what was not asked for."""
    recorder = Recorder.active
    wanted = tuple(recorder.config["only"]) if recorder is not None else ()

    def is_wanted(item: Any) -> bool:
        nodeid = item.nodeid.partition("[")[0]
        return any(nodeid == each or nodeid.startswith(f"{each}::") for each in wanted)

    config.hook.pytest_deselected(items=[item for item in items if not is_wanted(item)])
    items[:] = filter(is_wanted, items)
