"""Outputs that people have looked at and accepted.

A test compares with the file; ``ACCEPT=1 pytest tests/reports tests/settings`` writes the files anew, and the diff is
then reviewed like any other change.
"""

from __future__ import annotations

import os
from pathlib import Path

FOLDER = Path(__file__).parent.parent / "fixtures" / "reports"


def compare(path: Path, actual: bytes) -> None:
    """Assert that ``actual`` is what was accepted."""
    if os.environ.get("ACCEPT"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(actual)
    assert path.exists(), f"nothing was accepted for {path.name} yet: run ACCEPT=1 pytest {path.parent}"
    assert path.read_bytes().decode() == actual.decode()
