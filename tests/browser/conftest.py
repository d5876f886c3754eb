"""One browser for all tests here, and the two pages they look at."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from linewitness import reports
from linewitness.obligation_map import ObligationMap
from linewitness.reports import View
from tests.browser import patches
from tests.browser.browser import Browser, browser, missing


@pytest.fixture(scope="session")
def window(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    if missing() and not os.environ.get("CI"):
        pytest.skip(missing())
    with browser(tmp_path_factory.mktemp("profile")) as opened:
        yield opened


@pytest.fixture(autouse=True)
def _same_start(window: Browser) -> None:
    window.media()
    window.resize(1280, 900)


def page(folder: Path, artifact: ObligationMap) -> Path:
    path = folder / "page.html"
    path.write_bytes(b"".join(reports.render(artifact, "html", View())))
    return path


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return page(tmp_path_factory.mktemp("small"), patches.small())


@pytest.fixture(scope="session")
def big(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return page(tmp_path_factory.mktemp("big"), patches.big())


@pytest.fixture(scope="session")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return page(tmp_path_factory.mktemp("hostile"), patches.hostile())
