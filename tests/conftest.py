"""What holds for the whole suite."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path

import pytest
from hypothesis import settings

ALLOWED_SKIPS = Path(__file__).with_name("allowed_skips.toml")

# Machines are shared and noisy: how long an example takes says nothing about the code.
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """In continuous integration a skip is a failure, unless it is listed with its reason."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if os.environ.get("CI") != "true" or reporter is None or hasattr(session.config, "workerinput"):
        return
    allowed = tomllib.loads(ALLOWED_SKIPS.read_text(encoding="utf-8"))
    unlisted = [report.nodeid for report in reporter.stats.get("skipped", ()) if report.nodeid not in allowed]
    if unlisted and exitstatus == 0:
        for nodeid in unlisted:
            reporter.write_line(f"skipped, and not listed in {ALLOWED_SKIPS.name}: {nodeid}", red=True)
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
