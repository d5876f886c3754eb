"""Sums sensor readings up, many at a time."""

from __future__ import annotations

from typing import Any

LIMIT = 100


def summarize(batch: list[dict[str, Any]]) -> dict[str, dict[str, int]]:
    """For each sensor how many readings there were, their sum, and how many were above the limit."""
    found: dict[str, dict[str, int]] = {}
    for reading in batch:
        entry = found.setdefault(reading["sensor"], {"count": 0, "sum": 0, "high": 0})
        entry["count"] += 1
        entry["sum"] += reading["value"]
        if reading["value"] > LIMIT:
            entry["high"] += 1
    return found
