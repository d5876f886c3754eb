"""A headless Chromium with nothing of the user's in it, and with every request and every console message on record."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service

_FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--force-device-scale-factor=1",
    "--lang=en",
)


def missing() -> str:
    """What is not installed here; empty when a browser can be started."""
    programs = [name for name in ("chromium", "chromedriver") if shutil.which(name) is None]
    return f"needs {' and '.join(programs)} (Debian: apt-get install chromium chromium-driver)" if programs else ""


class Browser:
    """One window. ``dark``: what the user prefers; ``size`` in CSS pixels."""

    def __init__(self, driver: webdriver.Chrome) -> None:
        self.driver = driver

    def open(self, page: Path, fragment: str = "") -> None:
        """Load a file afresh."""
        self.driver.get("about:blank")
        for sort in ("performance", "browser"):
            self._log(sort)
        self.driver.get(page.resolve().as_uri() + (f"#{fragment}" if fragment else ""))

    def run(self, script: str, *arguments: object) -> Any:
        """The value of a function body, run in the page from outside of its policy."""
        return self.driver.execute_script(script, *arguments)

    def settle(self) -> None:
        """Wait until what was asked for is on the screen: two frames."""
        self.driver.execute_async_script(
            "const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 30)));"
        )

    def media(self, **features: str) -> None:
        """Emulate a medium (``kind``) and what users prefer (``scheme``)."""
        wanted = [{"name": "prefers-color-scheme", "value": features.get("scheme", "light")}]
        self.command("Emulation.setEmulatedMedia", {"media": features.get("kind", ""), "features": wanted})

    def resize(self, width: int, height: int) -> None:
        """Give the page this many CSS pixels."""
        self.command(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False},
        )

    def command(self, name: str, parameters: dict[str, object]) -> Any:
        """One command of the DevTools protocol."""
        return self.driver.execute_cdp_cmd(name, parameters)

    def requests(self) -> list[str]:
        """The addresses that were asked for since the page was opened."""
        entries = [json.loads(entry["message"])["message"] for entry in self._log("performance")]
        return [
            entry["params"]["request"]["url"] for entry in entries if entry["method"] == "Network.requestWillBeSent"
        ]

    def complaints(self) -> list[str]:
        """What the console said since the page was opened: errors of scripts, and what the page's policy refused."""
        return [entry["message"] for entry in self._log("browser")]

    def _log(self, sort: str) -> list[dict[str, Any]]:
        return list(self.driver.get_log(sort))  # type: ignore[no-untyped-call]


@contextmanager
def browser(profile: Path) -> Iterator[Browser]:
    """A browser with an empty profile in ``profile``."""
    options = Options()
    options.binary_location = shutil.which("chromium") or "chromium"
    for flag in (*_FLAGS, f"--user-data-dir={profile}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"performance": "ALL", "browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
    try:
        window = Browser(driver)
        window.resize(1280, 900)
        yield window
    finally:
        driver.quit()
