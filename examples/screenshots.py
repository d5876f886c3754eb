"""The screenshots of the page in the documentation: ``python -m examples.screenshots`` (needs Chromium, see there).

They are taken of a stored map, so that they can be made again: ``tests/fixtures/maps/coupons.json``, from a check of a
small shop whose prices an agent changed.
"""

from __future__ import annotations

import base64
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from tests.browser.browser import Browser, browser, missing

from linewitness import reports
from linewitness.obligation_map import decode
from linewitness.reports import View

ROOT = Path(__file__).parent.parent
MAP = ROOT / "tests" / "fixtures" / "maps" / "coupons.json"
IMAGES = ROOT / "docs" / "images"


class Shot(NamedTuple):
    """One picture: its name, which colours, how wide and high, and the line that is shown."""

    name: str
    scheme: str
    size: tuple[int, int]
    fragment: str = ""


SHOTS = (
    Shot("report-light", "light", (1100, 900)),
    Shot("report-dark", "dark", (1100, 760), "shop/billing.py:17"),
    Shot("report-narrow", "light", (400, 760), "shop/billing.py:19"),
)


def take(window: Browser, page: Path, shot: Shot) -> bytes:
    window.resize(*shot.size)
    window.media(scheme=shot.scheme)
    window.open(page, shot.fragment)
    window.settle()
    # the browser goes to the fragment by itself, too, sooner or later
    window.run("document.querySelector('tr.here')?.scrollIntoView({block: 'center', behavior: 'instant'})")
    window.settle()
    return base64.b64decode(window.command("Page.captureScreenshot", {"format": "png"})["data"])


def main() -> None:
    if missing():
        sys.exit(missing())
    with tempfile.TemporaryDirectory() as folder, browser(Path(folder) / "profile") as window:
        page = Path(folder) / "page.html"
        page.write_bytes(b"".join(reports.render(decode(MAP.read_bytes()), "html", View())))
        for shot in SHOTS:
            target = IMAGES / f"{shot.name}.png"
            target.write_bytes(take(window, page, shot))
            print(f"{target.relative_to(ROOT)}: {target.stat().st_size} bytes")


if __name__ == "__main__":
    main()
